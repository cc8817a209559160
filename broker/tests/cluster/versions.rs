//! Every version of every request that is about topics and brokers is answered: an answer that its version cannot carry
//! would close the connection.

use bytes::Bytes;
use ottla_broker::client::Connection;
use ottla_protocol::message::create_partitions::CreatePartitionsTopic;
use ottla_protocol::message::create_topics::CreatableTopic;
use ottla_protocol::message::delete_records::{DeleteRecordsPartition, DeleteRecordsTopic};
use ottla_protocol::message::delete_topics::DeleteTopicState;
use ottla_protocol::message::describe_configs::DescribeConfigsResource;
use ottla_protocol::message::fetch::{FetchPartition, FetchTopic};
use ottla_protocol::message::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use ottla_protocol::message::metadata::MetadataRequestTopic;
use ottla_protocol::message::offset_for_leader_epoch::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{
    AlterConfigsRequest, ApiVersionsRequest, CreatePartitionsRequest, CreateTopicsRequest,
    DeleteRecordsRequest, DeleteTopicsRequest, DescribeClusterRequest, DescribeConfigsRequest,
    DescribeLogDirsRequest, ElectLeadersRequest, FetchRequest, FindCoordinatorRequest,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, ListOffsetsRequest,
    ListPartitionReassignmentsRequest, MetadataRequest, OffsetForLeaderEpochRequest, ProduceRequest, Request,
    SaslAuthenticateRequest, SaslHandshakeRequest,
};
use ottla_protocol::record::{BatchBuilder, NewRecord};
use ottla_protocol::wire::Uuid;

use crate::support::{Cluster, client, run, topics};

/// Names of a topic that exists and of one that does not: success and failure take different shapes.
const NAMES: [&str; 2] = ["orders", "nobody"];

/// Asks in every version.
async fn ask<R: Request>(connection: &mut Connection, make: impl Fn(i16) -> R) {
    for version in R::VERSIONS {
        let answer = connection.call(&make(version), version).await;
        assert!(answer.is_ok(), "{} version {version}: {:?}", R::NAME, answer.err());
    }
}

fn batch() -> Bytes {
    let mut builder = BatchBuilder::new();
    builder.add(NewRecord { timestamp: 1, value: Some(b"value"), ..NewRecord::default() });
    builder.build().unwrap()
}

/// Topics in the shape of some request.
fn each<T>(make: impl Fn(&str) -> T) -> Vec<T> {
    NAMES.iter().map(|name| make(name)).collect()
}

#[test]
fn records_are_written_and_read_in_every_version() {
    let cluster = Cluster::start(&[("auto.create.topics.enable", "true")]);
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        let id = topics(&mut connection, &["orders"]).await[0].topic_id;
        let partition = || PartitionProduceData { records: Some(batch()), ..Default::default() };
        ask(&mut connection, |_| ProduceRequest {
            acks: -1,
            timeout_ms: 5_000,
            topic_data: each(|name| TopicProduceData {
                name: name.to_owned(),
                partition_data: vec![partition()],
                ..Default::default()
            }),
            ..Default::default()
        })
        .await;
        ask(&mut connection, |version| FetchRequest {
            max_wait_ms: 5_000,
            min_bytes: 1,
            topics: each(|name| FetchTopic {
                topic: if version < 13 { name.to_owned() } else { String::new() },
                topic_id: if name == "orders" { id } else { Uuid([9; 16]) },
                partitions: vec![FetchPartition { partition_max_bytes: 1 << 20, ..Default::default() }],
                ..Default::default()
            }),
            ..Default::default()
        })
        .await;
        for timestamp in [-1, -2, 0, i64::MAX] {
            let asked = ListOffsetsPartition { timestamp, ..Default::default() };
            ask(&mut connection, |_| ListOffsetsRequest {
                replica_id: -1,
                topics: each(|name| ListOffsetsTopic {
                    name: name.to_owned(),
                    partitions: vec![asked.clone()],
                    ..Default::default()
                }),
                ..Default::default()
            })
            .await;
        }
        ask(&mut connection, |_| OffsetForLeaderEpochRequest {
            topics: each(|name| OffsetForLeaderTopic {
                topic: name.to_owned(),
                partitions: vec![OffsetForLeaderPartition::default()],
                ..Default::default()
            }),
            ..Default::default()
        })
        .await;
        ask(&mut connection, |_| DeleteRecordsRequest {
            timeout_ms: 5_000,
            topics: each(|name| DeleteRecordsTopic {
                name: name.to_owned(),
                partitions: vec![DeleteRecordsPartition::default()],
                ..Default::default()
            }),
            ..Default::default()
        })
        .await;
    });
    broker.shutdown();
}

#[test]
#[expect(clippy::too_many_lines, reason = "one call after the other, one per request")]
fn topics_and_brokers_are_described_and_changed_in_every_version() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        topics(&mut connection, &["orders"]).await;
        let connection = &mut connection;
        ask(connection, |version| ApiVersionsRequest {
            client_software_name: if version >= 3 { "test".to_owned() } else { String::new() },
            client_software_version: if version >= 3 { "1".to_owned() } else { String::new() },
            ..Default::default()
        })
        .await;
        ask(connection, |version| MetadataRequest {
            topics: Some(each(|name| MetadataRequestTopic {
                name: Some(name.to_owned()),
                ..Default::default()
            })),
            allow_auto_topic_creation: version < 4,
            include_topic_authorized_operations: version >= 8,
            include_cluster_authorized_operations: (8..=10).contains(&version),
            ..Default::default()
        })
        .await;
        ask(connection, |_| DescribeConfigsRequest {
            resources: [(2, "orders"), (2, "missing"), (4, "1"), (4, ""), (4, "9"), (7, "x")]
                .map(|(resource_type, name)| DescribeConfigsResource {
                    resource_type,
                    resource_name: name.to_owned(),
                    configuration_keys: None,
                    ..Default::default()
                })
                .into(),
            ..Default::default()
        })
        .await;
        ask(connection, |_| AlterConfigsRequest::default()).await;
        ask(connection, |_| IncrementalAlterConfigsRequest::default()).await;
        ask(connection, |_| DescribeLogDirsRequest { topics: None, ..Default::default() }).await;
        ask(connection, |_| DescribeClusterRequest::default()).await;
        ask(connection, |_| InitProducerIdRequest { transactional_id: None, ..Default::default() }).await;
        ask(connection, |version| FindCoordinatorRequest {
            key: if version < 4 { "g".to_owned() } else { String::new() },
            coordinator_keys: if version < 4 { Vec::new() } else { vec!["g".to_owned()] },
            ..Default::default()
        })
        .await;
        ask(connection, |_| SaslHandshakeRequest { mechanism: "PLAIN".to_owned(), ..Default::default() })
            .await;
        ask(connection, |_| SaslAuthenticateRequest::default()).await;
        ask(connection, |version| CreateTopicsRequest {
            timeout_ms: 10_000,
            topics: [format!("new-{version}"), "orders".to_owned(), "a/b".to_owned()]
                .map(|name| CreatableTopic {
                    name,
                    num_partitions: 1,
                    replication_factor: 1,
                    ..Default::default()
                })
                .into(),
            ..Default::default()
        })
        .await;
        ask(connection, |version| CreatePartitionsRequest {
            timeout_ms: 10_000,
            topics: each(|name| CreatePartitionsTopic {
                name: name.to_owned(),
                count: 2 + i32::from(version),
                assignments: None,
                ..Default::default()
            }),
            ..Default::default()
        })
        .await;
        ask(connection, |_| ElectLeadersRequest {
            topic_partitions: None,
            timeout_ms: 5_000,
            ..Default::default()
        })
        .await;
        ask(connection, |_| ListPartitionReassignmentsRequest { topics: None, ..Default::default() }).await;
        ask(connection, |version| DeleteTopicsRequest {
            timeout_ms: 10_000,
            topic_names: if version < 6 {
                vec![format!("new-{version}"), "missing".to_owned()]
            } else {
                Vec::new()
            },
            topics: if version < 6 {
                Vec::new()
            } else {
                vec![
                    DeleteTopicState { name: Some("new-6".to_owned()), ..Default::default() },
                    DeleteTopicState { topic_id: Uuid([9; 16]), ..Default::default() },
                ]
            },
            ..Default::default()
        })
        .await;
    });
    broker.shutdown();
}
