//! The staged reactor: acceptor, processors, request channel, response queues.
//!
//! Knows headers, not what a request means.
