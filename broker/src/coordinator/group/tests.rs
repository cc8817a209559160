//! The coordinator with real threads and clocks, over a log in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;

use super::machine::{
    CommitRequest, Config, ErrorCode, FetchRequest, Generation, GroupRequest, HeartbeatRequest, JoinReply,
    JoinRequest, LeaveRequest, LeavingMember, ListRequest, MemberId, OffsetToCommit, Protocol, Record,
    SyncRequest,
};
use super::{AppendDone, Batch, GroupCoordinator, GroupStorage, LoadError, Loaded};
use crate::metrics::Metrics;
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

const PARTITIONS: i32 = 4;

/// A log in memory. Appends finish at once, on the appending thread, or later on another.
#[derive(Default)]
struct Memory {
    records: Mutex<BTreeMap<i32, Vec<Record>>>,
    finisher: Mutex<Option<Sender<AppendDone>>>,
    gate: Gate,
    load_failures: Mutex<usize>,
}

/// Holds loads up until it is opened.
#[derive(Default)]
struct Gate {
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn set(&self, closed: bool) {
        *self.closed.lock().unwrap() = closed;
        self.changed.notify_all();
    }

    fn pass(&self) {
        drop(self.changed.wait_while(self.closed.lock().unwrap(), |closed| *closed).unwrap());
    }
}

impl GroupStorage for Memory {
    fn partition_count(&self) -> i32 {
        PARTITIONS
    }

    fn append(&self, partition: i32, batch: Batch, done: AppendDone) {
        self.records.lock().unwrap().entry(partition).or_default().extend(batch.records.iter().cloned());
        match &*self.finisher.lock().unwrap() {
            Some(finisher) => finisher.send(done).unwrap(),
            None => done(Ok(())),
        }
    }

    fn load(&self, partition: i32, take: &mut dyn FnMut(Loaded) -> ControlFlow<()>) -> Result<(), LoadError> {
        self.gate.pass();
        let mut failures = self.load_failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Err(LoadError { partition, reason: "not today".to_owned() });
        }
        let records = self.records.lock().unwrap().get(&partition).cloned().unwrap_or_default();
        for record in records {
            if take(Loaded::Record { record, producer: None }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

struct World {
    memory: Arc<Memory>,
    coordinator: Arc<GroupCoordinator>,
}

impl World {
    fn over(memory: Arc<Memory>) -> Self {
        let config = Config { initial_rebalance_delay: Millis(20), ..Config::default() };
        let storage: Arc<dyn GroupStorage> = Arc::clone(&memory) as Arc<dyn GroupStorage>;
        let coordinator = GroupCoordinator::start(config, storage, &Metrics::new()).unwrap();
        Self { memory, coordinator }
    }

    /// A coordinator that leads all partitions.
    fn leading() -> Self {
        let world = Self::over(Arc::default());
        world.lead_all(1);
        world
    }

    fn lead_all(&self, epoch: i32) {
        for partition in 0..PARTITIONS {
            self.coordinator.become_leader(partition, LeaderEpoch(epoch));
        }
        self.await_loaded();
    }

    /// Asks until no partition is loading any more.
    fn await_loaded(&self) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while self.list().0 == ErrorCode::CoordinatorLoadInProgress {
            assert!(std::time::Instant::now() < deadline, "the partitions are loaded in time");
            std::thread::yield_now();
        }
    }

    fn ask<R: GroupRequest>(&self, request: R) -> Receiver<R::Reply> {
        let (told, heard) = channel();
        self.coordinator.call(request, move |reply| drop(told.send(reply)));
        heard
    }

    fn call<R: GroupRequest>(&self, request: R) -> R::Reply {
        self.ask(request).recv_timeout(PATIENCE).expect("an answer in time")
    }

    fn list(&self) -> (ErrorCode, Vec<String>) {
        let (told, heard) = channel();
        let request = ListRequest { states: vec![], types: vec![] };
        self.coordinator.list(&request, move |reply| told.send(reply).unwrap());
        let reply = heard.recv_timeout(PATIENCE).expect("a list in time");
        (reply.error, reply.groups.into_iter().map(|group| group.group.to_string()).collect())
    }

    /// Joins and syncs as the only member.
    fn stable(&self, group: &str) -> JoinReply {
        let joined = self.call(join(group));
        assert_eq!(joined.error, ErrorCode::None);
        let assignments = vec![(joined.member_id.clone(), Bytes::from_static(b"all"))];
        let synced = self.call(SyncRequest { assignments, ..sync(group, &joined) });
        assert_eq!((synced.error, synced.assignment), (ErrorCode::None, Bytes::from_static(b"all")));
        joined
    }
}

fn join(group: &str) -> JoinRequest {
    JoinRequest {
        group: group.into(),
        member_id: MemberId::unknown(),
        instance_id: None,
        client_id: "client".into(),
        client_host: "/127.0.0.1".into(),
        rebalance_timeout_ms: 60_000,
        session_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![Protocol { name: "range".into(), metadata: Bytes::new() }],
        require_known_member_id: false,
        supports_skipping_assignment: false,
    }
}

fn sync(group: &str, joined: &JoinReply) -> SyncRequest {
    SyncRequest {
        group: group.into(),
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        instance_id: None,
        protocol_type: None,
        protocol: None,
        assignments: vec![],
    }
}

fn commit(group: &str, offset: i64) -> CommitRequest {
    CommitRequest {
        group: group.into(),
        generation: Generation::NONE,
        member_id: MemberId::unknown(),
        instance_id: None,
        retention: None,
        transaction: None,
        offsets: vec![OffsetToCommit {
            topic_partition: TopicPartition::new("t", 0),
            offset: Offset(offset),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
            commit_timestamp: None,
        }],
    }
}

fn fetch(group: &str) -> FetchRequest {
    FetchRequest { group: group.into(), topic_partitions: None, require_stable: false }
}

fn heartbeat(group: &str, joined: &JoinReply) -> HeartbeatRequest {
    HeartbeatRequest {
        group: group.into(),
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        instance_id: None,
    }
}

#[test]
fn a_group_lives_on_time_and_survives_its_coordinator() {
    let world = World::leading();
    let joined = world.stable("g");
    let committed = world.call(CommitRequest {
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        ..commit("g", 7)
    });
    assert_eq!(committed.partitions[0].1, ErrorCode::None);
    world.coordinator.shutdown();
    assert_eq!(world.call(heartbeat("g", &joined)).error, ErrorCode::CoordinatorNotAvailable);
    assert_eq!(world.list().0, ErrorCode::CoordinatorNotAvailable);

    let next = World::over(Arc::clone(&world.memory));
    assert_eq!(next.call(heartbeat("g", &joined)).error, ErrorCode::NotCoordinator);
    next.lead_all(2);
    assert_eq!(next.call(heartbeat("g", &joined)).error, ErrorCode::None);
    assert_eq!(next.call(fetch("g")).partitions[0].offset, Offset(7));
}

#[test]
fn lists_merge_all_partitions() {
    let world = World::leading();
    let groups: Vec<String> = (0..20).map(|number| format!("group-{number:02}")).collect();
    for group in &groups {
        assert_eq!(world.call(commit(group, 1)).partitions[0].1, ErrorCode::None);
    }
    assert_eq!(world.list(), (ErrorCode::None, groups));
}

#[test]
fn while_a_partition_loads_clients_are_told_so() {
    let world = World::over(Arc::default());
    world.memory.gate.set(true);
    for partition in 0..PARTITIONS {
        world.coordinator.become_leader(partition, LeaderEpoch(1));
    }
    assert_eq!(world.call(join("g")).error, ErrorCode::CoordinatorLoadInProgress);
    assert_eq!(world.call(fetch("g")).error, ErrorCode::CoordinatorLoadInProgress);
    assert_eq!(world.list().0, ErrorCode::CoordinatorLoadInProgress);
    world.memory.gate.set(false);
    world.await_loaded();
    assert_eq!(world.call(fetch("g")).error, ErrorCode::None);
}

#[test]
fn a_load_that_fails_is_tried_again() {
    let world = World::over(Arc::default());
    *world.memory.load_failures.lock().unwrap() = 2;
    world.lead_all(1);
    assert_eq!(world.call(fetch("g")).error, ErrorCode::None);
}

#[test]
fn a_load_that_is_no_longer_wanted_changes_nothing() {
    let world = World::over(Arc::default());
    world.memory.gate.set(true);
    let partition = world.coordinator.partition_for("g");
    world.coordinator.become_leader(partition, LeaderEpoch(1));
    world.coordinator.resign(partition, Some(LeaderEpoch(2)));
    world.memory.gate.set(false);
    world.coordinator.become_leader(partition, LeaderEpoch(3));
    world.await_loaded();
    assert_eq!(world.call(fetch("g")).error, ErrorCode::None);
    world.coordinator.resign(partition, Some(LeaderEpoch(2)));
    assert_eq!(world.call(fetch("g")).error, ErrorCode::None, "an old command is ignored");
    world.coordinator.become_leader(partition, LeaderEpoch(5));
    assert_eq!(world.call(fetch("g")).error, ErrorCode::None, "a leader that is elected again goes on");
    world.coordinator.resign(partition, None);
    assert_eq!(world.call(fetch("g")).error, ErrorCode::NotCoordinator);
}

#[test]
fn parked_joins_are_sent_away_on_resignation() {
    let world = World::leading();
    let joined = world.stable("g");
    let newcomer = world.ask(join("g"));
    assert_eq!(world.call(heartbeat("g", &joined)).error, ErrorCode::RebalanceInProgress);
    world.coordinator.resign(world.coordinator.partition_for("g"), Some(LeaderEpoch(2)));
    assert_eq!(newcomer.recv_timeout(PATIENCE).unwrap().error, ErrorCode::NotCoordinator);
}

#[test]
fn answers_wait_for_the_log() {
    let world = World::leading();
    let (finisher, finish) = channel::<AppendDone>();
    *world.memory.finisher.lock().unwrap() = Some(finisher);
    let first = world.ask(commit("g", 1));
    let second = world.ask(commit("g", 2));
    let done: Vec<AppendDone> = (0..2).map(|_| finish.recv_timeout(PATIENCE).unwrap()).collect();
    assert!(first.try_recv().is_err() && second.try_recv().is_err());
    for done in done {
        done(Ok(()));
    }
    assert_eq!(first.recv_timeout(PATIENCE).unwrap().partitions[0].1, ErrorCode::None);
    assert_eq!(second.recv_timeout(PATIENCE).unwrap().partitions[0].1, ErrorCode::None);
    assert_eq!(world.call(fetch("g")).partitions[0].offset, Offset(2));
}

#[test]
fn outcomes_of_an_earlier_term_mean_nothing() {
    let world = World::leading();
    let (finisher, finish) = channel::<AppendDone>();
    *world.memory.finisher.lock().unwrap() = Some(finisher);
    let partition = world.coordinator.partition_for("g");
    let before = world.ask(commit("g", 1));
    let stale = finish.recv_timeout(PATIENCE).unwrap();
    world.coordinator.resign(partition, Some(LeaderEpoch(2)));
    assert_eq!(before.recv_timeout(PATIENCE).unwrap().partitions[0].1, ErrorCode::NotCoordinator);
    world.coordinator.become_leader(partition, LeaderEpoch(3));
    world.await_loaded();
    let after = world.ask(commit("g", 2));
    stale(Ok(()));
    assert!(after.try_recv().is_err(), "its own append is not finished");
    finish.recv_timeout(PATIENCE).unwrap()(Ok(()));
    assert_eq!(after.recv_timeout(PATIENCE).unwrap().partitions[0].1, ErrorCode::None);
}

#[test]
fn many_threads_share_one_partition() {
    const THREADS: i32 = 8;
    const COMMITS: i64 = 50;
    let world = World::leading();
    let (finisher, finish) = channel::<AppendDone>();
    *world.memory.finisher.lock().unwrap() = Some(finisher);
    let finishing = std::thread::spawn(move || finish.into_iter().for_each(|done| done(Ok(()))));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let world = &world;
            scope.spawn(move || {
                for offset in 1..=COMMITS {
                    let mut request = commit("g", offset);
                    request.offsets[0].topic_partition = TopicPartition::new("t", thread);
                    assert_eq!(world.call(request).partitions[0].1, ErrorCode::None);
                }
            });
        }
    });
    let fetched = world.call(fetch("g")).partitions;
    assert_eq!(fetched.len(), usize::try_from(THREADS).unwrap());
    assert!(fetched.iter().all(|one| one.offset == Offset(COMMITS)), "{fetched:?}");
    *world.memory.finisher.lock().unwrap() = None;
    finishing.join().unwrap();
}

#[test]
fn metrics_count_groups_and_offsets() {
    let metrics = Metrics::new();
    let memory = Arc::new(Memory::default());
    let coordinator = GroupCoordinator::start(Config::default(), memory.clone(), &metrics).unwrap();
    let world = World { memory, coordinator };
    world.lead_all(1);
    world.call(commit("g", 1));
    let page = metrics.render();
    for line in [
        "kafka_coordinator_group_groupmetadatamanager_numgroups 1",
        "kafka_coordinator_group_groupmetadatamanager_numgroupsempty 1",
        "kafka_server_group_coordinator_metrics_offset_commit_total 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
    }
}

#[test]
fn a_member_that_leaves_is_gone_for_the_next_coordinator_too() {
    let world = World::leading();
    let joined = world.stable("g");
    let members = vec![LeavingMember { member_id: joined.member_id.clone(), instance_id: None }];
    assert_eq!(world.call(LeaveRequest { group: "g".into(), members }).members[0].1, ErrorCode::None);
    let next = World::over(Arc::clone(&world.memory));
    next.lead_all(2);
    assert_eq!(next.call(heartbeat("g", &joined)).error, ErrorCode::UnknownMemberId);
}
