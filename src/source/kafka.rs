//! How far each log reaches, asked of each broker in Kafka's protocol: one task and one connection per broker.
//!
//! A request by replica -2, Kafka's "debugging consumer", is answered by whoever has a replica, leader or not, with
//! that replica's own log end offset; a request by -1, a consumer, only by the leader, with the high watermark.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_broker::types::{BrokerId, Offset, TopicPartition};
use ottla_protocol::message::list_offsets::{ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic};
use ottla_protocol::message::{ErrorCode, ListOffsetsResponse};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::feed::Feed;
use super::map::ClusterMap;
use crate::model::{ReplicaOffsets, SourceName, Update};

/// How often the offsets of a broker are asked for.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long to wait before connecting again.
const PAUSE: Duration = Duration::from_millis(250);
/// More partitions than this are asked for in several requests.
const PARTITIONS_PER_REQUEST: usize = 2_000;
const DEBUGGING_CONSUMER: i32 = -2;
const CONSUMER: i32 = -1;
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

type Asked = BTreeMap<TopicPartition, ReplicaOffsets>;

/// Keeps one task for each registered broker, until dropped.
pub(super) async fn run(mut map: watch::Receiver<Arc<ClusterMap>>, feed: Feed) {
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<BrokerId, (String, AbortHandle)> = BTreeMap::new();
    loop {
        let brokers = map.borrow_and_update().brokers.clone();
        let mut gone = Vec::new();
        running.retain(|broker, (address, task)| {
            let keeps = brokers.get(broker) == Some(address);
            if !keeps {
                task.abort();
                gone.push(*broker);
            }
            keeps
        });
        for broker in gone.into_iter().filter(|broker| !brokers.contains_key(broker)) {
            feed.closed(SourceName::Kafka(broker)).await;
        }
        for (broker, address) in brokers {
            running.entry(broker).or_insert_with(|| {
                let task = ask_broker(broker, address.clone(), map.clone(), feed.clone());
                (address, tasks.spawn(Box::pin(task)))
            });
        }
        tokio::select! {
            changed = map.changed() => if changed.is_err() { return },
            Some(_ended) = tasks.join_next() => {}
        }
    }
}

async fn ask_broker(broker: BrokerId, address: String, map: watch::Receiver<Arc<ClusterMap>>, feed: Feed) {
    loop {
        let error = match connect(&address).await {
            Ok(mut connection) => loop {
                let known = Arc::clone(&map.borrow());
                match ask(&mut connection, broker, &known).await {
                    Ok(replicas) => {
                        feed.say(Update::Offsets { broker, replicas }).await;
                        feed.fresh(SourceName::Kafka(broker)).await;
                    }
                    Err(error) => break error,
                }
                tokio::time::sleep(INTERVAL).await;
            },
            Err(error) => error,
        };
        feed.stale(SourceName::Kafka(broker), error).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Opens a connection on which versions are agreed.
pub(super) async fn connect(address: &str) -> Result<Connection, ottla_broker::client::Error> {
    let options = ConnectOptions { client_id: "ottla-console".to_owned(), ..ConnectOptions::default() };
    let mut connection = Connection::connect(address, options).await?;
    connection.negotiate().await?;
    Ok(connection)
}

/// Asks a broker for the ends of its replicas, and for the beginning and the high watermark of what it leads.
pub(super) async fn ask(
    connection: &mut Connection,
    broker: BrokerId,
    map: &ClusterMap,
) -> Result<Vec<ReplicaOffsets>, ottla_broker::client::Error> {
    let mut asked = Asked::new();
    let replicas: Vec<_> = map.replicas_on(broker).cloned().collect();
    for chunk in replicas.chunks(PARTITIONS_PER_REQUEST) {
        let answer = list(connection, DEBUGGING_CONSUMER, LATEST, chunk).await?;
        take(&mut asked, &answer, |entry, offset| entry.log_end_offset = Some(offset));
        let answer = list(connection, DEBUGGING_CONSUMER, EARLIEST, chunk).await?;
        take(&mut asked, &answer, |entry, offset| entry.log_start_offset = Some(offset));
    }
    let led: Vec<_> = map.led_by(broker).cloned().collect();
    for chunk in led.chunks(PARTITIONS_PER_REQUEST) {
        let answer = list(connection, CONSUMER, LATEST, chunk).await?;
        take(&mut asked, &answer, |entry, offset| entry.high_watermark = Some(offset));
    }
    Ok(asked.into_values().collect())
}

async fn list(
    connection: &mut Connection,
    replica_id: i32,
    timestamp: i64,
    partitions: &[TopicPartition],
) -> Result<ListOffsetsResponse, ottla_broker::client::Error> {
    let mut topics: BTreeMap<&str, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for partition in partitions {
        topics.entry(&partition.topic).or_default().push(ListOffsetsPartition {
            partition_index: partition.partition,
            timestamp,
            ..ListOffsetsPartition::default()
        });
    }
    let topics = topics.into_iter().map(|(name, partitions)| ListOffsetsTopic {
        name: name.to_owned(),
        partitions,
        ..ListOffsetsTopic::default()
    });
    let request =
        ListOffsetsRequest { replica_id, topics: topics.collect(), ..ListOffsetsRequest::default() };
    connection.call_highest(&request).await
}

/// A partition that answers with an error has just moved or gone: the next round knows.
fn take(asked: &mut Asked, answer: &ListOffsetsResponse, mut put: impl FnMut(&mut ReplicaOffsets, Offset)) {
    for topic in &answer.topics {
        for found in &topic.partitions {
            if found.error_code != ErrorCode::None.code() || found.offset < 0 {
                continue;
            }
            let partition = TopicPartition::new(topic.name.as_str(), found.partition_index);
            let entry = asked.entry(partition.clone()).or_insert_with(|| ReplicaOffsets {
                partition,
                log_start_offset: None,
                log_end_offset: None,
                high_watermark: None,
                size_bytes: None,
            });
            put(entry, Offset(found.offset));
        }
    }
}
