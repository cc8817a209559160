//! A cluster of the real program in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::kcat::Kcat;
use crate::ports::PortBlock;
use crate::wait::{LONG, wait_until};

/// What kind of cluster a test wants.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many brokers.
    pub brokers: u16,
    /// Settings for all of them.
    pub settings: Vec<(String, String)>,
    /// An external ZooKeeper.
    pub zookeeper: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { brokers: 3, settings: Vec::new(), zookeeper: None }
    }
}

/// A cluster; whatever still runs of it is killed when it is dropped, and its folder removed.
#[derive(Debug)]
pub struct Cluster {
    program: PathBuf,
    options: Options,
    folder: tempfile::TempDir,
    ports: PortBlock,
}

impl Cluster {
    /// Makes room for a cluster without starting it. `program` is the ottla under test.
    ///
    /// # Panics
    /// When there is no room.
    pub fn prepare(program: &str, options: Options) -> Self {
        let folder = tempfile::Builder::new().prefix("ottla-test-").tempdir().unwrap();
        Self { program: program.into(), options, folder, ports: PortBlock::take() }
    }

    /// Starts a cluster with `ottla up`.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(program: &str, options: Options) -> Self {
        let cluster = Self::prepare(program, options);
        let output = cluster.up();
        assert!(output.status.success(), "ottla up: {}\n{}", output.status, cluster.logs());
        cluster
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("cluster")
    }

    /// Returns the arguments that name this cluster and what it is made of.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            "--data-dir".to_owned(),
            self.data_dir().to_str().expect("temporary folders have plain names").to_owned(),
        ];
        arguments.extend(["--brokers".to_owned(), self.options.brokers.to_string()]);
        arguments.extend(["--first-port".to_owned(), self.ports.first().to_string()]);
        if let Some(connect) = &self.options.zookeeper {
            arguments.extend(["--zookeeper".to_owned(), connect.clone()]);
        }
        for (key, value) in &self.options.settings {
            arguments.extend(["--set".to_owned(), format!("{key}={value}")]);
        }
        arguments
    }

    /// Runs `ottla COMMAND` on this cluster to its end.
    ///
    /// # Panics
    /// When the program cannot be run.
    pub fn run(&self, command: &str, more: &[&str]) -> Output {
        Command::new(&self.program)
            .arg(command)
            .args(self.arguments())
            .args(more)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Runs `ottla up`.
    pub fn up(&self) -> Output {
        self.run("up", &[])
    }

    /// Runs `ottla down`.
    pub fn down(&self) -> Output {
        self.run("down", &[])
    }

    /// Returns `ottla status --json`, parsed.
    ///
    /// # Panics
    /// When it is no JSON.
    pub fn status(&self) -> Value {
        let output = self.run("status", &["--json"]);
        let error = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|cause| panic!("status --json: {cause}\n{error}"))
    }

    /// Waits until the status fulfils a condition and returns it.
    ///
    /// # Panics
    /// When the deadline passes first.
    pub fn wait_for_status(&self, what: &str, test: impl Fn(&Value) -> bool) -> Value {
        wait_until(what, LONG, || Some(self.status()).filter(|status| test(status)))
    }

    /// Returns where Kafka clients find the cluster: the addresses that its brokers have now.
    ///
    /// # Panics
    /// When the cluster was never started.
    pub fn bootstrap(&self) -> String {
        let text = fs::read_to_string(self.data_dir().join("cluster.json")).unwrap();
        let spec: Value = serde_json::from_str(&text).unwrap();
        let brokers = spec["brokers"].as_array().unwrap();
        let addresses: Vec<_> =
            brokers.iter().map(|broker| format!("127.0.0.1:{}", broker["port"])).collect();
        addresses.join(",")
    }

    /// Returns a kcat for this cluster; `None` when the machine has none.
    pub fn kcat(&self) -> Option<Kcat> {
        Kcat::find(&self.bootstrap())
    }

    /// Returns the pid of a broker, from its pid file.
    pub fn broker_pid(&self, id: i32) -> Option<i32> {
        pid_in(&self.data_dir().join(format!("broker-{id}/broker.pid")))
    }

    /// Returns the pid of the embedded ZooKeeper server, from its pid file.
    pub fn zookeeper_pid(&self) -> Option<i32> {
        pid_in(&self.data_dir().join("zookeeper/zookeeper.pid"))
    }

    /// Sends a signal to a broker.
    ///
    /// # Panics
    /// When there is no such process.
    pub fn signal_broker(&self, id: i32, signal: Signal) {
        let pid = self.broker_pid(id).unwrap_or_else(|| panic!("broker {id} has no pid file"));
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Returns the end of every log, for a failed test to print.
    pub fn logs(&self) -> String {
        let mut text = String::new();
        let Ok(entries) = fs::read_dir(self.data_dir()) else { return text };
        for folder in entries.flatten() {
            for name in ["broker.log", "zookeeper.log"] {
                let path = folder.path().join(name);
                if let Ok(log) = fs::read_to_string(&path) {
                    let lines: Vec<_> = log.lines().rev().take(30).collect();
                    let tail: Vec<_> = lines.into_iter().rev().collect();
                    text.push_str(&format!("--- {}\n{}\n", path.display(), tail.join("\n")));
                }
            }
        }
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
        }
        let brokers = (1..=i32::from(self.options.brokers)).filter_map(|id| self.broker_pid(id));
        for pid in brokers.chain(self.zookeeper_pid()) {
            let Some(pid) = Pid::from_raw(pid) else { continue };
            if kill_process(pid, Signal::KILL).is_ok() {
                wait_gone(pid);
            }
        }
    }
}

/// Waits for the kernel to have ended a killed process, so that its files are no longer written.
fn wait_gone(pid: Pid) {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    wait_until("a killed process to end", Duration::from_secs(30), || {
        let text = fs::read_to_string(&stat).unwrap_or_default();
        let state = text.rsplit_once(')').map_or("Z", |(_, rest)| rest.trim_start());
        state.starts_with('Z').then_some(())
    });
}

fn pid_in(path: &Path) -> Option<i32> {
    let record: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    i32::try_from(record["pid"].as_i64()?).ok()
}
