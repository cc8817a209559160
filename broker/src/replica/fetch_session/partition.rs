//! One partition of a fetch, as asked and as answered.

use std::sync::Arc;

use uuid::Uuid;

use crate::types::{LeaderEpoch, Offset};

/// What a request calls a topic: by name up to version 12, by id from version 13 on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicKey {
    /// By name.
    Name(Arc<str>),
    /// By id.
    Id(Uuid),
}

/// Names a partition within a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchKey {
    /// The topic.
    pub topic: TopicKey,
    /// The partition's number.
    pub partition: i32,
}

/// What a client wants of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchPartition {
    /// What the request called it.
    pub key: FetchKey,
    /// The topic's name; `None` while its id is not known here.
    pub topic: Option<Arc<str>>,
    /// From where on.
    pub fetch_offset: Offset,
    /// The leader epoch the client knows, if it sent one.
    pub current_leader_epoch: Option<LeaderEpoch>,
    /// The epoch of the last record it has, if it sent one.
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// A follower's log start offset; −1 from consumers.
    pub log_start: Offset,
    /// At most so many bytes.
    pub max_bytes: i32,
}

/// What of an answer decides whether an incremental response has to contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerSummary {
    /// It carries records.
    pub has_records: bool,
    /// It carries an error, a divergence or another replica to read from.
    pub is_special: bool,
    /// The high watermark it tells.
    pub high_watermark: Offset,
    /// The log start offset it tells.
    pub log_start: Offset,
}
