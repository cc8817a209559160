//! The deadlines of one group.

use std::collections::{BTreeMap, BTreeSet};

use super::names::MemberId;
use crate::types::Millis;

/// What a deadline is for. Each timer is set at most once at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The join phase ends, or its initial delay.
    Join,
    /// Members that have not synced are removed.
    Sync,
    /// The member is presumed dead.
    Session(MemberId),
    /// The id that was handed out lapses.
    PendingMember(MemberId),
}

/// Deadlines in order.
#[derive(Debug, Default)]
pub(super) struct Timers {
    in_order: BTreeSet<(Millis, Timer)>,
    by_timer: BTreeMap<Timer, Millis>,
}

impl Timers {
    /// Sets or moves a deadline.
    pub(super) fn set(&mut self, timer: Timer, deadline: Millis) {
        self.cancel(&timer);
        self.in_order.insert((deadline, timer.clone()));
        self.by_timer.insert(timer, deadline);
    }

    /// Forgets a deadline, if it is set.
    pub(super) fn cancel(&mut self, timer: &Timer) {
        if let Some(deadline) = self.by_timer.remove(timer) {
            self.in_order.remove(&(deadline, timer.clone()));
        }
    }

    /// Forgets all deadlines.
    pub(super) fn clear(&mut self) {
        self.in_order.clear();
        self.by_timer.clear();
    }

    /// Returns the earliest deadline.
    pub(super) fn next(&self) -> Option<Millis> {
        self.in_order.first().map(|(deadline, _)| *deadline)
    }

    /// Takes the earliest timer whose deadline has come.
    pub(super) fn take_due(&mut self, now: Millis) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        let (_, timer) = self.in_order.pop_first()?;
        self.by_timer.remove(&timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_timers_come_in_order_and_once() {
        let mut timers = Timers::default();
        timers.set(Timer::Session("b".into()), Millis(20));
        timers.set(Timer::Session("a".into()), Millis(10));
        timers.set(Timer::Join, Millis(30));
        timers.set(Timer::Session("a".into()), Millis(25));
        timers.cancel(&Timer::Sync);

        assert_eq!(timers.next(), Some(Millis(20)));
        assert_eq!(timers.take_due(Millis(19)), None);
        assert_eq!(timers.take_due(Millis(29)), Some(Timer::Session("b".into())));
        assert_eq!(timers.take_due(Millis(29)), Some(Timer::Session("a".into())));
        assert_eq!(timers.take_due(Millis(29)), None);
        timers.cancel(&Timer::Join);
        assert_eq!(timers.next(), None);
    }
}
