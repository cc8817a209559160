//! `ottla up`: starts what is missing and leaves it running.

use std::process::ExitCode;

use ottla_broker::config;

use super::arguments::ClusterArguments;
use super::failure::Failure;
use super::{output, role};
use crate::supervisor::{self, Ask, Driver, DriverOptions, Notice, Opened, Said, Timing};

/// Every broker of a cluster has its own value for these, so nobody can set them for all.
const OWN_TO_EACH_BROKER: &[&str] = &["broker.id", "listeners", "log.dirs", "log.dir", "zookeeper.connect"];

pub(super) fn run(arguments: &ClusterArguments) -> Result<ExitCode, Failure> {
    let opened = open(arguments)?;
    role::runtime()?.block_on(async {
        let mut driver = Driver::new(opened, options(true)?);
        driver.ask(Ask::Up);
        let mut failed = false;
        driver
            .settle(|driver, said| {
                failed |= matches!(said, Said::Notice(Notice::StartFailed { .. }));
                output::said(driver.spec(), &said);
            })
            .await;
        output::cluster_line(driver.spec(), driver.layout(), driver.machine());
        Ok(if failed || !driver.machine().is_up() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    })
}

/// Opens the cluster that the arguments name, changed as they say; refuses settings that no broker would start with
/// before anything is written.
pub(super) fn open(arguments: &ClusterArguments) -> Result<Opened, Failure> {
    let wishes = arguments.wishes()?;
    for (key, _) in &wishes.settings {
        if OWN_TO_EACH_BROKER.contains(&key.as_str()) {
            return Err(Failure::usage(format!(
                "--set {key}: each broker of a local cluster has its own {key}"
            ))
            .hint("ottla chooses it; --first-port and --data-dir say where from"));
        }
    }
    match config::load(None, &wishes.settings) {
        Ok(loaded) => {
            for warning in &loaded.warnings {
                output::warning(warning);
            }
        }
        Err(errors) => return Err(Failure::usage(errors)),
    }
    Ok(supervisor::open(&arguments.data_dir()?, &wishes)?)
}

/// Returns how every command that supervises does it.
pub(super) fn options(says_farewell: bool) -> Result<DriverOptions, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::because("find this program's own file", &error))?;
    Ok(DriverOptions { program, timing: Timing::default(), says_farewell })
}
