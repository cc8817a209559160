//! ApiVersions: what this broker understands.

use std::sync::Arc;

use ottla_protocol::message::api_versions::ApiVersion;
use ottla_protocol::message::{ApiKey, ApiVersionsRequest, ApiVersionsResponse, ErrorCode};

use super::api::Api;
use super::call::{Call, respond_in};
use super::router::advertised;
use crate::net::Work;

pub(super) fn handle(_: &Arc<Api>, call: Call<ApiVersionsRequest>) {
    let named = is_software_name(&call.body.client_software_name)
        && is_software_name(&call.body.client_software_version);
    let response = if call.version >= 3 && !named {
        ApiVersionsResponse { error_code: ErrorCode::InvalidRequest.code(), ..ApiVersionsResponse::default() }
    } else {
        ApiVersionsResponse {
            api_keys: advertised().iter().map(|key| row(*key)).collect(),
            ..Default::default()
        }
    };
    call.reply.send(&response);
}

/// Answers a version that is not known: in version 0, naming the range of this very request (KIP-511). The rest of the
/// request is not read, since its form is not known.
pub(super) fn refuse_version(work: Work) {
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UnsupportedVersion.code(),
        api_keys: vec![row(ApiKey::ApiVersions)],
        ..ApiVersionsResponse::default()
    };
    let Work { request, responder } = work;
    respond_in(responder, ApiKey::ApiVersions, 0, request.correlation_id, &response);
}

fn row(api: ApiKey) -> ApiVersion {
    let versions = api.versions();
    ApiVersion {
        api_key: api.number(),
        min_version: *versions.start(),
        max_version: *versions.end(),
        ..ApiVersion::default()
    }
}

/// `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`, as KIP-511 has it.
fn is_software_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    let edges = [name.bytes().next(), name.bytes().last()];
    edges.iter().all(|edge| edge.is_some_and(|byte| byte.is_ascii_alphanumeric())) && name.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_names_are_held_to_their_pattern() {
        for name in ["librdkafka", "2.0.2", "a", "a-b.c"] {
            assert!(is_software_name(name), "{name}");
        }
        for name in ["", "-a", "a.", "a b", "ä"] {
            assert!(!is_software_name(name), "{name}");
        }
    }
}
