//! What can go wrong between two brokers.

use std::io;
use std::time::Duration;

use ottla_protocol::message::ApiKey;
use ottla_protocol::wire::{DecodeError, EncodeError};

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answers at the address.
    #[error("connect to {address}: {source}")]
    Connect {
        /// The address.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// It took too long.
    #[error("{operation} {address}: no answer within {after:?}")]
    Timeout {
        /// What was tried.
        operation: &'static str,
        /// The broker.
        address: String,
        /// How long it was tried.
        after: Duration,
    },
    /// The broker closed the connection.
    #[error("{address} closed the connection")]
    Closed {
        /// The broker.
        address: String,
    },
    /// Bytes could not be sent or read.
    #[error("{operation} {address}: {source}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The broker.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// The answer's length cannot be.
    #[error("{address} announced an answer of {length} bytes; at most {limit} are taken")]
    FrameLength {
        /// The broker.
        address: String,
        /// What it announced.
        length: i32,
        /// What is taken.
        limit: usize,
    },
    /// The answer belongs to another request.
    #[error("{address} answered request {received} instead of {expected}")]
    Correlation {
        /// The broker.
        address: String,
        /// The number of the request that was to be answered.
        expected: i32,
        /// The number in the answer.
        received: i32,
    },
    /// The answer cannot be read.
    #[error("answer of {address} to {api}: {source}")]
    Decode {
        /// The broker.
        address: String,
        /// What was asked.
        api: ApiKey,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// The request cannot be written in that version.
    #[error("encode {api} version {version}: {source}")]
    Encode {
        /// What was to be asked.
        api: ApiKey,
        /// In which version.
        version: i16,
        /// Why not.
        source: EncodeError,
    },
    /// The broker does not understand any version of the request that is spoken here.
    #[error("{address} does not understand {api}")]
    Unsupported {
        /// The broker.
        address: String,
        /// What was to be asked.
        api: ApiKey,
    },
    /// The broker refused to tell its versions.
    #[error("{address} answered ApiVersions with error {code}")]
    Refused {
        /// The broker.
        address: String,
        /// Kafka's error code.
        code: i16,
    },
    /// An earlier error left the connection in doubt.
    #[error("the connection to {address} broke earlier")]
    Broken {
        /// The broker.
        address: String,
    },
}

impl Error {
    /// Returns whether the connection can still be used.
    #[must_use]
    pub fn leaves_connection_usable(&self) -> bool {
        matches!(self, Self::Encode { .. } | Self::Unsupported { .. } | Self::Refused { .. })
    }
}
