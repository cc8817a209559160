//! A broker as a process: this very program, started again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ottla_broker::config::BrokerConfig;
use ottla_broker::{Broker, BrokerOptions};

const SETTINGS: &str = "OTTLA_TEST_BROKER_SETTINGS";
const RUNTIME_FILE: &str = "OTTLA_TEST_BROKER_RUNTIME_FILE";

/// Not a test but what a broker process runs. Without its settings it has nothing to do.
#[test]
fn run_as_broker() {
    let Ok(settings) = std::env::var(SETTINGS) else { return };
    let mut config = BrokerConfig::default();
    for line in settings.lines() {
        let (key, value) = line.split_once('=').unwrap();
        config.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    let runtime_file = std::env::var_os(RUNTIME_FILE).map(PathBuf::from);
    let broker = Broker::start(config, BrokerOptions { runtime_file, ..BrokerOptions::default() });
    let broker = broker.unwrap_or_else(|error| panic!("{error}"));
    eprintln!("ended: {}", broker.ending().wait());
}

/// Starts a broker process; what it says goes to `log`.
pub(crate) fn spawn(settings: &[(&str, String)], runtime_file: &Path, log: &Path) -> Child {
    let settings: String = settings.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    let log = File::options().append(true).create(true).open(log).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "broker_process::run_as_broker", "--nocapture"])
        .env(SETTINGS, settings)
        .env(RUNTIME_FILE, runtime_file)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}
