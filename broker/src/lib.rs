//! A Kafka-compatible broker engine: staged network, segmented log, replication, controller and coordinators, in
//! Kafka's wire protocol, files and ZooKeeper layout.
//!
//! State machines (`controller::machine`, `replica::machine`, `coordinator::group::machine`, `zk::layout`, `metadata`)
//! are plain data with a step function; the drivers around them own every socket, file, clock and thread. Start
//! reading at [`types`], then `broker`.

mod broker;
pub mod client;
pub mod config;
pub mod controller;
pub mod coordinator;
pub mod disk;
pub mod dynamic_config;
pub mod handler;
pub mod log;
pub mod metadata;
pub mod metrics;
pub mod net;
mod node;
pub mod purgatory;
pub mod replica;
pub mod runtime_file;
pub mod types;
pub mod zk;

pub use broker::Broker;
pub use node::{BrokerOptions, Ending, StartError};
