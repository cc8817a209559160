//! A log against a plain list, through appends, truncations, retention, faults, kills and power losses.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use ottla_broker::log::{Error, LogConfig, LogManager, PartitionLog, Severity};
use ottla_broker::types::{BrokerEpoch, LeaderEpoch, Offset};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::basics::{CLIENT, NOW, options, orders, read_all};
use crate::batches::{Batch, Stored};
use crate::faulty::{Fault, FaultyDisk, Kind};

#[derive(Debug, Clone)]
enum Step {
    Append { count: usize, size: usize, time: i64, producer: bool },
    Copy { batches: usize, gap: i64 },
    Truncate { back: i64 },
    StartOver { ahead: i64 },
    HighWatermark { back: i64 },
    AdvanceStart { back: i64 },
    Retain,
    Flush,
    NewEpoch,
    Clean,
    Restart,
    Kill,
    PowerLoss { seed: u32 },
    Fault(Kind, u32, u32, i32),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        Just(Kind::Open),
        Just(Kind::Write),
        Just(Kind::Cut),
        Just(Kind::Sync),
        Just(Kind::Rename),
        Just(Kind::Remove)
    ];
    prop_oneof![
        12 => (1..5_usize, 0..200_usize, -1..3000_i64, any::<bool>())
            .prop_map(|(count, size, time, producer)| Step::Append { count, size, time, producer }),
        4 => (1..8_usize, 0..3_i64).prop_map(|(batches, gap)| Step::Copy { batches, gap }),
        2 => (0..40_i64).prop_map(|back| Step::Truncate { back }),
        1 => (0..20_i64).prop_map(|ahead| Step::StartOver { ahead }),
        3 => (0..20_i64).prop_map(|back| Step::HighWatermark { back }),
        1 => (0..20_i64).prop_map(|back| Step::AdvanceStart { back }),
        1 => Just(Step::Retain),
        1 => Just(Step::Flush),
        1 => Just(Step::NewEpoch),
        1 => Just(Step::Clean),
        1 => Just(Step::Restart),
        1 => Just(Step::Kill),
        1 => any::<u32>().prop_map(|seed| Step::PowerLoss { seed }),
        3 => (kind, 0..6_u32, 1..3_u32, prop_oneof![Just(28), Just(13)])
            .prop_map(|(kind, after, times, errno)| Step::Fault(kind, after, times, errno)),
    ]
}

/// The log as a list of whole batches.
struct World {
    directory: tempfile::TempDir,
    disk: FaultyDisk,
    clock: Arc<AtomicI64>,
    config: LogConfig,
    manager: Arc<LogManager>,
    log: Arc<PartitionLog>,
    batches: Vec<Stored>,
    log_start: i64,
    log_end: i64,
    flushed: i64,
    epoch: i32,
    sequence: i32,
    cleaned: bool,
}

impl World {
    /// Only a compacted log has holes; then one that power loss tore cannot be told from them.
    fn new(compacted: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = FaultyDisk::default();
        let clock = Arc::new(AtomicI64::new(NOW));
        let config = LogConfig {
            segment_bytes: 1200,
            index_interval_bytes: 150,
            segment_ms: 2500,
            retention_bytes: 5000,
            compact: compacted,
            min_cleanable_dirty_ratio: 0.0,
            ..LogConfig::default()
        };
        let (manager, log) = start(directory.path(), &disk, &clock, &config);
        Self {
            directory,
            disk,
            clock,
            config,
            manager,
            log,
            batches: Vec::new(),
            log_start: 0,
            log_end: 0,
            flushed: 0,
            epoch: 0,
            sequence: 0,
            cleaned: false,
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Append { count, size, time, producer } => self.append(count, size, time, producer),
            Step::Copy { batches, gap } => self.copy(batches, if self.config.compact { gap } else { 0 }),
            Step::Truncate { back } => self.truncate(back),
            Step::StartOver { ahead } => self.start_over(ahead),
            Step::HighWatermark { back } => {
                self.log.update_high_watermark(Offset(self.log_end - back));
            }
            Step::AdvanceStart { back } => {
                let target = (self.log_end - back).max(0);
                match self.log.advance_log_start(Offset(target)) {
                    Ok(_) => self.log_start = self.log_start.max(target),
                    Err(error) => assert!(target > self.log.high_watermark().0, "{error}"),
                }
            }
            Step::Retain => {
                let result = self.log.apply_retention();
                self.allow_fault(&result);
                let start = self.log.log_start_offset().0;
                assert!(start >= self.log_start && start <= self.log.high_watermark().0.max(self.log_start));
                self.log_start = start;
            }
            Step::Flush => {
                let result = self.log.flush();
                self.allow_fault(&result);
                if result.is_ok() {
                    assert_eq!(self.log.recovery_point(), Offset(self.log_end));
                }
                self.flushed = self.log.recovery_point().0;
            }
            Step::NewEpoch => {
                let result = self.log.assign_epoch_start(LeaderEpoch(self.epoch + 1), Offset(self.log_end));
                self.allow_fault(&result);
                if result.is_ok() {
                    self.epoch += 1;
                }
            }
            Step::Clean => self.clean(),
            Step::Restart => {
                self.disk.heal();
                self.log_start = self.log.log_start_offset().0;
                self.manager.shutdown(BrokerEpoch(1));
                self.flushed = self.log_end;
                self.reopen();
            }
            Step::Kill => {
                self.disk.heal();
                self.reopen();
            }
            Step::PowerLoss { .. } if self.config.compact => {}
            Step::PowerLoss { seed } => self.lose_power(seed),
            Step::Fault(kind, after, times, errno) => self.disk.inject(Fault { kind, after, times, errno }),
        }
        self.flushed = self.flushed.min(self.log_end);
        self.check();
    }

    fn append(&mut self, count: usize, size: usize, time: i64, producer: bool) {
        let mut batch = Batch::of(count, size, if time < 0 { -1 } else { NOW + time });
        // After a cleaning snapshots know sequences that the batches do not tell any more.
        let producer = producer && !self.cleaned;
        if producer {
            batch = batch.by_producer(7, 0, self.sequence);
        }
        let result = self.log.append_as_leader(&batch.bytes(), LeaderEpoch(self.epoch), CLIENT);
        self.allow_fault(&result);
        let Ok(info) = result else { return };
        assert_eq!((info.first_offset.0, info.duplicate), (self.log_end, false));
        self.log_end += count as i64;
        assert_eq!(info.last_offset.0, self.log_end - 1);
        let stored = batch.at(info.first_offset.0, self.epoch).bytes().to_vec();
        self.batches.push((info.first_offset.0, info.last_offset.0, stored));
        if producer {
            self.sequence += count as i32;
        }
    }

    /// What a follower does: several batches at once, with holes as compaction leaves them.
    fn copy(&mut self, batches: usize, gap: i64) {
        let mut next = self.log_end + gap;
        let mut sent = Vec::new();
        for size in 0..batches {
            let batch = Batch::of(2, size * 60, NOW).at(next, self.epoch).bytes().to_vec();
            sent.push((next, next + 1, batch));
            next += 2 + gap;
        }
        let bytes: Vec<u8> = sent.iter().flat_map(|batch| batch.2.clone()).collect();
        let result = self.log.append_as_follower(&bytes.into());
        self.allow_fault(&result);
        // A fault in the middle leaves a beginning.
        let log_end = self.log.log_end_offset().0;
        let kept: Vec<_> = sent.into_iter().filter(|batch| batch.1 < log_end).collect();
        assert!(result.is_err() || kept.len() == batches);
        if let Some(last) = kept.last() {
            self.log_end = last.1 + 1;
        }
        self.batches.extend(kept);
    }

    fn truncate(&mut self, back: i64) {
        let target = (self.log_end - back).max(0);
        let result = self.log.truncate_to(Offset(target));
        self.allow_fault(&result);
        let log_end = self.log.log_end_offset().0;
        // A batch that holds the target in its middle goes as a whole.
        let holding = self.batches.iter().find(|batch| batch.1 >= target);
        let least = holding.map_or(target, |batch| batch.0.min(target));
        assert!(log_end >= least && log_end <= self.log_end);
        assert!(result.is_err() || [least, target, self.log_end].contains(&log_end));
        self.cut(log_end);
        if target < self.log_start {
            self.log_start = self.log.log_start_offset().0;
        }
    }

    fn cut(&mut self, log_end: i64) {
        self.batches.retain(|batch| batch.1 < log_end);
        self.log_end = log_end;
        self.log_start = self.log_start.min(log_end);
        // The producer's last batches may be gone; it starts again with the next epoch of a new id in real life.
        self.sequence = self.known_sequence();
    }

    fn known_sequence(&self) -> i32 {
        let of = |batch: &Stored| {
            let id = i64::from_be_bytes(batch.2[43..51].try_into().unwrap());
            let first = i32::from_be_bytes(batch.2[53..57].try_into().unwrap());
            (id == 7).then_some(first + (batch.1 - batch.0) as i32 + 1)
        };
        self.batches.iter().rev().find_map(of).unwrap_or(0)
    }

    fn start_over(&mut self, ahead: i64) {
        let target = self.log_end + ahead;
        let result = self.log.truncate_fully_and_start_at(Offset(target));
        self.allow_fault(&result);
        // After a fault it has either happened or not begun, or the newest segments are gone.
        if result.is_ok() || self.log.log_start_offset().0 == target {
            self.batches.clear();
            (self.log_start, self.log_end) = (target, target);
            self.sequence = 0;
        } else {
            self.cut(self.log.log_end_offset().0);
            self.log_start = self.log.log_start_offset().0;
        }
    }

    /// All records have the same key, so of every round only the last one and what is newer stays. What is gone is taken out
    /// of the list; what is left must be what was there, byte for byte where a batch was kept whole.
    fn clean(&mut self) {
        self.cleaned = self.config.compact;
        // A fault must not make the log uncleanable for the rest of the run.
        let waiting = self.disk.take_fault();
        while self.manager.clean_dirtiest() {}
        assert!(
            self.manager.uncleanable_partitions().is_empty(),
            "{:?}",
            self.manager.uncleanable_partitions()
        );
        assert_eq!(self.log.log_end_offset().0, self.log_end);
        let found = read_all(&self.log, self.log_start);
        for batch in &found {
            let before = self.batches.iter().find(|known| known.0 == batch.0).expect("nothing is invented");
            assert_eq!(batch.1, before.1);
            assert!(batch.2.len() <= before.2.len());
        }
        let newest = self.batches.last().filter(|batch| batch.1 >= self.log_start);
        assert!(
            found.last() == newest || self.log.last_stable_offset().0 >= self.log_end,
            "the newest stays"
        );
        self.batches.retain(|batch| batch.1 < self.log_start);
        self.batches.extend(found);
        if let Some(fault) = waiting {
            self.disk.inject(fault);
        }
    }

    fn lose_power(&mut self, mut seed: u32) {
        self.disk.heal();
        self.manager.checkpoint_recovery_points().unwrap();
        self.disk.take_cut_failed();
        self.disk.lose_power(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        });
        let before = self.batches.clone();
        self.restart();
        let log_end = self.log.log_end_offset().0;
        let flushed = before.iter().rev().find(|batch| batch.1 < self.flushed).map_or(0, |batch| batch.1 + 1);
        assert!(log_end >= flushed, "flushed to {flushed}, kept {log_end}");
        self.cut(log_end.min(self.log_end));
        self.log_end = log_end;
        self.log_start = self.log.log_start_offset().0;
        assert_eq!(self.batches[..], before[..self.batches.len()]);
        // What survived is on the medium: nothing of it is lost again.
        self.flushed = self.flushed.min(log_end);
    }

    /// An injected fault may fail a step, and nothing else may.
    fn allow_fault<T>(&self, result: &Result<T, Error>) {
        if let Err(error) = result {
            assert_ne!(error.severity(), Severity::Request, "{error}");
            assert!(matches!(error, Error::Io { .. }), "{error}");
        }
    }

    fn restart(&mut self) {
        // Lets the directory go, as the end of a process does; the logs are left as they are.
        self.manager.abandon();
        (self.manager, self.log) = start(self.directory.path(), &self.disk, &self.clock, &self.config);
    }

    fn reopen(&mut self) {
        self.restart();
        let end = self.log.log_end_offset().0;
        if self.disk.take_cut_failed() && end > self.log_end {
            // The kill came before the cut could be made up for: it is as if the truncation had not happened.
            let found = read_all(&self.log, self.log.log_start_offset().0);
            let known = self.batches.iter().filter(|batch| batch.1 >= self.log.log_start_offset().0);
            assert!(known.zip(&found).all(|(known, found)| known == found));
            self.batches = found;
            self.log_end = end;
        }
        if end > self.log_end && self.log.log_start_offset().0 == end {
            // It was truncated below its log start, which the checkpoint still had: nothing that could be shown is gone.
            self.batches.clear();
            (self.log_start, self.log_end) = (end, end);
        }
        if self.config.compact && end > self.log_end {
            // A segment was begun behind a hole of the leader's log, and nothing could be written to it.
            assert_eq!(read_all(&self.log, self.log.log_start_offset().0).last(), self.batches.last());
            self.log_end = end;
        }
        // A log end in the middle of a batch that was cut is not on disk.
        let last = self.batches.last().map_or(0, |batch| batch.1 + 1);
        assert!(end == self.log_end || (end < self.log_end && end >= last), "{end}, not {}", self.log_end);
        self.log_end = end;
        // A log start that no checkpoint knows of may come back lower.
        let start = self.log.log_start_offset().0;
        assert!(start <= self.log_start);
        self.log_start = start;
        self.sequence = self.known_sequence();
    }

    fn check(&self) {
        let log = &self.log;
        assert_eq!(log.log_end_offset().0, self.log_end);
        assert_eq!(log.log_start_offset().0, self.log_start);
        let (start, end) = (self.log_start, self.log_end);
        let expected: Vec<_> = self.batches.iter().filter(|batch| batch.1 >= start).cloned().collect();
        self.disk_quiet(|| {
            let found = read_all(log, start);
            assert_eq!(shape(&found), shape(&expected));
            assert_eq!(found, expected);
            let middle = start + (end - start) / 2;
            let from_middle: Vec<_> = expected.iter().filter(|batch| batch.1 >= middle).cloned().collect();
            assert_eq!(read_all(log, middle), from_middle);
        });
        assert!(log.high_watermark().0 <= end && log.recovery_point().0 <= end);
        assert!(log.high_watermark().0 >= start);
    }

    /// Looks at the log without using up a fault that waits.
    fn disk_quiet(&self, look: impl FnOnce()) {
        let waiting = self.disk.take_fault();
        look();
        if let Some(fault) = waiting {
            self.disk.inject(fault);
        }
    }
}

fn shape(batches: &[Stored]) -> Vec<(i64, i64)> {
    batches.iter().map(|batch| (batch.0, batch.1)).collect()
}

fn start(
    directory: &std::path::Path,
    disk: &FaultyDisk,
    clock: &Arc<AtomicI64>,
    config: &LogConfig,
) -> (Arc<LogManager>, Arc<PartitionLog>) {
    let mut options = options(directory, config, clock);
    options.disk = Arc::new(disk.clone());
    options.open_files_max = 3;
    let manager = LogManager::open(options).unwrap();
    assert!(manager.failed_partitions().is_empty(), "{:?}", manager.failed_partitions());
    let log = manager.get_or_create(&orders(), None, config.clone(), true).unwrap();
    (manager, log)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_log_is_a_list_of_batches(compacted: bool, steps in prop::collection::vec(step(), 1..80)) {
        let mut world = World::new(compacted);
        for step in steps {
            world.run(step);
        }
    }
}
