//! Kafka's messages and record formats.
