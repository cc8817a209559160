//! The command line: one file per command.
//!
//! A command reads its arguments, does one thing through the rooms below, prints what the model says, and ends in an
//! exit code: 0 it worked, 1 it did not, 2 the words were wrong, 3 the cluster does not run.

mod arguments;
mod broker;
mod console;
mod demo;
mod down;
mod failure;
mod generate;
mod output;
mod role;
mod status;
mod up;
mod zookeeper;

pub use arguments::{Cli, ClusterArguments, Command};
pub use failure::{Failure, Kind};

use std::process::ExitCode;

/// Runs what the arguments ask for.
pub fn run(cli: Cli) -> ExitCode {
    let outcome = match cli.command {
        None => console::run(&cli.cluster, &cli.console),
        Some(Command::Up(arguments)) => up::run(&arguments),
        Some(Command::Down(arguments)) => down::run(&arguments),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Broker(arguments)) => broker::run(&arguments),
        Some(Command::Zookeeper(arguments)) => zookeeper::run(&arguments),
        Some(Command::Completions(arguments)) => generate::completions(&arguments),
        Some(Command::Man) => generate::man(),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            output::failure(&failure);
            failure.exit_code()
        }
    }
}
