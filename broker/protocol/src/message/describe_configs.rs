//! DescribeConfigs: tells settings of topics and brokers.

use super::declare::declare;

declare! {
    DescribeConfigsRequest: request DescribeConfigs -> DescribeConfigsResponse, versions 0..=4, flexible 4;
    struct DescribeConfigsRequest {
        resources: Vec<DescribeConfigsResource> [0..=4],
        include_synonyms: bool [1..=4],
        include_documentation: bool [3..=4],
    }
    struct DescribeConfigsResource {
        resource_type: i8 [0..=4],
        resource_name: String [0..=4],
        configuration_keys: Option<Vec<String>> [0..=4 null 0] = Some(Vec::new()),
    }
}

declare! {
    DescribeConfigsResponse: response, versions 0..=4, flexible 4;
    struct DescribeConfigsResponse {
        throttle_time_ms: i32 [0..=4],
        results: Vec<DescribeConfigsResult> [0..=4],
    }
    struct DescribeConfigsResult {
        error_code: i16 [0..=4],
        error_message: Option<String> [0..=4 null 0] = Some(String::new()),
        resource_type: i8 [0..=4],
        resource_name: String [0..=4],
        configs: Vec<DescribeConfigsResourceResult> [0..=4],
    }
    struct DescribeConfigsResourceResult {
        name: String [0..=4],
        value: Option<String> [0..=4 null 0] = Some(String::new()),
        read_only: bool [0..=4],
        is_default: bool [0..=0],
        config_source: i8 [1..=4 ignorable] = -1,
        is_sensitive: bool [0..=4],
        synonyms: Vec<DescribeConfigsSynonym> [1..=4 ignorable],
        config_type: i8 [3..=4 ignorable],
        documentation: Option<String> [3..=4 null 0 ignorable] = Some(String::new()),
    }
    struct DescribeConfigsSynonym {
        name: String [1..=4],
        value: Option<String> [1..=4 null 0] = Some(String::new()),
        source: i8 [1..=4],
    }
}
