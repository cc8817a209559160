//! DeleteAcls: removes access rules.

use super::declare::declare;

declare! {
    DeleteAclsRequest: request DeleteAcls -> DeleteAclsResponse, versions 0..=3, flexible 2;
    struct DeleteAclsRequest {
        filters: Vec<DeleteAclsFilter> [0..=3],
    }
    struct DeleteAclsFilter {
        resource_type_filter: i8 [0..=3],
        resource_name_filter: Option<String> [0..=3 null 0] = Some(String::new()),
        pattern_type_filter: i8 [1..=3] = 3,
        principal_filter: Option<String> [0..=3 null 0] = Some(String::new()),
        host_filter: Option<String> [0..=3 null 0] = Some(String::new()),
        operation: i8 [0..=3],
        permission_type: i8 [0..=3],
    }
}

declare! {
    DeleteAclsResponse: response, versions 0..=3, flexible 2;
    struct DeleteAclsResponse {
        throttle_time_ms: i32 [0..=3],
        filter_results: Vec<DeleteAclsFilterResult> [0..=3],
    }
    struct DeleteAclsFilterResult {
        error_code: i16 [0..=3],
        error_message: Option<String> [0..=3 null 0] = Some(String::new()),
        matching_acls: Vec<DeleteAclsMatchingAcl> [0..=3],
    }
    struct DeleteAclsMatchingAcl {
        error_code: i16 [0..=3],
        error_message: Option<String> [0..=3 null 0] = Some(String::new()),
        resource_type: i8 [0..=3],
        resource_name: String [0..=3],
        pattern_type: i8 [1..=3] = 3,
        principal: String [0..=3],
        host: String [0..=3],
        operation: i8 [0..=3],
        permission_type: i8 [0..=3],
    }
}
