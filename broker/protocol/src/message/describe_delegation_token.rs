//! DescribeDelegationToken: tells delegation tokens.

use bytes::Bytes;

use super::declare::declare;

declare! {
    DescribeDelegationTokenRequest: request DescribeDelegationToken -> DescribeDelegationTokenResponse, versions 0..=3, flexible 2;
    struct DescribeDelegationTokenRequest {
        owners: Option<Vec<DescribeDelegationTokenOwner>> [0..=3 null 0] = Some(Vec::new()),
    }
    struct DescribeDelegationTokenOwner {
        principal_type: String [0..=3],
        principal_name: String [0..=3],
    }
}

declare! {
    DescribeDelegationTokenResponse: response, versions 0..=3, flexible 2;
    struct DescribeDelegationTokenResponse {
        error_code: i16 [0..=3],
        tokens: Vec<DescribedDelegationToken> [0..=3],
        throttle_time_ms: i32 [0..=3],
    }
    struct DescribedDelegationToken {
        principal_type: String [0..=3],
        principal_name: String [0..=3],
        token_requester_principal_type: String [3..=3],
        token_requester_principal_name: String [3..=3],
        issue_timestamp: i64 [0..=3],
        expiry_timestamp: i64 [0..=3],
        max_timestamp: i64 [0..=3],
        token_id: String [0..=3],
        hmac: Bytes [0..=3],
        renewers: Vec<DescribedDelegationTokenRenewer> [0..=3],
    }
    struct DescribedDelegationTokenRenewer {
        principal_type: String [0..=3],
        principal_name: String [0..=3],
    }
}
