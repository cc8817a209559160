//! The model as `ottla status --json` prints it: a shape that stays. `docs/status-json.md` describes it field by field.
//!
//! What is not known is `null`. Lists are in the order of their keys, so that two outputs can be compared. A field may
//! be added; one that is there keeps its name and meaning as long as [`FORMAT`] stays.

use std::collections::BTreeMap;

use ottla_broker::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset};
use serde::{Deserialize, Serialize};

use super::broker::{Broker, BrokerState};
use super::cluster::ZookeeperConnection;
use super::group::{Group, GroupState, Member};
use super::network::Network;
use super::partition::Partition;
use super::source::{Source, SourceName};
use super::state::Model;
use super::topic::Topic;

/// The number of this shape.
const FORMAT: u32 = 1;

/// A whole cluster at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The number of this shape.
    pub format: u32,
    /// The moment, milliseconds since the Unix epoch.
    pub at_ms: Millis,
    /// What the operator calls the cluster.
    pub cluster: String,
    /// The id in `/cluster/id`.
    pub cluster_id: Option<String>,
    /// The coordination service.
    pub zookeeper: ZookeeperStatus,
    /// Who is the controller.
    pub controller: ControllerStatus,
    /// The brokers, those that are down too.
    pub brokers: Vec<BrokerStatus>,
    /// The topics, the internal ones too.
    pub topics: Vec<TopicStatus>,
    /// The consumer groups.
    pub groups: Vec<GroupStatus>,
    /// The queues of each broker whose metrics could be read.
    pub network: Vec<NetworkStatus>,
    /// What could not be read, and why.
    pub stale_sources: Vec<SourceStatus>,
}

/// The coordination service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ZookeeperStatus {
    /// Where it is: `host:port,host:port/chroot`.
    pub connect: String,
    /// `connected`, `connecting`, `disconnected`, `expired` or `unknown`.
    pub state: String,
    /// Whether it is the embedded server.
    pub embedded: bool,
    /// The process id of the embedded server.
    pub pid: Option<u32>,
}

/// Who is the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControllerStatus {
    /// The broker; `null` while there is none.
    pub id: Option<BrokerId>,
    /// How many controllers there have been.
    pub epoch: Option<ControllerEpoch>,
}

/// A broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrokerStatus {
    /// Its id.
    pub id: BrokerId,
    /// Where clients reach it.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// Its process id, when its process runs on this machine and belongs to this cluster's data directory.
    pub pid: Option<u32>,
    /// `up`, `starting`, `stopping`, `frozen`, `unregistered` or `down`.
    pub state: BrokerState,
    /// Whether its process is supervised here.
    pub owned: bool,
    /// The partitions it leads.
    pub leaders: i64,
    /// The partitions it holds a copy of.
    pub replicas: i64,
    /// The share of one core that its process uses.
    pub cpu_ratio: Option<f64>,
    /// Resident memory of its process.
    pub resident_bytes: Option<u64>,
    /// Bytes in its log directories.
    pub disk_bytes: Option<u64>,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicStatus {
    /// Its name.
    pub name: String,
    /// Its id, where the cluster gives topics ids.
    pub topic_id: Option<String>,
    /// Its partitions.
    pub partitions: Vec<PartitionStatus>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartitionStatus {
    /// Its number.
    pub partition: i32,
    /// Who leads; `null` while nobody does.
    pub leader: Option<BrokerId>,
    /// How many leaders there have been.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The assigned replicas, the preferred leader first.
    pub replicas: Vec<BrokerId>,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// The first offset that can still be read.
    pub log_start_offset: Option<Offset>,
    /// The offset of the next record, as the leader has it.
    pub log_end_offset: Option<Offset>,
    /// The first offset that is not committed, as the leader knows it.
    pub high_watermark: Option<Offset>,
    /// Whether nobody serves it.
    pub offline: bool,
    /// Whether fewer replicas are in sync than are assigned.
    pub under_replicated: bool,
    /// Each assigned replica.
    pub replica_logs: Vec<ReplicaStatus>,
}

/// One copy of a partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicaStatus {
    /// The broker that has it.
    pub broker: BrokerId,
    /// Whether it is in sync.
    pub in_sync: bool,
    /// The offset of its next record.
    pub log_end_offset: Option<Offset>,
    /// How many records it is behind the leader.
    pub lag: Option<i64>,
}

/// A consumer group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupStatus {
    /// Its id.
    pub group: String,
    /// `stable`, `preparing_rebalance`, `completing_rebalance`, `empty`, `dead` or `unknown`.
    pub state: GroupState,
    /// How partitions are handed out.
    pub protocol: String,
    /// How many rebalances it has been through.
    pub generation: Option<i32>,
    /// The broker that coordinates it.
    pub coordinator: Option<BrokerId>,
    /// Its members.
    pub members: Vec<GroupMemberStatus>,
    /// Its offsets.
    pub offsets: Vec<GroupOffsetStatus>,
    /// The sum of its lags, as far as they are known.
    pub lag: Option<i64>,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMemberStatus {
    /// The id the coordinator gave it.
    pub member_id: String,
    /// What it calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub client_host: String,
    /// The partitions it reads, by topic.
    pub assignment: BTreeMap<String, Vec<i32>>,
}

/// Where a group stands in a partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupOffsetStatus {
    /// The topic.
    pub topic: String,
    /// The partition.
    pub partition: i32,
    /// The next offset to read; `null` when nothing was committed.
    pub committed_offset: Option<Offset>,
    /// Where the partition ends for consumers.
    pub end_offset: Option<Offset>,
    /// How many records are still to be read.
    pub lag: Option<i64>,
    /// The member that reads it.
    pub member_id: Option<String>,
}

/// The queues of one broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkStatus {
    /// The broker.
    pub broker: BrokerId,
    /// Requests in the request channel.
    pub request_queue_size: u32,
    /// The most there were within the last minute.
    pub request_queue_max: u32,
    /// The most there can be.
    pub request_queue_capacity: Option<u32>,
    /// The share of the handlers' time that they had nothing to do.
    pub handler_idle_ratio: Option<f64>,
    /// The processors.
    pub processors: Vec<ProcessorStatus>,
}

/// A processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessorStatus {
    /// Its number.
    pub processor: u32,
    /// Responses waiting to be sent.
    pub response_queue_size: u32,
    /// The most there were within the last minute.
    pub response_queue_max: u32,
    /// Its connections.
    pub connections: Option<u32>,
    /// The share of its time that it had nothing to do.
    pub idle_ratio: Option<f64>,
}

/// A source that cannot be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Which one, in words.
    pub source: String,
    /// Since when, milliseconds since the Unix epoch.
    pub since_ms: Millis,
    /// Why, in words.
    pub why: String,
}

impl Status {
    /// Returns what the model knows at `now`.
    pub fn of(model: &Model, now: Millis) -> Self {
        let cluster = &model.cluster;
        Self {
            format: FORMAT,
            at_ms: now,
            cluster: cluster.profile.name.clone(),
            cluster_id: cluster.cluster_id.clone(),
            zookeeper: zookeeper(model, &cluster.zookeeper),
            controller: ControllerStatus { id: cluster.controller, epoch: cluster.controller_epoch },
            brokers: model.brokers.values().map(|known| broker(model, known)).collect(),
            topics: model.topics.iter().map(|(name, known)| topic(name, known)).collect(),
            groups: model.groups.iter().map(|(name, known)| group(name, known)).collect(),
            network: model.networks.iter().map(|(id, known)| network(*id, known)).collect(),
            stale_sources: model.sources.iter().filter_map(|(name, known)| source(*name, known)).collect(),
        }
    }
}

fn zookeeper(model: &Model, connection: &ZookeeperConnection) -> ZookeeperStatus {
    let profile = &model.cluster.profile;
    ZookeeperStatus {
        connect: profile.zookeeper.clone(),
        state: connection.word().to_owned(),
        embedded: profile.zookeeper_embedded,
        pid: model.zookeeper.as_ref().and_then(|process| process.state.as_ref()?.pid()),
    }
}

fn broker(model: &Model, broker: &Broker) -> BrokerStatus {
    let share = model.summary.share(broker.id);
    let usage = broker.process.as_ref().and_then(|process| process.usage);
    BrokerStatus {
        id: broker.id,
        host: broker.address().map(|(host, _)| host.to_owned()),
        port: broker.address().map(|(_, port)| port),
        pid: broker.pid(),
        state: broker.state,
        owned: broker.is_owned(),
        leaders: share.leaders,
        replicas: share.replicas,
        cpu_ratio: usage.map(|usage| usage.cpu_ratio),
        resident_bytes: usage.map(|usage| usage.resident_bytes),
        disk_bytes: usage.map(|usage| usage.disk_bytes),
    }
}

fn topic(name: &str, topic: &Topic) -> TopicStatus {
    TopicStatus {
        name: name.to_owned(),
        topic_id: topic.topic_id.clone(),
        partitions: topic.partitions.iter().map(|(number, known)| partition(*number, known)).collect(),
    }
}

fn partition(number: i32, partition: &Partition) -> PartitionStatus {
    let replica_logs = partition.replicas.iter().map(|broker| {
        let log = partition.logs.get(broker).copied().unwrap_or_default();
        ReplicaStatus {
            broker: *broker,
            in_sync: partition.isr().contains(broker),
            log_end_offset: log.log_end_offset,
            lag: log.lag,
        }
    });
    PartitionStatus {
        partition: number,
        leader: partition.leader(),
        leader_epoch: partition.state.as_ref().map(|state| state.leader_epoch),
        replicas: partition.replicas.clone(),
        isr: partition.isr().to_vec(),
        log_start_offset: partition.log_start_offset(),
        log_end_offset: partition.log_end_offset(),
        high_watermark: partition.high_watermark(),
        offline: partition.health.offline,
        under_replicated: partition.health.under_replicated,
        replica_logs: replica_logs.collect(),
    }
}

fn group(name: &str, group: &Group) -> GroupStatus {
    let description = &group.description;
    let offsets = group.offsets.iter().map(|(partition, committed)| GroupOffsetStatus {
        topic: partition.topic.to_string(),
        partition: partition.partition,
        committed_offset: committed.offset,
        end_offset: committed.end,
        lag: committed.lag,
        member_id: committed.member.and_then(|index| Some(description.members.get(index)?.member_id.clone())),
    });
    GroupStatus {
        group: name.to_owned(),
        state: description.state,
        protocol: description.protocol.clone(),
        generation: description.generation,
        coordinator: description.coordinator,
        members: description.members.iter().map(member).collect(),
        offsets: offsets.collect(),
        lag: group.lag,
    }
}

fn member(member: &Member) -> GroupMemberStatus {
    let mut assignment = BTreeMap::<String, Vec<i32>>::new();
    for partition in &member.assignment {
        assignment.entry(partition.topic.to_string()).or_default().push(partition.partition);
    }
    assignment.values_mut().for_each(|numbers| numbers.sort_unstable());
    GroupMemberStatus {
        member_id: member.member_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        assignment,
    }
}

fn network(broker: BrokerId, network: &Network) -> NetworkStatus {
    let processors = network.processors.iter().map(|(number, processor)| ProcessorStatus {
        processor: *number,
        response_queue_size: processor.sample.response_queue_size,
        response_queue_max: processor.response_queue_max,
        connections: processor.sample.connections,
        idle_ratio: processor.sample.idle_ratio,
    });
    NetworkStatus {
        broker,
        request_queue_size: network.sample.request_queue_size,
        request_queue_max: network.request_queue_max,
        request_queue_capacity: network.sample.request_queue_capacity,
        handler_idle_ratio: network.sample.handler_idle_ratio,
        processors: processors.collect(),
    }
}

fn source(name: SourceName, source: &Source) -> Option<SourceStatus> {
    let (since, why) = source.stale.as_ref()?;
    Some(SourceStatus { source: name.to_string(), since_ms: *since, why: why.clone() })
}
