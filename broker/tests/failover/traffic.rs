//! Producers that know only the wire, and remember what they were promised.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ottla_broker::client::Connection;
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{ErrorCode, ProduceRequest};
use ottla_protocol::record::{BatchBuilder, NewRecord, iterate};

use crate::cluster::{TOPIC, connect, metadata, run};

/// What a producer was promised, and how it fared.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    /// Offset and number of each record.
    pub(crate) acknowledged: Vec<(i64, u64)>,
    /// The longest time without a promise.
    pub(crate) longest_gap: Duration,
}

/// What producers and the one who kills brokers share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) done: AtomicBool,
    /// The ports of brokers to ask for leaders.
    pub(crate) ports: Mutex<Vec<u16>>,
    /// Records promised so far, by partition.
    pub(crate) counts: [AtomicU64; 3],
}

/// Writes numbered records to one partition until told to stop, each until it is promised to be safe.
pub(crate) fn produce(shared: &Shared, partition: i32) -> Promises {
    run(async {
        let mut promises = Promises::default();
        let mut connection: Option<Connection> = None;
        let mut last = Instant::now();
        let mut number = 0;
        while !shared.done.load(Ordering::SeqCst) {
            let Some(client) = &mut connection else {
                connection = find_leader(shared, partition).await;
                if connection.is_none() {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                continue;
            };
            match send(client, partition, number).await {
                Some(offset) => {
                    promises.acknowledged.push((offset, number));
                    promises.longest_gap = promises.longest_gap.max(last.elapsed());
                    last = Instant::now();
                    shared.counts[partition as usize].fetch_add(1, Ordering::SeqCst);
                    number += 1;
                }
                // Whether it was written is not known: it is written again, and may be there twice.
                None => connection = None,
            }
        }
        promises
    })
}

async fn find_leader(shared: &Shared, partition: i32) -> Option<Connection> {
    let ports = shared.ports.lock().unwrap().clone();
    for port in ports {
        let Some(cluster) = metadata(port).await else { continue };
        let known =
            cluster.topics.first()?.partitions.iter().find(|known| known.partition_index == partition);
        let Some(leader) = known.map(|known| known.leader_id) else { continue };
        let Some(broker) = cluster.brokers.iter().find(|broker| broker.node_id == leader) else { continue };
        if let Some(connection) = connect(broker.port as u16).await {
            return Some(connection);
        }
    }
    None
}

async fn send(client: &mut Connection, partition: i32, number: u64) -> Option<i64> {
    let mut builder = BatchBuilder::new();
    let value = number.to_string();
    builder.add(NewRecord { timestamp: 1, value: Some(value.as_bytes()), ..NewRecord::default() });
    let request = ProduceRequest {
        acks: -1,
        timeout_ms: 1_000,
        topic_data: vec![TopicProduceData {
            name: TOPIC.to_owned(),
            partition_data: vec![PartitionProduceData {
                index: partition,
                records: Some(builder.build().unwrap()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = client.call(&request, 11).await.ok()?;
    let outcome = &response.responses[0].partition_responses[0];
    (outcome.error_code == ErrorCode::None.code()).then_some(outcome.base_offset)
}

/// Offset and number of each record of a segment.
pub(crate) fn records(segment: Vec<u8>) -> Vec<(i64, u64)> {
    let mut rest = bytes::Bytes::from(segment);
    let mut found = Vec::new();
    while rest.len() > 12 {
        let batch = iterate(&rest, 1 << 20).unwrap();
        let size = batch.header().size();
        for record in batch {
            let record = record.unwrap();
            let value = record.value.unwrap();
            found.push((record.offset, std::str::from_utf8(&value).unwrap().parse().unwrap()));
        }
        rest = rest.slice(size..);
    }
    found
}
