//! Where the replicas of new partitions go (Kafka's `AdminUtils.assignReplicasToBrokers`).
//!
//! The first replicas go round the brokers from a random start; the others follow at a distance that grows with every
//! round, so that a broker's death spreads its leaders over many. With racks, neighbours in the list are on different
//! racks, and no rack gets a second replica before each has one.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::BrokerId;

/// A broker that can be given replicas, and its rack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The broker.
    pub id: BrokerId,
    /// Its rack.
    pub rack: Option<String>,
}

/// Why replicas cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignmentError {
    /// There is no broker, or fewer than replicas.
    TooFewBrokers {
        /// How many there are.
        brokers: usize,
    },
}

/// Where to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Where the first partition's first replica goes, counted from the first broker.
    pub broker: usize,
    /// How far the second replica of the first partition is from the first.
    pub shift: usize,
    /// The first partition's number.
    pub partition: usize,
}

impl Start {
    /// Returns a start drawn from the random number `seed`.
    #[must_use]
    pub fn from_seed(seed: u64, brokers: usize, partition: usize) -> Self {
        let brokers = u64::try_from(brokers.max(1)).unwrap_or(u64::MAX);
        let part = |number: u64| usize::try_from(number % brokers).unwrap_or_default();
        Self { broker: part(seed), shift: part(seed >> 32), partition }
    }
}

/// Places `partitions` partitions of `replicas` replicas each on `brokers`.
///
/// Racks count only when every broker has one.
///
/// # Errors
/// When there are fewer brokers than replicas.
pub fn assign(
    brokers: &[Candidate],
    partitions: usize,
    replicas: usize,
    start: Start,
) -> Result<Vec<Vec<BrokerId>>, AssignmentError> {
    if replicas == 0 || replicas > brokers.len() {
        return Err(AssignmentError::TooFewBrokers { brokers: brokers.len() });
    }
    let racks: Option<BTreeMap<BrokerId, String>> =
        brokers.iter().map(|broker| Some((broker.id, broker.rack.clone()?))).collect();
    let order = match &racks {
        Some(racks) => alternate(racks),
        None => {
            let mut ids: Vec<BrokerId> = brokers.iter().map(|broker| broker.id).collect();
            ids.sort_unstable();
            ids
        }
    };
    let mut shift = start.shift;
    let mut placed = Vec::with_capacity(partitions);
    for number in start.partition..start.partition.saturating_add(partitions) {
        if number > 0 && number % order.len() == 0 {
            shift += 1;
        }
        let first = (number + start.broker) % order.len();
        placed.push(match &racks {
            Some(racks) => spread(&order, racks, first, shift, replicas),
            None => follow(&order, first, shift, replicas),
        });
    }
    Ok(placed)
}

/// The replicas of one partition, racks unknown.
fn follow(order: &[BrokerId], first: usize, shift: usize, replicas: usize) -> Vec<BrokerId> {
    let count = order.len();
    let position = |replica: usize| match replica {
        0 => first,
        other => (first + 1 + (shift + other - 1) % (count - 1)) % count,
    };
    (0..replicas).filter_map(|replica| order.get(position(replica)).copied()).collect()
}

/// The replicas of one partition over racks.
fn spread(
    order: &[BrokerId],
    racks: &BTreeMap<BrokerId, String>,
    first: usize,
    shift: usize,
    replicas: usize,
) -> Vec<BrokerId> {
    let rack_count = racks.values().collect::<BTreeSet<_>>().len();
    let count = order.len();
    let rack = |broker: &BrokerId| racks.get(broker);
    let mut chosen: Vec<BrokerId> = order.get(first).copied().into_iter().collect();
    let mut used_racks: BTreeSet<Option<&String>> = chosen.iter().map(rack).collect();
    let mut step = 0;
    while chosen.len() < replicas {
        let position = (first + 1 + (shift * rack_count + step) % (count - 1)) % count;
        step += 1;
        let Some(broker) = order.get(position) else { break };
        let fresh_rack = !used_racks.contains(&rack(broker)) || used_racks.len() == rack_count;
        // A broker gets a second replica never, the first time round only on a fresh rack.
        if !chosen.contains(broker) && (fresh_rack || step > count) {
            chosen.push(*broker);
            used_racks.insert(rack(broker));
        }
    }
    chosen
}

/// Orders brokers so that neighbours are on different racks: the first of each rack, the second of each, and so on.
fn alternate(racks: &BTreeMap<BrokerId, String>) -> Vec<BrokerId> {
    let mut by_rack: BTreeMap<&String, Vec<BrokerId>> = BTreeMap::new();
    for (broker, rack) in racks {
        by_rack.entry(rack).or_default().push(*broker);
    }
    let longest = by_rack.values().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|index| by_rack.values().filter_map(move |it| it.get(index).copied())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(count: i32) -> Vec<Candidate> {
        (0..count).map(|id| Candidate { id: BrokerId(id), rack: None }).collect()
    }

    fn numbers(placed: &[Vec<BrokerId>]) -> Vec<Vec<i32>> {
        placed.iter().map(|replicas| replicas.iter().map(|broker| broker.0).collect()).collect()
    }

    #[test]
    fn kafkas_own_example() {
        // The table in the comment of Kafka's AdminUtils: 10 partitions, 3 replicas, 5 brokers.
        let placed = assign(&plain(5), 10, 3, Start { broker: 0, shift: 0, partition: 0 }).unwrap();
        assert_eq!(
            numbers(&placed),
            [
                [0, 1, 2],
                [1, 2, 3],
                [2, 3, 4],
                [3, 4, 0],
                [4, 0, 1],
                [0, 2, 3],
                [1, 3, 4],
                [2, 4, 0],
                [3, 0, 1],
                [4, 1, 2],
            ]
        );
    }

    #[test]
    fn kafkas_own_example_with_racks() {
        // Brokers 0..6 on racks 1 3 3 2 2 1, ordered 0 3 1 5 4 2; 12 partitions of 3.
        let racks = ["rack1", "rack3", "rack3", "rack2", "rack2", "rack1"];
        let brokers: Vec<Candidate> = (0..)
            .zip(racks)
            .map(|(id, rack)| Candidate { id: BrokerId(id), rack: Some(rack.to_owned()) })
            .collect();
        let placed = assign(&brokers, 12, 3, Start { broker: 0, shift: 0, partition: 0 }).unwrap();
        assert_eq!(numbers(&placed)[0], [0, 3, 1]);
        assert_eq!(numbers(&placed)[1], [3, 1, 5]);
        assert_eq!(numbers(&placed)[5], [2, 0, 3]);
        for replicas in numbers(&placed) {
            let used: BTreeSet<&str> =
                replicas.iter().map(|id| racks[usize::try_from(*id).unwrap()]).collect();
            assert_eq!(used.len(), 3, "{replicas:?}");
        }
    }

    #[test]
    fn one_broker_takes_everything() {
        let placed = assign(&plain(1), 3, 1, Start { broker: 0, shift: 0, partition: 0 }).unwrap();
        assert_eq!(numbers(&placed), [[0], [0], [0]]);
    }

    #[test]
    fn more_replicas_than_brokers_is_an_error() {
        let start = Start { broker: 0, shift: 0, partition: 0 };
        assert_eq!(assign(&plain(2), 1, 3, start), Err(AssignmentError::TooFewBrokers { brokers: 2 }));
        assert_eq!(assign(&[], 1, 1, start), Err(AssignmentError::TooFewBrokers { brokers: 0 }));
    }

    proptest! {
        #[test]
        fn every_partition_has_different_brokers_and_leaders_are_even(
            brokers in 1_usize..12, share in 0_usize..6, partitions in 1_usize..40, seed: u64, racks in 0_usize..5
        ) {
            let replicas = 1 + share % brokers;
            let candidates: Vec<Candidate> = (0..brokers)
                .map(|id| Candidate {
                    id: BrokerId(i32::try_from(id).unwrap()),
                    rack: (racks > 0).then(|| format!("r{}", id % racks)),
                })
                .collect();
            let start = Start::from_seed(seed, brokers, 0);
            let placed = assign(&candidates, partitions, replicas, start).unwrap();
            prop_assert_eq!(placed.len(), partitions);
            let mut leads: BTreeMap<BrokerId, usize> = BTreeMap::new();
            for assigned in &placed {
                let different: BTreeSet<_> = assigned.iter().collect();
                prop_assert_eq!(different.len(), replicas);
                *leads.entry(assigned[0]).or_default() += 1;
            }
            let most = leads.values().max().copied().unwrap_or_default();
            prop_assert!(most <= partitions.div_ceil(brokers));
        }
    }
}
