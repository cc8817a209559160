//! DescribeCluster: tells which brokers there are.

use super::declare::declare;

declare! {
    DescribeClusterRequest: request DescribeCluster -> DescribeClusterResponse, versions 0..=1, flexible 0;
    struct DescribeClusterRequest {
        include_cluster_authorized_operations: bool [0..=1],
        endpoint_type: i8 [1..=1] = 1,
    }
}

declare! {
    DescribeClusterResponse: response, versions 0..=1, flexible 0;
    struct DescribeClusterResponse {
        throttle_time_ms: i32 [0..=1],
        error_code: i16 [0..=1],
        error_message: Option<String> [0..=1 null 0],
        endpoint_type: i8 [1..=1] = 1,
        cluster_id: String [0..=1],
        controller_id: i32 [0..=1] = -1,
        brokers: Vec<DescribeClusterBroker> [0..=1],
        cluster_authorized_operations: i32 [0..=1] = -2_147_483_648,
    }
    struct DescribeClusterBroker {
        broker_id: i32 [0..=1],
        host: String [0..=1],
        port: i32 [0..=1],
        rack: Option<String> [0..=1 null 0],
    }
}
