//! What the server counts, for the administrator.

use crate::types::{Millis, Zxid};

/// Latencies of replies, from the request's arrival to the reply's release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Latency {
    /// Replies counted.
    pub(crate) count: u64,
    /// The sum of their latencies.
    pub(crate) total_ms: u64,
    /// The shortest.
    pub(crate) min_ms: u64,
    /// The longest.
    pub(crate) max_ms: u64,
    /// The last.
    pub(crate) last_ms: u64,
}

impl Latency {
    pub(crate) fn record(&mut self, latency_ms: Millis) {
        let latency_ms = latency_ms.max(0).unsigned_abs();
        self.min_ms = if self.count == 0 { latency_ms } else { self.min_ms.min(latency_ms) };
        self.max_ms = self.max_ms.max(latency_ms);
        self.last_ms = latency_ms;
        self.total_ms = self.total_ms.saturating_add(latency_ms);
        self.count = self.count.saturating_add(1);
    }

    /// Returns the mean, 0 without replies.
    pub(crate) fn average_ms(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total_ms as f64 / self.count as f64 }
    }
}

/// Counters of the whole server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Frames and four-letter words that arrived.
    pub(crate) packets_received: u64,
    /// Replies and events released.
    pub(crate) packets_sent: u64,
    /// Bytes that arrived.
    pub(crate) bytes_received: u64,
    /// Bytes of replies and events released.
    pub(crate) bytes_sent: u64,
    /// Latencies of replies.
    pub(crate) latency: Latency,
    /// Connections accepted.
    pub(crate) connections_accepted: u64,
    /// Connections refused because there were too many.
    pub(crate) connections_rejected: u64,
    /// Connections ended, by either side.
    pub(crate) connections_dropped: u64,
    /// Frames that were longer than allowed.
    pub(crate) large_requests_rejected: u64,
    /// Connections that did not say within their time which session they want.
    pub(crate) sessionless_connections_expired: u64,
    /// Connections closed because their client did not read.
    pub(crate) slow_connections_closed: u64,
    /// How often reading stopped because too many requests were waiting for their reply.
    pub(crate) request_throttle_wait_count: u64,
    /// Transactions brought to the disk.
    pub(crate) commit_count: u64,
    /// Batches in which they went.
    pub(crate) commit_batches: u64,
    /// How often the log could not be written and was tried again.
    pub(crate) commit_failures: u64,
    /// How long the disk took for a batch.
    pub(crate) sync_latency: Latency,
}

/// Counters of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionStatistics {
    /// When it was accepted, since the Unix epoch.
    pub(crate) established_wall_ms: Millis,
    /// Frames that arrived.
    pub(crate) packets_received: u64,
    /// Replies and events released.
    pub(crate) packets_sent: u64,
    /// The operation of the last request.
    pub(crate) last_op: i32,
    /// The number of the last request.
    pub(crate) last_xid: i32,
    /// The transaction in the header of the last reply.
    pub(crate) last_zxid: Zxid,
    /// When the last reply was released, on the clock that only goes forward.
    pub(crate) last_response_ms: Millis,
    /// Latencies of replies.
    pub(crate) latency: Latency,
}

impl ConnectionStatistics {
    pub(crate) fn new(established_wall_ms: Millis) -> Self {
        ConnectionStatistics {
            established_wall_ms,
            packets_received: 0,
            packets_sent: 0,
            last_op: 0,
            last_xid: 0,
            last_zxid: Zxid::NONE,
            last_response_ms: 0,
            latency: Latency::default(),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.packets_received = 0;
        self.packets_sent = 0;
        self.latency = Latency::default();
    }
}
