//! A Kafka-compatible broker engine: staged network, segmented log, replication, controller and coordinators, in
//! Kafka's wire protocol, files and ZooKeeper layout.
//!
//! State machines (`controller::machine`, `replica::machine`, `coordinator::group::machine`, `zk::layout`, `metadata`)
//! are plain data with a step function; the drivers around them own every socket, file, clock and thread. Start
//! reading at [`types`], then `broker`.

pub mod types;
