//! What the network counts, under Kafka's names.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::request::Stages;
use crate::metrics::{Counter, Gauge, Histogram, Metrics};

/// Counts and times of one kind of request.
#[derive(Debug)]
pub struct KindMetrics {
    requests: Arc<Counter>,
    total: Arc<Histogram>,
    request_queue: Arc<Histogram>,
    local: Arc<Histogram>,
    remote: Arc<Histogram>,
    response_queue: Arc<Histogram>,
    send: Arc<Histogram>,
}

impl KindMetrics {
    fn new(metrics: &Metrics, kind: &str) -> Self {
        let labels = [("request", kind)];
        let times = |name, help| metrics.histogram(name, help, &labels);
        Self {
            requests: metrics.counter(
                "kafka_network_requestmetrics_requests_total",
                "Requests that were answered, by kind.",
                &labels,
            ),
            total: times(
                "kafka_network_requestmetrics_totaltimems",
                "From a request's arrival until its answer left.",
            ),
            request_queue: times(
                "kafka_network_requestmetrics_requestqueuetimems",
                "In the request channel.",
            ),
            local: times("kafka_network_requestmetrics_localtimems", "In a handler."),
            remote: times(
                "kafka_network_requestmetrics_remotetimems",
                "Waiting in a purgatory or for another broker.",
            ),
            response_queue: times(
                "kafka_network_requestmetrics_responsequeuetimems",
                "In the response queue of a processor.",
            ),
            send: times("kafka_network_requestmetrics_responsesendtimems", "Being sent."),
        }
    }

    pub(crate) fn observe(&self, stages: Stages, response_queue: Duration, send: Duration, total: Duration) {
        self.requests.increment();
        self.request_queue.observe(stages.request_queue);
        self.local.observe(stages.local);
        self.remote.observe(stages.remote);
        self.response_queue.observe(response_queue);
        self.send.observe(send);
        self.total.observe(total);
    }
}

/// Why a request or its connection was refused; each reason is counted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejected {
    /// The frame's length is negative or above the limit.
    FrameLength,
    /// The frame's header cannot be read.
    Header,
    /// No such API, or not this version of it.
    Api,
    /// The body cannot be read.
    Body,
    /// A frame began and did not go on.
    HalfFrame,
    /// Too many connections from one address.
    Connection,
}

impl Rejected {
    const ALL: [Self; 6] =
        [Self::FrameLength, Self::Header, Self::Api, Self::Body, Self::HalfFrame, Self::Connection];

    fn label(self) -> &'static str {
        match self {
            Self::FrameLength => "frame_length",
            Self::Header => "header",
            Self::Api => "api",
            Self::Body => "body",
            Self::HalfFrame => "half_frame",
            Self::Connection => "connections_per_ip",
        }
    }
}

/// What the whole network counts.
#[derive(Debug)]
pub struct NetMetrics {
    registry: Arc<Metrics>,
    kinds: Mutex<BTreeMap<&'static str, Arc<KindMetrics>>>,
    rejected: BTreeMap<Rejected, Arc<Counter>>,
    /// Answers that could not be sent whole because a file was shorter than it should be.
    pub(crate) short_files: Arc<Counter>,
    /// Connections that were closed for being idle.
    pub(crate) idle_closed: Arc<Counter>,
    /// Times that accepting failed.
    pub(crate) accept_errors: Arc<Counter>,
    /// Bytes read from clients.
    pub(crate) bytes_in: Arc<Counter>,
    /// Bytes sent to clients.
    pub(crate) bytes_out: Arc<Counter>,
}

impl NetMetrics {
    /// Registers the metrics.
    #[must_use]
    pub fn new(registry: Arc<Metrics>) -> Arc<Self> {
        let rejected = Rejected::ALL.map(|reason| {
            let labels = [("reason", reason.label())];
            (
                reason,
                registry.counter(
                    "ottla_network_rejected_total",
                    "Requests and connections refused.",
                    &labels,
                ),
            )
        });
        Arc::new(Self {
            rejected: BTreeMap::from(rejected),
            kinds: Mutex::default(),
            short_files: registry.counter(
                "ottla_network_short_files_total",
                "Answers given up because a log file was shorter than its log.",
                &[],
            ),
            idle_closed: registry.counter(
                "kafka_server_socket_server_metrics_expired_connections_killed_total",
                "Connections closed for being idle.",
                &[],
            ),
            accept_errors: registry.counter(
                "ottla_network_accept_errors_total",
                "Times that accepting failed.",
                &[],
            ),
            bytes_in: registry.counter(
                "kafka_server_socket_server_metrics_incoming_byte_total",
                "Bytes read from clients.",
                &[],
            ),
            bytes_out: registry.counter(
                "kafka_server_socket_server_metrics_outgoing_byte_total",
                "Bytes sent to clients.",
                &[],
            ),
            registry,
        })
    }

    /// Counts something that was refused.
    pub fn reject(&self, reason: Rejected) {
        if let Some(counter) = self.rejected.get(&reason) {
            counter.increment();
        }
    }

    /// Returns how often that was refused.
    #[must_use]
    pub fn rejected(&self, reason: Rejected) -> u64 {
        self.rejected.get(&reason).map_or(0, |counter| counter.value())
    }

    /// Returns the metrics of a kind of request, made when it is new.
    #[must_use]
    pub fn kind(&self, kind: &'static str) -> Arc<KindMetrics> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(kinds.entry(kind).or_insert_with(|| Arc::new(KindMetrics::new(&self.registry, kind))))
    }

    /// Returns the gauge of open connections of one listener on one processor.
    pub(crate) fn connections(&self, listener: &str, processor: usize) -> Arc<Gauge> {
        self.registry.gauge(
            "kafka_server_socket_server_metrics_connection_count",
            "Open connections.",
            &[("listener", listener), ("networkprocessor", &processor.to_string())],
        )
    }

    /// Returns the registry that all of this is printed from.
    #[must_use]
    pub fn registry(&self) -> &Arc<Metrics> {
        &self.registry
    }
}
