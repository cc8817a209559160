//! Leaders that change their in-sync replicas.

use ottla_protocol::message::ErrorCode;

use super::super::*;
use super::world::{World, ids, tp};
use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch};
use crate::zk::layout::partition_state::LeaderRecoveryState;

/// A wish of the leader of t-0, whose leader epoch is 1, whose partition epoch is 1, and whose replicas are in sync.
fn wish(isr: &[i32]) -> AlterWish {
    AlterWish {
        partition: 0,
        leader_epoch: LeaderEpoch(1),
        isr: ids(isr),
        recovery: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(1),
    }
}

fn world() -> World {
    let mut world = World::in_office(&[1, 2, 3], &[("t", &[&[3, 1, 2]])]);
    world.dies(3);
    world.returns(3);
    world.story();
    world
}

fn request(world: &World, broker: i32, version: i16, wish: AlterWish) -> Request {
    let id = world.machine.context().unwrap().topics["t"].id;
    let topic = if version >= 2 {
        AlterTopic { id, name: None, partitions: vec![wish] }
    } else {
        AlterTopic { id: None, name: Some("t".into()), partitions: vec![wish] }
    };
    let broker_epoch = world.brokers.get(&BrokerId(broker)).map_or(BrokerEpoch(1), |it| it.epoch);
    Request::AlterPartition(AlterPartition {
        broker: BrokerId(broker),
        broker_epoch,
        version,
        topics: vec![topic],
    })
}

fn result(world: &World) -> Result<(Vec<i32>, i32), ErrorCode> {
    match world.last_reply() {
        Reply::AlterPartition(topics) => {
            let (_, result) = &topics[0].partitions[0];
            result.clone().map(|it| (it.isr.iter().map(|id| id.0).collect(), it.partition_epoch.0))
        }
        Reply::Refused(refusal) => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_follower_that_caught_up_comes_back() {
    let mut world = world();
    let request = request(&world, 1, 3, wish(&[1, 2, 3]));
    world.ask(request);
    insta::assert_snapshot!(world.story());
}

#[test]
fn rules() {
    type Expected = Result<(Vec<i32>, i32), ErrorCode>;
    let recovering = LeaderRecoveryState::Recovering;
    let cases: [(&str, i16, AlterWish, Expected); 8] = [
        ("as it is already", 3, wish(&[1, 2]), Ok((vec![1, 2], 1))),
        (
            "as it is already, from an older state",
            3,
            AlterWish { partition_epoch: PartitionEpoch(0), ..wish(&[1, 2]) },
            Ok((vec![1, 2], 1)),
        ),
        (
            "a leader epoch that is not known yet",
            3,
            AlterWish { leader_epoch: LeaderEpoch(2), ..wish(&[1]) },
            Err(ErrorCode::NotController),
        ),
        (
            "a state that is not known yet",
            3,
            AlterWish { partition_epoch: PartitionEpoch(2), ..wish(&[1]) },
            Err(ErrorCode::NotController),
        ),
        (
            "an old leader epoch",
            3,
            AlterWish { leader_epoch: LeaderEpoch(0), ..wish(&[1]) },
            Err(ErrorCode::FencedLeaderEpoch),
        ),
        (
            "an old state",
            3,
            AlterWish { partition_epoch: PartitionEpoch(0), ..wish(&[1]) },
            Err(ErrorCode::InvalidUpdateVersion),
        ),
        (
            "recovered leaders do not fall back",
            3,
            AlterWish { recovery: recovering, ..wish(&[1]) },
            Err(ErrorCode::InvalidRequest),
        ),
        ("a broker without a replica", 3, wish(&[1, 9]), Err(ErrorCode::InvalidRequest)),
    ];
    for (what, version, wish, expected) in cases {
        let mut world = world();
        let request = request(&world, 1, version, wish);
        world.ask(request);
        assert_eq!(result(&world), expected, "{what}");
        assert!(!world.story().contains("write "), "{what}");
    }
}

#[test]
fn a_dead_member_is_refused_under_the_name_that_the_leader_knows() {
    for (version, expected) in [(3, ErrorCode::IneligibleReplica), (1, ErrorCode::OperationNotAttempted)] {
        let mut world = world();
        world.dies(3);
        let alive = wish(&[1, 2, 3]);
        let request = request(&world, 1, version, alive);
        world.ask(request);
        assert_eq!(result(&world), Err(expected));
    }
}

#[test]
fn unknown_brokers_topics_and_partitions() {
    let mut world = world();
    let request_of_ghost = request(&world, 9, 3, wish(&[1]));
    world.ask(request_of_ghost);
    assert_eq!(result(&world), Err(ErrorCode::StaleBrokerEpoch));
    let ask = |world: &mut World, topic: AlterTopic| {
        let broker_epoch = world.brokers[&BrokerId(1)].epoch;
        let broker = BrokerId(1);
        let alter = AlterPartition { broker, broker_epoch, version: 3, topics: vec![topic] };
        world.ask(Request::AlterPartition(alter));
    };
    let id = Some(uuid::Uuid::from_u128(77));
    ask(&mut world, AlterTopic { id, name: None, partitions: vec![wish(&[1])] });
    assert_eq!(result(&world), Err(ErrorCode::UnknownTopicId));
    let name = Some("ghost".into());
    ask(&mut world, AlterTopic { id: None, name, partitions: vec![wish(&[1])] });
    assert_eq!(result(&world), Err(ErrorCode::UnknownTopicOrPartition));
    let name = Some("t".into());
    ask(
        &mut world,
        AlterTopic { id: None, name, partitions: vec![AlterWish { partition: 5, ..wish(&[1]) }] },
    );
    assert_eq!(result(&world), Err(ErrorCode::UnknownTopicOrPartition));
}

#[test]
fn a_broker_that_shuts_down_does_not_come_back_into_sync() {
    let mut world = world();
    let epoch = world.brokers[&BrokerId(3)].epoch;
    world.ask(Request::ControlledShutdown { broker: BrokerId(3), epoch });
    let request = request(&world, 1, 3, wish(&[1, 2, 3]));
    world.ask(request);
    assert_eq!(result(&world), Err(ErrorCode::IneligibleReplica));
}

#[test]
fn a_write_that_met_another_is_refused_and_the_stored_state_learnt() {
    let mut world = world();
    let (mut state, version) = world.states[&tp("t", 0)].clone();
    state.isr = ids(&[1]);
    world.states.insert(tp("t", 0), (state, version + 1));
    let first = request(&world, 1, 3, wish(&[1, 2, 3]));
    world.ask(first);
    assert_eq!(result(&world), Err(ErrorCode::InvalidUpdateVersion));
    let again = AlterWish { partition_epoch: PartitionEpoch(2), ..wish(&[1, 2]) };
    let second = request(&world, 1, 3, again);
    world.ask(second);
    assert_eq!(result(&world), Ok((vec![1, 2], 3)));
}

#[test]
fn wishes_that_wait_are_written_together_unless_they_touch_the_same_partition() {
    let mut world = World::in_office(&[1, 2], &[("t", &[&[1, 2], &[1, 2]])]);
    let ask = |world: &World, partition, partition_epoch| {
        let wish = AlterWish {
            partition,
            leader_epoch: LeaderEpoch(0),
            partition_epoch: PartitionEpoch(partition_epoch),
            ..wish(&[1])
        };
        request(world, 1, 3, wish)
    };
    let mut effects = Vec::new();
    let now = crate::types::Millis(0);
    let requests = [(0, 0), (1, 0), (0, 0)].map(|(partition, epoch)| ask(&world, partition, epoch));
    // A write is under way, so that the requests wait.
    let look = ClusterEvent::LogDirsFailed(Vec::new(), vec!["n".to_owned()]);
    world.machine.step(now, Event::Cluster(super::world::EPOCH, look), &mut effects);
    for (id, request) in (1..).zip(requests) {
        world.machine.step(now, Event::Request(RequestId(id), request), &mut effects);
    }
    let writes = |effects: &[Effect]| -> Vec<(WriteId, usize)> {
        let write = |effect: &Effect| match effect {
            Effect::Write { id, changes, .. } => Some((*id, changes.len())),
            _ => None,
        };
        effects.iter().filter_map(write).collect()
    };
    let (waiting, _) = writes(&effects)[0];
    effects.clear();
    let written = ClusterEvent::Written(waiting, vec![Outcome::Done(0)]);
    world.machine.step(now, Event::Cluster(super::world::EPOCH, written), &mut effects);
    assert_eq!(writes(&effects).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2]);
    let (both, _) = writes(&effects)[0];
    effects.clear();
    let written = ClusterEvent::Written(both, vec![Outcome::Done(1), Outcome::Done(1)]);
    world.machine.step(now, Event::Cluster(super::world::EPOCH, written), &mut effects);
    let answered: Vec<u64> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Reply(id, _) => Some(id.0),
            _ => None,
        })
        .collect();
    assert_eq!(answered, [1, 2, 3]);
}
