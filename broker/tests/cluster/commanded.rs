//! One broker, commanded as a controller would.

use bytes::Bytes;
use ottla_broker::Broker;
use ottla_broker::client::Connection;
use ottla_protocol::message::fetch::{FetchPartition, FetchTopic};
use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionState, LeaderAndIsrTopicState};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::update_metadata::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use ottla_protocol::message::{
    ErrorCode, FetchRequest, LeaderAndIsrRequest, ProduceRequest, UpdateMetadataRequest,
};
use ottla_protocol::record::{BatchBuilder, NewRecord};
use ottla_protocol::wire::{Records, Uuid};

use crate::support::{Cluster, client, run};

const TOPIC_ID: Uuid = Uuid([7; 16]);

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

/// Above that of the broker's own controller, which would else be obeyed instead of the test.
const CONTROLLER_EPOCH: i32 = 1000;

/// Makes the broker the only one of its cluster and the leader of `orders-0`.
async fn command(broker: &Broker, connection: &mut Connection) {
    let port = i32::from(broker.bound()[0].address.port());
    let endpoint = UpdateMetadataEndpoint {
        port,
        host: "127.0.0.1".to_owned(),
        listener: "PLAINTEXT".to_owned(),
        ..Default::default()
    };
    let update = UpdateMetadataRequest {
        controller_id: 1,
        controller_epoch: CONTROLLER_EPOCH,
        live_brokers: vec![UpdateMetadataBroker { id: 1, endpoints: vec![endpoint], ..Default::default() }],
        topic_states: vec![UpdateMetadataTopicState {
            topic_name: "orders".to_owned(),
            topic_id: TOPIC_ID,
            partition_states: vec![UpdateMetadataPartitionState {
                controller_epoch: 1,
                leader: 1,
                isr: vec![1],
                replicas: vec![1],
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    assert_eq!(connection.call(&update, 8).await.unwrap().error_code, 0);
    let lead = LeaderAndIsrRequest {
        controller_id: 1,
        controller_epoch: CONTROLLER_EPOCH,
        topic_states: vec![LeaderAndIsrTopicState {
            topic_name: "orders".to_owned(),
            topic_id: TOPIC_ID,
            partition_states: vec![LeaderAndIsrPartitionState {
                controller_epoch: 1,
                leader: 1,
                isr: vec![1],
                replicas: vec![1],
                is_new: true,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = connection.call(&lead, 7).await.unwrap();
    assert_eq!((response.error_code, response.topics[0].partition_errors[0].error_code), (0, 0));
}

#[test]
fn what_was_produced_is_fetched_as_it_was_sent() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        command(&broker, &mut connection).await;
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
                topic_id: TOPIC_ID,
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
