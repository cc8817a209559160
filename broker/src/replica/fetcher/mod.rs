//! Fetching from leaders: one thread for each leader and fetcher index.
//!
//! A thread owns one connection to its leader and a runtime of its own, so that a slow leader delays nobody else. It
//! asks the machines of its partitions where they stand, sends one fetch for all of them, and gives each its part of
//! the answer. It reacts at once when its partitions change: a fetch that waits at the leader is given up for it, since
//! what is new may be what a producer waits for. A leader that died is noticed when its connection breaks.
//!
//! [`Fetchers`] assigns partitions to threads; `thread` is the loop; `session` what the leader knows already (KIP-227);
//! `exchange` the messages; `apply` what an answer does to a partition.

mod apply;
mod assignment;
mod exchange;
mod fetchers;
mod session;
mod thread;

pub use fetchers::Fetchers;
