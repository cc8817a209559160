//! DescribeClientQuotas: tells clients' quotas.

use super::declare::declare;

declare! {
    DescribeClientQuotasRequest: request DescribeClientQuotas -> DescribeClientQuotasResponse, versions 0..=1, flexible 1;
    struct DescribeClientQuotasRequest {
        components: Vec<ComponentData> [0..=1],
        strict: bool [0..=1],
    }
    struct ComponentData {
        entity_type: String [0..=1],
        match_type: i8 [0..=1],
        r#match: Option<String> [0..=1 null 0] = Some(String::new()),
    }
}

declare! {
    DescribeClientQuotasResponse: response, versions 0..=1, flexible 1;
    struct DescribeClientQuotasResponse {
        throttle_time_ms: i32 [0..=1],
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0] = Some(String::new()),
        entries: Option<Vec<EntryData>> [0..=1 null 0] = Some(Vec::new()),
    }
    struct EntryData {
        entity: Vec<EntityData> [0..=1],
        values: Vec<ValueData> [0..=1],
    }
    struct EntityData {
        entity_type: String [0..=1],
        entity_name: Option<String> [0..=1 null 0] = Some(String::new()),
    }
    struct ValueData {
        key: String [0..=1],
        value: f64 [0..=1],
    }
}
