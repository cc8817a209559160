//! DescribeAcls: tells access rules.

use super::declare::declare;

declare! {
    DescribeAclsRequest: request DescribeAcls -> DescribeAclsResponse, versions 0..=3, flexible 2;
    struct DescribeAclsRequest {
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
    DescribeAclsResponse: response, versions 0..=3, flexible 2;
    struct DescribeAclsResponse {
        throttle_time_ms: i32 [0..=3],
        error_code: i16 [0..=3],
        error_message: Option<String> [0..=3 null 0] = Some(String::new()),
        resources: Vec<DescribeAclsResource> [0..=3],
    }
    struct DescribeAclsResource {
        resource_type: i8 [0..=3],
        resource_name: String [0..=3],
        pattern_type: i8 [1..=3] = 3,
        acls: Vec<AclDescription> [0..=3],
    }
    struct AclDescription {
        principal: String [0..=3],
        host: String [0..=3],
        operation: i8 [0..=3],
        permission_type: i8 [0..=3],
    }
}
