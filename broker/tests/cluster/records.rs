//! Records through one broker.

use bytes::Bytes;
use ottla_protocol::message::fetch::{FetchPartition, FetchTopic};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{ErrorCode, FetchRequest, ProduceRequest};
use ottla_protocol::record::{BatchBuilder, NewRecord};
use ottla_protocol::wire::Records;

use crate::support::{Cluster, client, run, topics};

/// A batch of two records, as a producer sends it.
fn batch() -> Bytes {
    let mut builder = BatchBuilder::new();
    for value in ["first", "second"] {
        let record =
            NewRecord { timestamp: 1_700_000_000_000, value: Some(value.as_bytes()), ..NewRecord::default() };
        builder.add(record);
    }
    builder.build().unwrap()
}

#[test]
fn what_was_produced_is_fetched_as_it_was_sent() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        let topic = topics(&mut connection, &["orders"]).await.remove(0);
        let produce = ProduceRequest {
            acks: -1,
            timeout_ms: 10_000,
            topic_data: vec![TopicProduceData {
                name: "orders".to_owned(),
                partition_data: vec![PartitionProduceData { records: Some(batch()), ..Default::default() }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = connection.call_highest(&produce).await.unwrap();
        let partition = &answer.responses[0].partition_responses[0];
        assert_eq!((ErrorCode::from_code(partition.error_code), partition.base_offset), (ErrorCode::None, 0));
        let fetch = FetchRequest {
            max_wait_ms: 10_000,
            min_bytes: 1,
            topics: vec![FetchTopic {
                topic_id: topic.topic_id,
                partitions: vec![FetchPartition { partition_max_bytes: 1 << 20, ..Default::default() }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = connection.call_highest(&fetch).await.unwrap();
        let partition = &answer.responses[0].partitions[0];
        assert_eq!(ErrorCode::from_code(partition.error_code), ErrorCode::None);
        let Records::Bytes(records) = &partition.records else { panic!("{:?}", partition.records) };
        // The leader wrote its epoch into the header, which the checksum leaves out for that; offsets were 0 already.
        let sent = batch();
        assert_eq!((&records[..12], &records[12..16]), (&sent[..12], &[0; 4][..]));
        assert_eq!(records[16..], sent[16..]);
    });
    broker.shutdown();
}
