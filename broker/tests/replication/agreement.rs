//! Whatever happens to leaders, the copies agree in the end and have all that was acknowledged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use ottla_protocol::message::ErrorCode;

use crate::producer::{consume, numbers, produce};
use crate::world::{ALL, World, connect, run, wait_until};

#[test]
fn followers_copy_byte_for_byte() {
    let world = World::start();
    run(async {
        let mut client = connect(world.port(1)).await;
        for number in 0..50 {
            assert_eq!(produce(&mut client, -1, number).await, Ok(i64::from(number)));
        }
        let read = consume(&mut client).await;
        assert_eq!(read, (0..50).map(|number| (i64::from(number), number)).collect::<Vec<_>>());
        let mut follower = connect(world.port(2)).await;
        assert_eq!(produce(&mut follower, -1, 0).await, Err(ErrorCode::NotLeaderOrFollower));
    });
    world.wait_for_agreement();
    assert_eq!(world.segment(1), world.segment(2));
    assert_eq!(world.segment(1), world.segment(3));
}

#[test]
fn a_leader_that_was_cut_off_gives_up_what_only_it_had() {
    let world = World::start();
    run(async {
        let mut first = connect(world.port(1)).await;
        for number in 0..10 {
            produce(&mut first, -1, number).await.unwrap();
        }
        // Broker 1 does not hear that it was replaced, and goes on taking what asks for its word only.
        world.controller.elect(2, &[2, 3], &[2, 3]);
        for number in 100..105 {
            produce(&mut first, 1, number).await.unwrap();
        }
        let mut second = connect(world.port(2)).await;
        for number in 10..14 {
            assert_eq!(produce(&mut second, -1, number).await, Ok(i64::from(number)));
        }
        assert_eq!((world.log_end(1), world.log_end(2)), (15, 14));
    });
    world.controller.tell(&[1]);
    world.wait_for_agreement();
    let expected: Vec<_> = (0..14).map(|number| (i64::from(number), number)).collect();
    for id in ALL {
        assert_eq!(numbers(&world.segment(id)), expected, "broker {id}");
    }
}

#[test]
fn a_broker_that_was_away_catches_up_and_is_in_sync_again() {
    let mut world = World::start();
    run(async {
        let mut client = connect(world.port(1)).await;
        produce(&mut client, -1, 0).await.unwrap();
    });
    world.stop(3);
    world.controller.elect(1, &[1, 2], &[1, 2]);
    run(async {
        let mut client = connect(world.port(1)).await;
        for number in 1..20 {
            produce(&mut client, -1, number).await.unwrap();
        }
    });
    world.restart(3);
    world.controller.tell(&ALL);
    world.wait_for_agreement();
    assert_eq!(world.segment(1), world.segment(3));
}

/// A producer goes on while leaders change, each time unheard by one broker for a while.
#[test]
fn what_was_acknowledged_survives_every_election() {
    let world = World::start();
    let done = AtomicBool::new(false);
    let acknowledged = std::thread::scope(|scope| {
        let producer = scope.spawn(|| run(produce_until(&world, &done)));
        for round in 0..12 {
            let stored = world.controller.stored();
            let next = stored.isr.iter().copied().find(|id| *id != stored.leader).unwrap();
            // The old leader hears of it last, when the new one has taken something already.
            let others: Vec<i32> = ALL.into_iter().filter(|id| *id != stored.leader).collect();
            let end = world.log_end(next);
            world.controller.elect(next, &stored.isr, &others);
            if round % 2 == 0 {
                wait_until("the new leader to take something", || world.log_end(next) > end);
            }
            world.controller.tell(&[stored.leader]);
            let end = world.log_end(next);
            wait_until("ten more records", || world.log_end(next) >= end + 10);
        }
        done.store(true, Ordering::SeqCst);
        producer.join().unwrap()
    });
    world.wait_for_agreement();
    assert!(acknowledged.len() > 60, "the producer got on: {}", acknowledged.len());
    for id in ALL {
        let kept: BTreeMap<i64, u32> = numbers(&world.segment(id)).into_iter().collect();
        for (offset, number) in &acknowledged {
            assert_eq!(kept.get(offset), Some(number), "broker {id} lost record {number} at {offset}");
        }
    }
    assert_eq!(world.segment(1), world.segment(2));
    assert_eq!(world.segment(1), world.segment(3));
}

async fn produce_until(world: &World, done: &AtomicBool) -> Vec<(i64, u32)> {
    let mut acknowledged = Vec::new();
    let mut clients = BTreeMap::new();
    for id in ALL {
        clients.insert(id, connect(world.port(id)).await);
    }
    let mut number = 0;
    while !done.load(Ordering::SeqCst) {
        let leader = world.controller.stored().leader;
        let client = clients.get_mut(&leader).unwrap();
        match produce(client, -1, number).await {
            Ok(offset) => acknowledged.push((offset, number)),
            // Not taken, or not known whether it was: the next one has another number.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
        }
        number += 1;
    }
    acknowledged
}
