//! The task around the machine: it reads, calls `step`, performs, reports, and decides nothing.
//!
//! Everything slow is a task of its own (a write, a read, a watch, a channel), and all of them report into one bounded
//! queue. The end of a session goes before everything that waits in it.

mod campaign;
mod load;
mod office;
mod run;
mod watches;
mod write;

pub(super) use run::{DriverParts, run};
