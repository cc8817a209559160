//! Brokers that are nothing but a session, a controller, and a socket that takes the controller's commands.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use ottla_broker::config::{BrokerConfig, SecurityProtocol};
use ottla_broker::controller::machine::{Reply, Request};
use ottla_broker::controller::{Controller, ControllerOptions};
use ottla_broker::types::{BrokerEpoch, BrokerId, Millis, TopicPartition};
use ottla_broker::zk::layout::broker::{Endpoint, Registration};
use ottla_broker::zk::layout::topic::{Assignment, TopicNode};
use ottla_broker::zk::layout::{partition_state, topic};
use ottla_broker::zk::{Handle, Zk, cluster, registration};
use ottla_protocol::message::{
    ApiKey, LeaderAndIsrRequest, LeaderAndIsrResponse, Message, Request as _, StopReplicaRequest,
    StopReplicaResponse, UpdateMetadataRequest, UpdateMetadataResponse, decode_request_header,
    encode_response,
};
use ottla_protocol::wire::{Part, Reader};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::servers::connect;

/// What a broker was told.
#[derive(Debug, Default, Clone)]
pub(crate) struct Told {
    /// The leader and its epoch, by partition, as LeaderAndIsr said last.
    pub(crate) leads: BTreeMap<TopicPartition, (i32, i32)>,
    /// The same, as UpdateMetadata said last; deleted topics are not in it.
    pub(crate) knows: BTreeMap<TopicPartition, (i32, i32)>,
    /// The brokers that UpdateMetadata said last.
    pub(crate) brokers: Vec<i32>,
    /// The partitions that were to be deleted.
    pub(crate) deleted: Vec<TopicPartition>,
    /// How many LeaderAndIsr requests came.
    pub(crate) commands: usize,
}

/// One broker.
pub(crate) struct MockBroker {
    pub(crate) zk: Zk,
    pub(crate) controller: Controller,
    epoch: Arc<AtomicI64>,
    told: Arc<Mutex<Told>>,
    frozen: Arc<AtomicBool>,
    server: tokio::task::AbortHandle,
}

impl Drop for MockBroker {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl MockBroker {
    /// Starts a broker as `broker.rs` does, in its order.
    pub(crate) async fn start(address: &str, id: i32) -> Self {
        let zk = connect(address).await;
        cluster::ensure_top_paths(&zk.session()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = i32::from(listener.local_addr().unwrap().port());
        let (told, frozen) = (Arc::new(Mutex::new(Told::default())), Arc::new(AtomicBool::new(false)));
        let server = tokio::spawn(serve(listener, Arc::clone(&told), Arc::clone(&frozen))).abort_handle();
        let endpoint = Endpoint {
            listener: "PLAINTEXT".to_owned(),
            host: "127.0.0.1".to_owned(),
            port,
            protocol: SecurityProtocol::Plaintext,
        };
        let registration = Registration {
            endpoints: vec![endpoint],
            rack: None,
            jmx_port: -1,
            timestamp: Millis(1),
            features: BTreeMap::new(),
        };
        let registered = registration::register(&zk, BrokerId(id), &registration).await.unwrap();
        let epoch = Arc::new(AtomicI64::new(registered.0));
        let register = {
            let (zk, epoch) = (zk.clone(), Arc::clone(&epoch));
            move || {
                let (zk, epoch, registration) = (zk.clone(), Arc::clone(&epoch), registration.clone());
                let registering = async move {
                    let registered = registration::register(&zk, BrokerId(id), &registration).await?;
                    epoch.store(registered.0, Ordering::SeqCst);
                    Ok(())
                };
                Box::pin(registering) as futures::future::BoxFuture<'static, _>
            }
        };
        let options = ControllerOptions::of_config(BrokerId(id), "PLAINTEXT", &BrokerConfig::default());
        let runtime = tokio::runtime::Handle::current();
        let controller = Controller::start(options, zk.clone(), Arc::new(register), &runtime);
        Self { zk, controller, epoch, told, frozen, server }
    }

    pub(crate) fn told(&self) -> Told {
        self.told.lock().unwrap().clone()
    }

    pub(crate) fn epoch(&self) -> BrokerEpoch {
        BrokerEpoch(self.epoch.load(Ordering::SeqCst))
    }

    /// The broker takes commands and answers none, as if it were stopped by a signal.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::SeqCst);
    }

    /// The broker's process ends: its session is closed for it.
    pub(crate) async fn die(self) {
        self.zk.close().await;
        self.controller.shutdown().await;
    }

    pub(crate) async fn ask(&self, request: Request) -> Reply {
        let (answer, answered) = oneshot::channel();
        self.controller.ask(request, move |reply| {
            let _heard = answer.send(reply);
        });
        answered.await.unwrap()
    }
}

/// Looks until `condition` holds.
pub(crate) async fn wait_for(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !condition().await {
        assert!(tokio::time::Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Creates a topic as a tool does: by its node.
pub(crate) async fn create_topic(session: &Handle, name: &str, partitions: &[&[i32]]) {
    let assignments =
        partitions.iter().map(|ids| Assignment::of(ids.iter().copied().map(BrokerId).collect()));
    let node =
        TopicNode { id: Some(uuid::Uuid::from_u128(77)), partitions: (0..).zip(assignments).collect() };
    session.create_recursive(&topic::path(name), &node.encode()).await.unwrap();
}

/// Reads leader, leader epoch and in-sync replicas.
pub(crate) async fn state(session: &Handle, name: &str, partition: i32) -> Option<(i32, i32, Vec<i32>)> {
    let path = partition_state::path(&TopicPartition::new(name, partition));
    let (data, _) = session.get(&path).await.unwrap()?;
    let state = partition_state::PartitionState::decode(&path, &data).unwrap();
    Some((state.leader.0, state.leader_epoch.0, state.isr.iter().map(|id| id.0).collect()))
}

async fn serve(listener: TcpListener, told: Arc<Mutex<Told>>, frozen: Arc<AtomicBool>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(connection(stream, Arc::clone(&told), Arc::clone(&frozen)));
    }
}

async fn connection(mut stream: TcpStream, told: Arc<Mutex<Told>>, frozen: Arc<AtomicBool>) {
    while let Ok(length) = stream.read_i32().await {
        let mut frame = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut frame).await.unwrap();
        while frozen.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let answer = answer(Bytes::from(frame), &told);
        let size: usize = answer.iter().map(Part::size).sum();
        let mut bytes = i32::try_from(size).unwrap().to_be_bytes().to_vec();
        for part in answer {
            match part {
                Part::Bytes(part) => bytes.extend_from_slice(&part),
                Part::Region(_) => unreachable!(),
            }
        }
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn answer(frame: Bytes, told: &Mutex<Told>) -> Vec<Part> {
    let mut reader = Reader::new("command", frame);
    let header = decode_request_header(&mut reader).unwrap();
    let (api, version, correlation) = (header.api_key, header.api_version, header.correlation_id);
    let mut told = told.lock().unwrap();
    match ApiKey::from_number(api).unwrap() {
        ApiKey::LeaderAndIsr => {
            let request = LeaderAndIsrRequest::decode(&mut reader, version).unwrap();
            told.commands += 1;
            for topic in &request.topic_states {
                for it in &topic.partition_states {
                    let name = TopicPartition::new(topic.topic_name.as_str(), it.partition_index);
                    told.leads.insert(name, (it.leader, it.leader_epoch));
                }
            }
            encode_response(&LeaderAndIsrResponse::default(), LeaderAndIsrRequest::KEY, version, correlation)
        }
        ApiKey::UpdateMetadata => {
            let request = UpdateMetadataRequest::decode(&mut reader, version).unwrap();
            told.brokers = request.live_brokers.iter().map(|broker| broker.id).collect();
            for topic in &request.topic_states {
                for it in &topic.partition_states {
                    let name = TopicPartition::new(topic.topic_name.as_str(), it.partition_index);
                    if it.leader == -2 {
                        told.knows.remove(&name);
                    } else {
                        told.knows.insert(name, (it.leader, it.leader_epoch));
                    }
                }
            }
            encode_response(
                &UpdateMetadataResponse::default(),
                UpdateMetadataRequest::KEY,
                version,
                correlation,
            )
        }
        ApiKey::StopReplica => {
            let request = StopReplicaRequest::decode(&mut reader, version).unwrap();
            for topic in &request.topic_states {
                for it in topic.partition_states.iter().filter(|it| it.delete_partition) {
                    told.deleted.push(TopicPartition::new(topic.topic_name.as_str(), it.partition_index));
                }
            }
            encode_response(&StopReplicaResponse::default(), StopReplicaRequest::KEY, version, correlation)
        }
        other => panic!("a controller does not send {other}"),
    }
    .unwrap()
}
