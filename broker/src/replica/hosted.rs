//! One partition that this broker holds: its machine, its log, and the locks that keep both in step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::machine::{Effect, EpochEnd, Event, LogView, Partition};
use crate::log::PartitionLog;
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// A partition that this broker holds.
///
/// Two locks, always taken in this order and never both for long:
/// - the *role* lock is held shared while records are appended or replicated, and alone while the controller's command
///   changes the role, so that nothing is appended in an epoch that is over;
/// - the *machine* lock is held for one step or one question, never during input or output.
#[derive(Debug)]
pub struct HostedPartition {
    id: TopicPartition,
    log: Arc<PartitionLog>,
    machine: Mutex<Partition>,
    role: RwLock<()>,
    /// Its log directory has failed, or it was stopped and its log is on its way out.
    gone: AtomicBool,
}

impl HostedPartition {
    pub(super) fn new(id: TopicPartition, log: Arc<PartitionLog>, machine: Partition) -> Self {
        Self { id, log, machine: Mutex::new(machine), role: RwLock::new(()), gone: AtomicBool::new(false) }
    }

    /// Returns its name.
    #[must_use]
    pub fn id(&self) -> &TopicPartition {
        &self.id
    }

    /// Returns its log.
    #[must_use]
    pub fn log(&self) -> &Arc<PartitionLog> {
        &self.log
    }

    /// Asks the machine something.
    pub fn ask<R>(&self, question: impl FnOnce(&Partition) -> R) -> R {
        question(&self.machine.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the machine what happened. The high watermark reaches the log under the machine's lock, so that it moves
    /// there in the order in which it was decided; everything else is left to the caller.
    pub(super) fn step(&self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        let mut machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        let before = out.len();
        machine.step(now, event, out);
        for effect in out.iter().skip(before) {
            if let Effect::HighWatermark(offset) = effect {
                self.log.update_high_watermark(*offset);
            }
        }
    }

    /// Keeps the role from changing.
    pub(super) fn keep_role(&self) -> RwLockReadGuard<'_, ()> {
        self.role.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nothing is appended any more, and keeps it so.
    pub(super) fn change_role(&self) -> RwLockWriteGuard<'_, ()> {
        self.role.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the log looks like now.
    pub(super) fn log_view(&self) -> LogView {
        view_of(&self.log)
    }

    /// Where this log says that `epoch` ends: asked by followers, and of a follower's own log when it must truncate.
    pub(super) fn epoch_end(&self, epoch: LeaderEpoch) -> Option<EpochEnd> {
        let (epoch, end) = self.log.end_offset_for_epoch(epoch)?;
        Some(EpochEnd { epoch, end })
    }

    /// Returns how far a reader may read: a follower to the end, a consumer to what is committed, and one that reads
    /// committed transactions only to the last stable offset.
    pub(super) fn readable_end(&self, reader: Reader) -> Offset {
        match reader {
            Reader::Follower => self.log.log_end_offset(),
            Reader::Consumer => self.ask(Partition::high_watermark),
            Reader::CommittedConsumer => {
                self.log.last_stable_offset().min(self.ask(Partition::high_watermark))
            }
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub(super) fn mark_gone(&self) {
        self.gone.store(true, Ordering::Release);
    }
}

/// Who reads, and so how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A follower, or a debugging consumer.
    Follower,
    /// A consumer that reads whatever is committed.
    Consumer,
    /// A consumer that reads committed transactions only.
    CommittedConsumer,
}

/// What a log looks like to its machine.
pub(super) fn view_of(log: &PartitionLog) -> LogView {
    LogView {
        start: log.log_start_offset(),
        end: log.log_end_offset(),
        latest_epoch: log.latest_leader_epoch(),
    }
}
