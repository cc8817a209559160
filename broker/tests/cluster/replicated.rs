//! Three brokers.

use bytes::Bytes;
use ottla_broker::Broker;
use ottla_broker::client::Connection;
use ottla_protocol::message::metadata::MetadataResponsePartition;
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{ErrorCode, ProduceRequest};
use ottla_protocol::record::{BatchBuilder, NewRecord};

use crate::support::{Cluster, client, run, topics, wait_until};

fn cluster() -> Cluster {
    Cluster::start(&[
        ("default.replication.factor", "3"),
        ("num.partitions", "3"),
        ("min.insync.replicas", "2"),
        ("controlled.shutdown.retry.backoff.ms", "500"),
    ])
}

fn batch(value: &str) -> Bytes {
    let mut builder = BatchBuilder::new();
    builder.add(NewRecord { timestamp: 1, value: Some(value.as_bytes()), ..NewRecord::default() });
    builder.build().unwrap()
}

/// Produces one record with acks=all and returns how that ended and at which offset.
async fn produce(connection: &mut Connection, partition: i32, value: &str) -> (ErrorCode, i64) {
    let request = ProduceRequest {
        acks: -1,
        timeout_ms: 10_000,
        topic_data: vec![TopicProduceData {
            name: "orders".to_owned(),
            partition_data: vec![PartitionProduceData {
                index: partition,
                records: Some(batch(value)),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer = connection.call_highest(&request).await.unwrap();
    let partition = &answer.responses[0].partition_responses[0];
    (ErrorCode::from_code(partition.error_code), partition.base_offset)
}

/// What a broker tells of the partitions of `orders`, in order.
fn partitions(broker: &Broker) -> Vec<MetadataResponsePartition> {
    let mut topic = run(async { topics(&mut client(broker).await, &["orders"]).await.remove(0) });
    topic.partitions.sort_by_key(|partition| partition.partition_index);
    topic.partitions
}

fn by_id(brokers: &[Broker], id: i32) -> &Broker {
    brokers.iter().find(|broker| broker.id().0 == id).unwrap()
}

fn ends(broker: &Broker) -> Vec<String> {
    let page = broker.metrics().render();
    let lines = page.lines().filter(|line| line.starts_with("kafka_log_log_logendoffset{topic=\"orders\""));
    lines.map(str::to_owned).collect()
}

#[test]
fn leaders_move_when_a_broker_stops_and_nothing_is_lost() {
    let cluster = cluster();
    let mut brokers: Vec<_> = (1..=3).map(|id| cluster.broker(id)).collect();
    let before = partitions(&brokers[0]);
    let leaders: Vec<i32> = before.iter().map(|partition| partition.leader_id).collect();
    assert_eq!(
        {
            let mut l = leaders.clone();
            l.sort();
            l
        },
        [1, 2, 3],
        "leaders are spread"
    );
    for partition in &before {
        run(async {
            let mut client = client(by_id(&brokers, partition.leader_id)).await;
            for offset in 0..20 {
                let produced = produce(&mut client, partition.partition_index, "before").await;
                assert_eq!(produced, (ErrorCode::None, offset));
            }
        });
    }
    let stopped = brokers.remove(0);
    let stopped_id = stopped.id().0;
    stopped.shutdown();
    for broker in &brokers {
        wait_until("leaders among the living", || {
            partitions(broker).iter().all(|partition| {
                partition.leader_id != stopped_id && !partition.isr_nodes.contains(&stopped_id)
            })
        });
    }
    for partition in partitions(&brokers[0]) {
        run(async {
            let mut client = client(by_id(&brokers, partition.leader_id)).await;
            let produced = produce(&mut client, partition.partition_index, "meanwhile").await;
            assert_eq!(produced, (ErrorCode::None, 20));
        });
    }
    brokers.push(cluster.broker(stopped_id));
    for broker in &brokers {
        wait_until("everybody in sync", || {
            partitions(broker).iter().all(|partition| partition.isr_nodes.len() == 3)
        });
    }
    for broker in &brokers {
        wait_until("the same end everywhere", || ends(broker).iter().all(|line| line.ends_with(" 21")));
        assert_eq!(ends(broker).len(), 3);
    }
    brokers.into_iter().for_each(Broker::shutdown);
}
