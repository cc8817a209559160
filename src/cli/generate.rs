//! `ottla completions` and `ottla man`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::arguments::{Cli, CompletionArguments};
use super::failure::Failure;

pub(super) fn completions(arguments: &CompletionArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "ottla", &mut script);
    print(&script)
}

pub(super) fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|error| Failure::because("render the manual page", &error))?;
    print(&page)
}

fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    io::stdout().write_all(bytes).map_err(|error| Failure::because("write to standard output", &error))?;
    Ok(ExitCode::SUCCESS)
}
