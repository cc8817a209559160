//! Counters, gauges and histograms under Kafka's names, and the page that prints them.
//!
//! A name is that of Kafka's MBean in small letters: `kafka.network:type=RequestChannel,name=RequestQueueSize` is
//! `kafka_network_requestchannel_requestqueuesize`, its other properties are labels. Updating never takes a lock; only
//! registering and printing do. Counters end in `_total`, times are histograms in milliseconds. Metrics that Kafka does
//! not have begin with `ottla_`.

mod counter;
mod histogram;
mod http;
mod registry;
mod text;
mod window;

pub use counter::{Counter, Gauge};
pub use histogram::{BUCKETS_MS, Histogram};
pub use http::serve;
pub use registry::{Metrics, Samples};
pub use window::{IdleMeter, WindowedMax, uptime};
