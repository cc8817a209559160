//! One file per view: its state, its bindings, its drawing.
//!
//! ```text
//!  key ──► binding table ──► KeyAction ──► Console ──► the view ──► Reaction ──► plan ──► question ──► Command
//!  model ──► settle (sort, filter, when data changed) ──► draw(&self) into a buffer
//! ```
//! The [`Console`] holds one state per view and what lies above them: a question, the filter, a message. Drawing only
//! reads; what the order of rows is was decided when the data changed. A cursor is on a key (a partition, a group),
//! never on a row number.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod binding;
mod broker_facts;
mod broker_rows;
mod brokers;
mod chrome;
mod console;
mod dialog;
mod dispatch;
mod events;
mod filter;
mod groups;
mod key_action;
mod leadership;
mod manual;
mod mouse;
mod network;
mod overview;
mod pane;
mod partition_detail;
mod partitions;
mod reaction;
mod scene;
mod words;

pub use binding::{BINDINGS, Binding, Bindings, Place};
pub use console::{Console, Wish};
pub use dialog::Leave;
pub use key_action::{KeyAction, ViewId};
pub use manual::manual;
pub use mouse::Mouse;
