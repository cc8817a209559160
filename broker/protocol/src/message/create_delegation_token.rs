//! CreateDelegationToken: makes a delegation token.

use bytes::Bytes;

use super::declare::declare;

declare! {
    CreateDelegationTokenRequest: request CreateDelegationToken -> CreateDelegationTokenResponse, versions 0..=3, flexible 2;
    struct CreateDelegationTokenRequest {
        owner_principal_type: Option<String> [3..=3 null 3] = Some(String::new()),
        owner_principal_name: Option<String> [3..=3 null 3] = Some(String::new()),
        renewers: Vec<CreatableRenewers> [0..=3],
        max_lifetime_ms: i64 [0..=3],
    }
    struct CreatableRenewers {
        principal_type: String [0..=3],
        principal_name: String [0..=3],
    }
}

declare! {
    CreateDelegationTokenResponse: response, versions 0..=3, flexible 2;
    struct CreateDelegationTokenResponse {
        error_code: i16 [0..=3],
        principal_type: String [0..=3],
        principal_name: String [0..=3],
        token_requester_principal_type: String [3..=3],
        token_requester_principal_name: String [3..=3],
        issue_timestamp_ms: i64 [0..=3],
        expiry_timestamp_ms: i64 [0..=3],
        max_timestamp_ms: i64 [0..=3],
        token_id: String [0..=3],
        hmac: Bytes [0..=3],
        throttle_time_ms: i32 [0..=3],
    }
}
