//! The demo load: producers and consumer groups that the console runs.

use ottla_broker::types::Millis;
use serde::{Deserialize, Serialize};

use super::history::History;

/// What the demo load does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadState {
    /// Whether it is on.
    pub running: bool,
    /// The topics it writes to.
    pub topics: Vec<String>,
    /// Records per second it tries to write.
    pub target_per_second: u32,
    /// Records acknowledged so far.
    pub acknowledged_total: u64,
    /// Records refused or lost so far.
    pub failed_total: u64,
    /// Records read by its groups so far.
    pub consumed_total: u64,
    /// Its groups.
    pub groups: Vec<LoadGroup>,
    /// What went wrong last, in words.
    #[serde(default)]
    pub error: Option<String>,
}

/// A consumer group of the demo load.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoadGroup {
    /// The group's id.
    pub group: String,
    /// How many members the load runs in it.
    pub members: u32,
}

/// What is known of the demo load.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Load {
    /// What was said last.
    pub state: LoadState,
    /// When.
    pub seen: Option<Millis>,
    /// Records acknowledged per second.
    pub written_per_second: f64,
    /// Records read per second.
    pub read_per_second: f64,
    /// Records acknowledged per second over the last minute.
    pub written_history: History,
}

impl Load {
    /// Takes in what was said; returns whether it was switched.
    pub(super) fn apply(&mut self, now: Millis, state: LoadState) -> bool {
        let switched = state.running != self.state.running;
        if let Some(seen) = self.seen {
            let elapsed_ms = now.since(seen).0;
            if elapsed_ms > 0 {
                let per_second =
                    |new: u64, old: u64| new.saturating_sub(old) as f64 * 1000.0 / elapsed_ms as f64;
                self.written_per_second = per_second(state.acknowledged_total, self.state.acknowledged_total);
                self.read_per_second = per_second(state.consumed_total, self.state.consumed_total);
                self.written_history.push(now, self.written_per_second);
            }
        }
        self.seen = Some(now);
        self.state = state;
        switched
    }
}
