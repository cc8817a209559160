//! ApiVersions: tells which requests a broker understands.

use super::declare::declare;

declare! {
    ApiVersionsRequest: request ApiVersions -> ApiVersionsResponse, versions 0..=4, flexible 3;
    struct ApiVersionsRequest {
        client_software_name: String [3..=4 ignorable],
        client_software_version: String [3..=4 ignorable],
    }
}

declare! {
    ApiVersionsResponse: response, versions 0..=4, flexible 3;
    struct ApiVersionsResponse {
        error_code: i16 [0..=4],
        api_keys: Vec<ApiVersion> [0..=4],
        throttle_time_ms: i32 [1..=4 ignorable],
        supported_features: Vec<SupportedFeatureKey> [3..=4 tag 0 ignorable],
        finalized_features_epoch: i64 [3..=4 tag 1 ignorable] = -1,
        finalized_features: Vec<FinalizedFeatureKey> [3..=4 tag 2 ignorable],
        zk_migration_ready: bool [3..=4 tag 3 ignorable],
    }
    struct ApiVersion {
        api_key: i16 [0..=4],
        min_version: i16 [0..=4],
        max_version: i16 [0..=4],
    }
    struct SupportedFeatureKey {
        name: String [3..=4],
        min_version: i16 [3..=4],
        max_version: i16 [3..=4],
    }
    struct FinalizedFeatureKey {
        name: String [3..=4],
        max_version_level: i16 [3..=4],
        min_version_level: i16 [3..=4],
    }
}
