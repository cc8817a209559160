//! Who becomes leader: the rules, one per occasion (Kafka's `PartitionLeaderElectionAlgorithms`).

use super::context::{Context, Partition};
use super::types::LeaderAndIsr;
use crate::types::{BrokerId, LeaderEpoch, PartitionEpoch, TopicPartition};
use crate::zk::layout::partition_state::LeaderRecoveryState;

/// The occasion of an election.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The leader is gone, or a broker came back.
    Offline {
        /// Whether an operator accepts the loss of records here.
        unclean: bool,
    },
    /// The leader is to be the first of the assignment.
    Preferred,
    /// The leader shuts down.
    ControlledShutdown,
    /// The leader is not among the replicas that a reassignment leaves.
    Reassigned,
}

/// What the partition's first leader and in-sync replicas are; nothing while no replica is alive.
#[must_use]
pub fn first(context: &Context, name: &TopicPartition, partition: &Partition) -> Option<LeaderAndIsr> {
    let isr: Vec<BrokerId> =
        partition.assignment.replicas.iter().copied().filter(|it| context.is_online(*it, name)).collect();
    let leader = *isr.first()?;
    Some(LeaderAndIsr {
        leader,
        leader_epoch: LeaderEpoch(0),
        isr,
        recovery: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(0),
        controller_epoch: context.epoch,
    })
}

/// What an election makes of the partition; nothing when no replica is eligible.
#[must_use]
pub fn elect(
    context: &Context,
    name: &TopicPartition,
    partition: &Partition,
    strategy: Strategy,
) -> Option<LeaderAndIsr> {
    let now = partition.leadership.as_ref()?;
    let replicas = partition.assignment.replicas.iter().copied();
    let online = |broker: &BrokerId| context.is_online(*broker, name);
    let in_sync = |broker: &BrokerId| now.isr.contains(broker);
    let (leader, isr, recovery) = match strategy {
        Strategy::Offline { unclean } => match replicas.clone().find(|it| online(it) && in_sync(it)) {
            Some(leader) => (leader, now.isr.iter().copied().filter(online).collect(), now.recovery),
            None if unclean => {
                let leader = replicas.clone().find(online)?;
                (leader, vec![leader], LeaderRecoveryState::Recovering)
            }
            None => return None,
        },
        Strategy::Preferred => {
            let head = partition.assignment.preferred().filter(|it| online(it) && in_sync(it))?;
            (head, now.isr.clone(), now.recovery)
        }
        Strategy::ControlledShutdown => {
            let stays = |broker: &BrokerId| !context.shutting_down.contains(broker);
            let mut eligible = replicas.filter(|it| context.is_reachable(*it, name) && in_sync(it));
            let leader = eligible.find(stays)?;
            (leader, now.isr.iter().copied().filter(stays).collect(), now.recovery)
        }
        Strategy::Reassigned => {
            let leader = partition.assignment.target().into_iter().find(|it| online(it) && in_sync(it))?;
            (leader, now.isr.clone(), now.recovery)
        }
    };
    Some(LeaderAndIsr {
        leader,
        leader_epoch: now.leader_epoch.next(),
        isr,
        recovery,
        partition_epoch: now.partition_epoch,
        controller_epoch: context.epoch,
    })
}

/// What is left of the leadership when `gone` are no longer in sync; nothing when nothing changes.
///
/// A leader among them leaves the partition without one. The last in-sync replica stays in the list, so that it can
/// lead again when it returns.
#[must_use]
pub fn without(now: &LeaderAndIsr, gone: &[BrokerId]) -> Option<LeaderAndIsr> {
    let mut leader = now.leader;
    let mut isr = now.isr.clone();
    for broker in gone.iter().filter(|broker| now.isr.contains(broker)) {
        if leader == *broker {
            leader = BrokerId::NONE;
        }
        if isr.len() > 1 {
            isr.retain(|member| member != broker);
        }
    }
    if leader == now.leader && isr == now.isr {
        return None;
    }
    Some(LeaderAndIsr { leader, isr, leader_epoch: now.leader_epoch.next(), ..now.clone() })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::controller::machine::types::{LiveBroker, PartitionStatus, ReplicaStatus};
    use crate::types::{BrokerEpoch, ControllerEpoch, Millis};
    use crate::zk::layout::broker::Registration;
    use crate::zk::layout::topic::Assignment;

    fn ids(ids: &[i32]) -> Vec<BrokerId> {
        ids.iter().copied().map(BrokerId).collect()
    }

    fn context(live: &[i32], shutting_down: &[i32]) -> Context {
        let broker = |id: BrokerId| {
            let registration = Registration {
                endpoints: Vec::new(),
                rack: None,
                jmx_port: -1,
                timestamp: Millis(0),
                features: BTreeMap::new(),
            };
            (id, LiveBroker { epoch: BrokerEpoch(1), registration })
        };
        Context {
            brokers: ids(live).into_iter().map(broker).collect(),
            shutting_down: ids(shutting_down).into_iter().collect(),
            ..Context::new(ControllerEpoch(4), 4)
        }
    }

    fn partition(replicas: &[i32], leader: i32, isr: &[i32]) -> Partition {
        Partition {
            assignment: Assignment::of(ids(replicas)),
            status: PartitionStatus::Online,
            leadership: Some(LeaderAndIsr {
                leader: BrokerId(leader),
                leader_epoch: LeaderEpoch(5),
                isr: ids(isr),
                recovery: LeaderRecoveryState::Recovered,
                partition_epoch: PartitionEpoch(9),
                controller_epoch: ControllerEpoch(3),
            }),
            replicas: ids(replicas).into_iter().map(|id| (id, ReplicaStatus::Online)).collect(),
        }
    }

    const CLEAN: Strategy = Strategy::Offline { unclean: false };
    const UNCLEAN: Strategy = Strategy::Offline { unclean: true };

    /// The brokers that live and those that shut down; the replicas, the leader and who is in sync; what is expected.
    struct Case {
        what: &'static str,
        live: &'static [i32],
        leaving: &'static [i32],
        replicas: &'static [i32],
        leader: i32,
        isr: &'static [i32],
        strategy: Strategy,
        elected: Option<(i32, &'static [i32])>,
    }

    const CASE: Case = Case {
        what: "",
        live: &[2, 3],
        leaving: &[],
        replicas: &[1, 2, 3],
        leader: 1,
        isr: &[1, 2, 3],
        strategy: CLEAN,
        elected: None,
    };

    fn check(cases: &[Case]) {
        let name = TopicPartition::new("t", 0);
        for case in cases {
            let partition = partition(case.replicas, case.leader, case.isr);
            let elected = elect(&context(case.live, case.leaving), &name, &partition, case.strategy);
            let shape = elected.as_ref().map(|it| (it.leader, it.isr.clone()));
            let expected = case.elected.map(|(leader, isr)| (BrokerId(leader), ids(isr)));
            assert_eq!(shape, expected, "{}", case.what);
            if let Some(elected) = elected {
                assert_eq!(elected.leader_epoch, LeaderEpoch(6), "{}", case.what);
                assert_eq!(elected.partition_epoch, PartitionEpoch(9), "{}", case.what);
                assert_eq!(elected.controller_epoch, ControllerEpoch(4), "{}", case.what);
            }
        }
    }

    #[test]
    fn when_a_leader_is_gone() {
        check(&[
            Case {
                what: "the first living in-sync replica in assignment order",
                replicas: &[1, 3, 2],
                elected: Some((3, &[2, 3])),
                ..CASE
            },
            Case {
                what: "not a living replica that is out of sync",
                replicas: &[1, 3, 2],
                isr: &[1, 2],
                elected: Some((2, &[2])),
                ..CASE
            },
            Case { what: "nobody in sync is alive", isr: &[1], ..CASE },
            Case {
                what: "unless the operator accepts it",
                isr: &[1],
                strategy: UNCLEAN,
                elected: Some((2, &[2])),
                ..CASE
            },
            Case {
                what: "a clean leader wins even when unclean is allowed",
                isr: &[1, 3],
                strategy: UNCLEAN,
                elected: Some((3, &[3])),
                ..CASE
            },
            Case { what: "nobody is alive", live: &[], strategy: UNCLEAN, ..CASE },
            Case {
                what: "a broker that shuts down is not elected",
                leaving: &[2],
                elected: Some((3, &[3])),
                ..CASE
            },
        ]);
    }

    #[test]
    fn an_unclean_leader_has_to_recover() {
        let name = TopicPartition::new("t", 0);
        let partition = partition(&[1, 2], 1, &[1]);
        let elected = elect(&context(&[2], &[]), &name, &partition, UNCLEAN).unwrap();
        assert_eq!(elected.recovery, LeaderRecoveryState::Recovering);
        assert_eq!(partition.leadership.unwrap().recovery, LeaderRecoveryState::Recovered);
    }

    #[test]
    fn when_a_leader_is_asked_for() {
        let preferred =
            Case { replicas: &[1, 2], leader: 2, live: &[1, 2], strategy: Strategy::Preferred, ..CASE };
        check(&[
            Case { what: "the preferred replica", isr: &[2, 1], elected: Some((1, &[2, 1])), ..preferred },
            Case { what: "not when it is out of sync", isr: &[2], ..preferred },
            Case { what: "not when it is dead", live: &[2], isr: &[1, 2], ..preferred },
        ]);
        let leaving =
            Case { live: &[1, 2, 3], leaving: &[1], strategy: Strategy::ControlledShutdown, ..CASE };
        check(&[
            Case {
                what: "another in-sync replica, and the leaving one out of sync",
                isr: &[1, 3],
                elected: Some((3, &[3])),
                ..leaving
            },
            Case { what: "nobody else is in sync", isr: &[1], ..leaving },
        ]);
        let moved = Case { live: &[1, 2, 3], replicas: &[2, 3], strategy: Strategy::Reassigned, ..CASE };
        check(&[
            Case {
                what: "the first of the target that is in sync",
                isr: &[1, 3],
                elected: Some((3, &[1, 3])),
                ..moved
            },
            Case { what: "nobody of the target is in sync", isr: &[1], ..moved },
        ]);
    }

    #[test]
    fn a_failed_log_directory_counts_as_a_dead_replica() {
        let name = TopicPartition::new("t", 0);
        let mut context = context(&[1, 2], &[]);
        context.offline_dirs.insert(BrokerId(1), BTreeSet::from([name.clone()]));
        let partition = partition(&[1, 2], 1, &[1, 2]);
        let elected = elect(&context, &name, &partition, Strategy::Offline { unclean: false }).unwrap();
        assert_eq!((elected.leader, elected.isr), (BrokerId(2), ids(&[2])));
    }

    #[test]
    fn the_first_leader_is_the_first_living_replica() {
        let name = TopicPartition::new("t", 0);
        let partition = Partition::new(Assignment::of(ids(&[1, 2, 3])));
        let elected = first(&context(&[3, 2], &[]), &name, &partition).unwrap();
        assert_eq!((elected.leader, elected.isr), (BrokerId(2), ids(&[2, 3])));
        assert_eq!(elected.leader_epoch, LeaderEpoch(0));
        assert_eq!(first(&context(&[4], &[]), &name, &partition), None);
    }

    #[test]
    fn leaving_the_in_sync_replicas() {
        type Case = (i32, &'static [i32], &'static [i32], Option<(i32, &'static [i32])>);
        let cases: [Case; 6] = [
            (1, &[1, 2, 3], &[2], Some((1, &[1, 3]))),
            (1, &[1, 2, 3], &[1], Some((-1, &[2, 3]))),
            (1, &[1], &[1], Some((-1, &[1]))),
            (-1, &[1], &[1], None),
            (1, &[1, 2], &[3], None),
            (1, &[1, 2], &[1, 2], Some((-1, &[2]))),
        ];
        for (leader, isr, gone, expected) in cases {
            let now = partition(&[1, 2, 3], leader, isr).leadership.unwrap();
            let left = without(&now, &ids(gone));
            let shape = left.as_ref().map(|it| (it.leader, it.isr.clone()));
            assert_eq!(
                shape,
                expected.map(|(leader, isr)| (BrokerId(leader), ids(isr))),
                "{isr:?} - {gone:?}"
            );
            if let Some(left) = left {
                assert_eq!(left.leader_epoch, LeaderEpoch(6));
            }
        }
    }
}
