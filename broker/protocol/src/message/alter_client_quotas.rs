//! AlterClientQuotas: changes clients' quotas.

use super::declare::declare;

declare! {
    AlterClientQuotasRequest: request AlterClientQuotas -> AlterClientQuotasResponse, versions 0..=1, flexible 1;
    struct AlterClientQuotasRequest {
        entries: Vec<EntryData> [0..=1],
        validate_only: bool [0..=1],
    }
    struct EntryData {
        entity: Vec<EntityData> [0..=1],
        ops: Vec<OpData> [0..=1],
    }
    struct EntityData {
        entity_type: String [0..=1],
        entity_name: Option<String> [0..=1 null 0] = Some(String::new()),
    }
    struct OpData {
        key: String [0..=1],
        value: f64 [0..=1],
        remove: bool [0..=1],
    }
}

declare! {
    AlterClientQuotasResponse: response, versions 0..=1, flexible 1;
    struct AlterClientQuotasResponse {
        throttle_time_ms: i32 [0..=1],
        entries: Vec<EntryDataResponse> [0..=1],
    }
    struct EntryDataResponse {
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0] = Some(String::new()),
        entity: Vec<EntityDataResponse> [0..=1],
    }
    struct EntityDataResponse {
        entity_type: String [0..=1],
        entity_name: Option<String> [0..=1 null 0] = Some(String::new()),
    }
}
