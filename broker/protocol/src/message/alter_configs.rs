//! AlterConfigs: replaces the settings of topics and brokers.

use super::declare::declare;

declare! {
    AlterConfigsRequest: request AlterConfigs -> AlterConfigsResponse, versions 0..=2, flexible 2;
    struct AlterConfigsRequest {
        resources: Vec<AlterConfigsResource> [0..=2],
        validate_only: bool [0..=2],
    }
    struct AlterConfigsResource {
        resource_type: i8 [0..=2],
        resource_name: String [0..=2],
        configs: Vec<AlterableConfig> [0..=2],
    }
    struct AlterableConfig {
        name: String [0..=2],
        value: Option<String> [0..=2 null 0] = Some(String::new()),
    }
}

declare! {
    AlterConfigsResponse: response, versions 0..=2, flexible 2;
    struct AlterConfigsResponse {
        throttle_time_ms: i32 [0..=2],
        responses: Vec<AlterConfigsResourceResponse> [0..=2],
    }
    struct AlterConfigsResourceResponse {
        error_code: i16 [0..=2],
        error_message: Option<String> [0..=2 null 0] = Some(String::new()),
        resource_type: i8 [0..=2],
        resource_name: String [0..=2],
    }
}
