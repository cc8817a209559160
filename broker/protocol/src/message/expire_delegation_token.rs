//! ExpireDelegationToken: shortens the life of a delegation token.

use bytes::Bytes;

use super::declare::declare;

declare! {
    ExpireDelegationTokenRequest: request ExpireDelegationToken -> ExpireDelegationTokenResponse, versions 0..=2, flexible 2;
    struct ExpireDelegationTokenRequest {
        hmac: Bytes [0..=2],
        expiry_time_period_ms: i64 [0..=2],
    }
}

declare! {
    ExpireDelegationTokenResponse: response, versions 0..=2, flexible 2;
    struct ExpireDelegationTokenResponse {
        error_code: i16 [0..=2],
        expiry_timestamp_ms: i64 [0..=2],
        throttle_time_ms: i32 [0..=2],
    }
}
