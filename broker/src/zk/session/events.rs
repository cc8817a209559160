//! What subscribers hear about the session.

use tokio::sync::watch;

/// A change of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEvent {
    /// The connection stands again; the session is the same.
    Connected,
    /// The connection broke; the session may live on.
    Disconnected,
    /// The session is gone, and its ephemeral nodes with it.
    Expired,
    /// A new session stands; everything ephemeral and every watch must be made again.
    NewSession,
    /// The broker closed the session; nothing follows.
    Closed,
}

/// Where the session stands: its number, and what is the matter with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    /// Counts the sessions of this process.
    pub(super) generation: u64,
    pub(super) phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connected,
    Disconnected,
    Expired,
    Closed,
}

/// Hears every change of the session that still matters, in order.
///
/// Changes that follow each other faster than they are taken are folded, but a session's end is never skipped: whoever
/// sees [`SessionEvent::NewSession`] saw [`SessionEvent::Expired`] before.
#[derive(Debug)]
pub struct Subscription {
    receiver: watch::Receiver<Status>,
    told: Status,
}

impl Subscription {
    pub(super) fn new(mut receiver: watch::Receiver<Status>) -> Self {
        let told = *receiver.borrow_and_update();
        Self { receiver, told }
    }

    /// Waits for the next change; cancelling it loses nothing.
    pub async fn next(&mut self) -> SessionEvent {
        loop {
            let now = *self.receiver.borrow_and_update();
            if let Some(event) = next_event(&mut self.told, now) {
                return event;
            }
            if self.receiver.changed().await.is_err() {
                // The keeper is gone without a last word: the process is stopping.
                if self.told.phase == Phase::Closed {
                    std::future::pending::<()>().await;
                }
                self.told.phase = Phase::Closed;
                return SessionEvent::Closed;
            }
        }
    }
}

/// Returns the next step from what was told to what is, and takes it.
fn next_event(told: &mut Status, now: Status) -> Option<SessionEvent> {
    if *told == now {
        return None;
    }
    if told.generation != now.generation {
        if told.phase != Phase::Expired {
            told.phase = Phase::Expired;
            return Some(SessionEvent::Expired);
        }
        *told = Status { generation: now.generation, phase: Phase::Connected };
        return Some(SessionEvent::NewSession);
    }
    told.phase = now.phase;
    Some(match now.phase {
        Phase::Connected => SessionEvent::Connected,
        Phase::Disconnected => SessionEvent::Disconnected,
        Phase::Expired => SessionEvent::Expired,
        Phase::Closed => SessionEvent::Closed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(mut told: Status, now: Status) -> Vec<SessionEvent> {
        std::iter::from_fn(|| next_event(&mut told, now)).collect()
    }

    fn status(generation: u64, phase: Phase) -> Status {
        Status { generation, phase }
    }

    #[test]
    fn an_expiry_is_never_skipped() {
        use SessionEvent as Event;
        let cases: [(Status, Status, &[Event]); 7] = [
            (status(1, Phase::Connected), status(1, Phase::Connected), &[]),
            (status(1, Phase::Connected), status(1, Phase::Disconnected), &[Event::Disconnected]),
            (status(1, Phase::Disconnected), status(1, Phase::Expired), &[Event::Expired]),
            (status(1, Phase::Connected), status(2, Phase::Connected), &[Event::Expired, Event::NewSession]),
            (status(1, Phase::Expired), status(2, Phase::Connected), &[Event::NewSession]),
            (
                status(1, Phase::Disconnected),
                status(3, Phase::Disconnected),
                &[Event::Expired, Event::NewSession, Event::Disconnected],
            ),
            (
                status(1, Phase::Connected),
                status(2, Phase::Closed),
                &[Event::Expired, Event::NewSession, Event::Closed],
            ),
        ];
        for (told, now, expected) in cases {
            assert_eq!(events(told, now), expected, "{told:?} to {now:?}");
        }
    }
}
