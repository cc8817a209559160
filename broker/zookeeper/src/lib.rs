//! A small durable ZooKeeper-protocol server.
