//! DescribeUserScramCredentials: tells which SCRAM credentials users have.

use super::declare::declare;

declare! {
    DescribeUserScramCredentialsRequest: request DescribeUserScramCredentials -> DescribeUserScramCredentialsResponse, versions 0..=0, flexible 0;
    struct DescribeUserScramCredentialsRequest {
        users: Option<Vec<UserName>> [0..=0 null 0] = Some(Vec::new()),
    }
    struct UserName {
        name: String [0..=0],
    }
}

declare! {
    DescribeUserScramCredentialsResponse: response, versions 0..=0, flexible 0;
    struct DescribeUserScramCredentialsResponse {
        throttle_time_ms: i32 [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
        results: Vec<DescribeUserScramCredentialsResult> [0..=0],
    }
    struct DescribeUserScramCredentialsResult {
        user: String [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
        credential_infos: Vec<CredentialInfo> [0..=0],
    }
    struct CredentialInfo {
        mechanism: i8 [0..=0],
        iterations: i32 [0..=0],
    }
}
