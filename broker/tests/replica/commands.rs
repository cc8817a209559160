//! What the controller's commands do.

use std::sync::atomic::Ordering;

use ottla_broker::replica::machine::{Acks, RoleKind};
use ottla_broker::types::{BrokerId, Offset};
use ottla_protocol::message::stop_replica::{StopReplicaPartitionState, StopReplicaTopicState};
use ottla_protocol::message::{ErrorCode, StopReplicaRequest};

use super::support::{Broker, LONG, leader_and_isr, partition, soon, update_metadata};

fn stop(leader_epoch: i32, delete_partition: bool) -> StopReplicaRequest {
    StopReplicaRequest {
        controller_epoch: 1,
        broker_epoch: 100,
        topic_states: vec![StopReplicaTopicState {
            topic_name: "orders".to_owned(),
            partition_states: vec![StopReplicaPartitionState {
                partition_index: 0,
                leader_epoch,
                delete_partition,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn role(broker: &Broker) -> RoleKind {
    broker.manager.get(&partition(0)).unwrap().ask(|machine| machine.role())
}

#[test]
fn commands_of_old_controllers_and_for_old_registrations_are_refused() {
    let broker = Broker::new(1);
    broker.lead(3, &[1]);
    let refused = |change: fn(&mut ottla_protocol::message::LeaderAndIsrRequest)| {
        let mut request = leader_and_isr(1, 4, &[1]);
        change(&mut request);
        broker.manager.apply_leader_and_isr(&request).error
    };
    assert_eq!(refused(|request| request.controller_epoch = 0), ErrorCode::StaleControllerEpoch);
    assert_eq!(refused(|request| request.broker_epoch = 99), ErrorCode::StaleBrokerEpoch);
    broker.broker_epoch.store(101, Ordering::SeqCst);
    assert_eq!(broker.manager.update_metadata(&update_metadata(&[1])), Err(ErrorCode::StaleBrokerEpoch));
    assert_eq!(broker.manager.stop_replicas(&stop(9, true)).error, ErrorCode::StaleBrokerEpoch);
    assert!(broker.path(0).exists());
}

#[test]
fn a_repeated_command_is_refused_and_changes_nothing() {
    let broker = Broker::new(1);
    broker.lead(3, &[1]);
    assert_eq!(broker.command(1, 3, &[1]), ErrorCode::StaleControllerEpoch);
    assert_eq!(broker.command(2, 2, &[1]), ErrorCode::StaleControllerEpoch);
    assert_eq!(role(&broker), RoleKind::Leader);
}

#[test]
fn a_follower_of_an_unknown_leader_has_its_log_and_waits_for_the_next_command() {
    let broker = Broker::new(1);
    broker.live(&[1, 3]);
    assert_eq!(broker.command(2, 4, &[2]), ErrorCode::None);
    assert!(broker.path(0).exists());
    assert_eq!(role(&broker), RoleKind::Undecided);
    broker.live(&[1, 2, 3]);
    assert_eq!(broker.command(2, 4, &[2]), ErrorCode::None, "the same epoch, its leader known now");
    assert_eq!(role(&broker), RoleKind::Follower(BrokerId(2)));
}

#[test]
fn a_new_follower_cuts_what_is_not_known_to_be_committed_by_its_leaders_word_only() {
    let broker = Broker::new(1);
    broker.lead(0, &[1, 2]);
    soon(&broker.produce(Acks::Leader, LONG, 3));
    assert_eq!(broker.command(2, 1, &[1, 2]), ErrorCode::None);
    let log = broker.manager.get(&partition(0)).unwrap().log().clone();
    assert_eq!(log.log_end_offset(), Offset(3), "it knows its epochs, so the leader decides by them");
}

#[test]
fn a_stopped_replica_is_deleted_only_when_it_says_so() {
    let broker = Broker::new(1);
    broker.lead(3, &[1]);
    let answer = |request: &StopReplicaRequest| {
        let outcome = broker.manager.stop_replicas(request);
        assert_eq!(outcome.error, ErrorCode::None);
        outcome.partitions[0].error
    };
    assert_eq!(answer(&stop(2, true)), ErrorCode::FencedLeaderEpoch);
    assert_eq!(answer(&stop(4, false)), ErrorCode::None);
    assert!(broker.path(0).exists());
    assert_eq!(answer(&stop(-2, true)), ErrorCode::None);
    assert!(!broker.path(0).exists());
    assert!(broker.manager.get(&partition(0)).is_none());
    assert_eq!(answer(&stop(-2, true)), ErrorCode::None, "what is gone stays gone");
}

#[test]
fn an_assignment_without_this_broker_makes_no_log() {
    let broker = Broker::new(1);
    let mut request = leader_and_isr(2, 4, &[2]);
    request.topic_states[0].partition_states[0].replicas = vec![2, 3];
    let outcome = broker.manager.apply_leader_and_isr(&request);
    assert_eq!(outcome.partitions[0].error, ErrorCode::UnknownTopicOrPartition);
    assert!(!broker.path(0).exists());
}
