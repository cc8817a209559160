//! SaslHandshake: chooses an authentication mechanism.

use super::declare::declare;

declare! {
    SaslHandshakeRequest: request SaslHandshake -> SaslHandshakeResponse, versions 0..=1;
    struct SaslHandshakeRequest {
        mechanism: String [0..=1],
    }
}

declare! {
    SaslHandshakeResponse: response, versions 0..=1;
    struct SaslHandshakeResponse {
        error_code: i16 [0..=1],
        mechanisms: Vec<String> [0..=1],
    }
}
