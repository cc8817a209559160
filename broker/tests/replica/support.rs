//! One broker's replica manager in a temporary directory, and short names for what is done to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use bytes::Bytes;
use ottla_broker::config::{BrokerConfig, TopicConfig};
use ottla_broker::log::{LogManager, LogManagerOptions, Origin};
use ottla_broker::metadata::MetadataCache;
use ottla_broker::metrics::Metrics;
use ottla_broker::replica::fetch_session::{FetchKey, FetchPartition, TopicKey};
use ottla_broker::replica::machine::Acks;
use ottla_broker::replica::{
    FetchOutcome, FetchParams, ProduceOutcome, Reader, ReplicaDependencies, ReplicaManager, ReplicaOptions,
};
use ottla_broker::types::{BrokerEpoch, BrokerId, LeaderEpoch, Offset, TopicPartition};
use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionState, LeaderAndIsrTopicState};
use ottla_protocol::message::update_metadata::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use ottla_protocol::message::{ErrorCode, LeaderAndIsrRequest, UpdateMetadataRequest};

/// Long enough that only a mistake makes a test wait for it.
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) struct Broker {
    pub(crate) manager: Arc<ReplicaManager>,
    pub(crate) broker_epoch: Arc<AtomicI64>,
    metadata: Arc<MetadataCache>,
    logs: Arc<LogManager>,
    _runtime: tokio::runtime::Runtime,
    directory: tempfile::TempDir,
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.manager.shutdown();
        self.metadata.shutdown();
        self.logs.shutdown(BrokerEpoch(100));
    }
}

impl Broker {
    /// Broker 1, with the topic's `min.insync.replicas`.
    pub(crate) fn new(min_insync_replicas: i32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let logs = directory.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        let logs = LogManager::open(LogManagerOptions::new(vec![logs], BrokerId(1), "cluster")).unwrap();
        let metadata = Arc::new(MetadataCache::new().unwrap());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let broker_epoch = Arc::new(AtomicI64::new(100));
        let epoch = Arc::clone(&broker_epoch);
        let config = TopicConfig { min_insync_replicas, ..TopicConfig::default() };
        let dependencies = ReplicaDependencies {
            metrics: Metrics::new(),
            broker_epoch: Arc::new(move || BrokerEpoch(epoch.load(Ordering::SeqCst))),
            topic_config: Arc::new(move |_| config.clone()),
            background: runtime.handle().clone(),
        };
        let options = ReplicaOptions::of_config(BrokerId(1), "PLAINTEXT", &BrokerConfig::default());
        let manager =
            ReplicaManager::new(options, Arc::clone(&logs), Arc::clone(&metadata), dependencies).unwrap();
        let broker = Self { manager, broker_epoch, metadata, logs, _runtime: runtime, directory };
        broker.live(&[1, 2, 3]);
        broker
    }

    /// The path of a partition's log.
    pub(crate) fn path(&self, partition: i32) -> std::path::PathBuf {
        self.directory.path().join("logs").join(format!("orders-{partition}"))
    }

    /// Tells which brokers are alive, as the controller does. Nobody listens at their addresses.
    pub(crate) fn live(&self, ids: &[i32]) {
        self.manager.update_metadata(&update_metadata(ids)).unwrap();
    }

    pub(crate) fn command(&self, leader: i32, leader_epoch: i32, isr: &[i32]) -> ErrorCode {
        let outcome = self.manager.apply_leader_and_isr(&leader_and_isr(leader, leader_epoch, isr));
        assert_eq!(outcome.error, ErrorCode::None);
        outcome.partitions[0].error
    }

    pub(crate) fn lead(&self, leader_epoch: i32, isr: &[i32]) {
        assert_eq!(self.command(1, leader_epoch, isr), ErrorCode::None);
    }

    pub(crate) fn produce(&self, acks: Acks, timeout: Duration, count: usize) -> Receiver<ProduceOutcome> {
        let (told, heard) = channel();
        let complete = move |outcomes: Vec<(TopicPartition, ProduceOutcome)>| {
            told.send(outcomes.into_iter().next().unwrap().1).unwrap();
        };
        let batches = vec![(partition(0), batch(count))];
        self.manager.append(acks, timeout, batches, Origin::Client, Box::new(complete));
        heard
    }

    pub(crate) fn fetch(&self, params: FetchParams, wanted: FetchPartition) -> Receiver<FetchOutcome> {
        let (told, heard) = channel();
        let complete = move |outcomes: Vec<FetchOutcome>| {
            told.send(outcomes.into_iter().next().unwrap()).unwrap();
        };
        self.manager.fetch(params, vec![wanted], Box::new(complete));
        heard
    }

    /// A follower has everything before `offset`, and is answered at once.
    pub(crate) fn follower_at(&self, replica: i32, offset: i64) -> FetchOutcome {
        let params = FetchParams { max_wait: Duration::ZERO, ..follower(replica) };
        soon(&self.fetch(params, wanted(offset)))
    }
}

pub(crate) fn partition(number: i32) -> TopicPartition {
    TopicPartition::new("orders", number)
}

pub(crate) fn soon<T>(heard: &Receiver<T>) -> T {
    heard.recv_timeout(LONG).expect("an answer")
}

/// Nothing has been answered so far.
pub(crate) fn not_yet<T: std::fmt::Debug>(heard: &Receiver<T>) {
    let answer = heard.recv_timeout(Duration::ZERO);
    assert!(matches!(answer, Err(RecvTimeoutError::Timeout)), "answered too early: {answer:?}");
}

pub(crate) fn consumer() -> FetchParams {
    FetchParams {
        replica: None,
        reader: Reader::Consumer,
        leader_only: true,
        max_wait: LONG,
        min_bytes: 1,
        max_bytes: 1 << 20,
        at_least_one_batch: true,
    }
}

pub(crate) fn follower(replica: i32) -> FetchParams {
    FetchParams { replica: Some(BrokerId(replica)), reader: Reader::Follower, ..consumer() }
}

pub(crate) fn wanted(fetch_offset: i64) -> FetchPartition {
    FetchPartition {
        key: FetchKey { topic: TopicKey::Name(Arc::from("orders")), partition: 0 },
        topic: Some(Arc::from("orders")),
        fetch_offset: Offset(fetch_offset),
        current_leader_epoch: None,
        last_fetched_epoch: None,
        log_start: Offset::ZERO,
        max_bytes: 1 << 20,
    }
}

pub(crate) fn wanted_after(fetch_offset: i64, last_fetched_epoch: i32) -> FetchPartition {
    FetchPartition { last_fetched_epoch: Some(LeaderEpoch(last_fetched_epoch)), ..wanted(fetch_offset) }
}

pub(crate) fn leader_and_isr(leader: i32, leader_epoch: i32, isr: &[i32]) -> LeaderAndIsrRequest {
    let state = LeaderAndIsrPartitionState {
        controller_epoch: 1,
        leader,
        leader_epoch,
        isr: isr.to_vec(),
        replicas: vec![1, 2, 3],
        is_new: leader_epoch == 0,
        ..Default::default()
    };
    LeaderAndIsrRequest {
        controller_id: 1,
        controller_epoch: 1,
        broker_epoch: 100,
        topic_states: vec![LeaderAndIsrTopicState {
            topic_name: "orders".to_owned(),
            partition_states: vec![state],
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub(crate) fn update_metadata(live: &[i32]) -> UpdateMetadataRequest {
    let broker = |id: &i32| UpdateMetadataBroker {
        id: *id,
        endpoints: vec![UpdateMetadataEndpoint {
            // Port 1 on loopback: refused at once.
            port: 1,
            host: "127.0.0.1".to_owned(),
            listener: "PLAINTEXT".to_owned(),
            ..Default::default()
        }],
        ..Default::default()
    };
    UpdateMetadataRequest {
        controller_id: -1,
        controller_epoch: 1,
        broker_epoch: 100,
        live_brokers: live.iter().map(broker).collect(),
        topic_states: vec![UpdateMetadataTopicState {
            topic_name: "orders".to_owned(),
            partition_states: (0..2)
                .map(|partition_index| UpdateMetadataPartitionState {
                    partition_index,
                    leader: 1,
                    replicas: vec![1, 2, 3],
                    isr: vec![1, 2, 3],
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// A batch of `count` small records, as a producer sends it.
pub(crate) fn batch(count: usize) -> Bytes {
    let mut tail = Vec::new();
    tail.extend(0i16.to_be_bytes());
    tail.extend((count as i32 - 1).to_be_bytes());
    tail.extend(1_700_000_000_000i64.to_be_bytes());
    tail.extend(1_700_000_000_000i64.to_be_bytes());
    tail.extend((-1i64).to_be_bytes());
    tail.extend((-1i16).to_be_bytes());
    tail.extend((-1i32).to_be_bytes());
    tail.extend((count as i32).to_be_bytes());
    for delta in 0..count as u8 {
        // Length, attributes, timestamp delta, offset delta, no key, a value of one byte, no headers; zig-zag.
        tail.extend([14, 0, 0, delta * 2, 1, 2, b'v', 0]);
    }
    let mut batch = Vec::new();
    batch.extend(0i64.to_be_bytes());
    batch.extend((tail.len() as i32 + 9).to_be_bytes());
    batch.extend((-1i32).to_be_bytes());
    batch.push(2);
    batch.extend(crc_fast::crc32_iscsi(&tail).to_be_bytes());
    batch.extend(tail);
    batch.into()
}
