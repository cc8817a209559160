//! What other threads hand to a processor: new connections and responses.
//!
//! Both lie in one box that the processor empties at once. Only who puts something into an empty box wakes the
//! processor: a box that is not empty has a wake-up on its way.

use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::limits::Place;
use super::request::ConnectionInfo;
use super::response::Outgoing;
use crate::metrics::WindowedMax;

/// A connection that was accepted.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) stream: TcpStream,
    pub(crate) info: Arc<ConnectionInfo>,
    pub(crate) place: Place,
}

/// What a processor finds when it looks.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) accepted: Vec<Accepted>,
    pub(crate) responses: Vec<Outgoing>,
    pub(crate) stop: bool,
}

impl Contents {
    fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.responses.is_empty() && !self.stop
    }
}

/// A processor's box. Its response queue is bounded by the connections: each has one response at most.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    contents: Mutex<Contents>,
    arrived: Notify,
    depth: AtomicUsize,
    deepest: WindowedMax,
}

impl Mailbox {
    /// Hands over a connection.
    pub(crate) fn accept(&self, accepted: Accepted) {
        self.put(|contents| contents.accepted.push(accepted));
    }

    /// Hands over a response.
    pub(crate) fn respond(&self, outgoing: Outgoing) {
        let depth = self.put(|contents| contents.responses.push(outgoing));
        self.depth.store(depth, Ordering::Relaxed);
        self.deepest.note(depth);
    }

    /// Tells the processor to close everything and end.
    pub(crate) fn stop(&self) {
        self.put(|contents| contents.stop = true);
    }

    /// Waits until something is there and takes all of it; `contents` must be empty and keeps its memory.
    pub(crate) async fn take(&self, contents: &mut Contents) {
        loop {
            std::mem::swap(&mut *self.lock(), contents);
            self.depth.store(0, Ordering::Relaxed);
            if !contents.is_empty() {
                return;
            }
            self.arrived.notified().await;
        }
    }

    /// Returns how many responses wait.
    pub(crate) fn depth(&self) -> usize {
        self.depth.load(Ordering::Relaxed)
    }

    /// Returns the most responses that waited in the last minute.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest.value()
    }

    fn put(&self, put: impl FnOnce(&mut Contents)) -> usize {
        let mut contents = self.lock();
        let was_empty = contents.is_empty();
        put(&mut contents);
        let depth = contents.responses.len();
        drop(contents);
        if was_empty {
            self.arrived.notify_one();
        }
        depth
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
