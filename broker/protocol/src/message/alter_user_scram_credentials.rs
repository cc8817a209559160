//! AlterUserScramCredentials: changes users' SCRAM credentials.

use bytes::Bytes;

use super::declare::declare;

declare! {
    AlterUserScramCredentialsRequest: request AlterUserScramCredentials -> AlterUserScramCredentialsResponse, versions 0..=0, flexible 0;
    struct AlterUserScramCredentialsRequest {
        deletions: Vec<ScramCredentialDeletion> [0..=0],
        upsertions: Vec<ScramCredentialUpsertion> [0..=0],
    }
    struct ScramCredentialDeletion {
        name: String [0..=0],
        mechanism: i8 [0..=0],
    }
    struct ScramCredentialUpsertion {
        name: String [0..=0],
        mechanism: i8 [0..=0],
        iterations: i32 [0..=0],
        salt: Bytes [0..=0],
        salted_password: Bytes [0..=0],
    }
}

declare! {
    AlterUserScramCredentialsResponse: response, versions 0..=0, flexible 0;
    struct AlterUserScramCredentialsResponse {
        throttle_time_ms: i32 [0..=0],
        results: Vec<AlterUserScramCredentialsResult> [0..=0],
    }
    struct AlterUserScramCredentialsResult {
        user: String [0..=0],
        error_code: i16 [0..=0],
        error_message: Option<String> [0..=0 null 0] = Some(String::new()),
    }
}
