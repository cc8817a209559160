//! DescribeCluster: the brokers, as the client can reach them.

use std::sync::Arc;

use ottla_protocol::message::describe_cluster::DescribeClusterBroker;
use ottla_protocol::message::{DescribeClusterRequest, DescribeClusterResponse, ErrorCode};

use super::api::Api;
use super::call::Call;

/// What brokers are asked about; controllers (2) are asked in clusters without ZooKeeper.
const BROKERS: i8 = 1;

pub(super) fn handle(api: &Arc<Api>, call: Call<DescribeClusterRequest>) {
    let Call { body, connection, reply, .. } = call;
    if body.endpoint_type != BROKERS {
        reply.send(&DescribeClusterResponse {
            error_code: ErrorCode::UnsupportedEndpointType.code(),
            error_message: Some("this cluster has no controllers of their own; ask for brokers".to_owned()),
            ..DescribeClusterResponse::default()
        });
        return;
    }
    let cluster = api.metadata.load();
    let brokers = cluster.brokers().values().filter_map(|broker| {
        let endpoint = broker.endpoint(&connection.listener)?;
        Some(DescribeClusterBroker {
            broker_id: broker.id.0,
            host: endpoint.host.clone(),
            port: i32::from(endpoint.port),
            rack: broker.rack.clone(),
            ..DescribeClusterBroker::default()
        })
    });
    let controller = cluster.controller.filter(|id| cluster.is_live(*id));
    reply.send(&DescribeClusterResponse {
        cluster_id: api.cluster_id.clone(),
        controller_id: controller.map_or(-1, |id| id.0),
        brokers: brokers.collect(),
        ..DescribeClusterResponse::default()
    });
}
