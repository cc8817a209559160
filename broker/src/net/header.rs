//! Reading a request's header.

use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::{ApiKey, decode_request_header};
use ottla_protocol::wire::Reader;

use super::metrics::{KindMetrics, NetMetrics, Rejected};
use super::request::{ConnectionInfo, Request};

/// Reads the header of `frame`, and finds the metrics of its kind.
///
/// A key or version that is not known ends the connection, since no answer to it has a form. The one exception is
/// ApiVersions: how its unknown versions are answered is known (KIP-511).
pub(crate) fn read_request(
    frame: Bytes,
    connection: &Arc<ConnectionInfo>,
    metrics: &NetMetrics,
) -> Result<(Request, Arc<KindMetrics>), (Rejected, String)> {
    let mut reader = Reader::new("request", frame);
    let header =
        decode_request_header(&mut reader).map_err(|error| (Rejected::Header, format!("header: {error}")))?;
    let api = ApiKey::from_number(header.api_key);
    let known = api.filter(|api| *api == ApiKey::ApiVersions || api.versions().contains(&header.api_version));
    let Some(api) = known else {
        let text = format!("no API has key {} and version {}", header.api_key, header.api_version);
        return Err((Rejected::Api, text));
    };
    let request = Request {
        api,
        version: header.api_version,
        correlation_id: header.correlation_id,
        client_id: Arc::from(header.client_id.unwrap_or_default()),
        body: reader.rest(),
        connection: Arc::clone(connection),
    };
    Ok((request, metrics.kind(api.name())))
}
