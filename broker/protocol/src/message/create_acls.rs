//! CreateAcls: adds access rules.

use super::declare::declare;

declare! {
    CreateAclsRequest: request CreateAcls -> CreateAclsResponse, versions 0..=3, flexible 2;
    struct CreateAclsRequest {
        creations: Vec<AclCreation> [0..=3],
    }
    struct AclCreation {
        resource_type: i8 [0..=3],
        resource_name: String [0..=3],
        resource_pattern_type: i8 [1..=3] = 3,
        principal: String [0..=3],
        host: String [0..=3],
        operation: i8 [0..=3],
        permission_type: i8 [0..=3],
    }
}

declare! {
    CreateAclsResponse: response, versions 0..=3, flexible 2;
    struct CreateAclsResponse {
        throttle_time_ms: i32 [0..=3],
        results: Vec<AclCreationResult> [0..=3],
    }
    struct AclCreationResult {
        error_code: i16 [0..=3],
        error_message: Option<String> [0..=3 null 0] = Some(String::new()),
    }
}
