//! This broker as a member of its cluster: who it is, how it says so, how it leaves.
//!
//! [`identity`] finds the ids, [`advertise`] what is said about the listeners, [`Membership`] keeps the registration alive
//! over sessions, [`log_options`] and [`Changes`] carry settings to those who act on them, and [`leave`] hands the
//! leaderships over before a stop.

mod advertise;
mod auto_topics;
mod changes;
mod error;
mod identity;
mod leave;
mod log_options;
mod membership;

pub(crate) use advertise::registration;
pub(crate) use auto_topics::AutoTopics;
pub(crate) use changes::Changes;
pub use error::StartError;
pub(crate) use identity::{broker_id, cluster_id};
pub(crate) use leave::leave;
pub(crate) use log_options::log_options;
pub(crate) use membership::Membership;
