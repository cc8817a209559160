//! The driver: sockets, clock, threads. It reads frames, steps the machine and performs its effects; it knows no
//! rule of the protocol beyond framing.
//!
//! ```text
//!  listener ──► connection task ──frame──► driver ──step──► machine
//!                     ▲                      │ effects
//!                     └────── outbox ◄───────┤
//!                                            └──► committer ──► journal (write, fdatasync) ──► Durable(zxid)
//! ```
//!
//! One thread runs everything but the disk. Writes of all connections that arrive while the disk is busy go to it
//! together (group commit); a reply leaves its outbox when its zxid is durable, and replies of one connection never
//! overtake each other.
//!
//! | queue | bounded by | when full |
//! |---|---|---|
//! | outbox, replies | [`Config::max_outstanding_requests`](crate::Config) | its connection is not read |
//! | outbox, bytes | [`Config::max_unsent_bytes`](crate::Config) | its connection is closed |
//! | transactions on their way to the disk | requests outstanding over all connections | no connection is read |
//! | half frames | [`Config::max_frame_bytes`](crate::Config) each | the connection is closed |

mod builder;
mod committer;
mod connection;
mod driver;
mod error;
mod frames;
mod handle;
mod listener;
mod outbox;
mod running;
mod ticker;

pub use builder::Builder;
pub use error::Error;
pub use handle::Server;
