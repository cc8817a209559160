//! One event, one step.

use super::effect::Effect;
use super::event::Event;
use super::local::LogView;
use super::partition::{Partition, Role};
use crate::types::Millis;

impl Partition {
    /// Takes what happened at `now` and appends what is to be done. Same state, same time, same event: same effects.
    pub fn step(&mut self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::LeaderAndIsr { command, leader_is_known } => {
                self.leader_and_isr(now, command, leader_is_known, out);
            }
            Event::Stop { leader_epoch } => self.stop(leader_epoch, out),
            Event::Appended { log_end } => {
                // Appends are reported by several threads, so not always in the order of their offsets.
                self.local.log.end = self.local.log.end.max(log_end);
                if let Role::Leader(leader) = &self.role {
                    leader.advance_high_watermark(&mut self.local, now, out);
                }
            }
            Event::LogStartAdvanced { log_start } => {
                self.local.log.start = self.local.log.start.max(log_start).min(self.local.log.end);
                if let Role::Leader(leader) = &mut self.role {
                    leader.advance_low_watermark(&self.local, out);
                }
            }
            Event::MinInsyncReplicas(count) => {
                self.local.settings.min_insync_replicas = count;
                if let Role::Leader(leader) = &self.role {
                    leader.advance_high_watermark(&mut self.local, now, out);
                    out.push(Effect::Recheck);
                }
            }
            Event::FollowerFetched { .. }
            | Event::LiveBrokers(_)
            | Event::IsrAnswered { .. }
            | Event::Tick => self.step_leader(now, event, out),
            Event::FetchAnswered { .. }
            | Event::Replicated { .. }
            | Event::ReplicationFailed { .. }
            | Event::Truncated { .. }
            | Event::LeaderOffsets { .. } => self.step_follower(now, event, out),
        }
    }

    /// What concerns a leader only; a replica that no longer leads lets it pass.
    fn step_leader(&mut self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        let Role::Leader(leader) = &mut self.role else { return };
        let local = &mut self.local;
        match event {
            Event::FollowerFetched { replica, fetch_offset, log_start, is_live } => {
                leader.follower_fetched(local, now, replica, (fetch_offset, log_start), is_live, out);
            }
            Event::LiveBrokers(live) => leader.live_brokers(local, now, &live, out),
            Event::IsrAnswered { proposal, answer } => {
                leader.isr_answered(local, now, &proposal, answer, out);
            }
            Event::Tick => leader.tick(local, now, out),
            _ => debug_assert!(false, "only what concerns a leader comes here"),
        }
    }

    /// What concerns a follower only; a replica that no longer follows lets it pass.
    fn step_follower(&mut self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        let Role::Follower(follower) = &mut self.role else { return };
        let local = &mut self.local;
        match event {
            Event::FetchAnswered { position, answer } => {
                follower.fetch_answered(local, now, position, answer, out);
            }
            Event::Replicated { log_end, latest_epoch, leader_high_watermark, leader_log_start } => {
                let log = LogView { start: local.log.start, end: log_end, latest_epoch };
                follower.replicated(local, log, (leader_high_watermark, leader_log_start), out);
            }
            Event::ReplicationFailed { is_transient } => {
                follower.replication_failed(local, now, is_transient, out);
            }
            Event::Truncated { log_start, log_end, latest_epoch } => {
                let log = LogView { start: log_start, end: log_end, latest_epoch };
                follower.truncated(local, now, log, out);
            }
            Event::LeaderOffsets { leader_epoch, offsets } => {
                follower.leader_offsets(local, now, leader_epoch, offsets, out);
            }
            _ => debug_assert!(false, "only what concerns a follower comes here"),
        }
    }
}
