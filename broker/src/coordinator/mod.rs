//! Coordinators: state machines whose memory is an internal topic.

pub mod group;
pub mod producer_ids;
