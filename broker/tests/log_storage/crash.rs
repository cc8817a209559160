//! What a start makes of files that were cut or damaged at any byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use ottla_broker::log::{LogConfig, LogManager, PartitionLog, ReadLimits};
use ottla_broker::types::{BrokerEpoch, LeaderEpoch, Offset};

use crate::basics::{CLIENT, NOW, append, append_many, options, orders, read_all, small_segments};
use crate::batches::{Batch, Stored};
use crate::faulty::FaultyDisk;

/// Opens a directory on a disk that does not wait for the medium: thousands of starts are tried here.
fn open(directory: &Path, config: &LogConfig) -> (Arc<LogManager>, Arc<PartitionLog>) {
    let mut options = options(directory, config, &Arc::new(AtomicI64::new(NOW)));
    options.disk = Arc::new(FaultyDisk::default());
    let manager = LogManager::open(options).unwrap();
    let log = manager.get_or_create(&orders(), None, config.clone(), true).unwrap();
    (manager, log)
}

/// A directory with one partition of `batches` batches of two records, as a kill leaves it, and its last file.
fn killed(batches: usize) -> (tempfile::TempDir, std::path::PathBuf, Vec<Stored>) {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &small_segments());
    for at in 0..batches {
        let batch = Batch::of(2, 40, NOW + at as i64).by_producer(5, 0, at as i32 * 2).bytes();
        log.append_as_leader(&batch, LeaderEpoch(3), CLIENT).unwrap();
    }
    let all = read_all(&log, 0);
    manager.abandon();
    let mut files: Vec<_> = fs::read_dir(log.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "log"));
    (directory, files.into_iter().max().unwrap(), all)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn cut_at_every_byte_of_the_last_batches_a_log_is_a_beginning_of_itself() {
    let (directory, last, all) = killed(17);
    let whole = fs::read(&last).unwrap();
    let base: i64 = last.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let before: Vec<_> = all.iter().filter(|batch| batch.0 < base).cloned().collect();
    for cut in 0..whole.len() {
        let copied = tempfile::tempdir().unwrap();
        copy(directory.path(), copied.path());
        let file = copied.path().join("orders-0").join(last.file_name().unwrap());
        fs::write(&file, &whole[..cut]).unwrap();
        let (_manager, log) = open(copied.path(), &small_segments());
        let kept = read_all(&log, 0);
        let size = |batch: &Stored| batch.2.len();
        let kept_size: usize = kept.iter().skip(before.len()).map(size).sum();
        let next = all.get(kept.len()).map_or(usize::MAX, size);
        assert!(kept[..] == all[..kept.len()], "cut at {cut}");
        assert!(kept_size <= cut && cut < kept_size + next, "cut at {cut}: kept {kept_size}");
        assert_eq!(fs::metadata(&file).unwrap().len(), kept_size as u64);
        let end = log.log_end_offset();
        assert_eq!(append(&log, 1), end.0);
        // The producer goes on where what is left of it ends.
        let next = Batch::of(1, 1, NOW).by_producer(5, 0, end.0 as i32).bytes();
        assert_eq!(log.append_as_leader(&next, LeaderEpoch(3), CLIENT).unwrap().first_offset, end.plus(1));
    }
}

#[test]
fn a_flipped_bit_in_the_last_segment_ends_the_log_there() {
    let (directory, last, all) = killed(17);
    let whole = fs::read(&last).unwrap();
    let base: i64 = last.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let before = all.iter().filter(|batch| batch.0 < base).count();
    // The leader epoch (bytes 12 to 15) is outside of the checksum.
    let batch = all.last().unwrap().2.len();
    for at in (0..whole.len()).filter(|at| !(12..16).contains(&(at % batch))) {
        let copied = tempfile::tempdir().unwrap();
        copy(directory.path(), copied.path());
        let file = copied.path().join("orders-0").join(last.file_name().unwrap());
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&file, damaged).unwrap();
        let (_manager, log) = open(copied.path(), &small_segments());
        let kept = read_all(&log, 0);
        // A base offset is not covered by the checksum; one that is too low is seen, one that is too high may be a gap.
        let good = before + at / batch;
        assert!(kept[..good] == all[..good], "byte {at}");
        assert!(
            kept.len() == good || (at % batch < 8 && kept.len() == good + 1),
            "byte {at}: {}",
            kept.len()
        );
    }
}

#[test]
fn indexes_that_are_gone_padded_or_wrong_are_built_again() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 6] = [
        ("gone", |file| fs::remove_file(file).unwrap()),
        ("empty", |file| fs::write(file, b"").unwrap()),
        ("padded", |file| {
            let mut content = fs::read(file).unwrap();
            content.resize(content.len() + 240, 0);
            fs::write(file, content).unwrap();
        }),
        ("half an entry", |file| {
            let content = fs::read(file).unwrap();
            fs::write(file, &content[..content.len() - 3]).unwrap();
        }),
        ("wrong", |file| {
            let content = vec![0x7F; fs::metadata(file).unwrap().len() as usize];
            fs::write(file, content).unwrap();
        }),
        ("of another segment", |file| {
            let mut content = fs::read(file).unwrap();
            content.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(7).wrapping_add(1));
            fs::write(file, content).unwrap();
        }),
    ];
    for clean in [true, false] {
        for (name, damage) in damages {
            for extension in ["index", "timeindex"] {
                let directory = tempfile::tempdir().unwrap();
                let (manager, log) = open(directory.path(), &small_segments());
                append_many(&log, 40, 2);
                let all = read_all(&log, 0);
                let path = log.path();
                if clean {
                    manager.shutdown(BrokerEpoch(1))
                } else {
                    manager.abandon()
                }
                for entry in fs::read_dir(&path).unwrap() {
                    let file = entry.unwrap().path();
                    if file.extension().unwrap_or_default() == extension
                        && fs::metadata(&file).unwrap().len() > 0
                    {
                        damage(&file);
                    }
                }
                let (_manager, log) = open(directory.path(), &small_segments());
                assert!(read_all(&log, 0) == all, "{name} {extension}, clean: {clean}");
                for from in (0..80).step_by(7) {
                    assert_eq!(read_all(&log, from)[0].0, from / 2 * 2, "{name} {extension}, clean: {clean}");
                }
            }
        }
    }
}

#[test]
fn damage_below_the_recovery_point_is_reported_and_never_cut() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &small_segments());
    append_many(&log, 40, 2);
    let path = log.path().join(format!("{:020}.log", 0));
    manager.shutdown(BrokerEpoch(1));
    let mut content = fs::read(&path).unwrap();
    let size = content.len();
    content[185..195].fill(0);
    fs::write(&path, content).unwrap();
    let (_manager, log) = open(directory.path(), &small_segments());
    let limits =
        ReadLimits { max_bytes: 100, at_least_one: true, upper: Offset(80), aborted_transactions: false };
    let error = (0..10).find_map(|from| log.read(Offset(from), limits).err()).unwrap();
    assert!(error.to_string().contains("00000000000000000000.log: damaged at byte"), "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), size as u64);
    assert_eq!(log.log_end_offset(), Offset(80));
    append(&log, 1);
}

#[test]
fn one_bad_partition_does_not_keep_the_others_from_starting() {
    let directory = tempfile::tempdir().unwrap();
    let (manager, log) = open(directory.path(), &LogConfig::default());
    append(&log, 2);
    manager.shutdown(BrokerEpoch(1));
    fs::create_dir(directory.path().join("bad-0")).unwrap();
    fs::write(directory.path().join("bad-0/notes.log"), b"?").unwrap();
    fs::create_dir(directory.path().join("lost+found")).unwrap();
    fs::create_dir(directory.path().join(format!("old-0.{}-delete", "0".repeat(32)))).unwrap();
    let (manager, log) = open(directory.path(), &LogConfig::default());
    assert_eq!(log.log_end_offset(), Offset(2));
    let bad = ottla_broker::types::TopicPartition::new("bad", 0);
    assert!(manager.failed_partitions()[&bad].contains("notes.log"));
    let refusal = manager.get_or_create(&bad, None, LogConfig::default(), false).unwrap_err();
    assert!(refusal.to_string().contains("notes.log"), "{refusal}");
    // A partition that failed must not make the next start trust the directory.
    manager.shutdown(BrokerEpoch(1));
    assert!(!directory.path().join(".kafka_cleanshutdown").exists());
}

#[test]
fn a_directory_that_fails_at_start_takes_only_its_partitions() {
    let good = tempfile::tempdir().unwrap();
    let bad = tempfile::tempdir().unwrap();
    let file = bad.path().join("file");
    fs::write(&file, b"not a directory").unwrap();
    let mut options = options(good.path(), &LogConfig::default(), &Arc::new(AtomicI64::new(NOW)));
    options.directories.push(file.join("below"));
    let manager = LogManager::open(options).unwrap();
    assert_eq!(manager.offline_directories().len(), 1);
    manager.get_or_create(&orders(), None, LogConfig::default(), true).unwrap();
    let old = ottla_broker::types::TopicPartition::new("old", 0);
    manager.get_or_create(&old, None, LogConfig::default(), false).unwrap_err();
}
