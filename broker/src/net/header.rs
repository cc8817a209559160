//! Reading a request's header.

use std::sync::Arc;

use bytes::Bytes;

use super::metrics::{KindMetrics, NetMetrics, Rejected};
use super::request::{ConnectionInfo, Request};

/// Reads the header of `frame`, and finds the metrics of its kind.
pub(crate) fn read_request(
    frame: Bytes,
    connection: &Arc<ConnectionInfo>,
    metrics: &NetMetrics,
) -> Result<(Request, Arc<KindMetrics>), (Rejected, String)> {
    let short = || (Rejected::Header, "a header ends early".to_owned());
    let head = frame.first_chunk::<8>().ok_or_else(short)?;
    let [k0, k1, v0, v1, c0, c1, c2, c3] = *head;
    let request = Request {
        api_key: i16::from_be_bytes([k0, k1]),
        api_version: i16::from_be_bytes([v0, v1]),
        correlation_id: i32::from_be_bytes([c0, c1, c2, c3]),
        client_id: Arc::from(""),
        body: frame.slice(8..),
        connection: Arc::clone(connection),
    };
    Ok((request, metrics.kind("any")))
}
