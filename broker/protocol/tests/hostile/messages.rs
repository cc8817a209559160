//! Every message as a pair of functions.

use bytes::Bytes;
use ottla_protocol::message::Message;
use ottla_protocol::wire::{Reader, Writer};

/// A message type, without the type.
pub(crate) struct Codec {
    pub(crate) name: &'static str,
    /// Reads bytes and writes what was read, or says why it cannot be read.
    pub(crate) decode: fn(Bytes, i16) -> Result<Bytes, String>,
}

fn decode<M: Message>(bytes: Bytes, version: i16) -> Result<Bytes, String> {
    let mut reader = Reader::new(M::NAME, bytes);
    let message = M::decode(&mut reader, version).map_err(|error| error.to_string())?;
    let mut writer = Writer::new();
    message.encode(&mut writer, version).expect("what was read can be written");
    Ok(writer.into_bytes())
}

macro_rules! codecs {
    ($($message:ident)*) => {
        /// Returns all of them.
        pub(crate) fn codecs() -> Vec<Codec> {
            vec![$(Codec {
                name: stringify!($message),
                decode: decode::<ottla_protocol::message::$message>,
            },)*]
        }
    };
}

codecs! {
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
    ControlledShutdownRequest
    ControlledShutdownResponse
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
    LeaderAndIsrRequest
    LeaderAndIsrResponse
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
    StopReplicaRequest
    StopReplicaResponse
    SyncGroupRequest
    SyncGroupResponse
    TxnOffsetCommitRequest
    TxnOffsetCommitResponse
    UpdateFeaturesRequest
    UpdateFeaturesResponse
    UpdateMetadataRequest
    UpdateMetadataResponse
    WriteTxnMarkersRequest
    WriteTxnMarkersResponse
}
