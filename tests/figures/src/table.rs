//! The table, and the arithmetic of several rounds.

use std::time::{Duration, Instant};

/// Rows of a markdown table: what, how much, beside what.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 3]>,
}

impl Table {
    pub(crate) fn row(&mut self, what: &str, figure: String, beside: String) {
        println!("… {what}: {figure} ({beside})");
        self.rows.push([what.to_owned(), figure, beside]);
    }

    pub(crate) fn print(&self) {
        println!("\n| what | figure | beside |\n|---|---|---|");
        for [what, figure, beside] in &self.rows {
            println!("| {what} | {figure} | {beside} |");
        }
    }
}

/// Returns the median of `rounds` measurements.
pub(crate) fn median(rounds: usize, mut measure: impl FnMut() -> Duration) -> Duration {
    let mut taken: Vec<_> = (0..rounds).map(|_| measure()).collect();
    taken.sort();
    taken[rounds / 2]
}

/// Returns how long something takes.
pub(crate) fn time(act: impl FnOnce()) -> Duration {
    let started = Instant::now();
    act();
    started.elapsed()
}

/// In milliseconds, as precise as is true.
pub(crate) fn ms(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1_000.0;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

/// Megabytes (10^6) a second.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn rate(bytes: u64, duration: Duration) -> f64 {
    bytes as f64 / 1e6 / duration.as_secs_f64()
}
