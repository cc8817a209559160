//! What an answer of the leader does to a partition.

use std::sync::Arc;

use bytes::Bytes;

use crate::log;
use crate::replica::hosted::HostedPartition;
use crate::replica::machine::{Effect, Event, FetchAnswer, FetchPosition};
use crate::replica::manager::{ReplicaManager, Wake};
use crate::types::{LeaderEpoch, Offset};

/// One partition's part of a fetch answer.
#[derive(Debug)]
pub(super) struct Fetched {
    /// What had been asked for.
    pub(super) position: FetchPosition,
    pub(super) answer: FetchAnswer,
    pub(super) records: Bytes,
}

impl ReplicaManager {
    /// Applies it. Returns the epoch in which the leader is to be asked for both ends of its log, when the fetch offset
    /// was outside of them.
    pub(super) fn apply_fetched(
        &self,
        partition: &Arc<HostedPartition>,
        fetched: Fetched,
        wake: &mut Wake,
    ) -> Option<LeaderEpoch> {
        match fetched.answer {
            // Cutting the log needs it alone, appending only that the role does not change.
            FetchAnswer::Diverging { .. } => {
                let _role = partition.change_role();
                self.apply_in_role(partition, fetched, wake)
            }
            FetchAnswer::Records { .. } | FetchAnswer::Refused(_) => {
                let _role = partition.keep_role();
                self.apply_in_role(partition, fetched, wake)
            }
        }
    }

    fn apply_in_role(
        &self,
        partition: &Arc<HostedPartition>,
        fetched: Fetched,
        wake: &mut Wake,
    ) -> Option<LeaderEpoch> {
        let Fetched { position, mut answer, records } = fetched;
        if let FetchAnswer::Diverging { leader, local } = &mut answer {
            *local = partition.epoch_end(leader.epoch);
        }
        let mut effects = Vec::new();
        partition.step(self.now(), Event::FetchAnswered { position, answer }, &mut effects);
        let mut ask = None;
        for effect in effects {
            match effect {
                Effect::AppendRecords => self.replicate(partition, &answer, &records, wake),
                Effect::QueryLeaderOffsets { leader_epoch } => ask = Some(leader_epoch),
                effect => self.perform(partition, effect, wake),
            }
        }
        ask
    }

    fn replicate(
        &self,
        partition: &Arc<HostedPartition>,
        answer: &FetchAnswer,
        records: &Bytes,
        wake: &mut Wake,
    ) {
        let FetchAnswer::Records { high_watermark, log_start, .. } = *answer else { return };
        match partition.log().append_as_follower(records) {
            Ok(_) => {
                self.metrics.replication_bytes_in.add(records.len() as u64);
                self.replicated(partition, (high_watermark, log_start), wake);
                wake.appended(partition.id());
            }
            Err(error) => {
                tracing::warn!(partition = %partition.id(), %error, "cannot append what the leader sent");
                self.note_log_error(partition, &error);
                // Batches before the failed one may have been appended.
                let view = partition.log_view();
                if view != partition.ask(|machine| machine.log()) {
                    self.replicated(partition, (Offset::UNKNOWN, Offset::UNKNOWN), wake);
                }
                // Damaged bytes may come whole next time, and a full disk may get room.
                let is_transient =
                    !matches!(error.severity(), log::Severity::Directory | log::Severity::Partition);
                self.step(partition, Event::ReplicationFailed { is_transient }, wake);
            }
        }
    }

    fn replicated(
        &self,
        partition: &Arc<HostedPartition>,
        (leader_high_watermark, leader_log_start): (Offset, Offset),
        wake: &mut Wake,
    ) {
        let view = partition.log_view();
        let event = Event::Replicated {
            log_end: view.end,
            latest_epoch: view.latest_epoch,
            leader_high_watermark,
            leader_log_start,
        };
        self.step(partition, event, wake);
    }

    /// Tells a partition where its leader's log begins and ends.
    pub(super) fn apply_leader_offsets(&self, partition: &Arc<HostedPartition>, event: Event) {
        let mut wake = Wake::default();
        {
            let _role = partition.change_role();
            self.step(partition, event, &mut wake);
        }
        self.wake(wake);
    }
}
