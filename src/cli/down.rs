//! `ottla down`: stops the cluster, brokers first; its data stays.

use std::process::ExitCode;

use super::arguments::DownArguments;
use super::failure::Failure;
use super::{output, role, up};
use crate::supervisor::{self, Ask, Driver};

pub(super) fn run(arguments: &DownArguments) -> Result<ExitCode, Failure> {
    let opened = supervisor::find(&arguments.cluster.data_dir()?)?;
    role::runtime()?.block_on(async {
        let mut driver = Driver::new(opened, up::options(true)?);
        if driver.machine().is_down() && driver.is_settled() {
            output::line(&format!("{} does not run", driver.spec().name));
            return Ok(ExitCode::SUCCESS);
        }
        driver.ask(Ask::Down);
        driver.settle(|driver, said| output::said(driver.spec(), &said)).await;
        Ok(if driver.machine().is_down() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
