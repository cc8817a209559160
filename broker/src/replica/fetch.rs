//! Reading for followers and consumers, and the fetches that wait for more.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::message::ErrorCode;

use super::error_code;
use super::fetch_session::FetchPartition;
use super::hosted::{HostedPartition, Reader};
use super::machine::{EpochEnd, Event};
use super::manager::{ReplicaManager, Wake};
use crate::log::{FetchedData, ReadLimits};
use crate::purgatory::{Completion, DelayedOperation};
use crate::types::{BrokerId, Offset, TopicPartition};

/// Called with the outcome of every partition, in the order of the request.
pub type FetchComplete = Box<dyn FnOnce(Vec<FetchOutcome>) + Send>;

/// The part of a fetch that concerns all its partitions.
#[derive(Debug, Clone)]
pub struct FetchParams {
    /// The follower that asks; `None` for a consumer.
    pub replica: Option<BrokerId>,
    /// How far it may read.
    pub reader: Reader,
    /// Whether only a leader may answer.
    pub leader_only: bool,
    /// How long to wait for `min_bytes`.
    pub max_wait: Duration,
    /// How many bytes make an answer worth sending.
    pub min_bytes: usize,
    /// At most so many bytes in all.
    pub max_bytes: u32,
    /// Whether the first partition with records returns a whole batch even beyond the limits (version 3 and later).
    pub at_least_one_batch: bool,
}

/// What became of one partition of a fetch.
#[derive(Debug)]
pub struct FetchOutcome {
    /// Why there is nothing to read.
    pub error: ErrorCode,
    /// How far records are committed; −1 when not known.
    pub high_watermark: Offset,
    /// How far committed transactions reach; −1 when not known.
    pub last_stable_offset: Offset,
    /// Where the log begins; −1 when not known.
    pub log_start_offset: Offset,
    /// Where the reader's log differs from this one.
    pub diverging: Option<EpochEnd>,
    /// The records, as regions of segment files, and the aborted transactions among them.
    pub data: FetchedData,
}

impl FetchOutcome {
    /// Returns the outcome of a partition that cannot be read.
    #[must_use]
    pub fn failed(error: ErrorCode) -> Self {
        Self {
            error,
            high_watermark: Offset::UNKNOWN,
            last_stable_offset: Offset::UNKNOWN,
            log_start_offset: Offset::UNKNOWN,
            diverging: None,
            data: FetchedData::default(),
        }
    }

    fn answers_at_once(&self) -> bool {
        self.error != ErrorCode::None || self.diverging.is_some()
    }
}

/// A fetch that waits for more.
pub(super) struct DelayedFetch {
    manager: Arc<ReplicaManager>,
    params: FetchParams,
    partitions: Vec<FetchPartition>,
    complete: FetchComplete,
}

impl ReplicaManager {
    /// Reads from partitions that this broker holds, and calls `complete` once: at once when there is enough or
    /// something to tell, otherwise when there is, or when `max_wait` has passed.
    pub fn fetch(
        self: &Arc<Self>,
        params: FetchParams,
        partitions: Vec<FetchPartition>,
        complete: FetchComplete,
    ) {
        self.metrics.fetch_requests.add(partitions.len() as u64);
        let mut wake = Wake::default();
        let outcomes = self.read(&params, &partitions, Some(&mut wake));
        self.wake(wake);
        let bytes: usize = outcomes.iter().map(|outcome| outcome.data.size).sum();
        let at_once = params.max_wait.is_zero()
            || partitions.is_empty()
            || bytes >= params.min_bytes
            || outcomes.iter().any(FetchOutcome::answers_at_once);
        if at_once {
            self.count(&params, &outcomes);
            complete(outcomes);
            return;
        }
        let keys = partitions.iter().filter_map(id_of).collect();
        let max_wait = params.max_wait;
        let operation = DelayedFetch { manager: Arc::clone(self), params, partitions, complete };
        self.fetch_purgatory.submit(operation, keys, max_wait);
    }

    /// Reads all partitions; with a `wake` it also notes how far a follower has come.
    fn read(
        &self,
        params: &FetchParams,
        partitions: &[FetchPartition],
        mut wake: Option<&mut Wake>,
    ) -> Vec<FetchOutcome> {
        let mut left = params.max_bytes;
        let mut needs_first = params.at_least_one_batch;
        let mut outcomes = Vec::with_capacity(partitions.len());
        for wanted in partitions {
            let max_bytes = u32::try_from(wanted.max_bytes).unwrap_or(0).min(left);
            let outcome = match self.read_one(params, wanted, (max_bytes, needs_first), wake.as_deref_mut()) {
                Ok(outcome) => outcome,
                Err(error) => FetchOutcome::failed(error),
            };
            left = left.saturating_sub(u32::try_from(outcome.data.size).unwrap_or(u32::MAX));
            needs_first &= outcome.data.size == 0;
            outcomes.push(outcome);
        }
        outcomes
    }

    fn read_one(
        &self,
        params: &FetchParams,
        wanted: &FetchPartition,
        (max_bytes, at_least_one): (u32, bool),
        wake: Option<&mut Wake>,
    ) -> Result<FetchOutcome, ErrorCode> {
        let id = id_of(wanted).ok_or(ErrorCode::UnknownTopicId)?;
        let partition = self.hosted(&id)?;
        // What was found valid stays so until the follower's position is noted.
        let _role = partition.keep_role();
        check_reader(&partition, params, wanted)?;
        if let Some(diverging) = divergence(&partition, wanted)? {
            return Ok(FetchOutcome { error: ErrorCode::None, ..described(&partition, Some(diverging)) });
        }
        let upper = partition.readable_end(params.reader);
        let aborted_transactions = params.reader == Reader::CommittedConsumer;
        let limits = ReadLimits { max_bytes, at_least_one, upper, aborted_transactions };
        let data = partition.log().read(wanted.fetch_offset, limits).map_err(|error| {
            self.note_log_error(&partition, &error);
            error_code::of_read(&error)
        })?;
        if let (Some(replica), Some(wake)) = (params.replica, wake) {
            let event = Event::FollowerFetched {
                replica,
                fetch_offset: wanted.fetch_offset,
                log_start: wanted.log_start,
                is_live: self.metadata.load().is_live(replica),
            };
            self.step(&partition, event, wake);
        }
        Ok(FetchOutcome { data, ..described(&partition, None) })
    }
}

impl ReplicaManager {
    fn count(&self, params: &FetchParams, outcomes: &[FetchOutcome]) {
        let bytes = outcomes.iter().map(|outcome| outcome.data.size as u64).sum();
        let failed = outcomes.iter().filter(|outcome| outcome.error != ErrorCode::None).count();
        self.metrics.failed_fetch_requests.add(failed as u64);
        match params.replica {
            Some(_) => self.metrics.replication_bytes_out.add(bytes),
            None => self.metrics.bytes_out.add(bytes),
        }
    }
}

impl DelayedFetch {
    /// Whether what one partition has would be worth an answer; adds its bytes to `bytes` when they have to be counted.
    fn is_enough(&self, wanted: &FetchPartition, bytes: &mut usize) -> Result<bool, ErrorCode> {
        let id = id_of(wanted).ok_or(ErrorCode::UnknownTopicId)?;
        let partition = self.manager.hosted(&id)?;
        check_reader(&partition, &self.params, wanted)?;
        if divergence(&partition, wanted)?.is_some() {
            return Ok(true);
        }
        let upper = partition.readable_end(self.params.reader);
        if upper < wanted.fetch_offset {
            return Ok(partition.log().log_end_offset() < wanted.fetch_offset);
        }
        if upper == wanted.fetch_offset {
            return Ok(false);
        }
        if self.params.min_bytes <= 1 {
            return Ok(true);
        }
        let max_bytes = u32::try_from(wanted.max_bytes).unwrap_or(0);
        let limits = ReadLimits { max_bytes, at_least_one: false, upper, aborted_transactions: false };
        let data = partition.log().read(wanted.fetch_offset, limits);
        *bytes += data.map_err(|error| error_code::of_read(&error))?.size;
        Ok(*bytes >= self.params.min_bytes)
    }
}

impl DelayedOperation for DelayedFetch {
    fn is_satisfied(&mut self) -> bool {
        let mut bytes = 0;
        self.partitions.iter().any(|wanted| self.is_enough(wanted, &mut bytes).unwrap_or(true))
    }

    /// Reads again, whatever the reason: a fetch that waited holds no data.
    fn complete(self, _completion: Completion) {
        // The follower's position was noted when the fetch came; by now a newer fetch may have noted a later one.
        let outcomes = self.manager.read(&self.params, &self.partitions, None);
        self.manager.count(&self.params, &outcomes);
        (self.complete)(outcomes);
    }
}

fn id_of(wanted: &FetchPartition) -> Option<TopicPartition> {
    let topic = wanted.topic.as_ref()?;
    Some(TopicPartition::new(Arc::clone(topic), wanted.key.partition))
}

fn check_reader(
    partition: &HostedPartition,
    params: &FetchParams,
    wanted: &FetchPartition,
) -> Result<(), ErrorCode> {
    use super::fetch_session::TopicKey;
    partition.ask(|machine| {
        if let (TopicKey::Id(asked), Some(own)) = (&wanted.key.topic, machine.topic_id())
            && *asked != own
        {
            return Err(ErrorCode::InconsistentTopicId);
        }
        match params.replica {
            Some(replica) => machine.check_follower(replica, wanted.current_leader_epoch),
            None => machine.check_readable(wanted.current_leader_epoch, params.leader_only),
        }
    })
}

/// Compares the reader's last epoch with this log (KIP-595): a reader whose log took another turn is told where.
fn divergence(partition: &HostedPartition, wanted: &FetchPartition) -> Result<Option<EpochEnd>, ErrorCode> {
    let Some(last) = wanted.last_fetched_epoch else { return Ok(None) };
    let end = partition.epoch_end(last).ok_or(ErrorCode::OffsetOutOfRange)?;
    if wanted.fetch_offset < partition.log().log_start_offset() {
        return Err(ErrorCode::OffsetOutOfRange);
    }
    Ok((end.epoch < last || end.end < wanted.fetch_offset).then_some(end))
}

fn described(partition: &HostedPartition, diverging: Option<EpochEnd>) -> FetchOutcome {
    let high_watermark = partition.ask(super::machine::Partition::high_watermark);
    FetchOutcome {
        error: ErrorCode::None,
        high_watermark,
        last_stable_offset: partition.log().last_stable_offset().min(high_watermark),
        log_start_offset: partition.log().log_start_offset(),
        diverging,
        data: FetchedData::default(),
    }
}
