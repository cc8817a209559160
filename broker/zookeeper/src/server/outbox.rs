//! What is to be sent to one connection, in order, and what must be durable before.

use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use tokio::sync::Notify;

use crate::machine::When;
use crate::types::{Millis, Zxid};

/// Whether a frame answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Event,
    Reply { received_ms: Millis },
}

#[derive(Debug)]
struct Held {
    after: Zxid,
    kind: Kind,
    frame: Bytes,
}

/// The frames of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    held: VecDeque<Held>,
    ready: VecDeque<Bytes>,
    bytes: usize,
    outstanding: usize,
    closing: Option<When>,
    /// Wakes the connection's task.
    pub(super) wake: Rc<Notify>,
}

impl Outbox {
    pub(super) fn push(&mut self, frame: Bytes, after: Zxid, kind: Kind) {
        self.bytes = self.bytes.saturating_add(frame.len());
        if matches!(kind, Kind::Reply { .. }) {
            self.outstanding = self.outstanding.saturating_add(1);
        }
        self.held.push_back(Held { after, kind, frame });
    }

    /// Releases, in order, what waits for nothing any more, and tells of each frame.
    pub(super) fn release(&mut self, durable: Zxid, mut released: impl FnMut(Kind, &Bytes)) {
        while let Some(held) = self.held.pop_front_if(|held| held.after <= durable) {
            if matches!(held.kind, Kind::Reply { .. }) {
                self.outstanding = self.outstanding.saturating_sub(1);
            }
            released(held.kind, &held.frame);
            self.ready.push_back(held.frame);
        }
    }

    /// Tells whether anything waits for the disk.
    pub(super) fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// Requests whose reply is not released.
    pub(super) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Bytes that are not sent.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn ready(&self) -> impl Iterator<Item = &Bytes> {
        self.ready.iter()
    }

    /// Takes off what was written.
    pub(super) fn advance(&mut self, mut written: usize) {
        self.bytes = self.bytes.saturating_sub(written);
        while let Some(front) = self.ready.front_mut() {
            if front.len() > written {
                let _sent = front.split_to(written);
                return;
            }
            written = written.saturating_sub(front.len());
            self.ready.pop_front();
        }
    }

    pub(super) fn close(&mut self, when: When) {
        self.closing = Some(when);
    }

    pub(super) fn closing(&self) -> Option<When> {
        self.closing
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.ready.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_and_not_before_they_are_durable() {
        let mut outbox = Outbox::default();
        let reply = Kind::Reply { received_ms: 0 };
        outbox.push(Bytes::from_static(b"w5"), Zxid(5), reply);
        outbox.push(Bytes::from_static(b"r0"), Zxid(0), reply);
        outbox.push(Bytes::from_static(b"e6"), Zxid(6), Kind::Event);
        outbox.release(Zxid(4), |_, _| panic!("too early"));
        assert_eq!((outbox.outstanding(), outbox.bytes(), outbox.is_waiting()), (2, 6, true));
        let mut released = Vec::new();
        outbox.release(Zxid(5), |_, frame| released.push(frame.clone()));
        assert_eq!(released, [&b"w5"[..], b"r0"]);
        assert_eq!((outbox.outstanding(), outbox.is_waiting()), (0, true));
        outbox.advance(3);
        assert_eq!(outbox.ready().next().unwrap(), &b"0"[..]);
        outbox.release(Zxid(6), |_, _| {});
        outbox.advance(3);
        assert!(outbox.is_empty() && outbox.bytes() == 0);
    }
}
