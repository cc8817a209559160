//! Every configuration key once: name, type, default, range, whether it changes while running, and its documentation.
//!
//! [`BrokerConfig`] and [`TopicConfig`] are generated from one table each (`broker.rs`, `topic.rs`); the parser, the
//! checks, the printed reference ([`reference()`]) and the answers to DescribeConfigs all come from these tables.
//! Names and defaults are Kafka's; keys of our own begin with `ottla.`. Reading is [`load`]: a `server.properties` text
//! and `key=value` pairs in, a configuration with warnings or all its mistakes with their places out.

mod broker;
mod check;
mod error;
mod key;
mod known;
mod listener;
mod live;
mod load;
mod properties;
mod reference;
mod topic;
mod value;

pub use broker::BrokerConfig;
pub use error::{ConfigError, ConfigErrors, Place, Problem, Warning};
pub use key::{Key, Kind, Update, Valid};
pub use listener::{Listener, SecurityProtocol};
pub use live::{DynamicScope, LiveConfig, Source};
pub use load::{Loaded, Origin, load};
pub use properties::{Property, parse_properties};
pub use reference::reference;
pub use topic::{TopicConfig, TopicKey};
pub use value::{CleanupPolicy, CompressionType, TimestampType, Value};
