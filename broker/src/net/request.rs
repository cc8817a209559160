//! A request as it comes off the wire: its header read, its body as bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use ottla_protocol::message::ApiKey;

/// A request that waits to be run.
#[derive(Debug)]
pub struct Request {
    /// Which API.
    pub api: ApiKey,
    /// Which version of it: one that is declared, but for ApiVersions, where it may be any.
    pub version: i16,
    /// The client's number for it; the answer carries it.
    pub correlation_id: i32,
    /// What the client calls itself; empty when it does not say.
    pub client_id: Arc<str>,
    /// What follows the header.
    pub body: Bytes,
    /// Where it came in.
    pub connection: Arc<ConnectionInfo>,
}

/// A connection, as requests see it.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    /// Its number in this broker.
    pub id: u64,
    /// The client's address.
    pub peer: SocketAddr,
    /// The listener it came in on.
    pub listener: Arc<str>,
}

impl ConnectionInfo {
    /// Returns the client's address as group descriptions show it: with a leading slash, as Java prints addresses.
    #[must_use]
    pub fn client_host(&self) -> String {
        format!("/{}", self.peer.ip())
    }
}

/// When a request passed each stage. Shared by those that handle it.
#[derive(Debug)]
pub struct Timing {
    /// When its last byte had arrived.
    received: Instant,
    /// Nanoseconds from there until a handler took it.
    taken: AtomicU64,
    /// Nanoseconds from there until the handler was done with it; 0 when it answered before that.
    left: AtomicU64,
}

/// The times of a request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stages {
    /// In the request channel.
    pub request_queue: Duration,
    /// In a handler.
    pub local: Duration,
    /// Waiting for something else: in a purgatory, for another broker.
    pub remote: Duration,
}

impl Timing {
    /// Begins at the moment the request had arrived.
    #[must_use]
    pub fn begin() -> Self {
        Self { received: Instant::now(), taken: AtomicU64::new(0), left: AtomicU64::new(0) }
    }

    /// A handler took the request.
    pub fn take(&self) {
        self.taken.store(self.elapsed_ns(), Ordering::Relaxed);
    }

    /// The handler turns to something else.
    pub fn leave(&self) {
        self.left.store(self.elapsed_ns(), Ordering::Relaxed);
    }

    /// Returns the time since the request had arrived.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.received.elapsed()
    }

    /// Returns the stages of a request whose answer was ready `ready` after it had arrived.
    #[must_use]
    pub fn stages(&self, ready: Duration) -> Stages {
        let taken = Duration::from_nanos(self.taken.load(Ordering::Relaxed)).min(ready);
        let left = match self.left.load(Ordering::Relaxed) {
            0 => ready,
            nanoseconds => Duration::from_nanos(nanoseconds).clamp(taken, ready),
        };
        Stages { request_queue: taken, local: left.saturating_sub(taken), remote: ready.saturating_sub(left) }
    }

    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.received.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(taken: u64, left: u64) -> Timing {
        let timing = Timing::begin();
        timing.taken.store(taken, Ordering::Relaxed);
        timing.left.store(left, Ordering::Relaxed);
        timing
    }

    #[test]
    fn stages_add_up_to_the_whole() {
        // taken, left, ready → queue, local, remote
        let cases = [(10, 30, 100, (10, 20, 70)), (10, 0, 40, (10, 30, 0)), (10, 90, 40, (10, 30, 0))];
        for (taken, left, ready, (queue, local, remote)) in cases {
            let stages = timing(taken, left).stages(Duration::from_nanos(ready));
            let expected = Stages {
                request_queue: Duration::from_nanos(queue),
                local: Duration::from_nanos(local),
                remote: Duration::from_nanos(remote),
            };
            assert_eq!(stages, expected);
        }
    }
}
