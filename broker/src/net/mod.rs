//! The staged reactor: acceptor, processors, request channel, response queues.
//!
//! ```text
//!  acceptor ──connection──► processor ──request──► request channel ──► handler
//!                               ▲                                         │
//!                               └────────── mailbox ◄──response───────────┘
//! ```
//!
//! An acceptor hands connections to processors in turn. A processor owns its connections: each
//! cuts frames, puts one request into the [`RequestChannel`] and stays mute until its response has left. A
//! handler answers through a [`Responder`], from any thread, at any later time. Every queue is bounded: the channel by
//! `queued.max.requests`, a mailbox by the connections of its processor.
//!
//! Knows headers, not what a request means.

mod acceptor;
mod connection;
mod frame;
mod header;
mod limits;
mod mailbox;
mod metrics;
mod processor;
mod request;
mod request_channel;
mod response;
mod send;
mod server;

pub use metrics::{KindMetrics, NetMetrics, Rejected};
pub use request::{ConnectionInfo, Request, Stages, Timing};
pub use request_channel::{RequestChannel, Work};
pub use response::{Responder, Response};
pub use server::{BoundListener, NetError, Server};
