//! Keeps the processes of a local cluster: what should run, what does, and how to get there.
//!
//! ```text
//!  command line, console ──Ask──► machine (pure) ──Effect──► driver ──► spawn, signal, watch, say farewell
//!                                    ▲                        │
//!                                    └───────── Event ◄───────┘
//! ```
//! The machine decides; the driver owns processes, files and clocks. Nothing here reads Kafka: whether a cluster is
//! healthy is the model's business, whether its processes run is this folder's.
//!
//! Every process outlives the one that started it. It is found again by its pid file, which names the process by pid
//! and start time, so that a reused pid is never mistaken for ours.

mod data_dir;
mod driver;
mod farewell;
mod layout;
mod living;
mod lock;
pub mod machine;
mod ports;
pub mod process;
mod records;
mod spawn;
mod spec;

pub use data_dir::{Error as DataDirError, Opened, default_data_dir, find, open};
pub use driver::{Driver, DriverOptions, Said};
pub use layout::Layout;
pub use living::living_pid;
pub use machine::{Ask, Ending, Life, Notice, Role, Timing};
pub use records::{PidRecord, ZookeeperRecord, write as write_record};
pub use spec::{BrokerSpec, ClusterSpec, WishError, Wishes, ZookeeperSpec};
