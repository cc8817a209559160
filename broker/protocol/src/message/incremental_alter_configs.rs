//! IncrementalAlterConfigs: changes single settings of topics and brokers.

use super::declare::declare;

declare! {
    IncrementalAlterConfigsRequest: request IncrementalAlterConfigs -> IncrementalAlterConfigsResponse, versions 0..=1, flexible 1;
    struct IncrementalAlterConfigsRequest {
        resources: Vec<AlterConfigsResource> [0..=1],
        validate_only: bool [0..=1],
    }
    struct AlterConfigsResource {
        resource_type: i8 [0..=1],
        resource_name: String [0..=1],
        configs: Vec<AlterableConfig> [0..=1],
    }
    struct AlterableConfig {
        name: String [0..=1],
        config_operation: i8 [0..=1],
        value: Option<String> [0..=1 null 0] = Some(String::new()),
    }
}

declare! {
    IncrementalAlterConfigsResponse: response, versions 0..=1, flexible 1;
    struct IncrementalAlterConfigsResponse {
        throttle_time_ms: i32 [0..=1],
        responses: Vec<AlterConfigsResourceResponse> [0..=1],
    }
    struct AlterConfigsResourceResponse {
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0] = Some(String::new()),
        resource_type: i8 [0..=1],
        resource_name: String [0..=1],
    }
}
