//! Kafka's messages: one file per API, each message declared once as data.
//!
//! `declare.rs` is the form of a declaration and what comes of it; `api_key.rs` lists the keys; `header.rs` holds what
//! stands before every body. The declarations follow Kafka 3.9 (its message definitions), in every version that it has.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod api_key;
mod declare;
mod error_code;
mod header;

pub mod add_offsets_to_txn;
pub mod add_partitions_to_txn;
pub mod allocate_producer_ids;
pub mod alter_client_quotas;
pub mod alter_configs;
pub mod alter_partition;
pub mod alter_partition_reassignments;
pub mod alter_replica_log_dirs;
pub mod alter_user_scram_credentials;
pub mod api_versions;
pub mod consumer_group_describe;
pub mod consumer_group_heartbeat;
pub mod controlled_shutdown;
pub mod create_acls;
pub mod create_delegation_token;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_acls;
pub mod delete_groups;
pub mod delete_records;
pub mod delete_topics;
pub mod describe_acls;
pub mod describe_client_quotas;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_delegation_token;
pub mod describe_groups;
pub mod describe_log_dirs;
pub mod describe_producers;
pub mod describe_transactions;
pub mod describe_user_scram_credentials;
pub mod elect_leaders;
pub mod end_txn;
pub mod envelope;
pub mod expire_delegation_token;
pub mod fetch;
pub mod find_coordinator;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
pub mod join_group;
pub mod leader_and_isr;
pub mod leave_group;
pub mod list_groups;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod list_transactions;
pub mod metadata;
pub mod offset_commit;
pub mod offset_delete;
pub mod offset_fetch;
pub mod offset_for_leader_epoch;
pub mod produce;
pub mod renew_delegation_token;
pub mod sasl_authenticate;
pub mod sasl_handshake;
pub mod stop_replica;
pub mod sync_group;
pub mod txn_offset_commit;
pub mod update_features;
pub mod update_metadata;
pub mod write_txn_markers;

pub use add_offsets_to_txn::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};
pub use add_partitions_to_txn::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};
pub use allocate_producer_ids::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};
pub use alter_client_quotas::{AlterClientQuotasRequest, AlterClientQuotasResponse};
pub use alter_configs::{AlterConfigsRequest, AlterConfigsResponse};
pub use alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
pub use alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
};
pub use alter_replica_log_dirs::{AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse};
pub use alter_user_scram_credentials::{AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse};
pub use api_key::ApiKey;
pub use api_versions::{ApiVersionsRequest, ApiVersionsResponse};
pub use consumer_group_describe::{ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse};
pub use consumer_group_heartbeat::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse};
pub use controlled_shutdown::{ControlledShutdownRequest, ControlledShutdownResponse};
pub use create_acls::{CreateAclsRequest, CreateAclsResponse};
pub use create_delegation_token::{CreateDelegationTokenRequest, CreateDelegationTokenResponse};
pub use create_partitions::{CreatePartitionsRequest, CreatePartitionsResponse};
pub use create_topics::{CreateTopicsRequest, CreateTopicsResponse};
pub use declare::{Message, Request};
pub use delete_acls::{DeleteAclsRequest, DeleteAclsResponse};
pub use delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};
pub use delete_records::{DeleteRecordsRequest, DeleteRecordsResponse};
pub use delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse};
pub use describe_acls::{DescribeAclsRequest, DescribeAclsResponse};
pub use describe_client_quotas::{DescribeClientQuotasRequest, DescribeClientQuotasResponse};
pub use describe_cluster::{DescribeClusterRequest, DescribeClusterResponse};
pub use describe_configs::{DescribeConfigsRequest, DescribeConfigsResponse};
pub use describe_delegation_token::{DescribeDelegationTokenRequest, DescribeDelegationTokenResponse};
pub use describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse};
pub use describe_log_dirs::{DescribeLogDirsRequest, DescribeLogDirsResponse};
pub use describe_producers::{DescribeProducersRequest, DescribeProducersResponse};
pub use describe_transactions::{DescribeTransactionsRequest, DescribeTransactionsResponse};
pub use describe_user_scram_credentials::{
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
};
pub use elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
pub use end_txn::{EndTxnRequest, EndTxnResponse};
pub use envelope::{EnvelopeRequest, EnvelopeResponse};
pub use error_code::ErrorCode;
pub use expire_delegation_token::{ExpireDelegationTokenRequest, ExpireDelegationTokenResponse};
pub use fetch::{FetchRequest, FetchResponse};
pub use find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
pub use header::{
    RequestHeader, ResponseHeader, decode_request_header, decode_response, encode_request, encode_response,
};
pub use heartbeat::{HeartbeatRequest, HeartbeatResponse};
pub use incremental_alter_configs::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
pub use init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
pub use join_group::{JoinGroupRequest, JoinGroupResponse};
pub use leader_and_isr::{LeaderAndIsrRequest, LeaderAndIsrResponse};
pub use leave_group::{LeaveGroupRequest, LeaveGroupResponse};
pub use list_groups::{ListGroupsRequest, ListGroupsResponse};
pub use list_offsets::{ListOffsetsRequest, ListOffsetsResponse};
pub use list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};
pub use list_transactions::{ListTransactionsRequest, ListTransactionsResponse};
pub use metadata::{MetadataRequest, MetadataResponse};
pub use offset_commit::{OffsetCommitRequest, OffsetCommitResponse};
pub use offset_delete::{OffsetDeleteRequest, OffsetDeleteResponse};
pub use offset_fetch::{OffsetFetchRequest, OffsetFetchResponse};
pub use offset_for_leader_epoch::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};
pub use produce::{ProduceRequest, ProduceResponse};
pub use renew_delegation_token::{RenewDelegationTokenRequest, RenewDelegationTokenResponse};
pub use sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};
pub use sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};
pub use stop_replica::{StopReplicaRequest, StopReplicaResponse};
pub use sync_group::{SyncGroupRequest, SyncGroupResponse};
pub use txn_offset_commit::{TxnOffsetCommitRequest, TxnOffsetCommitResponse};
pub use update_features::{UpdateFeaturesRequest, UpdateFeaturesResponse};
pub use update_metadata::{UpdateMetadataRequest, UpdateMetadataResponse};
pub use write_txn_markers::{WriteTxnMarkersRequest, WriteTxnMarkersResponse};
