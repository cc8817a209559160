//! The staged network of a broker: processors, request channel, handlers, and how long requests take.

use std::collections::BTreeMap;

use ottla_broker::types::Millis;
use serde::{Deserialize, Serialize};

use super::history::History;

/// One reading of a broker's metrics. Totals count since the broker started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkSample {
    /// Requests in the request channel.
    pub request_queue_size: u32,
    /// The most there were within the last minute, as the broker saw it.
    #[serde(default)]
    pub request_queue_max: Option<u32>,
    /// The most there can be (`queued.max.requests`).
    #[serde(default)]
    pub request_queue_capacity: Option<u32>,
    /// The number of handlers (`num.io.threads`).
    #[serde(default)]
    pub handlers: Option<u32>,
    /// The share of the handlers' time that they had nothing to do.
    #[serde(default)]
    pub handler_idle_ratio: Option<f64>,
    /// The processors (`num.network.threads` of them).
    pub processors: Vec<ProcessorSample>,
    /// One entry per kind of request.
    #[serde(default)]
    pub requests: Vec<RequestSample>,
    /// Bytes that producers sent.
    #[serde(default)]
    pub bytes_in_total: Option<u64>,
    /// Bytes that consumers were sent.
    #[serde(default)]
    pub bytes_out_total: Option<u64>,
    /// Delayed operations by kind: `Produce`, `Fetch`, `Rebalance`, …
    #[serde(default)]
    pub purgatory: BTreeMap<String, u32>,
    /// What was refused, by reason: garbage, frames too large, unknown keys, …
    #[serde(default)]
    pub refused_total: BTreeMap<String, u64>,
}

/// One reading of a processor.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProcessorSample {
    /// Its number.
    pub processor: u32,
    /// Responses waiting to be sent.
    pub response_queue_size: u32,
    /// The most there were within the last minute, as the broker saw it.
    #[serde(default)]
    pub response_queue_max: Option<u32>,
    /// Its connections.
    #[serde(default)]
    pub connections: Option<u32>,
    /// The share of its time that it had nothing to do.
    #[serde(default)]
    pub idle_ratio: Option<f64>,
}

/// One reading of a kind of request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RequestSample {
    /// Its name: `Produce`, `Fetch`, `FetchFollower`, …
    pub request: String,
    /// How many there were.
    pub count_total: u64,
    /// How many got an error as answer.
    #[serde(default)]
    pub errors_total: u64,
    /// Where their time went, summed up over all of them.
    #[serde(default)]
    pub times_total: RequestTimes,
}

/// Where the time of requests goes, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RequestTimes {
    /// Waiting in the request channel.
    pub request_queue_ms: f64,
    /// With a handler.
    pub local_ms: f64,
    /// Waiting for others: replicas, data, time.
    pub remote_ms: f64,
    /// Waiting in the processor's response queue.
    pub response_queue_ms: f64,
    /// Being sent.
    pub response_send_ms: f64,
    /// All of it.
    pub total_ms: f64,
}

impl RequestTimes {
    /// Returns what was added since `before`, per each of `count`.
    fn mean_since(self, before: Self, count: f64) -> Self {
        let mean = |new: f64, old: f64| if count > 0.0 { (new - old).max(0.0) / count } else { 0.0 };
        Self {
            request_queue_ms: mean(self.request_queue_ms, before.request_queue_ms),
            local_ms: mean(self.local_ms, before.local_ms),
            remote_ms: mean(self.remote_ms, before.remote_ms),
            response_queue_ms: mean(self.response_queue_ms, before.response_queue_ms),
            response_send_ms: mean(self.response_send_ms, before.response_send_ms),
            total_ms: mean(self.total_ms, before.total_ms),
        }
    }
}

/// A processor over the last minute.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Processor {
    /// The last reading.
    pub sample: ProcessorSample,
    /// Its response queue over the last minute.
    pub response_queue_history: History,
    /// The most responses that waited within the last minute.
    pub response_queue_max: u32,
}

/// A kind of request between the last two readings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestKind {
    /// The last reading.
    pub sample: RequestSample,
    /// How many per second.
    pub per_second: f64,
    /// Errors per second.
    pub errors_per_second: f64,
    /// Where the time of one of them goes, on average; kept while none comes.
    pub mean: RequestTimes,
}

/// What is known of one broker's network.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Network {
    /// When it was read last.
    pub seen: Option<Millis>,
    /// The last reading of what has no history.
    pub sample: NetworkSample,
    /// The request channel over the last minute.
    pub request_queue_history: History,
    /// The most requests in the channel within the last minute.
    pub request_queue_max: u32,
    /// The handlers' idle ratio over the last minute.
    pub handler_idle_history: History,
    /// Requests per second over the last minute.
    pub request_history: History,
    /// The processors by number.
    pub processors: BTreeMap<u32, Processor>,
    /// The kinds of request by name.
    pub requests: BTreeMap<String, RequestKind>,
    /// Requests of any kind per second.
    pub requests_per_second: f64,
    /// Bytes per second from producers.
    pub bytes_in_per_second: f64,
    /// Bytes per second to consumers.
    pub bytes_out_per_second: f64,
}

impl Network {
    /// Takes in a reading.
    pub(super) fn apply(&mut self, now: Millis, sample: NetworkSample) {
        let elapsed_s =
            self.seen.map(|seen| now.since(seen).0 as f64 / 1000.0).filter(|elapsed| *elapsed > 0.0);
        self.apply_queues(now, &sample);
        self.apply_requests(now, &sample, elapsed_s);
        let rate = |new: Option<u64>, old: Option<u64>| match (new, old, elapsed_s) {
            (Some(new), Some(old), Some(elapsed)) => new.saturating_sub(old) as f64 / elapsed,
            _ => 0.0,
        };
        self.bytes_in_per_second = rate(sample.bytes_in_total, self.sample.bytes_in_total);
        self.bytes_out_per_second = rate(sample.bytes_out_total, self.sample.bytes_out_total);
        self.seen = Some(now);
        self.sample = sample;
    }

    fn apply_queues(&mut self, now: Millis, sample: &NetworkSample) {
        self.request_queue_history
            .push(now, f64::from(sample.request_queue_max_now(self.sample.request_queue_max)));
        self.request_queue_max =
            sample.request_queue_max.unwrap_or_else(|| whole(self.request_queue_history.max()));
        if let Some(idle) = sample.handler_idle_ratio {
            self.handler_idle_history.push(now, idle);
        }
        self.processors.retain(|number, _| sample.processors.iter().any(|read| read.processor == *number));
        for read in &sample.processors {
            let processor = self.processors.entry(read.processor).or_default();
            processor.response_queue_history.push(now, f64::from(read.response_queue_size));
            processor.response_queue_max =
                read.response_queue_max.unwrap_or_else(|| whole(processor.response_queue_history.max()));
            processor.sample = read.clone();
        }
    }

    fn apply_requests(&mut self, now: Millis, sample: &NetworkSample, elapsed_s: Option<f64>) {
        for read in &sample.requests {
            let kind = self.requests.entry(read.request.clone()).or_default();
            if let Some(elapsed_s) = elapsed_s {
                // A broker that was started again counts from zero.
                let count = read.count_total.saturating_sub(kind.sample.count_total) as f64;
                let errors = read.errors_total.saturating_sub(kind.sample.errors_total) as f64;
                kind.per_second = count / elapsed_s;
                kind.errors_per_second = errors / elapsed_s;
                if count > 0.0 {
                    kind.mean = read.times_total.mean_since(kind.sample.times_total, count);
                }
            }
            kind.sample = read.clone();
        }
        self.requests_per_second = self.requests.values().map(|kind| kind.per_second).sum();
        if elapsed_s.is_some() {
            self.request_history.push(now, self.requests_per_second);
        }
    }
}

impl NetworkSample {
    /// Returns the depth to draw for this reading: the size now, or the broker's own maximum when it has just grown,
    /// so that a peak between two readings is not lost.
    fn request_queue_max_now(&self, max_before: Option<u32>) -> u32 {
        match (self.request_queue_max, max_before) {
            (Some(max), Some(before)) if max > before => max.max(self.request_queue_size),
            _ => self.request_queue_size,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the histories hold sizes of queues"
)]
fn whole(value: Option<f64>) -> u32 {
    value.unwrap_or(0.0).round() as u32
}
