//! Clusters come up, are found again, and say in words what stands in their way.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Output};

use ottla_test_support::{Cluster, Options, SHORT, wait_until};
use rustix::process::Signal;

use crate::OTTLA;

fn one_broker() -> Options {
    Options { brokers: 1, ..Options::default() }
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn pids(cluster: &Cluster) -> Vec<Option<i32>> {
    let brokers = (1..=3).map(|id| cluster.broker_pid(id));
    std::iter::once(cluster.zookeeper_pid()).chain(brokers).collect()
}

#[test]
fn a_cluster_outlives_its_starter_is_found_again_and_stops_when_told() {
    let cluster = Cluster::start(OTTLA, Options::default());
    let before = pids(&cluster);
    assert!(before.iter().all(Option::is_some), "{before:?}");
    let again = cluster.up();
    assert!(again.status.success(), "{}", words(&again));
    assert_eq!(pids(&cluster), before, "up touches nothing that runs");

    let down = cluster.down();
    assert!(down.status.success(), "{}", words(&down));
    assert_eq!(pids(&cluster), [None; 4], "an orderly end takes its pid file along");
    let down = cluster.down();
    assert!(down.status.success() && words(&down).contains("does not run"), "{}", words(&down));

    let up = cluster.up();
    assert!(up.status.success(), "{}", words(&up));
}

#[test]
fn what_is_missing_is_started_and_nothing_else() {
    let cluster = Cluster::start(OTTLA, Options::default());
    let before = pids(&cluster);
    cluster.signal_broker(2, Signal::KILL);
    let up = cluster.up();
    assert!(up.status.success(), "{}", words(&up));
    let after = pids(&cluster);
    assert_ne!(after[2], before[2]);
    assert_eq!([after[0], after[1], after[3]], [before[0], before[1], before[3]]);
}

#[test]
fn pid_files_of_the_dead_are_seen_through() {
    let cluster = Cluster::start(OTTLA, one_broker());
    let zookeeper = cluster.zookeeper_pid().unwrap();
    cluster.signal_broker(1, Signal::KILL);
    rustix::process::kill_process(rustix::process::Pid::from_raw(zookeeper).unwrap(), Signal::KILL).unwrap();
    // Somebody else has the broker's pid by now: this test itself.
    let path = cluster.data_dir().join("broker-1/broker.pid");
    fs::write(&path, format!("{{\"pid\":{},\"start_time\":1}}", std::process::id())).unwrap();
    let up = cluster.up();
    assert!(up.status.success(), "{}", words(&up));
    assert!(words(&up).contains("died unnoticed"), "{}", words(&up));
    assert_ne!(cluster.broker_pid(1), Some(i32::try_from(std::process::id()).unwrap()));
}

#[test]
fn ports_of_other_programs_are_stepped_over_and_named() {
    let cluster = Cluster::prepare(OTTLA, one_broker());
    let arguments = cluster.arguments();
    let at = arguments.iter().position(|argument| argument == "--first-port").unwrap();
    let first: u16 = arguments[at + 1].parse().unwrap();
    let _zookeepers = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).unwrap();
    let up = cluster.up();
    assert!(up.status.success(), "{}", words(&up));
    assert!(words(&up).contains(&format!("{first} is taken by other programs")), "{}", words(&up));
}

#[test]
fn a_directory_of_another_cluster_is_refused_in_words() {
    let cluster = Cluster::prepare(OTTLA, one_broker());
    fs::create_dir(cluster.data_dir()).unwrap();
    fs::write(cluster.data_dir().join("thesis.txt"), "years of work").unwrap();
    let up = cluster.up();
    assert_eq!(up.status.code(), Some(2));
    assert!(words(&up).contains("holds no cluster of ottla"), "{}", words(&up));
    fs::remove_file(cluster.data_dir().join("thesis.txt")).unwrap();

    assert!(cluster.up().status.success());
    let renamed = cluster.run("up", &["--name", "blue"]);
    assert_eq!(renamed.status.code(), Some(2));
    assert!(words(&renamed).contains("belongs to the cluster 'dev'"), "{}", words(&renamed));
}

#[test]
fn a_place_where_nothing_can_be_written_is_said() {
    let output = Command::new(OTTLA).args(["up", "--data-dir", "/proc/ottla"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("create /proc/ottla"), "{}", words(&output));
}

#[test]
fn what_is_not_there_is_said_with_its_own_exit_code() {
    let cluster = Cluster::prepare(OTTLA, one_broker());
    for command in ["down", "status"] {
        let output = cluster.run(command, &[]);
        assert_eq!(output.status.code(), Some(3), "{command}: {}", words(&output));
        assert!(words(&output).contains("ottla up"), "{command}: {}", words(&output));
    }
}

#[test]
fn an_unreachable_zookeeper_is_named() {
    // Taken and dropped: nobody listens there.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let settings = vec![("zookeeper.connection.timeout.ms".to_owned(), "1000".to_owned())];
    let options = Options { zookeeper: Some(format!("127.0.0.1:{port}")), settings, brokers: 1 };
    let cluster = Cluster::prepare(OTTLA, options);
    let up = cluster.up();
    assert_eq!(up.status.code(), Some(1));
    assert!(words(&up).contains(&format!("127.0.0.1:{port}")), "{}", words(&up));
}

#[test]
fn an_unknown_or_impossible_setting_is_named_before_anything_is_started() {
    for (setting, expected) in
        [("log.segment.bites=1", "log.segment.bites"), ("num.io.threads=many", "num.io.threads")]
    {
        let cluster = Cluster::prepare(OTTLA, one_broker());
        let up = cluster.run("up", &["--set", setting]);
        assert_eq!(up.status.code(), Some(2), "{}", words(&up));
        assert!(words(&up).contains(expected), "{}", words(&up));
        assert!(!cluster.data_dir().join("cluster.json").exists(), "a refused wish leaves nothing behind");
    }
}

#[test]
fn a_frozen_broker_is_left_alone_by_up_and_stops_when_told() {
    let cluster = Cluster::start(OTTLA, one_broker());
    let pid = cluster.broker_pid(1);
    cluster.signal_broker(1, Signal::STOP);
    wait_until("the broker to be frozen", SHORT, || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.unwrap())).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T').then_some(())
    });
    assert!(cluster.up().status.success());
    assert_eq!(cluster.broker_pid(1), pid);
    assert!(cluster.down().status.success());
    assert_eq!(cluster.broker_pid(1), None);
}
