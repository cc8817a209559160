//! Four-letter words: what they answer, and that a monitor written for Apache ZooKeeper can read it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod real;
mod wire;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::SocketAddr;

use ottla_zookeeper::Server;
use ottla_zookeeper::jute::{Writer, op};
use real::Real;
use wire::{Wire, word};

/// A session with an ephemeral node, data, child and persistent watches.
fn busy_session(address: SocketAddr) -> Wire {
    let mut client = Wire::connect(address, 10_000).unwrap();
    client.create("/kept", b"data", 0).unwrap();
    client.create("/mine", b"", 1).unwrap();
    for operation in [op::GET_DATA, op::EXISTS] {
        client.call(operation, &wire::path_and_flag("/kept", true)).unwrap();
    }
    let mut persistent = Writer::new();
    persistent.string("/mine");
    persistent.i32(0);
    client.call(op::ADD_WATCH, persistent.as_bytes()).unwrap();
    client
}

/// An answer with numbers, addresses and times made equal.
fn shape(answer: &str) -> String {
    let mut shape = String::new();
    for line in answer.lines() {
        let line = match line.split_once(" expire at ") {
            Some((count, _)) => format!("{count} expire at TIME:"),
            None => line.to_owned(),
        };
        let mut numbered = false;
        for character in line.chars() {
            let digit =
                character.is_ascii_digit() || (numbered && matches!(character, 'a'..='f' | 'x' | '.'));
            if !digit {
                shape.push(character);
            } else if !numbered {
                shape.push('N');
            }
            numbered = digit;
        }
        shape.push('\n');
    }
    shape
}

#[test]
fn words_answer_about_the_server_its_sessions_and_its_watches() {
    let server = Server::builder().in_memory().ephemeral_port().start().unwrap();
    let address = server.local_addr();
    let client = busy_session(address);
    assert_eq!((word(address, "ruok").as_str(), word(address, "isro").as_str()), ("imok", "rw"));
    let srvr = word(address, "srvr");
    for line in ["Connections: 2\n", "Zxid: 0x3\n", "Mode: standalone\n", "Node count: 7\n"] {
        assert!(srvr.contains(line), "{line:?} is not in\n{srvr}");
    }
    let session = format!("0x{:x}", client.session);
    let dump = word(address, "dump");
    assert!(dump.contains(&format!("{session}:\n\t/mine\n")), "{dump}");
    assert!(word(address, "cons").contains(&format!("sid={session},lop=ADDW,")));
    assert_eq!(word(address, "wchs"), "1 connections watching 2 paths\nTotal watches:2\n");
    assert_eq!(word(address, "wchc"), format!("{session}\n\t/kept\n\t/mine\n\n"));
    assert_eq!(word(address, "wchp"), format!("/kept\n\t{session}\n/mine\n\t{session}\n\n"));
    let mntr = word(address, "mntr");
    for line in [
        "zk_znode_count\t7\n",
        "zk_watch_count\t2\n",
        "zk_ephemerals_count\t1\n",
        "zk_server_state\tstandalone\n",
    ] {
        assert!(mntr.contains(line), "{line:?} is not in\n{mntr}");
    }
    assert_eq!(word(address, "srst"), "Server stats reset.\n");
    assert!(word(address, "srvr").contains("Received: 1\n"), "the word itself is counted");
    drop(client);
}

#[test]
fn only_words_on_the_list_are_answered() {
    let server = Server::builder().in_memory().ephemeral_port().four_letter_words(["ruok"]).start().unwrap();
    assert_eq!(word(server.local_addr(), "ruok"), "imok");
    let refused = word(server.local_addr(), "mntr");
    assert_eq!(refused, "mntr is not executed because it is not in the whitelist.\n");
    assert!(wire::is_refused(server.local_addr(), b"nope"));
}

#[test]
fn a_word_may_come_letter_by_letter() {
    let server = Server::builder().in_memory().ephemeral_port().start().unwrap();
    let mut stream = wire::half_open(server.local_addr(), b"r");
    let mut answer = String::new();
    for letter in [b"u", b"o", b"k"] {
        // Another connection's round trip, so that the letters do not arrive together.
        word(server.local_addr(), "ruok");
        stream.write_all(letter).unwrap();
    }
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "imok");
}

#[test]
fn sizes_of_the_store_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let server =
        Server::builder().data_dir(directory.path()).ephemeral_port().snapshot_count(2).start().unwrap();
    let mut client = Wire::connect(server.local_addr(), 10_000).unwrap();
    for index in 0..8 {
        client.create(&format!("/n{index}"), &[0; 100], 0).unwrap();
    }
    let dirs = word(server.local_addr(), "dirs");
    let log_bytes: u64 = dirs.lines().nth(1).unwrap().strip_prefix("logdir_size: ").unwrap().parse().unwrap();
    assert!(log_bytes > 100, "{dirs}");
    assert!(word(server.local_addr(), "conf").contains(&format!("dataDir={}\n", directory.path().display())));
}

#[test]
fn answers_have_the_shape_of_those_of_a_real_server() {
    let Some(real) = Real::start("super:x") else { return };
    let directory = tempfile::tempdir().unwrap();
    let server = Server::builder().data_dir(directory.path()).ephemeral_port().start().unwrap();
    let (ours, theirs) = (busy_session(server.local_addr()), busy_session(real.address));
    for name in ["ruok", "isro", "wchs", "wchc", "dirs", "gtmk", "cons", "crst", "srst"] {
        let (found, expected) = (word(server.local_addr(), name), word(real.address, name));
        let sorted = |answer: &str| shape(answer).lines().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(sorted(&found), sorted(&expected), "{name}:\n{found}\n{expected}");
    }
    for name in ["srvr", "stat", "conf", "dump", "envi"] {
        let labels = |answer: &str| -> BTreeSet<String> {
            let label = |line: &str| shape(line.split(['=', ':', '(']).next().unwrap_or_default());
            answer.lines().map(label).collect()
        };
        let (found, expected) = (labels(&word(server.local_addr(), name)), labels(&word(real.address, name)));
        // A server without a Java machine has nothing to say about it.
        let expected: BTreeSet<_> = expected
            .into_iter()
            .filter(|label| !label.starts_with("java.") && !label.starts_with("os.memory"))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
    let names = |answer: String| -> BTreeSet<String> {
        answer.lines().filter_map(|line| line.split('\t').next().map(str::to_owned)).collect()
    };
    let own: BTreeSet<String> =
        ["zk_commit_failures", "zk_slow_connections_closed"].map(str::to_owned).into();
    let (found, expected) = (names(word(server.local_addr(), "mntr")), names(word(real.address, "mntr")));
    let unknown: Vec<_> = found.difference(&expected).filter(|name| !own.contains(*name)).collect();
    assert!(unknown.is_empty(), "a real server has no {unknown:?}");
    drop((ours, theirs));
}
