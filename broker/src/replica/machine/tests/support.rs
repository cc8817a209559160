//! Short names for what tests say often, and transcripts.

use std::collections::BTreeSet;
use std::fmt::Write;

use ottla_protocol::message::ErrorCode;

use crate::replica::machine::{
    Assignment, Effect, EpochEnd, Event, FetchAnswer, FetchPosition, IsrAnswer, IsrProposal, LeaderRecovery,
    LogView, Partition, PartitionCommand, ReplicaSettings, RoleKind,
};
use crate::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch};

pub(super) const LAG_TIME_MAX: Millis = Millis(30_000);

pub(super) fn brokers(ids: &[i32]) -> BTreeSet<BrokerId> {
    ids.iter().copied().map(BrokerId).collect()
}

/// A command for replicas 1, 2, 3.
pub(super) fn command(leader: i32, leader_epoch: i32, isr: &[i32], partition_epoch: i32) -> PartitionCommand {
    PartitionCommand {
        topic_id: None,
        controller_epoch: ControllerEpoch(1),
        leader: BrokerId(leader),
        leader_epoch: LeaderEpoch(leader_epoch),
        isr: brokers(isr),
        partition_epoch: PartitionEpoch(partition_epoch),
        assignment: Assignment {
            replicas: [1, 2, 3].map(BrokerId).to_vec(),
            adding: Vec::new(),
            removing: Vec::new(),
        },
        recovery: LeaderRecovery::Recovered,
    }
}

pub(super) fn lead(leader_epoch: i32, isr: &[i32], partition_epoch: i32) -> Event {
    Event::LeaderAndIsr { command: command(1, leader_epoch, isr, partition_epoch), leader_is_known: true }
}

pub(super) fn follow(leader: i32, leader_epoch: i32) -> Event {
    Event::LeaderAndIsr { command: command(leader, leader_epoch, &[1, 2, 3], 0), leader_is_known: true }
}

pub(super) fn appended(log_end: i64) -> Event {
    Event::Appended { log_end: Offset(log_end) }
}

pub(super) fn fetched(replica: i32, fetch_offset: i64) -> Event {
    Event::FollowerFetched {
        replica: BrokerId(replica),
        fetch_offset: Offset(fetch_offset),
        log_start: Offset::ZERO,
        is_live: true,
    }
}

pub(super) fn proposal(leader_epoch: i32, partition_epoch: i32, isr: &[i32]) -> IsrProposal {
    IsrProposal {
        leader_epoch: LeaderEpoch(leader_epoch),
        partition_epoch: PartitionEpoch(partition_epoch),
        isr: brokers(isr),
    }
}

pub(super) fn accepted(proposal: IsrProposal) -> Event {
    let answer = IsrAnswer {
        leader_epoch: proposal.leader_epoch,
        partition_epoch: PartitionEpoch(proposal.partition_epoch.0 + 1),
        isr: proposal.isr.clone(),
        recovery: LeaderRecovery::Recovered,
    };
    Event::IsrAnswered { proposal, answer: Ok(answer) }
}

pub(super) fn refused(proposal: IsrProposal, error: ErrorCode) -> Event {
    Event::IsrAnswered { proposal, answer: Err(error) }
}

pub(super) fn position(leader_epoch: i32, fetch_offset: i64) -> FetchPosition {
    FetchPosition {
        leader_epoch: LeaderEpoch(leader_epoch),
        fetch_offset: Offset(fetch_offset),
        last_fetched_epoch: None,
        log_start: Offset::ZERO,
    }
}

pub(super) fn answered(position: FetchPosition, answer: FetchAnswer) -> Event {
    Event::FetchAnswered { position, answer }
}

pub(super) fn records(any: bool, high_watermark: i64, log_start: i64) -> FetchAnswer {
    FetchAnswer::Records { any, high_watermark: Offset(high_watermark), log_start: Offset(log_start) }
}

pub(super) fn epoch_end(epoch: i32, end: i64) -> EpochEnd {
    EpochEnd { epoch: LeaderEpoch(epoch), end: Offset(end) }
}

pub(super) fn replicated(log_end: i64, epoch: i32, high_watermark: i64) -> Event {
    Event::Replicated {
        log_end: Offset(log_end),
        latest_epoch: Some(LeaderEpoch(epoch)),
        leader_high_watermark: Offset(high_watermark),
        leader_log_start: Offset::ZERO,
    }
}

pub(super) fn truncated(log_end: i64, epoch: Option<i32>) -> Event {
    Event::Truncated {
        log_start: Offset::ZERO,
        log_end: Offset(log_end),
        latest_epoch: epoch.map(LeaderEpoch),
    }
}

/// A machine of broker 1, with everything it is told and wants written down.
pub(super) struct Conversation {
    pub(super) partition: Partition,
    pub(super) now: Millis,
    pub(super) text: String,
}

impl Conversation {
    pub(super) fn new(
        min_insync_replicas: usize,
        log_end: i64,
        epoch: Option<i32>,
        high_watermark: i64,
    ) -> Self {
        let settings =
            ReplicaSettings { lag_time_max: LAG_TIME_MAX, min_insync_replicas, fetch_backoff: Millis(1_000) };
        let log = LogView { start: Offset::ZERO, end: Offset(log_end), latest_epoch: epoch.map(LeaderEpoch) };
        let partition = Partition::new(BrokerId(1), settings, None, log, Offset(high_watermark));
        Self { partition, now: Millis(1_000_000), text: String::new() }
    }

    /// Writes a heading into the transcript.
    pub(super) fn say(&mut self, heading: &str) -> &mut Self {
        writeln!(self.text, "# {heading}").unwrap();
        self
    }

    pub(super) fn wait(&mut self, ms: i64) -> &mut Self {
        self.now = self.now.plus(Millis(ms));
        writeln!(self.text, "... {ms} ms").unwrap();
        self
    }

    pub(super) fn tell(&mut self, event: Event) -> &mut Self {
        let mut out = Vec::new();
        writeln!(self.text, "> {}", told(&event)).unwrap();
        self.partition.step(self.now, event, &mut out);
        for effect in &out {
            writeln!(self.text, "    {}", brief(effect)).unwrap();
        }
        let view = self.partition.view();
        let role = match view.role {
            RoleKind::Undecided => "undecided".to_owned(),
            RoleKind::Leader => format!("leader isr {}", brief(&view.isr)),
            RoleKind::Follower(leader) => format!("follower of {leader}"),
        };
        writeln!(
            self.text,
            "  = {role}, epoch {}, log end {}, high watermark {}",
            view.leader_epoch, view.log.end, view.high_watermark
        )
        .unwrap();
        self
    }

    pub(super) fn effects(&mut self, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        self.partition.step(self.now, event, &mut out);
        out
    }
}

/// A command in one line, everything else as it is.
fn told(event: &Event) -> String {
    let Event::LeaderAndIsr { command, leader_is_known } = event else { return brief(event) };
    let PartitionCommand { leader, leader_epoch, isr, partition_epoch, assignment, .. } = command;
    let known = if *leader_is_known { "" } else { " (unknown here)" };
    format!(
        "LeaderAndIsr leader {leader}{known}, epoch {leader_epoch}, isr {}, partition epoch {partition_epoch}, replicas {}",
        brief(isr),
        brief(&assignment.replicas)
    )
}

/// Debug text without the names of the number types.
fn brief(value: &impl std::fmt::Debug) -> String {
    let mut text = format!("{value:?}");
    for name in ["BrokerId", "LeaderEpoch", "PartitionEpoch", "ControllerEpoch", "Offset", "Millis"] {
        text = strip(&text, name);
    }
    text
}

/// Turns every `Name(7)` into `7`.
fn strip(text: &str, name: &str) -> String {
    let opening = format!("{name}(");
    let mut rest = text;
    let mut stripped = String::new();
    while let Some(at) = rest.find(&opening) {
        let whole = rest[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        let after = &rest[at + opening.len()..];
        let Some(end) = after.find(')').filter(|_| whole) else {
            stripped.push_str(&rest[..at + opening.len()]);
            rest = after;
            continue;
        };
        stripped.push_str(&rest[..at]);
        stripped.push_str(&after[..end]);
        rest = &after[end + 1..];
    }
    stripped + rest
}
