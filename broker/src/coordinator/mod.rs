//! Coordinators: state machines whose memory is an internal topic.

pub mod group;
