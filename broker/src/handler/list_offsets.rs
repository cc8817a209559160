//! ListOffsets: where partitions begin and end, and which record was first at some time.

use std::collections::BTreeSet;
use std::sync::Arc;

use ottla_protocol::message::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use ottla_protocol::message::{ErrorCode, ListOffsetsRequest, ListOffsetsResponse};

use super::api::Api;
use super::call::Call;
use crate::replica::{FoundOffset, OffsetQuery, OffsetsReader};
use crate::types::{BrokerId, LeaderEpoch, TopicPartition};

/// The first version whose clients know OFFSET_NOT_AVAILABLE.
const OFFSET_NOT_AVAILABLE_VERSION: i16 = 5;
/// The first version whose answer has a place for the leader epoch.
const LEADER_EPOCH_VERSION: i16 = 4;
const DEBUGGING_REPLICA: i32 = -2;
const READ_COMMITTED: i8 = 1;

pub(super) fn handle(api: &Arc<Api>, call: Call<ListOffsetsRequest>) {
    let Call { body, version, reply, .. } = call;
    let reader = match body.replica_id {
        DEBUGGING_REPLICA => OffsetsReader::Debugging,
        id if id >= 0 => OffsetsReader::Follower(BrokerId(id)),
        _ => OffsetsReader::Client { committed: body.isolation_level == READ_COMMITTED },
    };
    let duplicates = duplicates(&body);
    let topics = body.topics.into_iter().map(|topic| {
        let name: Arc<str> = Arc::from(topic.name.as_str());
        let partitions = topic.partitions.iter().map(|asked| {
            let id = TopicPartition::new(Arc::clone(&name), asked.partition_index);
            let found = if duplicates.contains(&id) {
                Err(ErrorCode::InvalidRequest)
            } else {
                find(api, &id, reader, asked, version)
            };
            partition_response(asked, found, version)
        });
        let partitions = partitions.collect();
        ListOffsetsTopicResponse { name: topic.name, partitions, ..ListOffsetsTopicResponse::default() }
    });
    let topics = topics.collect();
    reply.send(&ListOffsetsResponse { topics, ..ListOffsetsResponse::default() });
}

fn duplicates(request: &ListOffsetsRequest) -> BTreeSet<TopicPartition> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for topic in &request.topics {
        for partition in &topic.partitions {
            let id = TopicPartition::new(topic.name.as_str(), partition.partition_index);
            if !seen.insert(id.clone()) {
                twice.insert(id);
            }
        }
    }
    twice
}

fn find(
    api: &Api,
    id: &TopicPartition,
    reader: OffsetsReader,
    asked: &ListOffsetsPartition,
    version: i16,
) -> Result<FoundOffset, ErrorCode> {
    let query = OffsetQuery::from_wire(asked.timestamp, version)?;
    let epoch = (asked.current_leader_epoch >= 0).then_some(LeaderEpoch(asked.current_leader_epoch));
    api.replicas.list_offset(id, reader, epoch, query)
}

fn partition_response(
    asked: &ListOffsetsPartition,
    found: Result<FoundOffset, ErrorCode>,
    version: i16,
) -> ListOffsetsPartitionResponse {
    let response = ListOffsetsPartitionResponse {
        partition_index: asked.partition_index,
        ..ListOffsetsPartitionResponse::default()
    };
    match found {
        Err(ErrorCode::OffsetNotAvailable) if version < OFFSET_NOT_AVAILABLE_VERSION => {
            ListOffsetsPartitionResponse { error_code: ErrorCode::LeaderNotAvailable.code(), ..response }
        }
        Err(error) => ListOffsetsPartitionResponse { error_code: error.code(), ..response },
        // Version 0 knew a list of offsets and nothing else.
        Ok(found) if version == 0 => {
            let offsets = (found.offset.0 >= 0 && asked.max_num_offsets > 0).then_some(found.offset.0);
            ListOffsetsPartitionResponse { old_style_offsets: offsets.into_iter().collect(), ..response }
        }
        Ok(found) => ListOffsetsPartitionResponse {
            timestamp: found.timestamp.0,
            offset: found.offset.0,
            leader_epoch: if version < LEADER_EPOCH_VERSION { -1 } else { found.leader_epoch.0 },
            ..response
        },
    }
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::Message;
    use ottla_protocol::wire::Writer;

    use super::*;
    use crate::types::{Millis, Offset};

    #[test]
    fn each_version_is_answered_in_its_form() {
        let asked = ListOffsetsPartition { partition_index: 3, ..Default::default() };
        let found = FoundOffset { timestamp: Millis(7), offset: Offset(5), leader_epoch: LeaderEpoch(2) };
        let old = partition_response(&asked, Ok(found), 0);
        assert_eq!((old.old_style_offsets, old.offset), (vec![5], -1));
        let new = partition_response(&asked, Ok(found), 9);
        assert_eq!((new.timestamp, new.offset, new.leader_epoch, new.partition_index), (7, 5, 2, 3));
        let none = partition_response(&asked, Ok(FoundOffset::NONE), 0);
        assert_eq!(none.old_style_offsets, [0i64; 0]);
        let refused = Err(ErrorCode::OffsetNotAvailable);
        assert_eq!(partition_response(&asked, refused, 4).error_code, ErrorCode::LeaderNotAvailable.code());
        assert_eq!(partition_response(&asked, refused, 5).error_code, ErrorCode::OffsetNotAvailable.code());
    }

    #[test]
    fn every_answer_has_a_form_in_every_version() {
        let asked = ListOffsetsPartition { partition_index: 3, ..Default::default() };
        let found = FoundOffset { timestamp: Millis(7), offset: Offset(5), leader_epoch: LeaderEpoch(2) };
        for version in ListOffsetsResponse::VERSIONS {
            for found in [Ok(found), Ok(FoundOffset::NONE), Err(ErrorCode::NotLeaderOrFollower)] {
                let partitions = vec![partition_response(&asked, found, version)];
                let topics = vec![ListOffsetsTopicResponse { partitions, ..Default::default() }];
                let response = ListOffsetsResponse { topics, ..Default::default() };
                assert!(response.encode(&mut Writer::new(), version).is_ok(), "{version} {found:?}");
            }
        }
    }

    #[test]
    fn special_timestamps_belong_to_versions() {
        for (timestamp, version, expected) in [
            (-1, 0, Ok(OffsetQuery::Latest)),
            (-2, 0, Ok(OffsetQuery::Earliest)),
            (-3, 7, Ok(OffsetQuery::MaxTimestamp)),
            (-3, 6, Err(ErrorCode::UnsupportedVersion)),
            (-4, 8, Ok(OffsetQuery::Earliest)),
            (-5, 9, Ok(OffsetQuery::LatestTiered)),
            (-6, 9, Err(ErrorCode::UnsupportedVersion)),
            (0, 1, Ok(OffsetQuery::At(Millis(0)))),
        ] {
            assert_eq!(OffsetQuery::from_wire(timestamp, version), expected, "{timestamp} v{version}");
        }
    }
}
