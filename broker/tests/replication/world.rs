//! Brokers, their ZooKeeper server, and the controller.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_broker::config::BrokerConfig;
use ottla_broker::{Broker, BrokerOptions};
use ottla_protocol::message::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use ottla_protocol::message::{ErrorCode, ListOffsetsRequest};
use tempfile::TempDir;

use crate::controller::{Controller, TOPIC};

pub(crate) const ALL: [i32; 3] = [1, 2, 3];

pub(crate) struct World {
    pub(crate) controller: Controller,
    brokers: BTreeMap<i32, Broker>,
    zookeeper: ottla_zookeeper::Server,
    folder: TempDir,
}

impl World {
    /// Three brokers; broker 1 leads, all are in sync.
    pub(crate) fn start() -> Self {
        let zookeeper = ottla_zookeeper::Server::builder().in_memory().ephemeral_port().start().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let brokers: BTreeMap<_, _> =
            ALL.into_iter().map(|id| (id, start_broker(&zookeeper, &folder, id))).collect();
        let ports = brokers.iter().map(|(id, broker)| (*id, port_of(broker))).collect();
        let world = Self { controller: Controller::start(ports), brokers, zookeeper, folder };
        world.controller.tell(&ALL);
        world
    }

    pub(crate) fn stop(&mut self, id: i32) {
        self.controller.brokers.lock().unwrap().retain(|(known, _)| *known != id);
        self.brokers.remove(&id).unwrap().shutdown();
    }

    pub(crate) fn restart(&mut self, id: i32) {
        let broker = start_broker(&self.zookeeper, &self.folder, id);
        self.controller.brokers.lock().unwrap().push((id, port_of(&broker)));
        self.brokers.insert(id, broker);
    }

    pub(crate) fn port(&self, id: i32) -> u16 {
        port_of(&self.brokers[&id])
    }

    /// The first segment of a broker's copy.
    pub(crate) fn segment(&self, id: i32) -> Vec<u8> {
        let path: PathBuf =
            self.folder.path().join(format!("broker-{id}/{TOPIC}-0/00000000000000000000.log"));
        std::fs::read(path).unwrap()
    }

    /// Where a broker's copy ends, whatever its role.
    pub(crate) fn log_end(&self, id: i32) -> i64 {
        let port = self.port(id);
        let ask = async move {
            let mut client = connect(port).await;
            let request = ListOffsetsRequest {
                replica_id: -2,
                topics: vec![ListOffsetsTopic {
                    name: TOPIC.to_owned(),
                    partitions: vec![ListOffsetsPartition { timestamp: -1, ..Default::default() }],
                    ..Default::default()
                }],
                ..Default::default()
            };
            let response = client.call(&request, 9).await.unwrap();
            let found = &response.topics[0].partitions[0];
            if found.error_code == ErrorCode::None.code() { found.offset } else { -1 }
        };
        // On a thread of its own, since the caller may be a client on a runtime.
        std::thread::scope(|scope| scope.spawn(|| run(ask)).join().unwrap())
    }

    /// Waits until all copies end at the same offset and all brokers are in sync.
    pub(crate) fn wait_for_agreement(&self) {
        wait_until("all brokers in sync", || {
            let mut isr = self.controller.stored().isr;
            isr.sort_unstable();
            isr == ALL
        });
        let leader = self.controller.stored().leader;
        wait_until("all copies of one length", || {
            let end = self.log_end(leader);
            ALL.iter().all(|id| self.log_end(*id) == end)
        });
    }
}

impl Drop for World {
    fn drop(&mut self) {
        while let Some((_, broker)) = self.brokers.pop_first() {
            broker.shutdown();
        }
    }
}

fn start_broker(zookeeper: &ottla_zookeeper::Server, folder: &TempDir, id: i32) -> Broker {
    let mut config = BrokerConfig::default();
    let logs = folder.path().join(format!("broker-{id}")).display().to_string();
    let settings = [
        ("broker.id", id.to_string()),
        ("listeners", "PLAINTEXT://127.0.0.1:0".to_owned()),
        ("zookeeper.connect", zookeeper.local_addr().to_string()),
        ("log.dirs", logs),
        ("controlled.shutdown.enable", "false".to_owned()),
        ("min.insync.replicas", "2".to_owned()),
        ("replica.fetch.backoff.ms", "100".to_owned()),
        ("num.io.threads", "2".to_owned()),
        ("num.network.threads", "1".to_owned()),
    ];
    for (key, value) in &settings {
        config.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    Broker::start(config, BrokerOptions::default()).unwrap_or_else(|error| panic!("broker {id}: {error}"))
}

fn port_of(broker: &Broker) -> u16 {
    broker.bound()[0].address.port()
}

pub(crate) async fn connect(port: u16) -> Connection {
    let options = ConnectOptions { request_timeout: Duration::from_secs(20), ..ConnectOptions::default() };
    Connection::connect(&format!("127.0.0.1:{port}"), options).await.unwrap()
}

pub(crate) fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
