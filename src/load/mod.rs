//! Demo producers and consumers: something to watch before any program of the operator's own exists.
//!
//! A few topics with keyed records, and two consumer groups whose members come and go on request. Everything goes
//! through an ordinary Kafka client over ordinary connections; the broker cannot tell it from a user's program.

mod demo;
mod member;
mod plan;
mod producer;
mod topics;

pub use demo::{Demo, DemoOptions, DemoStatus, GroupStatus, Order};
pub use plan::{DemoGroup, DemoTopic, GROUPS, TOPICS};
