//! SaslAuthenticate: carries a step of authentication.

use bytes::Bytes;

use super::declare::declare;

declare! {
    SaslAuthenticateRequest: request SaslAuthenticate -> SaslAuthenticateResponse, versions 0..=2, flexible 2;
    struct SaslAuthenticateRequest {
        auth_bytes: Bytes [0..=2],
    }
}

declare! {
    SaslAuthenticateResponse: response, versions 0..=2, flexible 2;
    struct SaslAuthenticateResponse {
        error_code: i16 [0..=2],
        error_message: Option<String> [0..=2 null 0] = Some(String::new()),
        auth_bytes: Bytes [0..=2],
        session_lifetime_ms: i64 [1..=2 ignorable],
    }
}
