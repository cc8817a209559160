//! Resident memory of each process at rest.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use ottla_test_support::{Cluster, LONG, Options, Screen};

use crate::table::Table;

/// Long enough for what a start leaves behind to be given back.
const REST: Duration = Duration::from_secs(5);

pub(crate) fn measure(program: &str, table: &mut Table) {
    let cluster = Cluster::prepare(program, Options::default());
    let arguments = cluster.arguments();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let screen = Screen::start(Path::new(program), &arguments, &[], 120, 36);
    screen.wait_for("three brokers up", LONG, |text| text.contains("3/3"));
    thread::sleep(REST);
    let broker = resident(cluster.broker_pid(1).unwrap());
    let zookeeper = resident(cluster.zookeeper_pid().unwrap());
    let console = resident(i32::try_from(screen.pid()).unwrap());
    let shell = resident(i32::try_from(std::process::id()).unwrap());
    table.row("resident memory: a broker", broker, format!("{shell} this measuring program"));
    table.row("resident memory: embedded ZooKeeper", zookeeper, "same".to_owned());
    table.row("resident memory: the console", console, "same".to_owned());
}

fn resident(pid: i32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    format!("{:.1} MiB", kib / 1024.0)
}
