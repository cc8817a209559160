//! Kills.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use rustix::process::Signal;

use crate::cluster::{ALL, Cluster, PARTITIONS};
use crate::traffic::{Promises, Shared, produce, records};

/// Whom a round kills.
#[derive(Debug, Clone, Copy)]
enum Victims {
    Controller,
    LeaderOf(i32),
    /// Two at once: nobody can promise anything until one is back.
    BothOthersOfController,
}

impl Victims {
    fn of(self, cluster: &Cluster) -> Vec<i32> {
        let metadata = cluster.metadata().unwrap();
        match self {
            Self::Controller => vec![metadata.controller_id],
            Self::LeaderOf(partition) => {
                vec![cluster.partitions().unwrap()[partition as usize].leader_id]
            }
            Self::BothOthersOfController => {
                ALL.into_iter().filter(|id| *id != metadata.controller_id).collect()
            }
        }
    }
}

const ROUNDS: [Victims; 5] = [
    Victims::LeaderOf(0),
    Victims::Controller,
    Victims::LeaderOf(1),
    Victims::BothOthersOfController,
    Victims::LeaderOf(2),
];

#[test]
fn no_acknowledged_record_is_lost_whoever_dies() {
    let rounds = std::env::var("OTTLA_FAILOVER_ROUNDS").ok().and_then(|text| text.parse().ok());
    let mut cluster = Cluster::start();
    under_load(&mut cluster, |cluster, shared| {
        for victims in ROUNDS.into_iter().cycle().take(rounds.unwrap_or(ROUNDS.len())) {
            kill_and_return(cluster, shared, victims);
        }
    });
}

/// A leader that stands still is replaced when its session times out. When it goes on it still believes that it leads,
/// and nobody may be harmed by that.
#[test]
fn a_frozen_leader_is_replaced_and_gives_up_when_it_wakes() {
    let mut cluster = Cluster::start();
    under_load(&mut cluster, |cluster, shared| {
        let frozen = cluster.partitions().unwrap()[0].leader_id;
        cluster.signal(frozen, Signal::STOP);
        *shared.ports.lock().unwrap() = cluster.ports_without(frozen);
        wait_for_promises(cluster, shared);
        cluster.signal(frozen, Signal::CONT);
        *shared.ports.lock().unwrap() = cluster.ports();
        wait_until_in_sync(cluster);
        wait_for_promises(cluster, shared);
    });
}

/// Runs producers on every partition while something is done to the cluster, then checks what they were promised.
fn under_load(cluster: &mut Cluster, trouble: impl FnOnce(&mut Cluster, &Shared)) {
    let shared = Shared::default();
    *shared.ports.lock().unwrap() = cluster.ports();
    let promises: Vec<Promises> = std::thread::scope(|scope| {
        let producers: Vec<_> = (0..PARTITIONS)
            .map(|partition| {
                let shared = &shared;
                scope.spawn(move || produce(shared, partition))
            })
            .collect();
        // A failed step must not leave the producers running.
        let _done = Done(&shared);
        wait_for_promises(cluster, &shared);
        trouble(cluster, &shared);
        shared.done.store(true, Ordering::SeqCst);
        producers.into_iter().map(|producer| producer.join().unwrap()).collect()
    });
    cluster.wait_for_agreement();
    for (partition, promises) in (0..PARTITIONS).zip(&promises) {
        check(cluster, partition, promises);
    }
    let promised: usize = promises.iter().map(|promises| promises.acknowledged.len()).sum();
    let longest = promises.iter().map(|promises| promises.longest_gap).max().unwrap();
    eprintln!("{promised} records acknowledged; the longest wait for one: {longest:?}");
}

struct Done<'a>(&'a Shared);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.done.store(true, Ordering::SeqCst);
    }
}

fn kill_and_return(cluster: &mut Cluster, shared: &Shared, victims: Victims) {
    let dead = victims.of(cluster);
    dead.iter().for_each(|id| cluster.kill(*id));
    *shared.ports.lock().unwrap() = cluster.ports();
    if dead.len() == 1 {
        wait_for_promises(cluster, shared);
    }
    dead.iter().for_each(|id| cluster.start_broker(*id));
    *shared.ports.lock().unwrap() = cluster.ports();
    wait_until_in_sync(cluster);
    wait_for_promises(cluster, shared);
}

fn wait_until_in_sync(cluster: &Cluster) {
    cluster.wait_until("everyone in sync again", |cluster| {
        cluster
            .partitions()
            .is_some_and(|partitions| partitions.iter().all(|partition| partition.isr_nodes.len() == 3))
    });
}

/// Waits until every partition has taken some more.
fn wait_for_promises(cluster: &Cluster, shared: &Shared) {
    let before = shared.counts.each_ref().map(|count| count.load(Ordering::SeqCst));
    cluster.wait_until("records on every partition", |_| {
        shared.counts.iter().zip(before).all(|(count, before)| count.load(Ordering::SeqCst) > before + 20)
    });
}

fn check(cluster: &Cluster, partition: i32, promises: &Promises) {
    let copies = ALL.map(|id| cluster.segment(id, partition));
    assert!(copies[0] == copies[1] && copies[0] == copies[2], "copies of partition {partition} differ");
    let kept: BTreeMap<i64, u64> = records(copies[0].clone()).into_iter().collect();
    for (offset, number) in &promises.acknowledged {
        assert_eq!(
            kept.get(offset),
            Some(number),
            "partition {partition} lost acknowledged record {number} at offset {offset}"
        );
    }
}
