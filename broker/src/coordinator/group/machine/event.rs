//! What a shard is told.

use std::sync::Arc;

use ottla_protocol::message::ErrorCode;

use super::names::{AppendId, ProducerId, RequestId};
use super::request::Request;

/// What a shard is told, one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A client asks; exactly one [`Effect::Reply`](super::Effect::Reply) will name the id.
    Request {
        /// Names the request.
        id: RequestId,
        /// What is asked.
        request: Request,
    },
    /// An append is in sync, or failed.
    AppendFinished {
        /// Which append.
        append: AppendId,
        /// The error of the log, if it failed.
        outcome: Result<(), ErrorCode>,
    },
    /// The marker that ends a producer's transaction in this partition is in the log.
    TransactionEnded {
        /// Whose transaction.
        producer_id: ProducerId,
        /// Whether it was committed.
        committed: bool,
    },
    /// Topics no longer exist: their offsets are of no use.
    TopicsDeleted {
        /// Their names.
        topics: Vec<Arc<str>>,
    },
    /// Everything that the log holds was replayed; the shard may work.
    Loaded,
    /// This broker no longer leads the partition.
    Resigned,
    /// Time has passed; owed by [`next_deadline`](super::Shard::next_deadline).
    Tick,
}
