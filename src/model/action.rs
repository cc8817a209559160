//! What the operator asked for and what became of it.

use std::collections::VecDeque;
use std::fmt;

use ottla_broker::types::Millis;
use serde::{Deserialize, Serialize};

/// How many actions are remembered.
const ACTIONS_MAX: usize = 200;

/// Names one thing that the operator asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(pub u64);

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// What became of an action so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionUpdate {
    /// Which one.
    pub id: ActionId,
    /// How far it is.
    pub progress: Progress,
}

/// How far an action is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It began; what it does, in words: "stop broker 2".
    Started(String),
    /// It is at this step: "SIGTERM sent to pid 4711".
    Step(String),
    /// It is done; what came of it, in words.
    Done(String),
    /// It failed; why, and what to do, in words.
    Failed(String),
}

/// One thing that the operator asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Its number.
    pub id: ActionId,
    /// What was asked for, in words.
    pub what: String,
    /// When.
    pub started_at: Millis,
    /// How far it is.
    pub progress: Progress,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// Its line in the timeline.
    pub(super) event: Option<u64>,
}

/// The last things that the operator asked for, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actions {
    list: VecDeque<Action>,
}

impl Actions {
    /// Returns them, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Action> {
        self.list.iter().rev()
    }

    /// Returns those that have not ended.
    pub fn running(&self) -> impl Iterator<Item = &Action> {
        self.list.iter().filter(|action| action.ended_at.is_none())
    }

    /// Takes in an update and returns the action it belongs to.
    pub(super) fn apply(&mut self, now: Millis, update: ActionUpdate) -> Option<&mut Action> {
        let ActionUpdate { id, progress } = update;
        if !self.list.iter().any(|action| action.id == id) {
            let what = match &progress {
                Progress::Started(what) => what.clone(),
                Progress::Step(_) | Progress::Done(_) | Progress::Failed(_) => format!("action {id}"),
            };
            if self.list.len() >= ACTIONS_MAX {
                self.list.pop_front();
            }
            self.list.push_back(Action {
                id,
                what,
                started_at: now,
                progress: progress.clone(),
                ended_at: None,
                event: None,
            });
        }
        let action = self.list.iter_mut().find(|action| action.id == id)?;
        if action.ended_at.is_none() && matches!(progress, Progress::Done(_) | Progress::Failed(_)) {
            action.ended_at = Some(now);
        }
        action.progress = progress;
        Some(action)
    }
}
