//! `ottla up`: starts what is missing and leaves it running.

use std::process::ExitCode;

use super::arguments::ClusterArguments;
use super::failure::Failure;
use super::{output, role};
use crate::supervisor::{self, Ask, Driver, DriverOptions, Said, Timing};

pub(super) fn run(arguments: &ClusterArguments) -> Result<ExitCode, Failure> {
    let opened = supervisor::open(&arguments.data_dir()?, &arguments.wishes()?)?;
    role::runtime()?.block_on(async {
        let mut driver = Driver::new(opened, options(true)?);
        driver.ask(Ask::Up);
        let mut failed = false;
        driver
            .settle(|driver, said| {
                failed |= matches!(said, Said::Notice(supervisor::Notice::StartFailed { .. }));
                output::said(driver.spec(), &said);
            })
            .await;
        output::cluster_line(driver.spec(), driver.layout(), driver.machine());
        Ok(if failed || !driver.machine().is_up() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    })
}

/// Returns how every command that supervises does it.
pub(super) fn options(says_farewell: bool) -> Result<DriverOptions, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::because("find this program's own file", &error))?;
    Ok(DriverOptions { program, timing: Timing::default(), says_farewell })
}
