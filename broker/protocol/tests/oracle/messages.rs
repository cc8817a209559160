//! Which messages are compared with what.

use std::ops::RangeInclusive;

use ottla_protocol::message::{ApiKey, Message};

use super::{Other, other_015, other_018, ours};

/// One of our messages and its counterparts.
pub(crate) struct Comparison {
    pub(crate) message: &'static str,
    pub(crate) versions: RangeInclusive<i16>,
    pub(crate) ours: fn(&bytes::Bytes, i16) -> (String, bytes::Bytes),
    pub(crate) default: fn() -> String,
    /// The one that covers the same Kafka first.
    pub(crate) others: Vec<Counterpart>,
}

/// A message of another crate.
pub(crate) struct Counterpart {
    pub(crate) name: &'static str,
    pub(crate) versions: RangeInclusive<i16>,
    pub(crate) run: Other,
    pub(crate) default: fn() -> String,
    /// Whether it is made from the same definitions, so that all field names are the same.
    pub(crate) exact: bool,
}

macro_rules! counterpart {
    ($krate:ident, $run:ident, $message:ident, $exact:literal) => {
        Counterpart {
            name: stringify!($krate),
            versions: {
                let range = <$krate::messages::$message as $krate::protocol::Message>::VERSIONS;
                range.min..=range.max
            },
            run: $run::<$krate::messages::$message>,
            default: || format!("{:?}", $krate::messages::$message::default()),
            exact: $exact,
        }
    };
}

macro_rules! comparisons {
    (both: $($both:ident)*; old: $($old:ident)*;) => {
        /// Returns all of them.
        pub(crate) fn all() -> Vec<Comparison> {
            vec![
                $(Comparison {
                    message: stringify!($both),
                    versions: ottla_protocol::message::$both::VERSIONS,
                    ours: ours::<ottla_protocol::message::$both>,
                    default: || format!("{:?}", ottla_protocol::message::$both::default()),
                    others: vec![
                        counterpart!(kafka_protocol_015, other_015, $both, true),
                        counterpart!(kafka_protocol_018, other_018, $both, false),
                    ],
                },)*
                $(Comparison {
                    message: stringify!($old),
                    versions: ottla_protocol::message::$old::VERSIONS,
                    ours: ours::<ottla_protocol::message::$old>,
                    default: || format!("{:?}", ottla_protocol::message::$old::default()),
                    others: vec![counterpart!(kafka_protocol_015, other_015, $old, true)],
                },)*
            ]
        }
    };
}

comparisons! {
    both:
        AddOffsetsToTxnRequest
        AddOffsetsToTxnResponse
        AddPartitionsToTxnRequest
        AddPartitionsToTxnResponse
        AllocateProducerIdsRequest
        AllocateProducerIdsResponse
        AlterClientQuotasRequest
        AlterClientQuotasResponse
        AlterConfigsRequest
        AlterConfigsResponse
        AlterPartitionRequest
        AlterPartitionResponse
        AlterPartitionReassignmentsRequest
        AlterPartitionReassignmentsResponse
        AlterReplicaLogDirsRequest
        AlterReplicaLogDirsResponse
        AlterUserScramCredentialsRequest
        AlterUserScramCredentialsResponse
        ApiVersionsRequest
        ApiVersionsResponse
        ConsumerGroupDescribeRequest
        ConsumerGroupDescribeResponse
        ConsumerGroupHeartbeatRequest
        ConsumerGroupHeartbeatResponse
        CreateAclsRequest
        CreateAclsResponse
        CreateDelegationTokenRequest
        CreateDelegationTokenResponse
        CreatePartitionsRequest
        CreatePartitionsResponse
        CreateTopicsRequest
        CreateTopicsResponse
        DeleteAclsRequest
        DeleteAclsResponse
        DeleteGroupsRequest
        DeleteGroupsResponse
        DeleteRecordsRequest
        DeleteRecordsResponse
        DeleteTopicsRequest
        DeleteTopicsResponse
        DescribeAclsRequest
        DescribeAclsResponse
        DescribeClientQuotasRequest
        DescribeClientQuotasResponse
        DescribeClusterRequest
        DescribeClusterResponse
        DescribeConfigsRequest
        DescribeConfigsResponse
        DescribeDelegationTokenRequest
        DescribeDelegationTokenResponse
        DescribeGroupsRequest
        DescribeGroupsResponse
        DescribeLogDirsRequest
        DescribeLogDirsResponse
        DescribeProducersRequest
        DescribeProducersResponse
        DescribeTransactionsRequest
        DescribeTransactionsResponse
        DescribeUserScramCredentialsRequest
        DescribeUserScramCredentialsResponse
        ElectLeadersRequest
        ElectLeadersResponse
        EndTxnRequest
        EndTxnResponse
        EnvelopeRequest
        EnvelopeResponse
        ExpireDelegationTokenRequest
        ExpireDelegationTokenResponse
        FetchRequest
        FetchResponse
        FindCoordinatorRequest
        FindCoordinatorResponse
        HeartbeatRequest
        HeartbeatResponse
        IncrementalAlterConfigsRequest
        IncrementalAlterConfigsResponse
        InitProducerIdRequest
        InitProducerIdResponse
        JoinGroupRequest
        JoinGroupResponse
        LeaveGroupRequest
        LeaveGroupResponse
        ListGroupsRequest
        ListGroupsResponse
        ListOffsetsRequest
        ListOffsetsResponse
        ListPartitionReassignmentsRequest
        ListPartitionReassignmentsResponse
        ListTransactionsRequest
        ListTransactionsResponse
        MetadataRequest
        MetadataResponse
        OffsetCommitRequest
        OffsetCommitResponse
        OffsetDeleteRequest
        OffsetDeleteResponse
        OffsetFetchRequest
        OffsetFetchResponse
        OffsetForLeaderEpochRequest
        OffsetForLeaderEpochResponse
        ProduceRequest
        ProduceResponse
        RenewDelegationTokenRequest
        RenewDelegationTokenResponse
        SaslAuthenticateRequest
        SaslAuthenticateResponse
        SaslHandshakeRequest
        SaslHandshakeResponse
        SyncGroupRequest
        SyncGroupResponse
        TxnOffsetCommitRequest
        TxnOffsetCommitResponse
        UpdateFeaturesRequest
        UpdateFeaturesResponse
        WriteTxnMarkersRequest
        WriteTxnMarkersResponse
        ;
    old:
        ControlledShutdownRequest
        ControlledShutdownResponse
        LeaderAndIsrRequest
        LeaderAndIsrResponse
        StopReplicaRequest
        StopReplicaResponse
        UpdateMetadataRequest
        UpdateMetadataResponse
        ;
}

type HeaderVersion = fn(i16) -> i16;

macro_rules! headers {
    ($($key:ident $request:ident $response:ident,)*) => {
        /// Returns for every key how the other implementation finds the header versions.
        pub(crate) fn header_versions() -> Vec<(ApiKey, HeaderVersion, HeaderVersion)> {
            use kafka_protocol_015::messages::*;
            use kafka_protocol_015::protocol::HeaderVersion as _;
            vec![$((ottla_protocol::message::ApiKey::$key, $request::header_version, $response::header_version),)*]
        }
    };
}

headers! {
    AddOffsetsToTxn AddOffsetsToTxnRequest AddOffsetsToTxnResponse,
    AddPartitionsToTxn AddPartitionsToTxnRequest AddPartitionsToTxnResponse,
    AllocateProducerIds AllocateProducerIdsRequest AllocateProducerIdsResponse,
    AlterClientQuotas AlterClientQuotasRequest AlterClientQuotasResponse,
    AlterConfigs AlterConfigsRequest AlterConfigsResponse,
    AlterPartition AlterPartitionRequest AlterPartitionResponse,
    AlterPartitionReassignments AlterPartitionReassignmentsRequest AlterPartitionReassignmentsResponse,
    AlterReplicaLogDirs AlterReplicaLogDirsRequest AlterReplicaLogDirsResponse,
    AlterUserScramCredentials AlterUserScramCredentialsRequest AlterUserScramCredentialsResponse,
    ApiVersions ApiVersionsRequest ApiVersionsResponse,
    ConsumerGroupDescribe ConsumerGroupDescribeRequest ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeat ConsumerGroupHeartbeatRequest ConsumerGroupHeartbeatResponse,
    ControlledShutdown ControlledShutdownRequest ControlledShutdownResponse,
    CreateAcls CreateAclsRequest CreateAclsResponse,
    CreateDelegationToken CreateDelegationTokenRequest CreateDelegationTokenResponse,
    CreatePartitions CreatePartitionsRequest CreatePartitionsResponse,
    CreateTopics CreateTopicsRequest CreateTopicsResponse,
    DeleteAcls DeleteAclsRequest DeleteAclsResponse,
    DeleteGroups DeleteGroupsRequest DeleteGroupsResponse,
    DeleteRecords DeleteRecordsRequest DeleteRecordsResponse,
    DeleteTopics DeleteTopicsRequest DeleteTopicsResponse,
    DescribeAcls DescribeAclsRequest DescribeAclsResponse,
    DescribeClientQuotas DescribeClientQuotasRequest DescribeClientQuotasResponse,
    DescribeCluster DescribeClusterRequest DescribeClusterResponse,
    DescribeConfigs DescribeConfigsRequest DescribeConfigsResponse,
    DescribeDelegationToken DescribeDelegationTokenRequest DescribeDelegationTokenResponse,
    DescribeGroups DescribeGroupsRequest DescribeGroupsResponse,
    DescribeLogDirs DescribeLogDirsRequest DescribeLogDirsResponse,
    DescribeProducers DescribeProducersRequest DescribeProducersResponse,
    DescribeTransactions DescribeTransactionsRequest DescribeTransactionsResponse,
    DescribeUserScramCredentials DescribeUserScramCredentialsRequest DescribeUserScramCredentialsResponse,
    ElectLeaders ElectLeadersRequest ElectLeadersResponse,
    EndTxn EndTxnRequest EndTxnResponse,
    Envelope EnvelopeRequest EnvelopeResponse,
    ExpireDelegationToken ExpireDelegationTokenRequest ExpireDelegationTokenResponse,
    Fetch FetchRequest FetchResponse,
    FindCoordinator FindCoordinatorRequest FindCoordinatorResponse,
    Heartbeat HeartbeatRequest HeartbeatResponse,
    IncrementalAlterConfigs IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse,
    InitProducerId InitProducerIdRequest InitProducerIdResponse,
    JoinGroup JoinGroupRequest JoinGroupResponse,
    LeaderAndIsr LeaderAndIsrRequest LeaderAndIsrResponse,
    LeaveGroup LeaveGroupRequest LeaveGroupResponse,
    ListGroups ListGroupsRequest ListGroupsResponse,
    ListOffsets ListOffsetsRequest ListOffsetsResponse,
    ListPartitionReassignments ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse,
    ListTransactions ListTransactionsRequest ListTransactionsResponse,
    Metadata MetadataRequest MetadataResponse,
    OffsetCommit OffsetCommitRequest OffsetCommitResponse,
    OffsetDelete OffsetDeleteRequest OffsetDeleteResponse,
    OffsetFetch OffsetFetchRequest OffsetFetchResponse,
    OffsetForLeaderEpoch OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse,
    Produce ProduceRequest ProduceResponse,
    RenewDelegationToken RenewDelegationTokenRequest RenewDelegationTokenResponse,
    SaslAuthenticate SaslAuthenticateRequest SaslAuthenticateResponse,
    SaslHandshake SaslHandshakeRequest SaslHandshakeResponse,
    StopReplica StopReplicaRequest StopReplicaResponse,
    SyncGroup SyncGroupRequest SyncGroupResponse,
    TxnOffsetCommit TxnOffsetCommitRequest TxnOffsetCommitResponse,
    UpdateFeatures UpdateFeaturesRequest UpdateFeaturesResponse,
    UpdateMetadata UpdateMetadataRequest UpdateMetadataResponse,
    WriteTxnMarkers WriteTxnMarkersRequest WriteTxnMarkersResponse,
}
