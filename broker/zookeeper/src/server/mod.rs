//! The driver: sockets, clock, threads. It reads frames, steps the machine and performs its effects; it knows no
//! rule of the protocol beyond framing.
//!
//! ```text
//!  accept ──► connection task ──frame──► driver ──step──► machine
//!                  ▲                       │ effects
//!                  └──── outbox ◄──────────┤
//!                                          └──► committer ──► log thread (write, fdatasync) ──► Durable(zxid)
//! ```
//!
//! One thread runs everything but the disk. Writes of all connections that arrive while the disk is busy go to it
//! together (group commit); a reply leaves its outbox when its zxid is durable, and replies of one connection never
//! overtake each other. Start reading at `driver`.

mod handle;
mod listener;

pub use handle::Server;
