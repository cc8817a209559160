//! One story that all screens are taken from: three brokers under load, of which one is killed.

use std::collections::BTreeMap;

use ottla::model::{
    ActionId, ActionUpdate, BrokerUpdate, ClusterUpdate, GroupDescription, GroupOffset, GroupState,
    GroupUpdate, LoadGroup, LoadState, Member, Model, NetworkSample, PartitionState, PartitionUpdate,
    ProcessKind, ProcessState, ProcessUpdate, ProcessorSample, Profile, Progress, Registration,
    ReplicaOffsets, RequestSample, RequestTimes, SourceHealth, SourceName, SourceUpdate, TopicUpdate, Update,
    Usage, ZookeeperConnection,
};
use ottla_broker::types::{
    BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch, TopicPartition,
};

/// 14 November 2023, 22:13:20 UTC.
const EPOCH: i64 = 1_700_000_000_000;
const BROKERS: [i32; 3] = [1, 2, 3];
/// Topics with their partitions and records per second.
const TOPICS: [(&str, i32, i64); 5] = [
    ("clicks", 12, 900),
    ("orders", 6, 240),
    ("payments", 6, 80),
    ("shipments-by-region-and-carrier", 4, 12),
    ("__consumer_offsets", 50, 4),
];

/// A model, the moment, and what the story needs to go on.
pub struct Story {
    pub model: Model,
    pub now: Millis,
    ends: BTreeMap<TopicPartition, i64>,
    epochs: BTreeMap<TopicPartition, i32>,
    leaders: BTreeMap<TopicPartition, i32>,
    down: Vec<i32>,
    requests: u64,
    noise: u64,
}

fn broker(id: i32) -> ProcessKind {
    ProcessKind::Broker(BrokerId(id))
}

impl Story {
    /// Nothing is known but what was asked for: the first frame.
    pub fn first_frame() -> Self {
        let mut story = Self {
            model: Model::default(),
            now: Millis(EPOCH),
            ends: BTreeMap::new(),
            epochs: BTreeMap::new(),
            leaders: BTreeMap::new(),
            down: Vec::new(),
            requests: 0,
            noise: 7,
        };
        story.tell(Update::Cluster(ClusterUpdate::Profile(Profile {
            name: "dev".into(),
            data_dir: Some("~/.local/share/ottla/dev".into()),
            zookeeper: "127.0.0.1:2181".into(),
            zookeeper_embedded: true,
            read_only: false,
        })));
        let expected = |port| ProcessUpdate::Expected { host: "127.0.0.1".into(), port };
        story.process(ProcessKind::Zookeeper, expected(2181));
        for pid in [None, Some(4100)] {
            story.process(ProcessKind::Zookeeper, ProcessUpdate::State(ProcessState::Starting { pid }));
        }
        for id in BROKERS {
            story.process(broker(id), expected(9091 + id as u16));
            story.process(broker(id), ProcessUpdate::State(ProcessState::Queued));
        }
        story.tell(Update::Cluster(ClusterUpdate::Zookeeper(ZookeeperConnection::Connecting { why: None })));
        story
    }

    /// A minute under load, with nothing wrong.
    pub fn healthy() -> Self {
        let mut story = Self::first_frame();
        story.start();
        story.create_topics();
        for _ in 0..70 {
            story.second();
        }
        story
    }

    /// Two seconds after a broker, the controller too, was killed; a group is between two assignments.
    pub fn failover() -> Self {
        let mut story = Self::healthy();
        story.kill(2);
        story.second();
        story.rebalance();
        story.pass(1_400);
        story
    }

    /// The broker is back and in sync, the group has its new assignment, leadership is where it was moved to.
    pub fn recovered() -> Self {
        let mut story = Self::failover();
        story.finish_rebalance();
        story.revive(2);
        for _ in 0..5 {
            story.second();
        }
        story
    }

    pub fn tell(&mut self, update: Update) {
        self.model.apply(self.now, update);
    }

    pub fn pass(&mut self, ms: i64) {
        self.now = self.now.plus(Millis(ms));
    }

    fn process(&mut self, process: ProcessKind, update: ProcessUpdate) {
        self.tell(Update::Process { process, update });
    }

    fn start(&mut self) {
        self.pass(180);
        let took = Some(Millis(180));
        self.process(ProcessKind::Zookeeper, ProcessUpdate::State(ProcessState::Running { pid: 4100, took }));
        let connected = ZookeeperConnection::Connected { session_id: 0x1000_2f3e_4a5b_0001 };
        self.tell(Update::Cluster(ClusterUpdate::Zookeeper(connected)));
        self.tell(Update::BrokersListed(Vec::new()));
        self.tell(Update::TopicsListed(Vec::new()));
        self.tell(Update::GroupsListed(Vec::new()));
        for id in BROKERS {
            self.process(broker(id), ProcessUpdate::State(ProcessState::Starting { pid: None }));
            self.process(
                broker(id),
                ProcessUpdate::State(ProcessState::Starting { pid: Some(self.pid(id)) }),
            );
        }
        for id in BROKERS {
            self.pass(95);
            self.come_up(id, 540 + i64::from(id) * 31);
        }
        self.tell(Update::Cluster(ClusterUpdate::ControllerEpoch(ControllerEpoch(3))));
        self.tell(Update::Cluster(ClusterUpdate::Controller(Some(BrokerId(2)))));
    }

    fn pid(&self, id: i32) -> u32 {
        4100 + id as u32 * 7
    }

    fn come_up(&mut self, id: i32, took: i64) {
        let registration = Registration {
            host: "127.0.0.1".into(),
            port: 9091 + id as u16,
            rack: None,
            epoch: BrokerEpoch(30 + i64::from(id) + self.now.0 - EPOCH),
            registered_at: self.now,
        };
        let running = ProcessState::Running { pid: self.pid(id), took: Some(Millis(took)) };
        self.process(broker(id), ProcessUpdate::State(running));
        let update = BrokerUpdate::Registered(registration);
        self.tell(Update::Broker { broker: BrokerId(id), update });
    }

    fn create_topics(&mut self) {
        self.pass(2_000);
        for (topic, partitions, _) in TOPICS {
            let replicas = |n: i32| (0..3).map(|place| BrokerId((n + place) % 3 + 1)).collect();
            let update = TopicUpdate::Assigned {
                topic_id: None,
                partitions: (0..partitions).map(|n| (n, replicas(n))).collect(),
            };
            self.tell(Update::Topic { topic: topic.into(), update });
            for n in 0..partitions {
                let name = TopicPartition::new(topic, n);
                self.ends.insert(name.clone(), 0);
                self.epochs.insert(name.clone(), 0);
                self.elect(&name, n % 3 + 1);
            }
        }
    }

    /// Writes a partition's state: this leader, and everybody in sync who is up.
    fn elect(&mut self, name: &TopicPartition, leader: i32) {
        let epoch = self.epochs.entry(name.clone()).or_default();
        let moved = self.leaders.insert(name.clone(), leader) != Some(leader);
        *epoch += i32::from(moved);
        let n = name.partition;
        let isr = (0..3).map(|place| (n + place) % 3 + 1).filter(|id| !self.down.contains(id)).map(BrokerId);
        let state = PartitionState {
            leader: BrokerId(leader),
            leader_epoch: LeaderEpoch(*epoch),
            controller_epoch: ControllerEpoch(3),
            isr: isr.collect(),
            partition_epoch: PartitionEpoch(*epoch * 2),
        };
        self.tell(Update::Partition { partition: name.clone(), update: PartitionUpdate::State(state) });
    }

    fn noise(&mut self, below: u64) -> u64 {
        self.noise =
            self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 33) % below.max(1)
    }

    /// One second of load.
    pub fn second(&mut self) {
        self.pass(1_000);
        let wave = |second: i64, length: i64| ((second % length) - length / 2).abs();
        let second = (self.now.0 - EPOCH) / 1_000;
        for (topic, partitions, rate) in TOPICS {
            for n in 0..partitions {
                let noise = self.noise(rate as u64 / 4 + 1) as i64;
                let more = (rate * (6 + wave(second, 23)) / 12 + noise) / i64::from(partitions);
                *self.ends.get_mut(&TopicPartition::new(topic, n)).unwrap() +=
                    more.max(i64::from(n % 3 == 0));
            }
        }
        for id in BROKERS {
            if self.down.contains(&id) {
                continue;
            }
            self.offsets(id);
            self.usage(id, second);
            self.network(id, second);
        }
        self.process(ProcessKind::Zookeeper, ProcessUpdate::Usage(self.used(0.02, 11, 9, 21)));
        self.groups(second);
        let written: i64 = TOPICS[..4].iter().map(|(_, _, rate)| rate * second * 2 / 3).sum();
        self.tell(Update::Load(LoadState {
            running: true,
            topics: TOPICS[..4].iter().map(|(topic, ..)| (*topic).to_owned()).collect(),
            target_per_second: 1_000,
            acknowledged_total: written as u64,
            failed_total: 0,
            consumed_total: written as u64 * 2 - 400,
            groups: vec![
                LoadGroup { group: "billing".into(), members: 2 },
                LoadGroup { group: "fraud-detection".into(), members: 3 },
            ],
            error: None,
        }));
    }

    fn offsets(&mut self, id: i32) {
        let ends: Vec<_> = self.ends.iter().map(|(name, end)| (name.clone(), *end)).collect();
        let mut replicas = Vec::new();
        for (partition, end) in ends {
            let leads = self.leaders.get(&partition) == Some(&id);
            let behind = if leads { 0 } else { (self.noise(5) as i64 - 2).max(0) };
            replicas.push(ReplicaOffsets {
                log_start_offset: Some(Offset(0)),
                log_end_offset: Some(Offset((end - behind).max(0))),
                high_watermark: Some(Offset((end - 2).max(0))),
                size_bytes: Some(end as u64 * 118),
                partition,
            });
        }
        self.tell(Update::Offsets { broker: BrokerId(id), replicas });
    }

    fn used(&self, cpu_ratio: f64, mib: u64, threads: u32, open_files: u32) -> Usage {
        Usage {
            cpu_ratio,
            resident_bytes: mib * 1024 * 1024 + 300_000,
            threads,
            open_files,
            disk_bytes: self.ends.values().map(|end| *end as u64 * 118).sum::<u64>() + 2_000_000,
            disk_free_bytes: 412 * 1024 * 1024 * 1024,
            started_at: Some(Millis(EPOCH + 400)),
        }
    }

    fn usage(&mut self, id: i32, second: i64) {
        let cpu = 0.08 + 0.03 * f64::from(id) + ((second * i64::from(id)) % 17) as f64 * 0.018;
        let usage = self.used(cpu, 24 + id as u64 * 3, 19, 140 + id as u32);
        self.process(broker(id), ProcessUpdate::Usage(usage));
    }

    fn network(&mut self, id: i32, second: i64) {
        self.requests += 700 + self.noise(200);
        let depth = self.noise(4) as u32 + u32::from(second % 19 == 0) * 23;
        let total = self.requests;
        let kind = |request: &str, share: u64, queue: f64, local: f64, remote: f64| {
            let count = total * share / 100;
            let n = count as f64;
            let times = RequestTimes {
                request_queue_ms: n * queue,
                local_ms: n * local,
                remote_ms: n * remote,
                response_queue_ms: n * 0.02,
                response_send_ms: n * 0.04,
                total_ms: n * (queue + local + remote + 0.06),
            };
            RequestSample { request: request.into(), count_total: count, errors_total: 0, times_total: times }
        };
        let processor = |number: u32| ProcessorSample {
            processor: number,
            response_queue_size: (depth + number) % 3,
            response_queue_max: Some(2 + number),
            connections: Some(6 + number),
            idle_ratio: Some(0.97 - f64::from(number) * 0.04 - f64::from(depth) * 0.01),
        };
        let sample = NetworkSample {
            request_queue_size: depth,
            request_queue_max: Some(26),
            request_queue_capacity: Some(500),
            handlers: Some(8),
            handler_idle_ratio: Some(0.91 - 0.02 * f64::from(id) - f64::from(depth) * 0.004),
            processors: (0..3).map(processor).collect(),
            requests: vec![
                kind("Produce", 34, 0.04, 0.21, 1.42),
                kind("FetchConsumer", 22, 0.03, 0.09, 18.0),
                kind("FetchFollower", 38, 0.03, 0.07, 3.9),
                kind("Metadata", 1, 0.02, 0.31, 0.0),
                kind("OffsetCommit", 3, 0.03, 0.12, 2.1),
                kind("Heartbeat", 2, 0.02, 0.03, 0.0),
            ],
            bytes_in_total: Some(total * 410),
            bytes_out_total: Some(total * 1_190),
            purgatory: BTreeMap::from([("Fetch".into(), 11), ("Produce".into(), 2)]),
            refused_total: BTreeMap::new(),
        };
        self.tell(Update::Network { broker: BrokerId(id), sample });
    }

    fn groups(&mut self, second: i64) {
        self.group("billing", &["orders", "payments"], 2, GroupState::Stable, 4, second % 23);
        let rebalancing =
            self.model.groups.get("fraud-detection").is_some_and(|group| group.rebalance.is_some());
        let (state, members) =
            if rebalancing { (GroupState::PreparingRebalance, 3) } else { (GroupState::Stable, 3) };
        let generation = if rebalancing { 7 } else { self.generation() };
        self.group("fraud-detection", &["clicks"], members, state, generation, second % 31 * 4);
    }

    fn generation(&self) -> i32 {
        let group = self.model.groups.get("fraud-detection");
        group.and_then(|group| group.description.generation).unwrap_or(7)
    }

    fn group(
        &mut self,
        group: &str,
        topics: &[&str],
        members: usize,
        state: GroupState,
        generation: i32,
        behind: i64,
    ) {
        let partitions: Vec<TopicPartition> =
            self.ends.keys().filter(|name| topics.contains(&&*name.topic)).cloned().collect();
        let share = partitions.len().div_ceil(members.max(1));
        let member = |(number, assignment): (usize, &[TopicPartition])| Member {
            member_id: format!("{group}-{number}-6f1c9a52"),
            group_instance_id: None,
            client_id: format!("{group}-{}", number + 1),
            client_host: "/127.0.0.1".into(),
            assignment: if state.is_rebalancing() { Vec::new() } else { assignment.to_vec() },
        };
        let description = GroupDescription {
            state,
            protocol_type: "consumer".into(),
            protocol: "range".into(),
            generation: Some(generation),
            coordinator: Some(BrokerId(if self.down.contains(&2) { 3 } else { 2 })),
            members: partitions.chunks(share.max(1)).enumerate().map(member).collect(),
        };
        let update = GroupUpdate::Described(description);
        self.tell(Update::Group { group: group.into(), update });
        let offsets = partitions
            .iter()
            .map(|partition| GroupOffset {
                partition: partition.clone(),
                offset: Offset(
                    (self.ends[partition] - 2 - behind * i64::from(partition.partition % 4 + 1)).max(0),
                ),
                committed_at: Some(Millis(self.now.0 - 1_200)),
            })
            .collect();
        self.tell(Update::Group { group: group.into(), update: GroupUpdate::Offsets(offsets) });
    }

    fn act(&mut self, id: u64, progress: Progress) {
        self.tell(Update::Action(ActionUpdate { id: ActionId(id), progress }));
    }

    fn stale(&mut self, source: SourceName, why: &str) {
        let health = SourceHealth::Stale { why: why.into() };
        self.tell(Update::Source(SourceUpdate { source, health }));
    }

    fn kill(&mut self, id: i32) {
        self.pass(612);
        self.act(1, Progress::Started(format!("kill broker {id}")));
        self.pass(3);
        self.down.push(id);
        self.process(broker(id), ProcessUpdate::State(ProcessState::Died { ending: "killed".into() }));
        self.act(1, Progress::Done(String::new()));
        self.pass(5);
        self.tell(Update::Broker { broker: BrokerId(id), update: BrokerUpdate::Unregistered });
        self.tell(Update::Cluster(ClusterUpdate::Controller(None)));
        self.pass(17);
        self.tell(Update::Cluster(ClusterUpdate::ControllerEpoch(ControllerEpoch(4))));
        self.tell(Update::Cluster(ClusterUpdate::Controller(Some(BrokerId(3)))));
        self.pass(9);
        let names: Vec<_> = self.leaders.keys().cloned().collect();
        for (place, name) in names.into_iter().enumerate() {
            let leader = self.leaders[&name];
            let next = if leader == id { id % 3 + 1 } else { leader };
            // One partition has nobody else: it waits for the broker.
            if name == TopicPartition::new("shipments-by-region-and-carrier", 1) {
                continue;
            }
            if place % 6 == 0 {
                self.pass(1);
            }
            self.elect(&name, next);
        }
        let broker = BrokerId(id);
        self.stale(SourceName::Kafka(broker), "connection refused");
        self.stale(SourceName::Metrics(broker), "connection refused");
    }

    fn rebalance(&mut self) {
        self.group("fraud-detection", &["clicks"], 3, GroupState::PreparingRebalance, 7, 40);
    }

    fn finish_rebalance(&mut self) {
        self.group("fraud-detection", &["clicks"], 4, GroupState::Stable, 8, 60);
    }

    fn revive(&mut self, id: i32) {
        self.act(2, Progress::Started(format!("start broker {id}")));
        self.process(broker(id), ProcessUpdate::State(ProcessState::Starting { pid: None }));
        self.pass(640);
        self.come_up(id, 640);
        self.act(2, Progress::Done("pid 4114".into()));
        self.pass(900);
        self.down.clear();
        let names: Vec<_> = self.leaders.keys().cloned().collect();
        for name in names {
            let leader = self.leaders[&name];
            self.elect(&name, leader);
        }
        for source in [SourceName::Kafka(BrokerId(id)), SourceName::Metrics(BrokerId(id))] {
            self.tell(Update::Source(SourceUpdate { source, health: SourceHealth::Fresh }));
        }
    }
}
