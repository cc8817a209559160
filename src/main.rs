//! Takes the role that the arguments name.

use std::process::ExitCode;

use clap::Parser as _;
use ottla::cli::{self, Cli};

fn main() -> ExitCode {
    cli::run(Cli::parse())
}
