//! A ZooKeeper server, brokers in a temporary folder, and a client.

use std::time::{Duration, Instant};

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_broker::config::BrokerConfig;
use ottla_broker::runtime_file::RuntimeFile;
use ottla_broker::{Broker, BrokerOptions, StartError};
use ottla_protocol::message::MetadataRequest;
use ottla_protocol::message::metadata::{MetadataRequestTopic, MetadataResponseTopic};
use tempfile::TempDir;

/// A cluster of brokers in this process.
pub(crate) struct Cluster {
    pub(crate) zookeeper: ottla_zookeeper::Server,
    pub(crate) folder: TempDir,
    settings: Vec<(String, String)>,
}

impl Cluster {
    /// Starts the ZooKeeper server; brokers come one by one.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let zookeeper = ottla_zookeeper::Server::builder().in_memory().ephemeral_port().start().unwrap();
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Self { zookeeper, folder: tempfile::tempdir().unwrap(), settings: settings.collect() }
    }

    /// Starts broker `id`, or says why it does not start.
    pub(crate) fn try_broker(&self, id: i32, settings: &[(&str, &str)]) -> Result<Broker, StartError> {
        let mut config = BrokerConfig::default();
        let zookeeper = self.zookeeper.local_addr().to_string();
        let logs = self.folder.path().join(format!("broker-{id}")).display().to_string();
        let id_text = id.to_string();
        let own = [
            ("broker.id", id_text.as_str()),
            ("listeners", "PLAINTEXT://127.0.0.1:0"),
            ("zookeeper.connect", &zookeeper),
            ("log.dirs", &logs),
            ("controlled.shutdown.retry.backoff.ms", "200"),
        ];
        let shared = self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in own.into_iter().chain(shared).chain(settings.iter().copied()) {
            config.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
        }
        let options = BrokerOptions { runtime_file: Some(self.runtime_file(id)), ..BrokerOptions::default() };
        Broker::start(config, options)
    }

    /// Starts broker `id`.
    pub(crate) fn broker(&self, id: i32) -> Broker {
        self.try_broker(id, &[]).unwrap_or_else(|error| panic!("broker {id}: {error}"))
    }

    fn runtime_file(&self, id: i32) -> std::path::PathBuf {
        self.folder.path().join(format!("broker-{id}.json"))
    }

    /// Reads what broker `id` says about itself.
    pub(crate) fn runtime(&self, id: i32) -> RuntimeFile {
        RuntimeFile::read(&self.runtime_file(id)).unwrap().unwrap()
    }
}

/// Connects to a broker and asks what it understands.
pub(crate) async fn client(broker: &Broker) -> Connection {
    let address = broker.bound()[0].address.to_string();
    let options = ConnectOptions { request_timeout: Duration::from_secs(20), ..ConnectOptions::default() };
    let mut connection = Connection::connect(&address, options).await.unwrap();
    connection.negotiate().await.unwrap();
    connection
}

/// Asks for topics, which makes those that do not exist, until every partition of them has a leader; returns what is told
/// of them.
pub(crate) async fn topics(connection: &mut Connection, names: &[&str]) -> Vec<MetadataResponseTopic> {
    let asked = names
        .iter()
        .map(|name| MetadataRequestTopic { name: Some((*name).to_owned()), ..Default::default() });
    let request = MetadataRequest {
        topics: Some(asked.collect()),
        allow_auto_topic_creation: true,
        ..Default::default()
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let told = connection.call_highest(&request).await.unwrap().topics;
        let is_led = |topic: &MetadataResponseTopic| {
            topic.error_code == 0 && topic.partitions.iter().all(|partition| partition.error_code == 0)
        };
        if told.iter().all(is_led) {
            return told;
        }
        assert!(Instant::now() < deadline, "no leaders in time: {told:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs a client's part of a test.
pub(crate) fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
