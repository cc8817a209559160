//! RenewDelegationToken: lengthens the life of a delegation token.

use bytes::Bytes;

use super::declare::declare;

declare! {
    RenewDelegationTokenRequest: request RenewDelegationToken -> RenewDelegationTokenResponse, versions 0..=2, flexible 2;
    struct RenewDelegationTokenRequest {
        hmac: Bytes [0..=2],
        renew_period_ms: i64 [0..=2],
    }
}

declare! {
    RenewDelegationTokenResponse: response, versions 0..=2, flexible 2;
    struct RenewDelegationTokenResponse {
        error_code: i16 [0..=2],
        expiry_timestamp_ms: i64 [0..=2],
        throttle_time_ms: i32 [0..=2],
    }
}
