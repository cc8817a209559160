//! Consumer groups, asked of each broker for those it coordinates; and their generations, which no request tells,
//! followed in the records of `__consumer_offsets`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ottla_broker::client::{Connection, Error};
use ottla_broker::types::{BrokerId, Offset, TopicPartition};
use ottla_protocol::internal_topic::{Assignment, ConsumerOffsetsKey, GroupValue};
use ottla_protocol::message::describe_groups::DescribedGroup;
use ottla_protocol::message::fetch::{FetchPartition, FetchRequest, FetchTopic};
use ottla_protocol::message::{
    ApiKey, DescribeGroupsRequest, ErrorCode, FetchResponse, ListGroupsRequest, OffsetFetchRequest,
};
use ottla_protocol::record::{BatchHeader, iterate};
use ottla_protocol::wire::Records;
use tokio::sync::watch;

use super::feed::Feed;
use super::kafka::connect;
use super::map::ClusterMap;
use crate::model::{GroupDescription, GroupOffset, GroupState, GroupUpdate, Member, SourceName, Update};

const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// How often groups are asked for while nothing moves.
const INTERVAL: Duration = Duration::from_millis(700);
/// How often while a group rebalances, so that its standstill is measured well.
const HURRIED: Duration = Duration::from_millis(100);
/// How many bytes of records are read at once.
const FETCH_BYTES: i32 = 1 << 20;
/// How far the records of a batch may decompress.
const BATCH_BYTES_MAX: usize = 16 << 20;
/// The last version whose answer lists one group, which every broker since 0.9 has.
const OFFSET_FETCH_VERSION_MAX: i16 = 7;
/// The last version by topic names.
const FETCH_VERSION_MAX: i16 = 11;

/// Asks until dropped.
pub(super) async fn run(mut map: watch::Receiver<Arc<ClusterMap>>, feed: Feed) {
    let mut reader = GroupReader::default();
    loop {
        let known = Arc::clone(&map.borrow_and_update());
        if known.brokers.is_empty() {
            if map.changed().await.is_err() {
                return;
            }
            continue;
        }
        match reader.read(&known).await {
            Ok(updates) => {
                for update in updates {
                    feed.say(update).await;
                }
                feed.fresh(SourceName::Groups).await;
            }
            Err(why) => feed.stale(SourceName::Groups, why).await,
        }
        tokio::time::sleep(if reader.is_rebalancing { HURRIED } else { INTERVAL }).await;
    }
}

/// What is kept between rounds: connections, how far the records were read, and what they told.
#[derive(Debug, Default)]
pub(super) struct GroupReader {
    connections: BTreeMap<BrokerId, Connection>,
    positions: BTreeMap<i32, i64>,
    generations: BTreeMap<String, i32>,
    is_rebalancing: bool,
}

impl GroupReader {
    /// Reads all groups of all brokers once.
    ///
    /// # Errors
    /// In words, when no broker at all could be asked; some brokers being down is no error.
    pub(super) async fn read(&mut self, map: &ClusterMap) -> Result<Vec<Update>, String> {
        let mut updates = Vec::new();
        let mut listed = Vec::new();
        let mut trouble = None;
        self.is_rebalancing = false;
        self.connections.retain(|broker, connection| {
            !connection.is_broken()
                && map.brokers.get(broker).is_some_and(|address| address == connection.address())
        });
        for (broker, address) in &map.brokers {
            let mut connection = match self.connections.remove(broker) {
                Some(connection) => connection,
                None => match connect(address).await {
                    Ok(connection) => connection,
                    Err(error) => {
                        trouble = Some(error.to_string());
                        continue;
                    }
                },
            };
            match self.read_broker(*broker, &mut connection, map, &mut listed).await {
                Ok(found) => {
                    updates.extend(found);
                    self.connections.insert(*broker, connection);
                }
                Err(error) => trouble = Some(format!("broker {broker}: {error}")),
            }
        }
        match trouble {
            // A list without one broker's groups must not say that these are gone.
            Some(why) if self.connections.is_empty() => Err(why),
            Some(_) => Ok(updates),
            None => {
                updates.insert(0, Update::GroupsListed(listed));
                Ok(updates)
            }
        }
    }

    async fn read_broker(
        &mut self,
        broker: BrokerId,
        connection: &mut Connection,
        map: &ClusterMap,
        listed: &mut Vec<String>,
    ) -> Result<Vec<Update>, Error> {
        let answer = connection.call_highest(&ListGroupsRequest::default()).await?;
        let groups: Vec<String> = answer.groups.into_iter().map(|group| group.group_id).collect();
        listed.extend(groups.iter().cloned());
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        self.read_generations(broker, connection, map).await?;
        let request = DescribeGroupsRequest { groups, ..DescribeGroupsRequest::default() };
        let described = connection.call_highest(&request).await?;
        let mut updates = Vec::new();
        for group in described.groups {
            if group.error_code != ErrorCode::None.code() {
                continue;
            }
            let name = group.group_id.clone();
            let description = self.describe(broker, group);
            self.is_rebalancing |= description.state.is_rebalancing();
            updates.push(Update::Group { group: name.clone(), update: GroupUpdate::Described(description) });
            let offsets = read_offsets(connection, &name).await?;
            updates.push(Update::Group { group: name, update: GroupUpdate::Offsets(offsets) });
        }
        Ok(updates)
    }

    fn describe(&self, broker: BrokerId, group: DescribedGroup) -> GroupDescription {
        let members = group.members.into_iter().map(|member| {
            let assignment = Assignment::decode(&member.member_assignment).unwrap_or_default();
            let partitions = assignment.partitions.into_iter().flat_map(|topic| {
                let name: Arc<str> = topic.topic.into();
                topic.partitions.into_iter().map(move |number| TopicPartition::new(Arc::clone(&name), number))
            });
            Member {
                member_id: member.member_id,
                group_instance_id: member.group_instance_id,
                client_id: member.client_id,
                client_host: member.client_host.trim_start_matches('/').to_owned(),
                assignment: partitions.collect(),
            }
        });
        GroupDescription {
            state: GroupState::from_kafka(&group.group_state),
            protocol_type: group.protocol_type,
            protocol: group.protocol_data,
            generation: self.generations.get(&group.group_id).copied(),
            coordinator: Some(broker),
            members: members.collect(),
        }
    }

    /// Reads on in the partitions of the offsets topic that the broker leads, to their ends.
    async fn read_generations(
        &mut self,
        broker: BrokerId,
        connection: &mut Connection,
        map: &ClusterMap,
    ) -> Result<(), Error> {
        let led = map.led_by(broker).filter(|partition| &*partition.topic == OFFSETS_TOPIC);
        let mut left: Vec<i32> = led.map(|partition| partition.partition).collect();
        // Each round takes as much as a response may hold; a partition that gave nothing is read to its end.
        while !left.is_empty() {
            let partitions = left.iter().map(|number| FetchPartition {
                partition: *number,
                fetch_offset: self.positions.get(number).copied().unwrap_or(0),
                partition_max_bytes: FETCH_BYTES,
                ..FetchPartition::default()
            });
            let topic = FetchTopic {
                topic: OFFSETS_TOPIC.to_owned(),
                partitions: partitions.collect(),
                ..FetchTopic::default()
            };
            let request =
                FetchRequest { topics: vec![topic], max_bytes: FETCH_BYTES, ..FetchRequest::default() };
            let version = connection.highest_version(ApiKey::Fetch)?.min(FETCH_VERSION_MAX);
            let answer = connection.call(&request, version).await?;
            left = self.take_records(&answer);
        }
        Ok(())
    }

    /// Takes in what was fetched and returns the partitions that may have more.
    fn take_records(&mut self, answer: &FetchResponse) -> Vec<i32> {
        let mut more = Vec::new();
        for partition in answer.responses.iter().flat_map(|topic| &topic.partitions) {
            let number = partition.partition_index;
            let before = self.positions.get(&number).copied().unwrap_or(0);
            if partition.error_code == ErrorCode::OffsetOutOfRange.code() {
                // The beginning was deleted, or the log was made anew.
                let start = partition.log_start_offset.max(0);
                self.positions.insert(number, start);
                if start != before {
                    more.push(number);
                }
                continue;
            }
            if let Records::Bytes(records) = &partition.records {
                let after = self.take_batches(records, before);
                self.positions.insert(number, after);
                if after > before {
                    more.push(number);
                }
            }
        }
        more
    }

    /// Returns the offset behind the last whole batch.
    fn take_batches(&mut self, records: &Bytes, mut position: i64) -> i64 {
        let mut rest = records.clone();
        while let Ok(header) = BatchHeader::parse(&rest) {
            if rest.len() < header.size() {
                break;
            }
            let batch = rest.split_to(header.size());
            for record in iterate(&batch, BATCH_BYTES_MAX).into_iter().flatten().flatten() {
                let Some(Ok(ConsumerOffsetsKey::Group(key))) =
                    record.key.as_ref().map(ConsumerOffsetsKey::decode)
                else {
                    continue;
                };
                match record.value.as_ref().map(GroupValue::decode) {
                    Some(Ok(value)) => {
                        self.generations.insert(key.group, value.generation);
                    }
                    Some(Err(_)) => {}
                    None => {
                        self.generations.remove(&key.group);
                    }
                }
            }
            position = position.max(header.last_offset() + 1);
        }
        position
    }
}

async fn read_offsets(connection: &mut Connection, group: &str) -> Result<Vec<GroupOffset>, Error> {
    let request =
        OffsetFetchRequest { group_id: group.to_owned(), topics: None, ..OffsetFetchRequest::default() };
    let version = connection.highest_version(ApiKey::OffsetFetch)?.min(OFFSET_FETCH_VERSION_MAX);
    let answer = connection.call(&request, version).await?;
    let offsets = answer.topics.into_iter().flat_map(|topic| {
        let name: Arc<str> = topic.name.into();
        topic.partitions.into_iter().filter(|partition| partition.committed_offset >= 0).map(
            move |partition| GroupOffset {
                partition: TopicPartition::new(Arc::clone(&name), partition.partition_index),
                offset: Offset(partition.committed_offset),
                committed_at: None,
            },
        )
    });
    Ok(offsets.collect())
}
