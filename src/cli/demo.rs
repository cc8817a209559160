//! `ottla demo`: the demo load without a screen.

use std::process::ExitCode;
use std::time::Duration;

use super::arguments::DemoArguments;
use super::failure::Failure;
use super::{output, role};
use crate::load::{Demo, DemoOptions};
use crate::supervisor;

/// How often a line of progress is printed.
const REPORT: Duration = Duration::from_secs(2);

pub(super) fn run(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    let opened = supervisor::find(&arguments.cluster.data_dir()?)?;
    let options =
        DemoOptions { bootstrap: opened.spec.bootstrap(), rate: arguments.rate, members: arguments.members };
    role::runtime()?.block_on(async {
        let demo = Demo::start(options);
        let status = demo.status();
        let end = async {
            match arguments.duration {
                Some(seconds) => {
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    Ok(())
                }
                None => role::asked_to_end().await,
            }
        };
        let mut end = Box::pin(end);
        let mut ticks = tokio::time::interval(REPORT);
        let outcome = loop {
            tokio::select! {
                outcome = &mut end => break outcome,
                _ = ticks.tick() => output::demo(&status.borrow()),
            }
        };
        demo.stop().await;
        outcome?;
        let status = status.borrow().clone();
        output::demo(&status);
        Ok(if status.is_running { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}
