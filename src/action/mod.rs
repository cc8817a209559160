//! What can be done: consequence, guard, confirmation. Makes commands.
//!
//! A [`Command`] says what must be done and nothing about how; the effects do it and answer with updates that carry
//! the same id. Whether it may be done, and what it will cost, is told before it happens: [`plan`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod command;
mod plan;
mod topic_name;

pub use command::{BrokerOrder, Command, Issued, LoadOrder};
pub use plan::{Confirmation, Plan, Refusal, leadership_candidates, plan};
pub use topic_name::check_topic_name;
