//! Measures what the README claims and prints it as the table that stands there.
//!
//! ```text
//! cargo build --release && cargo run --release -p ottla-figures
//! ```
//! Every figure stands beside a limit or a peer measured in the same run, because machines differ and drift. Each is
//! the median of several rounds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that fails is no measurement, and this prints a table"
)]

mod bare;
mod failover;
mod memory;
mod start;
mod table;
mod throughput;

use std::path::PathBuf;

use table::Table;

fn main() -> anyhow::Result<()> {
    let program = program()?;
    let program = program.to_str().expect("the build folder has a plain name");
    let mut table = Table::default();
    start::measure(program, &mut table);
    failover::measure(program, &mut table)?;
    throughput::measure(program, &mut table)?;
    memory::measure(program, &mut table);
    table.print();
    Ok(())
}

/// The release build of ottla lies beside this program.
fn program() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("ottla");
    anyhow::ensure!(path.exists(), "{} is missing: run `cargo build --release` first", path.display());
    Ok(path)
}
