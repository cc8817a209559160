//! Three machines over three simulated logs: whatever the order of appends, fetches, elections, crashes and answers,
//! what was acknowledged stays.

use std::collections::{BTreeMap, BTreeSet};

use ottla_protocol::message::ErrorCode;
use proptest::prelude::*;

use super::support::{LAG_TIME_MAX, brokers, command};
use crate::replica::machine::{
    Acks, Effect, EpochEnd, Event, FetchAnswer, IsrAnswer, IsrProposal, LeaderRecovery, LogView, Partition,
    PartitionCommand, ProduceProgress, ReplicaSettings,
};
use crate::types::{BrokerId, LeaderEpoch, Millis, Offset};

/// One record per offset: the epoch it was appended in, and a number that no other record has.
type Record = (i32, u32);

#[derive(Debug, Clone, Copy)]
enum Action {
    Append(usize),
    Fetch(usize),
    /// The controller elects this broker if it is in the stored in-sync set.
    Elect(usize),
    /// The controller hears that this broker died, and drops it; it returns with its log later.
    Restart(usize),
    AnswerIsr,
    RefuseIsr,
    Wait,
}

struct Replica {
    machine: Partition,
    log: Vec<Record>,
    /// Where each epoch begins, the ones assigned by becoming leader included.
    epochs: BTreeMap<LeaderEpoch, Offset>,
    high_watermark: Offset,
    fetching: bool,
}

struct World {
    replicas: Vec<Replica>,
    now: Millis,
    next_number: u32,
    stored: PartitionCommand,
    proposals: Vec<(usize, IsrProposal)>,
    /// Appended and not yet answered: broker, epoch, offset, record.
    waiting: Vec<(usize, LeaderEpoch, Offset, Record)>,
    acknowledged: BTreeMap<i64, Record>,
}

fn index(broker: BrokerId) -> usize {
    usize::try_from(broker.0).unwrap() - 1
}

fn broker(index: usize) -> BrokerId {
    BrokerId(i32::try_from(index).unwrap() + 1)
}

fn end_of(log: &[Record]) -> Offset {
    Offset(i64::try_from(log.len()).unwrap())
}

impl Replica {
    fn new(machine: Partition) -> Self {
        let (log, epochs) = (Vec::new(), BTreeMap::new());
        Self { machine, log, epochs, high_watermark: Offset::ZERO, fetching: false }
    }

    fn latest_epoch(&self) -> Option<LeaderEpoch> {
        self.epochs.last_key_value().map(|(epoch, _)| *epoch)
    }

    fn view(&self) -> LogView {
        LogView { start: Offset::ZERO, end: end_of(&self.log), latest_epoch: self.latest_epoch() }
    }

    fn assign_epoch(&mut self, epoch: LeaderEpoch, start: Offset) {
        self.epochs.retain(|known, begin| *known < epoch && *begin < start);
        self.epochs.insert(epoch, start);
    }

    fn push(&mut self, record: Record) {
        if self.latest_epoch() != Some(LeaderEpoch(record.0)) {
            self.assign_epoch(LeaderEpoch(record.0), end_of(&self.log));
        }
        self.log.push(record);
    }

    fn truncate(&mut self, to: Offset) {
        self.log.truncate(usize::try_from(to.0).unwrap());
        self.epochs.retain(|_, start| *start < to);
    }

    /// Where an epoch ends, as OffsetsForLeaderEpoch answers it.
    fn epoch_end(&self, epoch: LeaderEpoch) -> Option<EpochEnd> {
        if epoch > self.latest_epoch()? {
            return None;
        }
        let end = self.epochs.range(epoch.next()..).next().map_or(end_of(&self.log), |(_, start)| *start);
        let largest = self.epochs.range(..=epoch).next_back().map_or(epoch, |(known, _)| *known);
        Some(EpochEnd { epoch: largest, end })
    }
}

impl World {
    fn new(min_insync_replicas: usize) -> Self {
        let settings =
            ReplicaSettings { lag_time_max: LAG_TIME_MAX, min_insync_replicas, fetch_backoff: Millis(100) };
        let log = LogView { start: Offset::ZERO, end: Offset::ZERO, latest_epoch: None };
        let replicas = (0..3)
            .map(|at| Replica::new(Partition::new(broker(at), settings.clone(), None, log, Offset::ZERO)));
        let mut world = Self {
            replicas: replicas.collect(),
            now: Millis(1_000_000),
            next_number: 0,
            stored: command(1, 0, &[1, 2, 3], 0),
            proposals: Vec::new(),
            waiting: Vec::new(),
            acknowledged: BTreeMap::new(),
        };
        world.broadcast();
        world
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Append(at) => self.append(at),
            Action::Fetch(at) => self.fetch(at),
            Action::Elect(at) => self.elect(at),
            Action::Restart(at) => self.restart(at),
            Action::AnswerIsr => self.answer_isr(),
            Action::RefuseIsr => self.refuse_isr(),
            Action::Wait => {
                self.now = self.now.plus(Millis(11_000));
                (0..3).for_each(|at| self.step(at, Event::Tick));
            }
        }
        self.acknowledge();
        self.check();
    }

    fn step(&mut self, at: usize, event: Event) {
        let mut out = Vec::new();
        let replica = &mut self.replicas[at];
        let was_leader = replica.machine.is_leader();
        replica.machine.step(self.now, event, &mut out);
        let mut after = Vec::new();
        for effect in out {
            match effect {
                Effect::HighWatermark(offset) => {
                    assert!(
                        offset >= replica.high_watermark || !was_leader,
                        "a leader's high watermark never goes back"
                    );
                    replica.high_watermark = offset;
                }
                Effect::TruncateTo { offset, loses_committed_below } => {
                    assert_eq!(loses_committed_below, None, "elections are clean here");
                    replica.truncate(offset);
                    let LogView { start: log_start, end: log_end, latest_epoch } = replica.view();
                    after.push(Event::Truncated { log_start, log_end, latest_epoch });
                }
                Effect::ProposeIsr(proposal) => self.proposals.push((at, proposal)),
                Effect::StopFetching => replica.fetching = false,
                Effect::StartFetching { .. } => replica.fetching = true,
                Effect::TruncateFullyAndStartAt(_) | Effect::QueryLeaderOffsets { .. } => {
                    panic!("no log here begins after 0 or is shorter than a follower in sync: {effect:?}")
                }
                Effect::AssignEpochStart { epoch, start } => replica.assign_epoch(epoch, start),
                Effect::Answer(_)
                | Effect::AppendRecords
                | Effect::AdvanceLogStart(_)
                | Effect::LowWatermark(_)
                | Effect::Recheck
                | Effect::RoleChanged(_)
                | Effect::ReplicationHalted => {}
            }
        }
        after.into_iter().for_each(|event| self.step(at, event));
    }

    fn append(&mut self, at: usize) {
        let Ok(epoch) = self.replicas[at].machine.check_append(Acks::All) else { return };
        let record = (epoch.0, self.next_number);
        self.next_number += 1;
        self.replicas[at].push(record);
        let log_end = end_of(&self.replicas[at].log);
        self.step(at, Event::Appended { log_end });
        self.waiting.push((at, epoch, log_end, record));
    }

    /// One round trip of a fetch, with what a leader answers.
    fn fetch(&mut self, at: usize) {
        let Some(position) = self.replicas[at].machine.fetch_position(self.now) else { return };
        if !self.replicas[at].fetching {
            return;
        }
        let crate::replica::machine::RoleKind::Follower(leader) = self.replicas[at].machine.role() else {
            return;
        };
        let leader = index(leader);
        let answer = self.answer_fetch(at, leader, position);
        let any = matches!(answer, FetchAnswer::Records { any: true, .. });
        let high_watermark = self.replicas[leader].machine.high_watermark();
        self.step(at, Event::FetchAnswered { position, answer });
        if any {
            let from = self.replicas[at].log.len();
            // At most two records at a time, so that followers are often behind.
            let leader_log = &self.replicas[leader].log;
            let upto = leader_log.len().min(from + 2);
            let records = leader_log[from..upto].to_vec();
            let replica = &mut self.replicas[at];
            records.into_iter().for_each(|record| replica.push(record));
            let LogView { end: log_end, latest_epoch, .. } = replica.view();
            self.step(
                at,
                Event::Replicated {
                    log_end,
                    latest_epoch,
                    leader_high_watermark: high_watermark,
                    leader_log_start: Offset::ZERO,
                },
            );
        }
    }

    fn answer_fetch(
        &mut self,
        at: usize,
        leader: usize,
        position: crate::replica::machine::FetchPosition,
    ) -> FetchAnswer {
        let (replica, epoch) = (broker(at), Some(position.leader_epoch));
        if let Err(error) = self.replicas[leader].machine.check_follower(replica, epoch) {
            return FetchAnswer::Refused(error);
        }
        let leader_replica = &self.replicas[leader];
        if let Some(last) = position.last_fetched_epoch {
            let Some(end) = leader_replica.epoch_end(last) else {
                return FetchAnswer::Refused(ErrorCode::OffsetOutOfRange);
            };
            if end.epoch < last || end.end < position.fetch_offset {
                let local = self.replicas[at].epoch_end(end.epoch);
                return FetchAnswer::Diverging { leader: end, local };
            }
        }
        let any = position.fetch_offset < end_of(&leader_replica.log);
        let fetched = Event::FollowerFetched {
            replica,
            fetch_offset: position.fetch_offset,
            log_start: Offset::ZERO,
            is_live: true,
        };
        self.step(leader, fetched);
        let high_watermark = self.replicas[leader].machine.high_watermark();
        FetchAnswer::Records { any, high_watermark, log_start: Offset::ZERO }
    }

    fn elect(&mut self, at: usize) {
        if !self.stored.isr.contains(&broker(at)) {
            return;
        }
        self.stored.leader = broker(at);
        self.stored.leader_epoch = self.stored.leader_epoch.next();
        self.stored.partition_epoch.0 += 1;
        self.broadcast();
    }

    /// The broker comes back with its log and with nothing else: the high watermark was not checkpointed.
    fn restart(&mut self, at: usize) {
        let replica = &mut self.replicas[at];
        let log = replica.view();
        let settings = ReplicaSettings {
            lag_time_max: LAG_TIME_MAX,
            min_insync_replicas: 2,
            fetch_backoff: Millis(100),
        };
        replica.machine = Partition::new(broker(at), settings, None, log, Offset::ZERO);
        replica.high_watermark = Offset::ZERO;
        replica.fetching = false;
        self.waiting.retain(|entry| entry.0 != at);
        self.proposals.retain(|entry| entry.0 != at);
        if self.stored.isr.len() > 1 {
            self.stored.isr.remove(&broker(at));
        }
        if self.stored.leader == broker(at) {
            self.stored.leader = *self.stored.isr.first().unwrap();
        }
        self.stored.leader_epoch = self.stored.leader_epoch.next();
        self.stored.partition_epoch.0 += 1;
        self.broadcast();
    }

    fn broadcast(&mut self) {
        for at in 0..3 {
            let command = self.stored.clone();
            self.step(at, Event::LeaderAndIsr { command, leader_is_known: true });
        }
    }

    /// The controller takes the oldest proposal, as it would: by the stored versions.
    fn answer_isr(&mut self) {
        let Some((at, proposal)) = (!self.proposals.is_empty()).then(|| self.proposals.remove(0)) else {
            return;
        };
        let answer = if proposal.leader_epoch != self.stored.leader_epoch {
            Err(ErrorCode::FencedLeaderEpoch)
        } else if proposal.partition_epoch != self.stored.partition_epoch {
            Err(ErrorCode::InvalidUpdateVersion)
        } else {
            self.stored.isr = proposal.isr.clone();
            self.stored.partition_epoch.0 += 1;
            Ok(IsrAnswer {
                leader_epoch: self.stored.leader_epoch,
                partition_epoch: self.stored.partition_epoch,
                isr: self.stored.isr.clone(),
                recovery: LeaderRecovery::Recovered,
            })
        };
        self.step(at, Event::IsrAnswered { proposal, answer });
    }

    fn refuse_isr(&mut self) {
        let Some((at, proposal)) = (!self.proposals.is_empty()).then(|| self.proposals.remove(0)) else {
            return;
        };
        self.step(at, Event::IsrAnswered { proposal, answer: Err(ErrorCode::IneligibleReplica) });
    }

    fn acknowledge(&mut self) {
        let replicas = &self.replicas;
        let acknowledged = &mut self.acknowledged;
        self.waiting.retain(|(at, epoch, required, record)| {
            match replicas[*at].machine.produce_progress(*epoch, *required) {
                ProduceProgress::Waiting => true,
                ProduceProgress::Done(ErrorCode::None) => {
                    acknowledged.insert(required.0 - 1, *record);
                    false
                }
                ProduceProgress::Done(_) => false,
            }
        });
    }

    fn check(&self) {
        // Every broker that the controller would elect has all that was acknowledged.
        for id in &self.stored.isr {
            let log = &self.replicas[index(*id)].log;
            for (offset, record) in &self.acknowledged {
                let found = log.get(usize::try_from(*offset).unwrap());
                assert_eq!(found, Some(record), "broker {id} lost an acknowledged record at {offset}");
            }
        }
        // Below both high watermarks any two logs agree.
        for one in &self.replicas {
            assert!(one.high_watermark <= end_of(&one.log), "the high watermark is inside the log");
            for other in &self.replicas {
                let common = usize::try_from(one.high_watermark.min(other.high_watermark).0).unwrap();
                assert_eq!(one.log[..common], other.log[..common], "logs differ below the high watermark");
            }
        }
        let epochs: BTreeSet<_> = self.leaders().map(Partition::leader_epoch).collect();
        assert_eq!(epochs.len(), self.leaders().count(), "one leader per epoch");
    }

    fn leaders(&self) -> impl Iterator<Item = &Partition> {
        self.replicas.iter().map(|replica| &replica.machine).filter(|machine| machine.is_leader())
    }

    /// After the trouble everything comes together again: all in sync, all the same, all committed.
    fn heal(&mut self) {
        for _ in 0..400 {
            self.now = self.now.plus(Millis(200));
            (0..3).for_each(|at| self.act(Action::Fetch(at)));
            self.act(Action::AnswerIsr);
        }
        assert_eq!(self.stored.isr, brokers(&[1, 2, 3]), "everyone is in sync again");
        let leader = &self.replicas[index(self.stored.leader)];
        assert_eq!(leader.high_watermark, end_of(&leader.log));
        assert!(self.replicas.iter().all(|replica| replica.log == leader.log));
    }
}

fn action() -> impl Strategy<Value = Action> {
    let which = 0usize..3;
    prop_oneof![
        6 => which.clone().prop_map(Action::Append),
        12 => which.clone().prop_map(Action::Fetch),
        2 => which.clone().prop_map(Action::Elect),
        1 => which.prop_map(Action::Restart),
        4 => Just(Action::AnswerIsr),
        1 => Just(Action::RefuseIsr),
        1 => Just(Action::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_acknowledged_is_lost(actions in proptest::collection::vec(action(), 1..150)) {
        let mut world = World::new(2);
        actions.into_iter().for_each(|action| world.act(action));
        world.heal();
    }
}
