//! UpdateFeatures: changes the cluster's feature levels.

use super::declare::declare;

declare! {
    UpdateFeaturesRequest: request UpdateFeatures -> UpdateFeaturesResponse, versions 0..=1, flexible 0;
    struct UpdateFeaturesRequest {
        timeout_ms: i32 [0..=1] = 60000,
        feature_updates: Vec<FeatureUpdateKey> [0..=1],
        validate_only: bool [1..=1],
    }
    struct FeatureUpdateKey {
        feature: String [0..=1],
        max_version_level: i16 [0..=1],
        allow_downgrade: bool [0..=0],
        upgrade_type: i8 [1..=1] = 1,
    }
}

declare! {
    UpdateFeaturesResponse: response, versions 0..=1, flexible 0;
    struct UpdateFeaturesResponse {
        throttle_time_ms: i32 [0..=1],
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0] = Some(String::new()),
        results: Vec<UpdatableFeatureResult> [0..=1 ignorable],
    }
    struct UpdatableFeatureResult {
        feature: String [0..=1],
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0] = Some(String::new()),
    }
}
