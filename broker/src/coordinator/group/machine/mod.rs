//! The rules of groups, as a machine: what a coordinator decides, without sockets, files, clocks or threads.
//!
//! A [`Shard`] holds the groups of one partition of `__consumer_offsets`. It *decides, then applies*: a request that
//! must be remembered yields [`Effect::Append`]; when its records are in sync ([`Event::AppendFinished`]) they are
//! replayed, by the same code that replays the log after a failover, and only then is anybody answered. What is not
//! remembered, such as who has joined so far, changes at once: a new coordinator starts over with it.
//!
//! ```text
//!   request ──► decide ──► Append(records) ··· log ··· AppendFinished ──► replay(record) ──► Reply
//!                  └──► Reply (nothing to remember)                           ▲
//!                                       log, after a failover ────────────────┘
//! ```
//!
//! Start reading at [`step`](Shard::step), which hands each event to one duty: `join`, `static_member`, `rebalance`,
//! `sync`, `heartbeat`, `leave`, `commit`, `fetch`, `expiry`, `removal`, `describe`, `load`. The rules are those of
//! Kafka's classic coordinator (`kafka.coordinator.group.GroupCoordinator`).
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod admission;
mod append_error;
mod appends;
mod commit;
mod config;
mod context;
mod describe;
mod durable;
mod effect;
mod event;
mod expiry;
mod fetch;
mod group;
mod heartbeat;
mod join;
mod leave;
mod load;
mod member;
mod member_ids;
mod members;
mod names;
mod pending_commits;
mod rebalance;
mod record;
mod removal;
mod reply;
mod request;
mod shard;
mod state;
mod static_member;
mod step;
mod subscription;
mod sync;
#[cfg(test)]
mod tests;
mod time;
mod timers;

pub use admission::{Standing, refusal, refuse};
pub use config::Config;
pub use effect::{After, Effect, Reason, Report};
pub use event::Event;
pub use names::{AppendId, Generation, GroupId, InstanceId, MemberId, ProducerId, RequestId};
pub use ottla_protocol::message::ErrorCode;
pub use record::{CommittedOffset, GroupMetadata, MemberMetadata, Record};
pub use reply::{
    CommitReply, DeleteGroupReply, DeleteOffsetsReply, DescribeReply, DescribedMember, FetchReply,
    FetchedOffset, HeartbeatReply, JoinReply, JoinedMember, LeaveReply, ListReply, ListedGroup, Reply,
    SyncReply,
};
pub use request::{
    CommitRequest, DeleteGroupRequest, DeleteOffsetsRequest, DescribeRequest, FetchRequest, GroupRequest,
    HeartbeatRequest, JoinRequest, LeaveRequest, LeavingMember, ListRequest, OffsetToCommit, Protocol,
    Request, SyncRequest, Transaction,
};
pub use shard::Shard;
pub use state::State;
pub use time::Now;
