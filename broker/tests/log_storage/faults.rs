//! Disks that are full or broken, and readers beside writers.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use ottla_broker::log::{Error, LogConfig, LogManager, PartitionLog, ReadLimits, Severity};
use ottla_broker::types::{LeaderEpoch, Offset, TopicPartition};

use crate::basics::{CLIENT, NOW, append, append_many, open, options, orders, read_all, small_segments};
use crate::batches::{Batch, split};
use crate::faulty::{Fault, FaultyDisk, Kind};

const NO_SPACE: i32 = 28;
const IO_ERROR: i32 = 5;

fn open_faulty(directory: &Path) -> (FaultyDisk, Arc<LogManager>, Arc<PartitionLog>) {
    let disk = FaultyDisk::default();
    let mut options = options(directory, &small_segments(), &Arc::new(AtomicI64::new(NOW)));
    options.disk = Arc::new(disk.clone());
    let manager = LogManager::open(options).unwrap();
    let log = manager.get_or_create(&orders(), None, small_segments(), true).unwrap();
    (disk, manager, log)
}

fn send(log: &PartitionLog) -> Result<Offset, Error> {
    let batch = Batch::of(3, 50, NOW).bytes();
    log.append_as_leader(&batch, LeaderEpoch(0), CLIENT).map(|info| info.first_offset)
}

#[test]
fn a_full_disk_refuses_appends_keeps_reads_and_recovers_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let (disk, manager, log) = open_faulty(directory.path());
    append_many(&log, 10, 3);
    let before = read_all(&log, 0);
    let size = log.size_bytes();
    disk.inject(Fault { kind: Kind::Write, after: 0, times: 5, errno: NO_SPACE });
    for _ in 0..5 {
        let refusal = send(&log).unwrap_err();
        assert_eq!(refusal.severity(), Severity::DiskFull, "{refusal}");
        assert!(read_all(&log, 0) == before);
    }
    assert_eq!((log.log_end_offset(), log.size_bytes()), (Offset(30), size));
    assert!(manager.offline_directories().is_empty());
    assert_eq!(send(&log).unwrap(), Offset(30));
    // What was half written is gone, also for the next start.
    manager.abandon();
    let (_manager, log) = open(directory.path(), &small_segments());
    assert_eq!(log.log_end_offset(), Offset(33));
}

#[test]
fn a_broken_disk_takes_its_directory_offline_and_no_other() {
    let good = tempfile::tempdir().unwrap();
    let bad = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::default();
    let told = Arc::new(AtomicUsize::new(0));
    let mut options = options(bad.path(), &LogConfig::default(), &Arc::new(AtomicI64::new(NOW)));
    options.directories.push(good.path().to_owned());
    options.disk = Arc::new(disk.clone());
    let count = told.clone();
    options.on_directory_failure = Some(Arc::new(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let manager = LogManager::open(options).unwrap();
    let make = |name: &str| {
        manager.get_or_create(&TopicPartition::new(name, 0), None, LogConfig::default(), true).unwrap()
    };
    let (first, second) = (make("first"), make("second"));
    assert_ne!(first.log_directory(), second.log_directory(), "the emptier directory is taken");
    let (on_bad, on_good) =
        if first.log_directory() == bad.path() { (first, second) } else { (second, first) };
    append(&on_bad, 1);
    disk.inject(Fault { kind: Kind::Write, after: 0, times: 1, errno: IO_ERROR });
    assert_eq!(send(&on_bad).unwrap_err().severity(), Severity::Directory);
    assert!(matches!(send(&on_bad), Err(Error::Offline { .. })));
    let limits =
        ReadLimits { max_bytes: 100, at_least_one: true, upper: Offset(1), aborted_transactions: false };
    assert!(matches!(on_bad.read(Offset(0), limits), Err(Error::Offline { .. })));
    assert_eq!((manager.offline_directories().len(), told.load(Ordering::Relaxed)), (1, 1));
    send(&on_good).unwrap();
    // A partition that may be on the lost directory is not made anew; one that is known to be new goes elsewhere.
    let third = TopicPartition::new("third", 0);
    assert!(manager.get_or_create(&third, None, LogConfig::default(), false).is_err());
    let third = manager.get_or_create(&third, None, LogConfig::default(), true).unwrap();
    assert_eq!(third.log_directory(), good.path());
}

#[test]
fn readers_see_whole_batches_while_a_writer_appends_rolls_and_deletes() {
    let directory = tempfile::tempdir().unwrap();
    let config = LogConfig { retention_bytes: 4000, ..small_segments() };
    let (_manager, log) = open(directory.path(), &config);
    append(&log, 3);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut next = Offset(0);
                while !done.load(Ordering::Relaxed) || next < log.log_end_offset() {
                    next = read_on(&log, next);
                }
            });
        }
        for _ in 0..2000 {
            append(&log, 3);
            log.update_high_watermark(log.log_end_offset());
            log.apply_retention().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(log.log_start_offset() > Offset(5000));
}

/// Reads a little from `next` and returns where to go on: behind it, or at the log start when that has overtaken it.
fn read_on(log: &PartitionLog, next: Offset) -> Offset {
    let upper = log.high_watermark();
    let limits = ReadLimits { max_bytes: 600, at_least_one: true, upper, aborted_transactions: false };
    let data = match log.read(next, limits) {
        Ok(data) => data,
        Err(Error::OffsetOutOfRange { log_start, .. }) => return log_start,
        Err(error) => panic!("{error}"),
    };
    let mut bytes = Vec::new();
    for region in &data.regions {
        let mut part = vec![0; region.size()];
        region.read_at(&mut part, 0).unwrap();
        bytes.extend(part);
    }
    let batches = split(&bytes);
    for (base, last, batch) in &batches {
        ottla_protocol::record::check_batch(batch).unwrap();
        assert!(*last < upper.0 && *last - *base == 2);
    }
    assert!(batches.first().is_none_or(|first| first.0 <= next.0 && first.1 >= next.0));
    batches.last().map_or(next, |last| Offset(last.1 + 1))
}
