//! What waits for one broker.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::controller::machine::Command;
use crate::types::BrokerEpoch;

/// How many commands may wait; with more, the broker is so far behind that telling it everything anew is less.
const COMMANDS_MAX: usize = 1000;

/// A command, addressed to one registration of the broker.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Addressed {
    pub(super) epoch: BrokerEpoch,
    pub(super) command: Command,
}

/// What comes out of a queue.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Command(Addressed),
    /// Commands were dropped before this point.
    Overflowed,
}

/// A bounded queue that forgets everything when it is full, and says so.
#[derive(Debug, Default)]
pub(super) struct CommandQueue {
    state: Mutex<State>,
    pushed: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Addressed>,
    overflowed: bool,
}

impl CommandQueue {
    /// Adds a command; while the queue is overflowed it is dropped, for everything will be said anew.
    pub(super) fn push(&self, command: Addressed) {
        let mut state = self.lock();
        if state.waiting.len() >= COMMANDS_MAX {
            state.waiting.clear();
            state.overflowed = true;
        }
        if !state.overflowed {
            state.waiting.push_back(command);
        }
        drop(state);
        self.pushed.notify_one();
    }

    /// Waits for what comes next; cancelling it loses nothing.
    pub(super) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.pushed.notified().await;
        }
    }

    fn take(&self) -> Option<Next> {
        let mut state = self.lock();
        if let Some(command) = state.waiting.pop_front() {
            return Some(Next::Command(command));
        }
        std::mem::take(&mut state.overflowed).then_some(Next::Overflowed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(epoch: i64) -> Addressed {
        Addressed { epoch: BrokerEpoch(epoch), command: Command::StopReplica { partitions: Vec::new() } }
    }

    #[tokio::test]
    async fn commands_come_out_in_order() {
        let queue = CommandQueue::default();
        queue.push(stop(1));
        queue.push(stop(2));
        assert_eq!(queue.next().await, Next::Command(stop(1)));
        queue.push(stop(3));
        assert_eq!(queue.next().await, Next::Command(stop(2)));
        assert_eq!(queue.next().await, Next::Command(stop(3)));
    }

    #[tokio::test]
    async fn too_many_are_forgotten_and_that_is_said_once() {
        let queue = CommandQueue::default();
        for epoch in 0..i64::try_from(COMMANDS_MAX).unwrap() {
            queue.push(stop(epoch));
        }
        assert_eq!(queue.next().await, Next::Command(stop(0)));
        queue.push(stop(-1));
        queue.push(stop(-2));
        queue.push(stop(-3));
        assert_eq!(queue.next().await, Next::Overflowed);
        queue.push(stop(7));
        assert_eq!(queue.next().await, Next::Command(stop(7)));
        assert!(queue.take().is_none());
    }
}
