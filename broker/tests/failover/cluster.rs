//! Three broker processes and their ZooKeeper server, and what can be asked of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_broker::runtime_file::RuntimeFile;
use ottla_protocol::message::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use ottla_protocol::message::metadata::{MetadataRequestTopic, MetadataResponsePartition};
use ottla_protocol::message::{ListOffsetsRequest, MetadataRequest, MetadataResponse};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use zookeeper_client::Client;

use crate::broker_process::spawn;

pub(crate) const TOPIC: &str = "orders";
pub(crate) const PARTITIONS: i32 = 3;
pub(crate) const ALL: [i32; 3] = [1, 2, 3];

pub(crate) struct Cluster {
    zookeeper: ottla_zookeeper::Server,
    folder: TempDir,
    running: BTreeMap<i32, Child>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let zookeeper = ottla_zookeeper::Server::builder()
            .in_memory()
            .ephemeral_port()
            .min_session_timeout(Duration::from_millis(500))
            .start()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { zookeeper, folder, running: BTreeMap::new() };
        ALL.into_iter().for_each(|id| cluster.start_broker(id));
        // Asking for the topic creates it, once enough brokers are known.
        cluster.wait_until("the topic", |cluster| cluster.in_sync() == Some(vec![3; PARTITIONS as usize]));
        cluster
    }

    pub(crate) fn start_broker(&mut self, id: i32) {
        let settings = [
            ("broker.id", id.to_string()),
            ("listeners", "PLAINTEXT://127.0.0.1:0".to_owned()),
            ("zookeeper.connect", self.zookeeper.local_addr().to_string()),
            ("log.dirs", self.folder.path().join(format!("broker-{id}")).display().to_string()),
            ("zookeeper.session.timeout.ms", "2000".to_owned()),
            ("num.partitions", PARTITIONS.to_string()),
            ("default.replication.factor", "3".to_owned()),
            ("min.insync.replicas", "2".to_owned()),
            ("num.io.threads", "2".to_owned()),
            ("num.network.threads", "1".to_owned()),
        ];
        let log = self.folder.path().join(format!("broker-{id}.log"));
        drop(std::fs::remove_file(self.runtime_file(id)));
        self.running.insert(id, spawn(&settings, &self.runtime_file(id), &log));
        self.wait_until("a broker to start", |cluster| cluster.runtime(id).is_some());
    }

    /// Kills a broker where it stands, and removes what its session owned, as a supervisor does that knows the process
    /// has ended.
    pub(crate) fn kill(&mut self, id: i32) {
        let session = self.runtime(id).unwrap().zookeeper;
        let mut child = self.running.remove(&id).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        run(async {
            let client = Client::connect(&session.connect).await.unwrap();
            for path in [format!("/brokers/ids/{id}"), "/controller".to_owned()] {
                let owner = client.check_stat(&path).await.unwrap().map(|stat| stat.ephemeral_owner);
                if owner == Some(session.session_id) {
                    client.delete(&path, None).await.unwrap();
                }
            }
        });
    }

    /// Stops a broker's process where it stands, or lets it go on. Nobody tells ZooKeeper: it may come back and act.
    pub(crate) fn signal(&self, id: i32, signal: Signal) {
        let pid = Pid::from_child(&self.running[&id]);
        kill_process(pid, signal).unwrap();
    }

    fn runtime_file(&self, id: i32) -> PathBuf {
        self.folder.path().join(format!("broker-{id}.json"))
    }

    fn runtime(&self, id: i32) -> Option<RuntimeFile> {
        RuntimeFile::read(&self.runtime_file(id)).ok().flatten()
    }

    /// The ports of the brokers that run.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.running.keys().filter_map(|id| Some(self.runtime(*id)?.port)).collect()
    }

    pub(crate) fn ports_without(&self, id: i32) -> Vec<u16> {
        self.running
            .keys()
            .filter(|known| **known != id)
            .filter_map(|id| Some(self.runtime(*id)?.port))
            .collect()
    }

    /// What a broker that runs tells of the cluster.
    pub(crate) fn metadata(&self) -> Option<MetadataResponse> {
        self.ports().into_iter().find_map(|port| run(metadata(port)))
    }

    pub(crate) fn partitions(&self) -> Option<Vec<MetadataResponsePartition>> {
        let mut topic = self.metadata()?.topics.into_iter().next()?;
        topic.partitions.sort_by_key(|partition| partition.partition_index);
        (topic.partitions.len() == PARTITIONS as usize).then_some(topic.partitions)
    }

    /// How many replicas of each partition are in sync.
    fn in_sync(&self) -> Option<Vec<usize>> {
        Some(self.partitions()?.iter().map(|partition| partition.isr_nodes.len()).collect())
    }

    /// Waits until every replica is in sync and all copies end at the same offset.
    pub(crate) fn wait_for_agreement(&self) {
        self.wait_until("everyone in sync", |cluster| {
            cluster.in_sync() == Some(vec![3; PARTITIONS as usize])
        });
        self.wait_until("copies of one length", |cluster| {
            let ends: Vec<_> = cluster.ports().into_iter().map(|port| run(log_ends(port))).collect();
            ends.len() == 3 && ends[0].is_some() && ends.iter().all(|end| *end == ends[0])
        });
    }

    /// The only segment of a broker's copy.
    pub(crate) fn segment(&self, id: i32, partition: i32) -> Vec<u8> {
        let name = format!("broker-{id}/{TOPIC}-{partition}/00000000000000000000.log");
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn wait_until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !condition(self) {
            if Instant::now() >= deadline {
                let logs: Vec<_> = ALL.iter().map(|id| self.end_of_log(*id)).collect();
                panic!("waited in vain for {what}\n{}", logs.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn end_of_log(&self, id: i32) -> String {
        let path = self.folder.path().join(format!("broker-{id}.log"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().take(15).collect();
        format!("broker {id}:\n{}", lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

pub(crate) async fn connect(port: u16) -> Option<Connection> {
    let options = ConnectOptions { request_timeout: Duration::from_secs(2), ..ConnectOptions::default() };
    Connection::connect(&format!("127.0.0.1:{port}"), options).await.ok()
}

pub(crate) async fn metadata(port: u16) -> Option<MetadataResponse> {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic { name: Some(TOPIC.to_owned()), ..Default::default() }]),
        ..Default::default()
    };
    connect(port).await?.call(&request, 12).await.ok()
}

/// Where a broker's copies end, whatever its role.
async fn log_ends(port: u16) -> Option<Vec<i64>> {
    let partition =
        |partition_index| ListOffsetsPartition { partition_index, timestamp: -1, ..Default::default() };
    let request = ListOffsetsRequest {
        replica_id: -2,
        topics: vec![ListOffsetsTopic {
            name: TOPIC.to_owned(),
            partitions: (0..PARTITIONS).map(partition).collect(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = connect(port).await?.call(&request, 9).await.ok()?;
    Some(response.topics[0].partitions.iter().map(|partition| partition.offset).collect())
}

pub(crate) fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
}
