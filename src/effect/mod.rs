//! Does what a command says and reports what came of it.
//!
//! One file per family of command: processes go to the supervisor, topics and leaderships to the controller in Kafka's
//! protocol, the demo load to its own tasks. Every command ends in an update and in the audit log.

mod admin;
mod audit;
mod demo;
mod lives;
mod performer;
mod supervision;

pub use lives::{process_updates, profile};
pub use performer::{COMMANDS_MAX, Performer};
