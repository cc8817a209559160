//! A real text goes in through kcat while leaders die and come back, and comes out as it went in.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use ottla_test_support::{Cluster, Kcat, LONG, Options, SHORT, Screen, skip, wait_until};

use crate::OTTLA;

/// How much text goes in, over all topics.
const TEXT_BYTES: usize = 50 * 1024 * 1024;
/// One topic for each way to write: the codec, and whether lines have keys.
const TOPICS: &[(&str, &str, bool)] = &[
    ("text-lz4-keyed", "lz4", true),
    ("text-zstd", "zstd", false),
    ("text-snappy-keyed", "snappy", true),
    ("text-gzip", "gzip", false),
];
const PARTITIONS: usize = 6;
/// A line's number is its beginning, so that order can be checked when the client chooses the partition.
const KEYS: usize = 97;

/// What was read back: partition, offset, key, line.
type Read = BTreeMap<(i32, i64), (String, String)>;

#[test]
fn what_goes_in_comes_out_while_leaders_die() {
    let test = "what_goes_in_comes_out_while_leaders_die";
    let settings = vec![("num.partitions".to_owned(), PARTITIONS.to_string())];
    let cluster = Cluster::prepare(OTTLA, Options { settings, ..Options::default() });
    let mut screen = Screen::start(
        Path::new(OTTLA),
        &cluster.arguments().iter().map(String::as_str).collect::<Vec<_>>(),
        &[],
        160,
        45,
    );
    screen.wait_for("three brokers up", LONG, |text| text.contains("3/3"));
    let Some(kcat) = cluster.kcat() else { return skip(test, "kcat", Kcat::remedy()) };
    for (topic, ..) in TOPICS {
        create(&cluster, &kcat, topic);
    }

    let text = gather(TEXT_BYTES / TOPICS.len());
    let inputs: Vec<PathBuf> = TOPICS.iter().map(|topic| write_input(&cluster, topic, &text)).collect();
    let writers: Vec<_> =
        TOPICS.iter().zip(&inputs).map(|(topic, input)| spawn_writer(&kcat, topic, input)).collect();

    let mut round = 0;
    while writers.iter().any(|writer| !writer.is_finished()) || round < 3 {
        kill_and_restart(&cluster, &mut screen, 1 + round % 3);
        round += 1;
    }
    for writer in writers {
        writer.join().unwrap();
    }

    let expected: Vec<Vec<(String, String)>> = inputs.iter().map(|path| read_input(path)).collect();
    let read = read_back(&cluster, &kcat, &expected);
    for ((topic, _, keyed), (expected, read)) in TOPICS.iter().zip(expected.iter().zip(&read)) {
        compare(topic, *keyed, expected, read);
    }
    check_recording(&cluster, &screen);
}

fn create(cluster: &Cluster, kcat: &Kcat, topic: &str) {
    // A topic that is asked for is created; kcat asks.
    wait_until("the topic to have leaders", SHORT, || {
        kcat.command(&["-L", "-t", topic]).output().unwrap();
        let status = cluster.status();
        let partitions =
            status["topics"].as_array()?.iter().find(|t| t["name"] == topic)?["partitions"].as_array()?;
        partitions.iter().all(|partition| partition["leader"].as_i64() > Some(0)).then_some(())
    });
}

/// Gathers lines of text that every machine has, over and over until there is enough.
fn gather(bytes: usize) -> Vec<String> {
    let mut files = Vec::new();
    let mut open = vec![
        PathBuf::from("/usr/share/common-licenses"),
        PathBuf::from("/usr/share/doc"),
        PathBuf::from("/usr/share/perl"),
    ];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    let mut lines = Vec::new();
    let mut total = 0;
    while total < bytes {
        let before = total;
        for file in &files {
            // Compressed and binary files are no lines of text.
            let Ok(text) = fs::read_to_string(file) else { continue };
            for line in text.lines().filter(|line| !line.is_empty() && line.len() < 10_000) {
                // A number in front makes every line unique and its place known.
                let line = format!("{} {}", lines.len(), line.replace('\t', " "));
                total += line.len() + 1;
                lines.push(line);
                if total >= bytes {
                    return lines;
                }
            }
        }
        assert!(total > before, "this machine has no text under /usr/share");
    }
    lines
}

fn write_input(cluster: &Cluster, (topic, _, keyed): &(&str, &str, bool), lines: &[String]) -> PathBuf {
    let path = cluster.data_dir().with_file_name(format!("{topic}.txt"));
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    for (number, line) in lines.iter().enumerate() {
        if *keyed {
            writeln!(file, "key{}\t{line}", number % KEYS).unwrap();
        } else {
            writeln!(file, "{line}").unwrap();
        }
    }
    file.flush().unwrap();
    path
}

fn read_input(path: &Path) -> Vec<(String, String)> {
    let keyed = path.to_str().unwrap().contains("keyed");
    let split = |line: String| match line.split_once('\t') {
        Some((key, line)) if keyed => (key.to_owned(), line.to_owned()),
        _ => (String::new(), line),
    };
    BufReader::new(fs::File::open(path).unwrap()).lines().map(|line| split(line.unwrap())).collect()
}

fn spawn_writer(
    kcat: &Kcat,
    (topic, codec, keyed): &'static (&str, &str, bool),
    input: &Path,
) -> thread::JoinHandle<()> {
    let mut arguments =
        vec!["-P", "-t", topic, "-z", codec, "-X", "acks=all", "-X", "enable.idempotence=true"];
    // Every record is acknowledged or the test fails: a failover takes far less than this.
    arguments.extend([
        "-X",
        "message.timeout.ms=120000",
        "-X",
        "linger.ms=20",
        "-X",
        "queue.buffering.max.messages=20000",
    ]);
    if *keyed {
        arguments.extend(["-K", "\\t"]);
    }
    let mut command = kcat.command(&arguments);
    command.stdin(fs::File::open(input).unwrap()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::spawn(move || {
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kcat writing {topic}: {}\n{error}", output.status);
        assert!(!error.contains("Delivery failed"), "kcat writing {topic}:\n{error}");
    })
}

/// Kills a broker by key, waits until every partition is led by another, starts it by key, and waits until it is in
/// sync again.
fn kill_and_restart(cluster: &Cluster, screen: &mut Screen, id: usize) {
    let before = cluster.broker_pid(i32::try_from(id).unwrap());
    screen.type_keys("2");
    screen.type_keys("g");
    for _ in 1..id {
        screen.type_keys("j");
    }
    screen.type_keys("X");
    screen.wait_for("the question whether to kill", SHORT, |text| {
        text.contains("kill") && text.contains("broker")
    });
    screen.type_keys("y");
    cluster.wait_for_status("every partition to have another leader", |status| {
        partitions(status).all(|partition| {
            partition["leader"].as_i64() > Some(0) && partition["leader"].as_i64() != i64::try_from(id).ok()
        })
    });
    screen.type_keys("R");
    wait_until("the killed broker to be started again", LONG, || {
        let pid = cluster.broker_pid(i32::try_from(id).unwrap());
        (pid.is_some() && pid != before).then_some(())
    });
    cluster.wait_for_status("every replica to be in sync again", |status| {
        partitions(status).all(|partition| {
            partition["isr"].as_array().map(Vec::len) == partition["replicas"].as_array().map(Vec::len)
        })
    });
}

fn partitions(status: &serde_json::Value) -> impl Iterator<Item = &serde_json::Value> {
    let topics = status["topics"].as_array().into_iter().flatten();
    topics.flat_map(|topic| topic["partitions"].as_array().into_iter().flatten())
}

/// Reads everything back with a balanced group of two.
fn read_back(cluster: &Cluster, kcat: &Kcat, expected: &[Vec<(String, String)>]) -> Vec<Read> {
    let wanted: usize = expected.iter().map(Vec::len).sum();
    let outputs: Vec<PathBuf> =
        (0..2).map(|member| cluster.data_dir().with_file_name(format!("member-{member}.out"))).collect();
    let mut members: Vec<Child> = outputs.iter().map(|path| spawn_member(kcat, path)).collect();
    let read = wait_until("a balanced group to read it all", LONG * 3, || {
        assert!(members.iter_mut().all(|member| member.try_wait().unwrap().is_none()), "a member has ended");
        let lines: usize =
            outputs.iter().map(|path| fs::read_to_string(path).unwrap().matches('\n').count()).sum();
        if lines < wanted {
            thread::sleep(Duration::from_millis(500));
            return None;
        }
        let read = parse(&outputs);
        (read.iter().map(BTreeMap::len).sum::<usize>() >= wanted).then_some(read)
    });
    for member in &mut members {
        member.kill().unwrap();
        member.wait().unwrap();
    }
    let busy = outputs.iter().filter(|path| fs::metadata(path).unwrap().len() > 0).count();
    assert_eq!(busy, 2, "both members of the group had partitions to read");
    read
}

fn spawn_member(kcat: &Kcat, output: &Path) -> Child {
    let mut arguments = vec!["-G", "readers", "-q", "-u", "-X", "auto.offset.reset=earliest"];
    arguments.extend(["-f", "%t\\t%p\\t%o\\t%k\\t%s\\n"]);
    arguments.extend(TOPICS.iter().map(|(topic, ..)| *topic));
    let mut command = kcat.command(&arguments);
    command
        .stdin(Stdio::null())
        .stdout(fs::File::create(output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A record that was read twice, as a group may after a rebalance, is the same both times.
fn parse(outputs: &[PathBuf]) -> Vec<Read> {
    let mut read: Vec<Read> = vec![BTreeMap::new(); TOPICS.len()];
    for path in outputs {
        for line in fs::read_to_string(path).unwrap().split_inclusive('\n') {
            // The last line may still be on its way.
            let Some(line) = line.strip_suffix('\n') else { continue };
            let mut fields = line.splitn(5, '\t');
            let mut field =
                || fields.next().unwrap_or_else(|| panic!("a line of kcat has five fields: {line}"));
            let topic =
                TOPICS.iter().position(|(name, ..)| *name == line.split('\t').next().unwrap()).unwrap();
            field();
            let place = (field().parse().unwrap(), field().parse().unwrap());
            let record = (field().to_owned(), field().to_owned());
            if let Some(before) = read[topic].insert(place, record.clone()) {
                assert_eq!(before, record, "one offset, two records");
            }
        }
    }
    read
}

/// What came out is what went in, once each, and in order within each partition.
fn compare(topic: &str, keyed: bool, expected: &[(String, String)], read: &Read) {
    assert_eq!(read.len(), expected.len(), "{topic}: as many records as lines");
    let number = |line: &str| -> usize { line.split(' ').next().unwrap().parse().unwrap() };
    let mut seen = vec![false; expected.len()];
    let mut last: BTreeMap<i32, usize> = BTreeMap::new();
    let mut home: BTreeMap<&str, i32> = BTreeMap::new();
    for ((partition, offset), (key, line)) in read {
        let at = number(line);
        assert_eq!(&(key.clone(), line.clone()), &expected[at], "{topic}-{partition}@{offset}");
        assert!(!std::mem::replace(&mut seen[at], true), "{topic}: line {at} came out twice");
        if let Some(before) = last.insert(*partition, at) {
            assert!(before < at, "{topic}-{partition}@{offset}: line {at} came after line {before}");
        }
        if keyed {
            assert_eq!(
                *home.entry(key.as_str()).or_insert(*partition),
                *partition,
                "{topic}: key {key} has one partition"
            );
        }
    }
    assert!(last.len() > 1, "{topic}: more than one of {PARTITIONS} partitions was written");
}

/// The screen told what happened: deaths and elections by name; and in the end nothing is offline.
fn check_recording(cluster: &Cluster, screen: &Screen) {
    let history = screen.history().join("\n");
    for expected in ["broker 1", "broker 2", "broker 3"] {
        assert!(history.contains(expected), "the screen named {expected}");
    }
    assert!(history.contains("leader"), "the screen told of elections:\n{history}");
    let status = cluster.status();
    assert!(
        partitions(&status).all(|partition| partition["leader"].as_i64() > Some(0)),
        "no partition is left offline"
    );
}
