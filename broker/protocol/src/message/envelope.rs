//! Envelope: carries a request that a broker forwards for a client.

use bytes::Bytes;

use super::declare::declare;

declare! {
    EnvelopeRequest: request Envelope -> EnvelopeResponse, versions 0..=0, flexible 0;
    struct EnvelopeRequest {
        request_data: Bytes [0..=0],
        request_principal: Option<Bytes> [0..=0 null 0] = Some(Bytes::new()),
        client_host_address: Bytes [0..=0],
    }
}

declare! {
    EnvelopeResponse: response, versions 0..=0, flexible 0;
    struct EnvelopeResponse {
        response_data: Option<Bytes> [0..=0 null 0],
        error_code: i16 [0..=0],
    }
}
