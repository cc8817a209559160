//! A partition as files: segments, their indexes, and what brings them back after a crash.
//!
//! Knows nothing of replication, requests or ZooKeeper.
