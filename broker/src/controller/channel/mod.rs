//! The way to one broker: a queue, a connection, one request in flight.
//!
//! A command is sent again every 100 ms until it is answered or the broker is gone, and nothing overtakes it, so a
//! broker sees commands in the order they were decided. A slow or frozen broker delays only itself. When too much waits
//! for it, everything is dropped and the controller told to say it all again once the broker answers: commands carry
//! state, so the newest says everything.

mod encode;
mod queue;
mod task;

pub(super) use task::{Channel, ChannelEnds};
