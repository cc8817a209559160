//! StopReplica: the controller takes partitions away from this broker.

use std::sync::Arc;

use ottla_protocol::message::stop_replica::StopReplicaPartitionError;
use ottla_protocol::message::{StopReplicaRequest, StopReplicaResponse};

use super::api::Api;
use super::call::Call;

pub(super) fn handle(api: &Arc<Api>, call: Call<StopReplicaRequest>) {
    let outcome = api.replicas.stop_replicas(&call.body);
    let errors = outcome.partitions.into_iter().map(|partition| StopReplicaPartitionError {
        topic_name: partition.id.topic.to_string(),
        partition_index: partition.id.partition,
        error_code: partition.error.code(),
        ..StopReplicaPartitionError::default()
    });
    call.reply.send(&StopReplicaResponse {
        error_code: outcome.error.code(),
        partition_errors: errors.collect(),
        ..StopReplicaResponse::default()
    });
}
