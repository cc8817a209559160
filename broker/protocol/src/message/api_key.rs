//! The keys of requests.

use std::fmt;
use std::ops::RangeInclusive;

use super::declare::Message as _;

/// Declares all keys at once, each with its number and request.
macro_rules! api_keys {
    ($($number:literal $name:ident $request:ident,)*) => {
        /// Which request: the first number in its header.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ApiKey {
            $(
                #[doc = concat!("Key ", $number, ", of [`", stringify!($request), "`](super::", stringify!($request), ").")]
                $name = $number,
            )*
        }

        impl ApiKey {
            /// Every key that is declared, in rising order.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the key with this number.
            pub fn from_number(number: i16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns the number.
            pub fn number(self) -> i16 {
                match self {
                    $(Self::$name => $number,)*
                }
            }

            /// Returns the name, as in Kafka's documentation.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Returns the lowest and highest version that is declared.
            pub fn versions(self) -> RangeInclusive<i16> {
                match self {
                    $(Self::$name => super::$request::VERSIONS,)*
                }
            }

            /// Returns the first flexible version, if any is.
            pub fn flexible_from(self) -> Option<i16> {
                match self {
                    $(Self::$name => super::$request::FLEXIBLE_FROM,)*
                }
            }
        }
    };
}

api_keys! {
    0 Produce ProduceRequest,
    1 Fetch FetchRequest,
    2 ListOffsets ListOffsetsRequest,
    3 Metadata MetadataRequest,
    4 LeaderAndIsr LeaderAndIsrRequest,
    5 StopReplica StopReplicaRequest,
    6 UpdateMetadata UpdateMetadataRequest,
    7 ControlledShutdown ControlledShutdownRequest,
    8 OffsetCommit OffsetCommitRequest,
    9 OffsetFetch OffsetFetchRequest,
    10 FindCoordinator FindCoordinatorRequest,
    11 JoinGroup JoinGroupRequest,
    12 Heartbeat HeartbeatRequest,
    13 LeaveGroup LeaveGroupRequest,
    14 SyncGroup SyncGroupRequest,
    15 DescribeGroups DescribeGroupsRequest,
    16 ListGroups ListGroupsRequest,
    17 SaslHandshake SaslHandshakeRequest,
    18 ApiVersions ApiVersionsRequest,
    19 CreateTopics CreateTopicsRequest,
    20 DeleteTopics DeleteTopicsRequest,
    21 DeleteRecords DeleteRecordsRequest,
    22 InitProducerId InitProducerIdRequest,
    23 OffsetForLeaderEpoch OffsetForLeaderEpochRequest,
    24 AddPartitionsToTxn AddPartitionsToTxnRequest,
    25 AddOffsetsToTxn AddOffsetsToTxnRequest,
    26 EndTxn EndTxnRequest,
    27 WriteTxnMarkers WriteTxnMarkersRequest,
    28 TxnOffsetCommit TxnOffsetCommitRequest,
    29 DescribeAcls DescribeAclsRequest,
    30 CreateAcls CreateAclsRequest,
    31 DeleteAcls DeleteAclsRequest,
    32 DescribeConfigs DescribeConfigsRequest,
    33 AlterConfigs AlterConfigsRequest,
    34 AlterReplicaLogDirs AlterReplicaLogDirsRequest,
    35 DescribeLogDirs DescribeLogDirsRequest,
    36 SaslAuthenticate SaslAuthenticateRequest,
    37 CreatePartitions CreatePartitionsRequest,
    38 CreateDelegationToken CreateDelegationTokenRequest,
    39 RenewDelegationToken RenewDelegationTokenRequest,
    40 ExpireDelegationToken ExpireDelegationTokenRequest,
    41 DescribeDelegationToken DescribeDelegationTokenRequest,
    42 DeleteGroups DeleteGroupsRequest,
    43 ElectLeaders ElectLeadersRequest,
    44 IncrementalAlterConfigs IncrementalAlterConfigsRequest,
    45 AlterPartitionReassignments AlterPartitionReassignmentsRequest,
    46 ListPartitionReassignments ListPartitionReassignmentsRequest,
    47 OffsetDelete OffsetDeleteRequest,
    48 DescribeClientQuotas DescribeClientQuotasRequest,
    49 AlterClientQuotas AlterClientQuotasRequest,
    50 DescribeUserScramCredentials DescribeUserScramCredentialsRequest,
    51 AlterUserScramCredentials AlterUserScramCredentialsRequest,
    56 AlterPartition AlterPartitionRequest,
    57 UpdateFeatures UpdateFeaturesRequest,
    58 Envelope EnvelopeRequest,
    60 DescribeCluster DescribeClusterRequest,
    61 DescribeProducers DescribeProducersRequest,
    65 DescribeTransactions DescribeTransactionsRequest,
    66 ListTransactions ListTransactionsRequest,
    67 AllocateProducerIds AllocateProducerIdsRequest,
    68 ConsumerGroupHeartbeat ConsumerGroupHeartbeatRequest,
    69 ConsumerGroupDescribe ConsumerGroupDescribeRequest,
}

impl ApiKey {
    /// Returns whether a version of this request is a flexible one.
    pub fn is_flexible(self, version: i16) -> bool {
        self.flexible_from().is_some_and(|first| version >= first)
    }

    /// Returns which header a request of this version has. ControlledShutdown 0 came before client ids.
    pub fn request_header_version(self, version: i16) -> i16 {
        match self {
            Self::ControlledShutdown if version == 0 => 0,
            _ if self.is_flexible(version) => 2,
            _ => 1,
        }
    }

    /// Returns which header the response to a request of this version has. ApiVersions keeps the oldest, since the
    /// client does not know yet what the broker understands (KIP-511).
    pub fn response_header_version(self, version: i16) -> i16 {
        match self {
            Self::ApiVersions => 0,
            _ if self.is_flexible(version) => 1,
            _ => 0,
        }
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_rise_and_come_back_from_their_numbers() {
        assert!(ApiKey::ALL.is_sorted());
        for key in ApiKey::ALL {
            assert_eq!(ApiKey::from_number(key.number()), Some(*key));
        }
        assert_eq!(ApiKey::from_number(52), None);
    }

    #[test]
    fn headers_follow_the_two_exceptions() {
        assert_eq!(ApiKey::ControlledShutdown.request_header_version(0), 0);
        assert_eq!(ApiKey::ControlledShutdown.request_header_version(1), 1);
        assert_eq!(ApiKey::ApiVersions.request_header_version(3), 2);
        assert_eq!(ApiKey::ApiVersions.response_header_version(3), 0);
        assert_eq!(ApiKey::Fetch.response_header_version(12), 1);
    }
}
