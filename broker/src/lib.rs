//! A Kafka-compatible broker engine.
