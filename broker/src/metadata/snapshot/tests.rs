use ottla_protocol::message::metadata::MetadataRequestTopic;
use ottla_protocol::message::update_metadata::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use ottla_protocol::message::{ErrorCode, UpdateMetadataRequest};
use uuid::Uuid;

use super::{Applied, ClusterSnapshot, MetadataQuery};
use crate::types::{BrokerId, TopicPartition, topic_id_to_wire};

fn broker(id: i32, listeners: &[&str]) -> UpdateMetadataBroker {
    let endpoints = listeners.iter().map(|listener| UpdateMetadataEndpoint {
        port: 9_000 + id,
        host: format!("host-{id}"),
        listener: (*listener).to_owned(),
        ..Default::default()
    });
    UpdateMetadataBroker { id, endpoints: endpoints.collect(), ..Default::default() }
}

fn state(number: i32, leader: i32, isr: &[i32]) -> UpdateMetadataPartitionState {
    UpdateMetadataPartitionState {
        partition_index: number,
        leader,
        leader_epoch: 4,
        isr: isr.to_vec(),
        replicas: vec![1, 2, 3],
        ..Default::default()
    }
}

fn topic(name: &str, id: u128, states: Vec<UpdateMetadataPartitionState>) -> UpdateMetadataTopicState {
    UpdateMetadataTopicState {
        topic_name: name.to_owned(),
        topic_id: topic_id_to_wire(Some(Uuid::from_u128(id)).filter(|id| !id.is_nil())),
        partition_states: states,
        ..Default::default()
    }
}

fn update(live: &[i32], topics: Vec<UpdateMetadataTopicState>) -> UpdateMetadataRequest {
    UpdateMetadataRequest {
        controller_id: 1,
        controller_epoch: 7,
        live_brokers: live.iter().map(|id| broker(*id, &["PLAINTEXT"])).collect(),
        topic_states: topics,
        ..Default::default()
    }
}

fn orders(live: &[i32]) -> Applied {
    let states = vec![state(0, 1, &[1, 2, 3]), state(1, 2, &[2, 3])];
    ClusterSnapshot::default().apply(&update(live, vec![topic("orders", 5, states)]))
}

#[test]
fn brokers_are_replaced_and_partitions_are_merged() {
    let first = orders(&[1, 2, 3]);
    assert!(first.live_brokers_changed);
    let second = first.snapshot.apply(&update(&[1, 3], vec![topic("orders", 5, vec![state(1, 3, &[3])])]));
    assert!(second.live_brokers_changed);
    assert!(!second.snapshot.is_live(BrokerId(2)));
    let orders = second.snapshot.topic("orders").unwrap();
    let leaders: Vec<_> = orders.partitions.values().map(|partition| partition.leader.0).collect();
    assert_eq!(leaders, [1, 3]);
    let third = second.snapshot.apply(&update(&[1, 3], Vec::new()));
    assert!(!third.live_brokers_changed);
    assert_eq!(third.snapshot.topics(), second.snapshot.topics());
}

#[test]
fn a_topic_that_is_being_deleted_vanishes() {
    let first = orders(&[1]);
    let gone = vec![state(0, -2, &[]), state(1, -2, &[])];
    let second = first.snapshot.apply(&update(&[1], vec![topic("orders", 5, gone)]));
    assert_eq!(second.deleted, [TopicPartition::new("orders", 0), TopicPartition::new("orders", 1)]);
    assert_eq!(second.snapshot.topic("orders"), None);
    assert_eq!(second.snapshot.topic_name(Uuid::from_u128(5)), None);
}

#[test]
fn a_topic_made_anew_keeps_nothing_of_the_old_one() {
    let first = orders(&[1]);
    let second = first.snapshot.apply(&update(&[1], vec![topic("orders", 6, vec![state(0, 1, &[1])])]));
    assert_eq!(second.snapshot.topic("orders").unwrap().partitions.len(), 1);
    assert_eq!(second.snapshot.topic_by_id(Uuid::from_u128(5)), None);
    assert!(second.snapshot.topic_by_id(Uuid::from_u128(6)).is_some());
}

#[test]
fn old_requests_without_groups_ids_and_listener_names_are_understood() {
    let mut request = update(&[], Vec::new());
    request.live_brokers = vec![
        UpdateMetadataBroker { id: 1, v0_host: "old".to_owned(), v0_port: 9_092, ..Default::default() },
        broker(2, &[""]),
    ];
    request.ungrouped_partition_states =
        vec![UpdateMetadataPartitionState { topic_name: "orders".to_owned(), ..state(3, 1, &[1]) }];
    let snapshot = ClusterSnapshot::default().apply(&request).snapshot;
    assert_eq!(snapshot.endpoint(BrokerId(1), "PLAINTEXT").unwrap().host, "old");
    assert_eq!(snapshot.endpoint(BrokerId(2), "PLAINTEXT").unwrap().port, 9_002);
    assert!(snapshot.partition(&TopicPartition::new("orders", 3)).is_some());
}

#[test]
fn each_version_is_told_about_dead_leaders_and_replicas_in_its_way() {
    // Broker 3 is dead; broker 2 lives, but not on the client's listener.
    let mut request = update(&[1], Vec::new());
    request.live_brokers.push(broker(2, &["INTERNAL"]));
    let states = vec![
        state(0, 1, &[1, 3]),
        state(1, 2, &[2]),
        state(2, 3, &[3]),
        state(3, -1, &[3]),
        state(4, 1, &[1]),
    ];
    request.topic_states = vec![topic("orders", 5, states)];
    let snapshot = ClusterSnapshot::default().apply(&request).snapshot;
    let errors = |version| {
        let query = MetadataQuery { snapshot: &snapshot, listener: "PLAINTEXT", version };
        let topics = query.all_topics();
        topics[0].partitions.iter().map(|told| (told.error_code, told.leader_id)).collect::<Vec<_>>()
    };
    assert_eq!(errors(0), [(9, 1), (5, -1), (5, -1), (5, -1), (9, 1)]);
    assert_eq!(errors(1), [(0, 1), (5, -1), (5, -1), (5, -1), (0, 1)]);
    assert_eq!(errors(12), [(0, 1), (72, -1), (5, -1), (5, -1), (0, 1)]);
    let query = MetadataQuery { snapshot: &snapshot, listener: "PLAINTEXT", version: 12 };
    let topics = query.all_topics();
    assert_eq!(topics[0].partitions[0].offline_replicas, [2, 3]);
    assert_eq!(topics[0].partitions[3].leader_epoch, 4, "the epoch is told without a leader");
    let ids: Vec<_> = query.brokers().iter().map(|broker| broker.node_id).collect();
    assert_eq!((ids, query.controller_id()), (vec![1], 1));
}

#[test]
fn topics_are_found_by_name_and_by_id() {
    let snapshot = orders(&[1]).snapshot;
    let query = MetadataQuery { snapshot: &snapshot, listener: "PLAINTEXT", version: 12 };
    let by_name = |name: &str| MetadataRequestTopic { name: Some(name.to_owned()), ..Default::default() };
    let by_id = |id: u128| MetadataRequestTopic {
        topic_id: topic_id_to_wire(Some(Uuid::from_u128(id))),
        name: None,
        ..Default::default()
    };
    assert_eq!(query.asked(&by_name("orders")).unwrap().partitions.len(), 2);
    assert_eq!(query.asked(&by_name("orders")), query.asked(&by_id(5)));
    assert_eq!(query.asked(&by_name("other")), None);
    assert_eq!(query.asked(&by_id(6)).unwrap().error_code, ErrorCode::UnknownTopicId.code());
}
