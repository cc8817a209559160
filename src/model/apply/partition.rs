//! Partitions: elections, in-sync sets, offsets, and times without a leader.

use std::collections::BTreeSet;

use ottla_broker::types::{BrokerId, Millis, TopicPartition};

use crate::model::broker::Broker;
use crate::model::partition::{Leaderless, Partition, PartitionHealth, PartitionState, PartitionUpdate};
use crate::model::state::Model;
use crate::model::timeline::{Cause, Election};
use crate::model::update::ReplicaOffsets;

impl Model {
    pub(super) fn apply_partition(&mut self, now: Millis, name: &TopicPartition, update: PartitionUpdate) {
        let mut partition = self.take_partition(name);
        match update {
            PartitionUpdate::Stateless => {
                partition.state = None;
                partition.leaderless = None;
            }
            PartitionUpdate::State(state) => self.apply_state(now, name, &mut partition, state),
        }
        partition.settle_lag();
        self.put_partition(name, partition);
    }

    fn apply_state(
        &mut self,
        now: Millis,
        name: &TopicPartition,
        partition: &mut Partition,
        state: PartitionState,
    ) {
        if partition.state.as_ref() == Some(&state) {
            return;
        }
        let first = partition.state.is_none();
        let before = partition.leader();
        let isr_before: BTreeSet<_> = partition.isr().iter().copied().collect();
        partition.state = Some(state);
        for broker in partition.replicas.clone() {
            self.apply_isr(now, name, partition, broker, isr_before.contains(&broker), first);
        }
        if first {
            partition.leaderless = None;
            if !self.leader_serves(partition) {
                partition.leaderless = Some(Leaderless { since: now, was: None });
            }
        } else {
            self.apply_leader(now, name, partition, before);
        }
    }

    /// Notes that a replica left or joined the in-sync set.
    fn apply_isr(
        &mut self,
        now: Millis,
        name: &TopicPartition,
        partition: &mut Partition,
        broker: BrokerId,
        was_in: bool,
        first: bool,
    ) {
        let is_in = partition.isr().contains(&broker);
        let out_since = if is_in {
            partition.out_of_sync_since.remove(&broker)
        } else {
            partition.out_of_sync_since.entry(broker).or_insert(now);
            None
        };
        if first || was_in == is_in {
            return;
        }
        let change = Election {
            partition: name.clone(),
            from: Some(broker),
            to: None,
            leader_epoch: partition.state.as_ref().map_or(0.into(), |state| state.leader_epoch),
            took: out_since.map(|since| now.since(since)),
        };
        let cause = if is_in { Cause::Joined(broker) } else { Cause::Left(broker) };
        self.timeline.add_partition(now, cause, change);
    }

    /// Notes that a partition got or lost a leader.
    fn apply_leader(
        &mut self,
        now: Millis,
        name: &TopicPartition,
        partition: &mut Partition,
        before: Option<BrokerId>,
    ) {
        let after = partition.leader();
        let serves = self.leader_serves(partition);
        let leaderless = partition.leaderless;
        if serves {
            partition.leaderless = None;
        } else if leaderless.is_none() {
            partition.leaderless = Some(Leaderless { since: now, was: before });
        }
        let election = Election {
            partition: name.clone(),
            from: leaderless.and_then(|gap| gap.was).or(before),
            to: after,
            leader_epoch: partition.state.as_ref().map_or(0.into(), |state| state.leader_epoch),
            took: leaderless.map(|gap| now.since(gap.since)),
        };
        match (serves, leaderless) {
            (true, Some(gap)) if gap.was == after && before == after => {
                self.timeline.add_partition(
                    now,
                    Cause::LeaderBack(after.unwrap_or(BrokerId::NONE)),
                    election,
                );
            }
            (true, Some(gap)) => {
                let was = gap.was.or(before).unwrap_or(BrokerId::NONE);
                self.timeline.add_partition(now, Cause::LeaderLost(was), election);
            }
            (true, None) if before != after => self.timeline.add_partition(now, Cause::Moved, election),
            // The controller has found nobody to take over.
            (false, _) if after.is_none() && before.is_some() => {
                let was = before.unwrap_or(BrokerId::NONE);
                self.timeline.add_partition(now, Cause::Offline(was), Election { took: None, ..election });
            }
            _ => {}
        }
    }

    pub(super) fn apply_offsets(&mut self, now: Millis, broker: BrokerId, replicas: &[ReplicaOffsets]) {
        let mut topics = BTreeSet::new();
        for read in replicas {
            let name = &read.partition;
            // A log may be read before or after its topic is known; the topic decides.
            let Some(topic) = self.topics.get_mut(&*name.topic) else { continue };
            let Some(partition) = topic.partitions.get_mut(&name.partition) else { continue };
            self.summary.remove(partition);
            partition.apply_offsets(now, broker, read);
            self.summary.add(partition);
            topics.insert(name.topic.clone());
        }
        for name in &topics {
            if let Some(topic) = self.topics.get_mut(&**name) {
                topic.settle_rate(now);
            }
        }
        self.settle_group_lags(now, Some(&topics));
    }

    /// Notes for all partitions that a broker leads that it stopped serving, or serves again.
    pub(super) fn leader_changed_health(&mut self, now: Millis, broker: BrokerId, serves: bool) {
        let concerned: Vec<_> = self
            .partitions()
            .filter(|(_, _, partition)| partition.leader() == Some(broker))
            .map(|(topic, number, _)| TopicPartition::new(topic, number))
            .collect();
        for name in concerned {
            let mut partition = self.take_partition(&name);
            if serves {
                if let Some(gap) = partition.leaderless.take().filter(|gap| gap.was == Some(broker)) {
                    let election = Election {
                        partition: name.clone(),
                        from: gap.was,
                        to: Some(broker),
                        leader_epoch: partition.state.as_ref().map_or(0.into(), |state| state.leader_epoch),
                        took: Some(now.since(gap.since)),
                    };
                    self.timeline.add_partition(now, Cause::LeaderBack(broker), election);
                }
            } else if partition.leaderless.is_none() {
                partition.leaderless = Some(Leaderless { since: now, was: Some(broker) });
                let gone = Election {
                    partition: name.clone(),
                    from: Some(broker),
                    to: None,
                    leader_epoch: partition.state.as_ref().map_or(0.into(), |state| state.leader_epoch),
                    took: None,
                };
                self.timeline.add_partition(now, Cause::LeaderGone(broker), gone);
            }
            self.put_partition(&name, partition);
        }
    }

    /// Returns whether the partition has a leader that is not known to be unable to serve.
    fn leader_serves(&self, partition: &Partition) -> bool {
        let Some(leader) = partition.leader() else { return false };
        // A leader that is not listed yet is taken at the state node's word.
        self.brokers
            .get(&leader)
            .is_none_or(|broker: &Broker| broker.state.serves() || broker.lost_at.is_none())
    }

    /// Takes a partition out of the sums, to be changed and put back.
    pub(super) fn take_partition(&mut self, name: &TopicPartition) -> Partition {
        let taken =
            self.topics.get_mut(&*name.topic).and_then(|topic| topic.partitions.remove(&name.partition));
        if let Some(partition) = &taken {
            self.summary.remove(partition);
        }
        taken.unwrap_or_default()
    }

    /// Works out a partition's health, counts it and puts it in its place.
    pub(super) fn put_partition(&mut self, name: &TopicPartition, mut partition: Partition) {
        let leader = partition.leader();
        partition.health = PartitionHealth {
            offline: leader.is_none() || partition.leaderless.is_some(),
            under_replicated: partition.isr().len() < partition.replicas.len(),
            not_preferred: leader.is_some() && leader != partition.preferred_leader(),
        };
        self.summary.add(&partition);
        let topic = match self.topics.get_mut(&*name.topic) {
            Some(topic) => topic,
            None => self.topics.entry(name.topic.to_string()).or_default(),
        };
        topic.partitions.insert(name.partition, partition);
    }
}
