//! What was acknowledged is there after a crash, whatever byte it hits; what is damaged is refused, not guessed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed step is a failed test"
)]

mod disk;
mod kill;
mod seed;
mod wire;

use std::sync::Arc;

use disk::MemoryDisk;
use ottla_zookeeper::jute::{Acl, Password, Permissions, Writer};
use ottla_zookeeper::state::{Body, State, Transaction};
use ottla_zookeeper::store::{AppendError, Error, Journal, Options, Recovered};
use ottla_zookeeper::tree::{Change, Owner};
use ottla_zookeeper::types::{SessionId, Zxid};
use seed::Random;

/// A store and the states that it went through, by zxid.
struct History {
    disk: MemoryDisk,
    journal: Journal,
    states: Vec<State>,
    acknowledged: Zxid,
}

fn options(snapshot_count: u64) -> Options {
    Options { snapshot_count, force_sync: true, salt: 42 }
}

fn open(disk: &MemoryDisk, snapshot_count: u64) -> Result<(Recovered, Journal), Error> {
    Journal::open(Arc::new(disk.clone()), options(snapshot_count))
}

impl History {
    fn new(snapshot_count: u64) -> History {
        let disk = MemoryDisk::default();
        let (recovered, journal) = open(&disk, snapshot_count).unwrap();
        History { disk, journal, states: vec![recovered.state], acknowledged: Zxid::ZERO }
    }

    /// Appends one batch of random transactions.
    fn append(&mut self, random: &mut Random) -> Result<(), AppendError> {
        let mut writer = Writer::new();
        let count = 1 + random.below(3);
        for _ in 0..count {
            let mut state = self.states.last().unwrap().clone();
            let transaction = transaction(&state, random);
            state.replay(&transaction).unwrap();
            transaction.encode(&mut writer);
            self.states.push(state);
        }
        let last = self.states.last().unwrap().last_zxid;
        self.journal.append(writer.as_bytes(), count as u64, last)?;
        self.acknowledged = last;
        Ok(())
    }

    fn state(&self, zxid: Zxid) -> &State {
        &self.states[usize::try_from(zxid.0).unwrap()]
    }
}

/// A transaction that fits the state: sessions come and go, nodes are created, written and deleted.
fn transaction(state: &State, random: &mut Random) -> Transaction {
    let sessions: Vec<SessionId> = state.sessions.iter().map(|(id, _)| id).collect();
    let path: Arc<str> = format!("/n{}", random.below(12)).into();
    let acl: Arc<[Acl]> = Arc::new([Acl::new(Permissions::ALL, "world", "anyone")]);
    let body = match random.below(10) {
        0 => Body::OpenSession {
            session: state.sessions.next_id(1),
            password: Password([7; 16]),
            timeout_ms: 1_000,
        },
        1 if !sessions.is_empty() => Body::CloseSession { session: sessions[random.below(sessions.len())] },
        2 => Body::Changes(Vec::new()),
        _ => match state.tree.get(&path) {
            None => {
                let owner = match sessions.first() {
                    Some(session) if random.below(3) == 0 => Owner::Session(*session),
                    _ => Owner::Nobody,
                };
                let data = Some(vec![1; random.below(40)].into());
                Body::Changes(vec![Change::Create { path, data, acl, owner }])
            }
            Some(_) if random.below(2) == 0 => Body::Changes(vec![Change::Delete { path }]),
            Some(node) => {
                let (version, data) = (node.version + 1, Some(vec![2; random.below(40)].into()));
                Body::Changes(vec![Change::SetData { path, data, version }])
            }
        },
    };
    Transaction { zxid: state.last_zxid.next(), time_ms: 1_000 + state.last_zxid.0, body }
}

/// States are equal for clients: what a node was last touched by is only of interest before it is durable.
fn assert_same(found: &State, expected: &State) {
    assert_eq!(found.last_zxid, expected.last_zxid);
    assert_eq!(found.sessions, expected.sessions);
    let nodes = |state: &State| {
        state
            .tree
            .iter()
            .map(|(path, node)| (path.clone(), node.stat(), node.data.clone(), node.children_created))
            .collect::<Vec<_>>()
    };
    assert_eq!(nodes(found), nodes(expected));
}

#[test]
fn the_log_may_end_at_any_byte_of_its_last_batches() {
    let mut history = History::new(1_000);
    let mut random = Random::new(1);
    let mut ends = Vec::new();
    let log = "log.0000000000000001";
    for _ in 0..12 {
        history.append(&mut random).unwrap();
        ends.push((history.disk.bytes(log).len(), history.acknowledged));
    }
    let bytes = history.disk.bytes(log);
    for cut in ends[3].0..=bytes.len() {
        let disk = MemoryDisk::default();
        disk.put(log, &bytes[..cut]);
        let (recovered, journal) = open(&disk, 1_000).unwrap();
        let (end, last) = *ends.iter().rfind(|(end, _)| *end <= cut).unwrap();
        assert_same(&recovered.state, history.state(last));
        assert_eq!(recovered.recovery.cut_bytes, (cut - end) as u64);
        drop(journal);
        assert_eq!(disk.bytes(log).len(), end, "the torn batch is cut off");
    }
}

#[test]
fn a_log_goes_on_after_its_torn_end_was_cut() {
    let mut history = History::new(1_000);
    let mut random = Random::new(2);
    for _ in 0..4 {
        history.append(&mut random).unwrap();
    }
    let kept = history.acknowledged;
    let log = "log.0000000000000001";
    let mut bytes = history.disk.bytes(log);
    bytes.extend_from_slice(b"BTCH\0\0\0\x09half a batch");
    let disk = MemoryDisk::default();
    disk.put(log, &bytes);
    let (_, journal) = open(&disk, 1_000).unwrap();
    history.states.truncate(usize::try_from(kept.0).unwrap() + 1);
    history = History { disk, journal, ..history };
    history.append(&mut random).unwrap();
    let (recovered, _) = open(&history.disk, 1_000).unwrap();
    assert_same(&recovered.state, history.state(history.acknowledged));
    assert_eq!(recovered.recovery.cut_bytes, 0);
}

#[test]
fn a_damaged_byte_is_refused_unless_only_the_last_batch_has_it() {
    let mut history = History::new(1_000);
    let mut random = Random::new(3);
    let log = "log.0000000000000001";
    let mut before_last = (0, Zxid::ZERO);
    for _ in 0..6 {
        before_last = (history.disk.bytes(log).len(), history.acknowledged);
        history.append(&mut random).unwrap();
    }
    let bytes = history.disk.bytes(log);
    for index in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[index] ^= 0x40;
        let disk = MemoryDisk::default();
        disk.put(log, &damaged);
        match open(&disk, 1_000) {
            Ok((recovered, _)) => {
                assert!(index >= before_last.0, "byte {index} went unnoticed");
                assert_same(&recovered.state, history.state(before_last.1));
            }
            Err(Error::Damaged { path, .. }) => assert!(path.ends_with(log)),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(
            disk.bytes(log),
            if index >= before_last.0 { bytes[..before_last.0].to_vec() } else { damaged }
        );
    }
}

#[test]
fn a_refusal_says_where_and_what_to_do() {
    let mut history = History::new(1_000);
    let mut random = Random::new(4);
    for _ in 0..3 {
        history.append(&mut random).unwrap();
    }
    let log = "log.0000000000000001";
    let mut bytes = history.disk.bytes(log);
    bytes[40] ^= 1;
    let disk = MemoryDisk::default();
    disk.put(log, &bytes);
    let message = open(&disk, 1_000).unwrap_err().to_string();
    for part in
        ["/memory/log.0000000000000001 is damaged at byte 28", "a whole one follows", "restore the directory"]
    {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn compaction_keeps_the_state_and_bounds_the_files() {
    let mut history = History::new(20);
    let mut random = Random::new(5);
    for _ in 0..200 {
        history.append(&mut random).unwrap();
        history.journal.wait_for_compaction();
    }
    let names = history.disk.names();
    let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!(count("snapshot."), 2, "{names:?}");
    assert!(count("log.") <= 3, "{names:?}");
    let (recovered, _) = open(&history.disk, 20).unwrap();
    assert_same(&recovered.state, history.state(history.acknowledged));
    assert!(recovered.recovery.replayed < 25, "starting costs the tree, not the history");
}

#[test]
fn a_damaged_snapshot_is_made_up_for_by_the_one_before() {
    let mut history = History::new(20);
    let mut random = Random::new(6);
    for _ in 0..100 {
        history.append(&mut random).unwrap();
        history.journal.wait_for_compaction();
    }
    let snapshots: Vec<String> =
        history.disk.names().into_iter().filter(|name| name.starts_with("snapshot.")).collect();
    let disk = history.disk.copy();
    let mut bytes = disk.bytes(&snapshots[1]);
    bytes[30] ^= 1;
    disk.put(&snapshots[1], &bytes);
    let (recovered, _) = open(&disk, 1_000).unwrap();
    assert_same(&recovered.state, history.state(history.acknowledged));
    assert_eq!(recovered.recovery.skipped_snapshots.len(), 1);
    let mut bytes = disk.bytes(&snapshots[0]);
    bytes.truncate(50);
    disk.put(&snapshots[0], &bytes);
    assert!(matches!(open(&disk, 1_000), Err(Error::Damaged { .. })), "nothing is left to begin with");
}

#[test]
fn a_missing_log_is_a_gap_and_refused() {
    let mut history = History::new(20);
    let mut random = Random::new(7);
    for _ in 0..60 {
        history.append(&mut random).unwrap();
        history.journal.wait_for_compaction();
    }
    let disk = MemoryDisk::default();
    let names: Vec<String> = history.disk.names();
    let logs: Vec<&String> = names.iter().filter(|name| name.starts_with("log.")).collect();
    let newest = names.iter().rfind(|name| name.starts_with("snapshot.")).unwrap();
    for name in names.iter().filter(|name| *name != logs[logs.len() - 2] && *name != newest) {
        disk.put(name, &history.disk.bytes(name));
    }
    match open(&disk, 1_000) {
        Err(Error::Damaged { problem, .. }) => assert!(problem.contains("came before"), "{problem}"),
        Err(other) => panic!("{other}"),
        Ok((recovered, _)) => panic!("went on at {}", recovered.state.last_zxid),
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let mut history = History::new(10);
    let mut random = Random::new(8);
    for _ in 0..30 {
        history.append(&mut random).unwrap();
        history.journal.wait_for_compaction();
    }
    for room in 0..60 {
        history.disk.set_room(Some(room));
        let before = (history.states.len(), history.acknowledged);
        match history.append(&mut random) {
            Err(AppendError::Again(_)) => {
                history.states.truncate(before.0);
                let (recovered, _) = open(&history.disk.copy(), 1_000).unwrap();
                assert_same(&recovered.state, history.state(before.1));
            }
            other => other.unwrap(),
        }
    }
    history.disk.set_room(None);
    for _ in 0..30 {
        history.append(&mut random).unwrap();
        history.journal.wait_for_compaction();
    }
    let (recovered, _) = open(&history.disk, 1_000).unwrap();
    assert_same(&recovered.state, history.state(history.acknowledged));
}

#[test]
fn power_may_fail_at_any_operation() {
    for seed in 1..400 {
        let mut random = Random::new(seed);
        let mut history = History::new(8);
        history.disk.fail_after(random.below(150));
        while history.append(&mut random).is_ok() {
            history.journal.wait_for_compaction();
        }
        let written = history.states.last().unwrap().last_zxid;
        let disk = history.disk.after_power_loss(|n| random.below(n + 1));
        let (recovered, _) = open(&disk, 8).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let found = recovered.state.last_zxid;
        assert!(
            (history.acknowledged..=written).contains(&found),
            "seed {seed}: {} was acknowledged, {written} written, {found} found",
            history.acknowledged
        );
        assert_same(&recovered.state, history.state(found));
    }
}
