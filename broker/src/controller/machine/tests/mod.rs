//! Whole conversations: a small cluster that answers what the controller does, and what was said as a story.

mod alter_partition;
mod candidacy;
mod deletion;
mod failover;
mod promises;
mod reassignment;
mod requests;
mod world;
