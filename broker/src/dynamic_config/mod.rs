//! Settings that change while brokers run: the nodes under `/config`, and who must hear of a change.
//!
//! Whoever changes a setting writes the entity's node and then a notification that names the entity. Every broker
//! watches the notifications and reads the entity's node again: a notification carries no values, so that missed,
//! doubled or late ones do no harm. Start reading at [`DynamicConfig`].

mod follow;
mod nodes;

pub use follow::{ConfigListener, DynamicConfig};
pub use nodes::{read, read_topics, write};
