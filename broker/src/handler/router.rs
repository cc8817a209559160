//! One match on the API key; what is routed is what is advertised.

use std::sync::Arc;

use ottla_protocol::message::ApiKey;

use super::api::Api;
use super::call::run;
use super::{
    allocate_producer_ids, alter_configs, alter_partition, alter_partition_reassignments, api_versions,
    controlled_shutdown, create_partitions, create_topics, delete_groups, delete_records, delete_topics,
    describe_cluster, describe_configs, describe_groups, describe_log_dirs, elect_leaders, fetch,
    find_coordinator, heartbeat, init_producer_id, join_group, leader_and_isr, leave_group, list_groups,
    list_offsets, list_partition_reassignments, metadata, offset_commit, offset_delete, offset_fetch,
    offset_for_leader_epoch, produce, sasl, stop_replica, sync_group, update_metadata,
};
use crate::net::{Rejected, Response, Work};

/// Makes the dispatcher and the list of what is advertised from one table.
macro_rules! routes {
    ($($key:ident => $handle:path,)+) => {
        /// Returns the APIs that this broker answers, in the versions that are declared for them.
        #[must_use]
        pub fn advertised() -> &'static [ApiKey] {
            const { &[$(ApiKey::$key,)+] }
        }

        /// Runs a request.
        pub fn dispatch(api: &Arc<Api>, work: Work) {
            match work.request.api {
                ApiKey::ApiVersions if !ApiKey::ApiVersions.versions().contains(&work.request.version) => {
                    api_versions::refuse_version(work);
                }
                $(ApiKey::$key => run(api, work, $handle),)+
                _ => refuse(api, work),
            }
        }
    };
}

routes! {
    Produce => produce::handle,
    Fetch => fetch::handle,
    ListOffsets => list_offsets::handle,
    Metadata => metadata::handle,
    LeaderAndIsr => leader_and_isr::handle,
    StopReplica => stop_replica::handle,
    UpdateMetadata => update_metadata::handle,
    ControlledShutdown => controlled_shutdown::handle,
    OffsetCommit => offset_commit::handle,
    OffsetFetch => offset_fetch::handle,
    FindCoordinator => find_coordinator::handle,
    JoinGroup => join_group::handle,
    Heartbeat => heartbeat::handle,
    LeaveGroup => leave_group::handle,
    SyncGroup => sync_group::handle,
    DescribeGroups => describe_groups::handle,
    ListGroups => list_groups::handle,
    SaslHandshake => sasl::handshake,
    ApiVersions => api_versions::handle,
    DeleteRecords => delete_records::handle,
    InitProducerId => init_producer_id::handle,
    OffsetForLeaderEpoch => offset_for_leader_epoch::handle,
    DescribeConfigs => describe_configs::handle,
    AlterConfigs => alter_configs::replace,
    DescribeLogDirs => describe_log_dirs::handle,
    SaslAuthenticate => sasl::authenticate,
    DeleteGroups => delete_groups::handle,
    CreateTopics => create_topics::handle,
    DeleteTopics => delete_topics::handle,
    CreatePartitions => create_partitions::handle,
    ElectLeaders => elect_leaders::handle,
    AlterPartitionReassignments => alter_partition_reassignments::handle,
    ListPartitionReassignments => list_partition_reassignments::handle,
    AlterPartition => alter_partition::handle,
    IncrementalAlterConfigs => alter_configs::incremental,
    OffsetDelete => offset_delete::handle,
    DescribeCluster => describe_cluster::handle,
    AllocateProducerIds => allocate_producer_ids::handle,
}

/// An API that is declared and not answered here: the connection is closed, as for one that nobody knows.
fn refuse(api: &Api, work: Work) {
    let Work { request, responder } = work;
    api.net.reject(Rejected::Api);
    tracing::warn!(
        peer = %request.connection.peer, api = %request.api, version = request.version,
        "closed a connection: the API is not served"
    );
    responder.send(Response::Close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_is_routed_once() {
        let mut keys = advertised().to_vec();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), advertised().len());
    }
}
