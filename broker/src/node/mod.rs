//! This broker as a member of its cluster: how it starts, who it is, how it says so, how it leaves.
//!
//! [`Start`] takes the steps of a start in order; `wiring` makes the parts. `identity` finds the ids, `advertise` what is
//! said about the listeners, [`Membership`] registers and tells the supervisor, `log_options` and `changes` carry settings
//! to those who act on them, `auto_topics` makes topics that clients ask for, and [`leave`] hands the leaderships over
//! before a stop.

mod advertise;
mod auto_topics;
mod changes;
mod controller_metrics;
mod directory_failures;
mod ended;
mod error;
mod identity;
mod leave;
mod log_options;
mod membership;
mod start;
mod wiring;

pub use ended::Ending;
pub use error::StartError;
pub(crate) use leave::leave;
pub use start::BrokerOptions;
pub(crate) use start::{Parts, Start};
