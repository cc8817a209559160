//! Whatever comes in whatever order, some things always hold.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;

use super::world::{
    Log, World, commit, group, heartbeat, join, old_join, protocol, simple_commit, static_join, sync,
};
use crate::coordinator::group::machine::{
    CommitRequest, Config, DeleteGroupRequest, DeleteOffsetsRequest, ErrorCode, Event, Generation,
    GroupRequest, HeartbeatRequest, JoinRequest, LeaveRequest, LeavingMember, MemberId, ProducerId, Record,
    Reply, RequestId, Shard, State, SyncRequest, Transaction,
};
use crate::types::{Millis, TopicPartition};

/// What may happen next. Members are named by the order in which their ids became known.
#[derive(Debug, Clone)]
enum Action {
    Join { client: usize, version: Version },
    Rejoin { member: usize, changed: bool },
    Sync { member: usize, stale: bool },
    Heartbeat { member: usize },
    Leave { member: usize, by_name: bool },
    Commit { member: Option<usize>, partition: i32, offset: i64 },
    CommitInTransaction { partition: i32, offset: i64 },
    EndTransaction { committed: bool },
    Delete,
    DeleteOffsets,
    DeleteTopic,
    Pass { duration_ms: i64 },
    Hold,
    Take,
    Fail,
    FailOver,
}

#[derive(Debug, Clone, Copy)]
enum Version {
    Old,
    New,
    Static,
}

fn action() -> impl Strategy<Value = Action> {
    let member = 0..6_usize;
    let version = prop_oneof![Just(Version::Old), Just(Version::New), Just(Version::Static)];
    prop_oneof![
        4 => (0..3_usize, version).prop_map(|(client, version)| Action::Join { client, version }),
        6 => (member.clone(), prop::bool::weighted(0.2))
            .prop_map(|(member, changed)| Action::Rejoin { member, changed }),
        8 => (member.clone(), prop::bool::weighted(0.1)).prop_map(|(member, stale)| Action::Sync { member, stale }),
        3 => member.clone().prop_map(|member| Action::Heartbeat { member }),
        2 => (member.clone(), any::<bool>()).prop_map(|(member, by_name)| Action::Leave { member, by_name }),
        4 => (prop::option::of(member), 0..3, 0..100_i64)
            .prop_map(|(member, partition, offset)| Action::Commit { member, partition, offset }),
        1 => (0..3, 0..100_i64).prop_map(|(partition, offset)| Action::CommitInTransaction { partition, offset }),
        1 => any::<bool>().prop_map(|committed| Action::EndTransaction { committed }),
        1 => Just(Action::Delete),
        1 => Just(Action::DeleteOffsets),
        1 => Just(Action::DeleteTopic),
        5 => prop_oneof![Just(100), Just(3_000), Just(9_000), Just(70_000), Just(700_000)]
            .prop_map(|duration_ms| Action::Pass { duration_ms }),
        2 => Just(Action::Hold),
        4 => Just(Action::Take),
        1 => Just(Action::Fail),
        1 => Just(Action::FailOver),
    ]
}

/// What the clients know.
struct Play {
    world: World,
    /// Ids in the order in which they became known, with the instance id they were given for.
    known: Vec<(MemberId, Option<usize>)>,
    asked: BTreeMap<RequestId, Option<usize>>,
    seen: BTreeSet<RequestId>,
    generation: Generation,
    /// The leader and the members of each generation, as joins told them.
    leaders: BTreeMap<Generation, BTreeSet<MemberId>>,
    members: BTreeMap<Generation, BTreeSet<MemberId>>,
}

impl Play {
    fn new() -> Self {
        let config = Config { offsets_retention: Millis(600_000), max_size: 4, ..Config::default() };
        Self {
            world: World::with_config(config),
            known: Vec::new(),
            asked: BTreeMap::new(),
            seen: BTreeSet::new(),
            generation: Generation::ZERO,
            leaders: BTreeMap::new(),
            members: BTreeMap::new(),
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Join { client, version } => self.join(*client, *version),
            Action::Rejoin { member, changed } => self.rejoin(*member, *changed),
            Action::Sync { member, stale } => self.sync(*member, *stale),
            Action::Heartbeat { member } => {
                if let Some((member_id, instance)) = self.member(*member) {
                    let instance_id = instance.map(instance_name);
                    let request =
                        HeartbeatRequest { instance_id, ..heartbeat(&member_id, self.generation.0) };
                    self.ask(request);
                }
            }
            Action::Leave { member, by_name } => {
                if let Some((member_id, instance)) = self.member(*member) {
                    let instance_id = instance.map(instance_name);
                    let member_id = if *by_name { MemberId::unknown() } else { member_id };
                    let members = vec![LeavingMember { member_id, instance_id }];
                    self.ask(LeaveRequest { group: group(), members });
                }
            }
            Action::Commit { member, partition, offset } => self.commit(*member, *partition, *offset),
            Action::CommitInTransaction { partition, offset } => {
                let transaction = Some(Transaction { producer_id: ProducerId(9), producer_epoch: 0 });
                self.ask(CommitRequest { transaction, ..simple_commit(&[("t", *partition, *offset)]) });
            }
            Action::EndTransaction { committed } => {
                let event = Event::TransactionEnded { producer_id: ProducerId(9), committed: *committed };
                self.world.event(event);
            }
            Action::Delete => drop(self.ask(DeleteGroupRequest { group: group() })),
            Action::DeleteOffsets => {
                let topic_partitions = vec![TopicPartition::new("t", 0), TopicPartition::new("u", 0)];
                self.ask(DeleteOffsetsRequest { group: group(), topic_partitions });
            }
            Action::DeleteTopic => self.world.event(Event::TopicsDeleted { topics: vec!["t".into()] }),
            Action::Pass { duration_ms } => self.world.pass(*duration_ms),
            Action::Hold => self.world.log = Log::Holds,
            Action::Take => self.finish(Log::Takes, Ok(())),
            Action::Fail => {
                let error = ErrorCode::NotEnoughReplicas;
                self.finish(Log::Refuses(error), Err(error));
            }
            Action::FailOver => self.fail_over(),
        }
        self.check();
    }

    fn member(&self, index: usize) -> Option<(MemberId, Option<usize>)> {
        // The latest ids are the interesting ones.
        self.known.iter().rev().nth(index).cloned()
    }

    fn ask(&mut self, request: impl GroupRequest) -> RequestId {
        let id = self.world.ask(request);
        self.asked.insert(id, None);
        id
    }

    fn join(&mut self, client: usize, version: Version) {
        let name = format!("client-{client}");
        let (request, instance) = match version {
            Version::Old => (old_join(&name), None),
            Version::New => (join(&name), None),
            Version::Static => (static_join(instance_name(client).as_str()), Some(client)),
        };
        let id = self.ask(request);
        self.asked.insert(id, instance);
    }

    fn rejoin(&mut self, member: usize, changed: bool) {
        let Some((member_id, instance)) = self.member(member) else { return };
        let protocols =
            if changed { vec![protocol("range", &["t", "u"])] } else { vec![protocol("range", &["t"])] };
        let instance_id = instance.map(instance_name);
        let id = self.ask(JoinRequest { member_id, instance_id, protocols, ..join("again") });
        self.asked.insert(id, instance);
    }

    fn sync(&mut self, member: usize, stale: bool) {
        let Some((member_id, instance)) = self.member(member) else { return };
        let generation = if stale { self.generation.0 - 1 } else { self.generation.0 };
        let members = self.members.get(&self.generation).cloned().unwrap_or_default();
        let mine = Bytes::from(format!("generation {generation}"));
        // A leader may also name somebody who is no member.
        let outsider = MemberId::from("outsider");
        let assignments = members.into_iter().chain([outsider]).map(|id| (id, mine.clone())).collect();
        let instance_id = instance.map(instance_name);
        self.ask(SyncRequest { instance_id, assignments, ..sync(&member_id, generation) });
    }

    fn commit(&mut self, member: Option<usize>, partition: i32, offset: i64) {
        let offsets = [("t", partition, offset)];
        match member.and_then(|member| self.member(member)) {
            Some((member_id, instance)) => {
                let instance_id = instance.map(instance_name);
                self.ask(CommitRequest { instance_id, ..commit(&member_id, self.generation.0, &offsets) });
            }
            None => drop(self.ask(simple_commit(&offsets))),
        }
    }

    fn finish(&mut self, log: Log, outcome: Result<(), ErrorCode>) {
        self.world.finish_appends(outcome);
        self.world.log = log;
    }

    /// What the log remembers can be an older generation: rebalances without a sync are forgotten.
    fn fail_over(&mut self) {
        self.world.fail_over();
        assert_eq!(self.open(), Vec::new(), "a coordinator that resigns answers everybody");
        self.collect();
        self.begin_era(self.stored_generation());
    }

    /// Generations are counted anew from here on.
    fn begin_era(&mut self, generation: Generation) {
        self.generation = generation;
        self.leaders.clear();
        self.members.clear();
    }

    fn stored_generation(&self) -> Generation {
        let records = self.world.stored.iter().flat_map(|appended| &appended.records);
        let groups = records.filter_map(|record| match record {
            Record::Group { value, .. } => {
                Some(value.as_ref().map_or(Generation::ZERO, |value| value.generation))
            }
            Record::Offset { .. } => None,
        });
        groups.fold(None, |_, generation| Some(generation)).unwrap_or(Generation::ZERO)
    }

    fn open(&self) -> Vec<RequestId> {
        self.asked.keys().copied().filter(|id| self.world.is_open(*id)).collect()
    }

    /// Takes what joins and syncs told.
    fn collect(&mut self) {
        let new: Vec<(RequestId, Reply)> = self
            .world
            .replies
            .iter()
            .filter(|(id, _)| !self.seen.contains(id))
            .map(|(id, reply)| (*id, reply.clone()))
            .collect();
        for (id, reply) in new {
            self.seen.insert(id);
            let Reply::Join(reply) = reply else { continue };
            let instance = self.asked.get(&id).copied().flatten();
            if !reply.member_id.is_unknown() && !self.known.iter().any(|(known, _)| *known == reply.member_id)
            {
                self.known.push((reply.member_id.clone(), instance));
            }
            if reply.error != ErrorCode::None {
                continue;
            }
            assert!(reply.generation >= self.generation, "generations only grow");
            self.generation = self.generation.max(reply.generation);
            if reply.leader.as_ref() == Some(&reply.member_id) && !reply.skip_assignment {
                self.leaders.entry(reply.generation).or_default().insert(reply.member_id.clone());
                let members = reply.members.iter().map(|member| member.member_id.clone()).collect();
                self.members.insert(reply.generation, members);
            }
        }
    }

    fn check(&mut self) {
        self.collect();
        if !self.world.shard.groups.contains_key(&group()) {
            self.begin_era(Generation::ZERO);
        }
        for (generation, leaders) in &self.leaders {
            assert!(leaders.len() <= 1, "generation {generation} has one leader: {leaders:?}");
        }
        for appended in &self.world.stored {
            for record in &appended.records {
                let Record::Group { value: Some(value), .. } = record else { continue };
                let ids: BTreeSet<&MemberId> = value.members.iter().map(|member| &member.member_id).collect();
                assert_eq!(ids.len(), value.members.len(), "members are stored once");
                assert!(!ids.contains(&MemberId::from("outsider")), "only members get an assignment");
                assert!(
                    value.leader.as_ref().is_none_or(|leader| ids.contains(leader)),
                    "the leader is a member"
                );
                assert_eq!(value.members.is_empty(), value.protocol.is_none());
            }
        }
        let description = self.world.describe();
        if matches!(description.state, Some(State::CompletingRebalance | State::Stable)) {
            // Static members that have not rejoined are kept beyond the limit.
            let dynamic = description.members.iter().filter(|member| member.instance_id.is_none());
            assert!(dynamic.count() <= 4, "group.max.size holds");
        }
        if let Some(next) = self.world.shard.next_deadline() {
            assert!(next >= self.world.now().steady, "nothing is overdue");
        }
    }

    /// What a reader of the log would know is what the shard knows.
    fn check_replay(&mut self) {
        self.finish(Log::Takes, Ok(()));
        // Markers are not in the stored records.
        let before = durable(&self.world.shard);
        let after = durable(&self.world.reload());
        assert_eq!(before, after);
    }

    /// With clients gone, everybody is answered in the end and the group ends.
    fn check_end(&mut self) {
        self.finish(Log::Takes, Ok(()));
        self.world.pass(2_000_000);
        assert_eq!(self.open(), Vec::new(), "everybody is answered");
    }
}

fn instance_name(instance: usize) -> crate::coordinator::group::machine::InstanceId {
    format!("instance-{instance}").into()
}

/// Returns what the groups of a shard remember, without what transactions under way may still change.
fn durable(shard: &Shard) -> Vec<String> {
    let groups = shard.groups.values().filter(|group| !group.durable.is_empty());
    groups
        .map(|group| {
            let offsets: Vec<_> = group.durable.offsets().collect();
            format!("{} {:?} {offsets:?}", group.id, group.durable.metadata())
        })
        .collect()
}

fn is_transactional(action: &Action) -> bool {
    matches!(action, Action::CommitInTransaction { .. } | Action::EndTransaction { .. })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn groups_keep_their_promises(actions in prop::collection::vec(action(), 1..80)) {
        let mut play = Play::new();
        for action in &actions {
            play.act(action);
        }
        play.check_end();
    }

    #[test]
    fn replaying_the_log_gives_what_is_known(actions in prop::collection::vec(action(), 1..80)) {
        let mut play = Play::new();
        for action in actions.iter().filter(|action| !is_transactional(action)) {
            play.act(action);
        }
        play.check_replay();
    }

    #[test]
    fn the_same_events_have_the_same_effects(actions in prop::collection::vec(action(), 1..40)) {
        let play = |actions: &[Action]| {
            let mut play = Play::new();
            actions.iter().for_each(|action| play.act(action));
            play.world.transcript.text()
        };
        prop_assert_eq!(play(&actions), play(&actions));
    }
}
