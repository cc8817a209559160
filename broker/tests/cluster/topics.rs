//! Three brokers and their controller: topics made, grown, moved and deleted, brokers that leave and return.

use bytes::Bytes;
use std::time::Duration;

use ottla_broker::Broker;
use ottla_broker::client::Connection;
use ottla_protocol::message::alter_partition_reassignments::{ReassignablePartition, ReassignableTopic};
use ottla_protocol::message::create_partitions::CreatePartitionsTopic;
use ottla_protocol::message::create_topics::{CreatableTopic, CreatableTopicConfig, CreatableTopicResult};
use ottla_protocol::message::delete_topics::DeleteTopicState;
use ottla_protocol::message::elect_leaders::TopicPartitions;
use ottla_protocol::message::metadata::{MetadataRequestTopic, MetadataResponsePartition};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{
    AlterPartitionReassignmentsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    ElectLeadersRequest, ErrorCode, ListPartitionReassignmentsRequest, MetadataRequest, ProduceRequest,
};
use ottla_protocol::record::{BatchBuilder, NewRecord};

use crate::support::{Cluster, client, run, wait_until};

/// Starts the brokers; the first one is the controller.
fn brokers(cluster: &Cluster, ids: &[i32]) -> Vec<Broker> {
    let brokers: Vec<Broker> = ids.iter().map(|id| cluster.broker(*id)).collect();
    wait_until("everybody knows everybody", || {
        brokers.iter().all(|broker| broker.metadata().brokers().len() == ids.len())
    });
    brokers
}

fn topic(name: &str, partitions: i32, replicas: i16) -> CreatableTopic {
    CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor: replicas,
        ..CreatableTopic::default()
    }
}

async fn create(connection: &mut Connection, topics: Vec<CreatableTopic>) -> Vec<CreatableTopicResult> {
    let request = CreateTopicsRequest { topics, timeout_ms: 20_000, ..CreateTopicsRequest::default() };
    connection.call(&request, 7).await.unwrap().topics
}

/// Returns the topic's partitions in order, as a broker describes them.
async fn describe(connection: &mut Connection, name: &str) -> Vec<MetadataResponsePartition> {
    let topic = MetadataRequestTopic { name: Some(name.to_owned()), ..MetadataRequestTopic::default() };
    let request = MetadataRequest { topics: Some(vec![topic]), ..MetadataRequest::default() };
    let mut partitions = connection.call(&request, 9).await.unwrap().topics.remove(0).partitions;
    partitions.sort_by_key(|partition| partition.partition_index);
    partitions
}

fn batch(value: &str) -> Bytes {
    let mut builder = BatchBuilder::new();
    builder.add(NewRecord { timestamp: 1, value: Some(value.as_bytes()), ..NewRecord::default() });
    builder.build().unwrap()
}

/// Produces as clients do: a broker that has not yet heard that it leads is asked again.
async fn produce(connection: &mut Connection, name: &str, value: &str) -> ErrorCode {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let error = produce_once(connection, name, value).await;
        let not_yet = matches!(error, ErrorCode::UnknownTopicOrPartition | ErrorCode::NotLeaderOrFollower);
        if !not_yet || tokio::time::Instant::now() > deadline {
            return error;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn produce_once(connection: &mut Connection, name: &str, value: &str) -> ErrorCode {
    let data = PartitionProduceData { records: Some(batch(value)), ..PartitionProduceData::default() };
    let request = ProduceRequest {
        acks: -1,
        timeout_ms: 10_000,
        topic_data: vec![TopicProduceData {
            name: name.to_owned(),
            partition_data: vec![data],
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    };
    let response = connection.call(&request, 9).await.unwrap();
    ErrorCode::from_code(response.responses[0].partition_responses[0].error_code)
}

#[test]
fn topics_come_and_go() {
    let cluster = Cluster::start(&[]);
    let brokers = brokers(&cluster, &[1, 2, 3]);
    run(async {
        let mut controller = client(&brokers[0]).await;
        let results = create(&mut controller, vec![topic("orders", 6, 3), topic("a/b", 1, 1)]).await;
        assert_eq!(
            (results[0].error_code, results[0].num_partitions, results[0].replication_factor),
            (0, 6, 3)
        );
        assert!(!results[0].topic_id.is_zero());
        assert_eq!(results[1].error_code, ErrorCode::InvalidTopicException.code());

        let mut other = client(&brokers[2]).await;
        let refused = create(&mut other, vec![topic("more", 1, 1)]).await;
        assert_eq!(refused[0].error_code, ErrorCode::NotController.code());
        wait_until("the other broker knows all leaders", || {
            brokers[2].metadata().topic("orders").is_some_and(|topic| topic.partitions.len() == 6)
        });
        let partitions = describe(&mut other, "orders").await;
        let mut leads = [0; 4];
        for partition in &partitions {
            assert_eq!(partition.isr_nodes.len(), 3, "{partition:?}");
            leads[usize::try_from(partition.leader_id).unwrap()] += 1;
        }
        assert_eq!(leads[1..], [2, 2, 2], "leaders are spread");

        let again = create(&mut controller, vec![topic("orders", 1, 1)]).await;
        assert_eq!(again[0].error_code, ErrorCode::TopicAlreadyExists.code());

        let by_id = DeleteTopicState { topic_id: results[0].topic_id, ..DeleteTopicState::default() };
        let ghost = DeleteTopicState { name: Some("ghost".to_owned()), ..DeleteTopicState::default() };
        let request =
            DeleteTopicsRequest { topics: vec![by_id, ghost], timeout_ms: 20_000, ..Default::default() };
        let deleted = controller.call(&request, 6).await.unwrap().responses;
        assert_eq!((deleted[0].name.as_deref(), deleted[0].error_code), (Some("orders"), 0));
        assert_eq!(deleted[1].error_code, ErrorCode::UnknownTopicOrPartition.code());
        wait_until("the logs are gone", || {
            (1..=3).all(|id| {
                let folder = cluster.folder.path().join(format!("broker-{id}"));
                let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
                names.into_iter().all(|name| {
                    let name = name.to_string_lossy().into_owned();
                    !name.starts_with("orders-") || name.ends_with("-delete")
                })
            })
        });
        let mut anew = 0;
        while anew == 0 {
            // The name is free once the topic's node is gone, a moment after its partitions.
            let results = create(&mut controller, vec![topic("orders", 1, 2)]).await;
            match ErrorCode::from_code(results[0].error_code) {
                ErrorCode::None => anew = results[0].num_partitions,
                ErrorCode::TopicAlreadyExists => tokio::time::sleep(Duration::from_millis(20)).await,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(anew, 1);
    });
    brokers.into_iter().for_each(Broker::shutdown);
}

#[test]
fn what_is_only_checked_is_not_made() {
    let cluster = Cluster::start(&[("num.partitions", "4"), ("min.insync.replicas", "2")]);
    let broker = cluster.broker(1);
    wait_until("the controller is in office", || broker.metadata().controller.is_some());
    run(async {
        let mut controller = client(&broker).await;
        let own = CreatableTopicConfig {
            name: "retention.ms".to_owned(),
            value: Some("5000".to_owned()),
            ..CreatableTopicConfig::default()
        };
        let wish = CreatableTopic { configs: vec![own], ..topic("orders", -1, -1) };
        let twice = vec![wish.clone(), topic("x", 1, 1), topic("x", 1, 1)];
        let request = CreateTopicsRequest { topics: twice, validate_only: true, ..Default::default() };
        let results = controller.call(&request, 7).await.unwrap().topics;
        assert_eq!((results[0].error_code, results[0].num_partitions), (0, 4));
        let configs = results[0].configs.as_ref().unwrap();
        let find = |name: &str| configs.iter().find(|config| config.name == name).unwrap();
        assert_eq!(
            (find("retention.ms").value.as_deref(), find("retention.ms").config_source),
            (Some("5000"), 1)
        );
        assert_eq!(find("min.insync.replicas").value.as_deref(), Some("2"));
        assert_eq!(results.len(), 2);
        assert_eq!(results[1].error_code, ErrorCode::InvalidRequest.code());
        assert!(broker.metadata().topic("orders").is_none());

        let hasty = CreateTopicsRequest { topics: vec![wish], timeout_ms: 0, ..Default::default() };
        let results = controller.call(&hasty, 7).await.unwrap().topics;
        assert_eq!(results[0].error_code, ErrorCode::RequestTimedOut.code());
        wait_until("it is made all the same", || broker.metadata().topic("orders").is_some());
    });
    broker.shutdown();
}

#[test]
fn topics_grow() {
    let cluster = Cluster::start(&[]);
    let brokers = brokers(&cluster, &[1, 2]);
    run(async {
        let mut controller = client(&brokers[0]).await;
        assert_eq!(create(&mut controller, vec![topic("orders", 1, 2)]).await[0].error_code, 0);
        let grow = |count| CreatePartitionsRequest {
            topics: vec![CreatePartitionsTopic {
                name: "orders".to_owned(),
                count,
                assignments: None,
                ..CreatePartitionsTopic::default()
            }],
            timeout_ms: 20_000,
            ..CreatePartitionsRequest::default()
        };
        let results = controller.call(&grow(3), 3).await.unwrap().results;
        assert_eq!(results[0].error_code, 0, "{results:?}");
        assert_eq!(describe(&mut controller, "orders").await.len(), 3);
        let results = controller.call(&grow(3), 3).await.unwrap().results;
        assert_eq!(results[0].error_code, ErrorCode::InvalidPartitions.code());
    });
    brokers.into_iter().for_each(Broker::shutdown);
}

fn reassign(order: Option<Vec<i32>>) -> AlterPartitionReassignmentsRequest {
    AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: "orders".to_owned(),
            partitions: vec![ReassignablePartition {
                partition_index: 0,
                replicas: order,
                ..ReassignablePartition::default()
            }],
            ..ReassignableTopic::default()
        }],
        ..AlterPartitionReassignmentsRequest::default()
    }
}

#[test]
fn leadership_moves_to_another_in_sync_replica() {
    let cluster = Cluster::start(&[]);
    let brokers = brokers(&cluster, &[1, 2, 3]);
    run(async {
        let mut controller = client(&brokers[0]).await;
        assert_eq!(create(&mut controller, vec![topic("orders", 1, 3)]).await[0].error_code, 0);
        let before = describe(&mut controller, "orders").await.remove(0);
        let mut order = before.replica_nodes.clone();
        order.rotate_left(1);
        let moved = controller.call(&reassign(Some(order.clone())), 0).await.unwrap();
        assert_eq!((moved.error_code, moved.responses[0].partitions[0].error_code), (0, 0));
        let elect = ElectLeadersRequest {
            election_type: 0,
            topic_partitions: Some(vec![TopicPartitions {
                topic: "orders".to_owned(),
                partitions: vec![0],
                ..TopicPartitions::default()
            }]),
            timeout_ms: 20_000,
            ..ElectLeadersRequest::default()
        };
        let elected = controller.call(&elect, 2).await.unwrap();
        assert_eq!(elected.replica_election_results[0].partition_result[0].error_code, 0, "{elected:?}");
        let after = describe(&mut controller, "orders").await.remove(0);
        assert_eq!((after.leader_id, after.replica_nodes), (order[0], order));
        assert!(after.leader_epoch > before.leader_epoch);
        let again = controller.call(&elect, 2).await.unwrap();
        let code = again.replica_election_results[0].partition_result[0].error_code;
        assert_eq!(code, ErrorCode::ElectionNotNeeded.code());
    });
    brokers.into_iter().for_each(Broker::shutdown);
}

#[test]
fn a_replica_moves_to_another_broker_with_its_records() {
    let cluster = Cluster::start(&[]);
    let brokers = brokers(&cluster, &[1, 2, 3]);
    run(async {
        let mut controller = client(&brokers[0]).await;
        assert_eq!(create(&mut controller, vec![topic("orders", 1, 1)]).await[0].error_code, 0);
        let before = describe(&mut controller, "orders").await.remove(0);
        let from = usize::try_from(before.leader_id - 1).unwrap();
        let mut leader = client(&brokers[from]).await;
        assert_eq!(produce(&mut leader, "orders", "kept").await, ErrorCode::None);
        let to = (from + 1) % 3;
        let target = i32::try_from(to + 1).unwrap();
        let moved = controller.call(&reassign(Some(vec![target])), 0).await.unwrap();
        assert_eq!(moved.responses[0].partitions[0].error_code, 0);
        wait_until("the move is over", || {
            brokers[to].metadata().topic("orders").is_some_and(|topic| {
                let partition = &topic.partitions[&0];
                partition.leader.0 == target && partition.replicas.len() == 1
            })
        });
        let list = ListPartitionReassignmentsRequest { topics: None, ..Default::default() };
        assert_eq!(controller.call(&list, 0).await.unwrap().topics, []);
        let mut new_leader = client(&brokers[to]).await;
        assert_eq!(produce(&mut new_leader, "orders", "more").await, ErrorCode::None);
        let cancel = controller.call(&reassign(None), 0).await.unwrap();
        let code = cancel.responses[0].partitions[0].error_code;
        assert_eq!(code, ErrorCode::NoReassignmentInProgress.code());
    });
    brokers.into_iter().for_each(Broker::shutdown);
}

#[test]
fn a_broker_that_stops_hands_over_and_comes_back_into_sync() {
    let cluster = Cluster::start(&[]);
    let mut brokers = brokers(&cluster, &[1, 2, 3]);
    let leader = run(async {
        let mut controller = client(&brokers[0]).await;
        assert_eq!(create(&mut controller, vec![topic("orders", 1, 3)]).await[0].error_code, 0);
        describe(&mut controller, "orders").await[0].leader_id
    });
    // The leader stops, be it the controller or not.
    let at = usize::try_from(leader - 1).unwrap();
    brokers.remove(at).shutdown();
    let successor = brokers[0].metadata().topic("orders").unwrap().partitions[&0].leader;
    wait_until("another one leads", || {
        brokers.iter().all(|broker| {
            let topic = broker.metadata().topic("orders").cloned();
            topic.is_some_and(|topic| {
                topic.partitions[&0].leader.0 != leader && topic.partitions[&0].isr.len() == 2
            })
        })
    });
    assert_ne!(successor.0, -1);
    let new_leader = brokers[0].metadata().topic("orders").unwrap().partitions[&0].leader.0;
    run(async {
        let position = brokers.iter().position(|broker| broker.id().0 == new_leader).unwrap();
        let mut leader = client(&brokers[position]).await;
        assert_eq!(produce(&mut leader, "orders", "meanwhile").await, ErrorCode::None);
    });
    brokers.push(cluster.broker(leader));
    wait_until("the broker is in sync again", || {
        brokers[0].metadata().topic("orders").is_some_and(|topic| topic.partitions[&0].isr.len() == 3)
    });
    brokers.into_iter().for_each(Broker::shutdown);
}
