//! Clients in other languages, when they are installed.
#![allow(unreachable_pub, reason = "a module of a test")]

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

const KAZOO: &str = include_str!("kazoo_recipes.py");
const COMMAND_LINE: &str = "/usr/share/zookeeper/bin/zkCli.sh";

/// Says on standard error that a test did not run, and how to have it run.
fn skip(what: &str, how: &str) {
    eprintln!("SKIPPED: {what} is not installed; {how}");
}

/// Runs kazoo's recipes: locks, elections, queues, barriers, leases, parties, counters.
pub fn kazoo(address: SocketAddr) {
    let probe = Command::new("python3").args(["-c", "import kazoo"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        return skip("kazoo", "`pip install kazoo`");
    }
    let output = Command::new("python3").args(["-c", KAZOO, &address.to_string()]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.trim_end().ends_with("all recipes work"), "{out}\n{err}");
}

/// Runs a session of Apache's command line.
pub fn command_line(address: SocketAddr) {
    if !Path::new(COMMAND_LINE).exists() {
        return skip("Apache ZooKeeper's zkCli.sh", "`apt-get install zookeeper`");
    }
    let script = "create /cli one\nset /cli two\nget /cli\ncreate -s /cli/n- x\nls /cli\nstat /cli\ncreate -e /cli/e\n\
                  getAllChildrenNumber /cli\ngetEphemerals\ndeleteall /cli\nls /\nquit\n";
    let mut child = Command::new(COMMAND_LINE)
        .args(["-server", &address.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    // What was created is told on standard error.
    let out = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    for expected in
        ["Created /cli", "two", "[n-0000000000]", "numChildren = 1", "Created /cli/e", "2", "[zookeeper]"]
    {
        assert!(out.contains(expected), "{expected:?} is not in\n{out}");
    }
}
