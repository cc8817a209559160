//! A controller of one partition. It commands brokers over the wire, and answers what their leaders propose.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use ottla_broker::client::{ConnectOptions, Connection};
use ottla_protocol::message::alter_partition::{PartitionDataResponse, TopicDataResponse};
use ottla_protocol::message::leader_and_isr::{LeaderAndIsrPartitionState, LeaderAndIsrTopicState};
use ottla_protocol::message::update_metadata::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use ottla_protocol::message::{
    AlterPartitionRequest, AlterPartitionResponse, ApiKey, ErrorCode, LeaderAndIsrRequest, Message, Request,
    UpdateMetadataRequest, decode_request_header, encode_response,
};
use ottla_protocol::wire::{Part, Reader, Uuid};

/// The id under which brokers find this controller. Its epoch is far above that of the brokers' own.
const ID: i32 = 99;
const EPOCH: i32 = 1_000;
pub(crate) const TOPIC: &str = "orders";
pub(crate) const TOPIC_ID: Uuid = Uuid([7; 16]);

/// What is stored of the partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) leader: i32,
    pub(crate) leader_epoch: i32,
    pub(crate) isr: Vec<i32>,
    pub(crate) partition_epoch: i32,
}

pub(crate) struct Controller {
    port: u16,
    /// Id and port of the live brokers.
    pub(crate) brokers: Mutex<Vec<(i32, u16)>>,
    stored: Arc<Mutex<Stored>>,
}

impl Controller {
    pub(crate) fn start(brokers: Vec<(i32, u16)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stored = Stored { leader: 1, leader_epoch: 0, isr: vec![1, 2, 3], partition_epoch: 0 };
        let stored = Arc::new(Mutex::new(stored));
        let answering = Arc::clone(&stored);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stored = Arc::clone(&answering);
                std::thread::spawn(move || serve(stream, &stored));
            }
        });
        Self { port, brokers: Mutex::new(brokers), stored }
    }

    pub(crate) fn stored(&self) -> Stored {
        self.stored.lock().unwrap().clone()
    }

    /// Elects a leader, and tells those who are to hear of it.
    pub(crate) fn elect(&self, leader: i32, isr: &[i32], told: &[i32]) {
        {
            let mut stored = self.stored.lock().unwrap();
            stored.leader = leader;
            stored.leader_epoch += 1;
            stored.isr = isr.to_vec();
            stored.partition_epoch += 1;
        }
        self.tell(told);
    }

    /// Tells brokers what is stored.
    pub(crate) fn tell(&self, told: &[i32]) {
        let stored = self.stored();
        let brokers = self.brokers.lock().unwrap().clone();
        let (metadata, commands) = (self.update_metadata(&brokers, &stored), leader_and_isr(&stored));
        let ports = brokers.iter().filter(|(id, _)| told.contains(id)).map(|(_, port)| *port);
        // On a thread of its own, since the caller may be a client on a runtime.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                ports.for_each(|port| runtime.block_on(command(port, &metadata, &commands)));
            });
        });
    }

    fn update_metadata(&self, brokers: &[(i32, u16)], stored: &Stored) -> UpdateMetadataRequest {
        let broker = |id, port: u16| UpdateMetadataBroker {
            id,
            endpoints: vec![UpdateMetadataEndpoint {
                port: i32::from(port),
                host: "127.0.0.1".to_owned(),
                listener: "PLAINTEXT".to_owned(),
                ..Default::default()
            }],
            ..Default::default()
        };
        let mut live_brokers: Vec<_> = brokers.iter().map(|(id, port)| broker(*id, *port)).collect();
        live_brokers.push(broker(ID, self.port));
        UpdateMetadataRequest {
            controller_id: ID,
            controller_epoch: EPOCH,
            topic_states: vec![UpdateMetadataTopicState {
                topic_name: TOPIC.to_owned(),
                topic_id: TOPIC_ID,
                partition_states: vec![UpdateMetadataPartitionState {
                    controller_epoch: EPOCH,
                    leader: stored.leader,
                    leader_epoch: stored.leader_epoch,
                    isr: stored.isr.clone(),
                    zk_version: stored.partition_epoch,
                    replicas: vec![1, 2, 3],
                    ..Default::default()
                }],
                ..Default::default()
            }],
            live_brokers,
            ..Default::default()
        }
    }
}

fn leader_and_isr(stored: &Stored) -> LeaderAndIsrRequest {
    LeaderAndIsrRequest {
        controller_id: ID,
        controller_epoch: EPOCH,
        topic_states: vec![LeaderAndIsrTopicState {
            topic_name: TOPIC.to_owned(),
            topic_id: TOPIC_ID,
            partition_states: vec![LeaderAndIsrPartitionState {
                controller_epoch: EPOCH,
                leader: stored.leader,
                leader_epoch: stored.leader_epoch,
                isr: stored.isr.clone(),
                partition_epoch: stored.partition_epoch,
                replicas: vec![1, 2, 3],
                is_new: stored.leader_epoch == 0,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}

async fn command(port: u16, metadata: &UpdateMetadataRequest, command: &LeaderAndIsrRequest) {
    let address = format!("127.0.0.1:{port}");
    let mut connection = Connection::connect(&address, ConnectOptions::default()).await.unwrap();
    let response = connection.call(metadata, 8).await.unwrap();
    assert_eq!(response.error_code, ErrorCode::None.code());
    let response = connection.call(command, 7).await.unwrap();
    assert_eq!(response.error_code, ErrorCode::None.code());
}

/// Answers proposals of one broker until it goes away.
fn serve(mut stream: TcpStream, stored: &Mutex<Stored>) {
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let mut frame = vec![0; i32::from_be_bytes(length) as usize];
        stream.read_exact(&mut frame).unwrap();
        let mut reader = Reader::new("request", Bytes::from(frame));
        let header = decode_request_header(&mut reader).unwrap();
        assert_eq!(header.api_key, ApiKey::AlterPartition.number());
        let mut body = Reader::new(AlterPartitionRequest::NAME, reader.rest());
        let request = AlterPartitionRequest::decode(&mut body, header.api_version).unwrap();
        let response = answer(&request, stored);
        let parts =
            encode_response(&response, AlterPartitionRequest::KEY, header.api_version, header.correlation_id);
        let mut bytes = Vec::new();
        for part in parts.unwrap() {
            let Part::Bytes(part) = part else { panic!("only records are regions") };
            bytes.extend_from_slice(&part);
        }
        stream.write_all(&(bytes.len() as i32).to_be_bytes()).unwrap();
        stream.write_all(&bytes).unwrap();
    }
}

fn answer(request: &AlterPartitionRequest, stored: &Mutex<Stored>) -> AlterPartitionResponse {
    let mut stored = stored.lock().unwrap();
    let asked = &request.topics[0].partitions[0];
    let error = if asked.leader_epoch != stored.leader_epoch {
        ErrorCode::FencedLeaderEpoch
    } else if asked.partition_epoch != stored.partition_epoch {
        ErrorCode::InvalidUpdateVersion
    } else {
        assert_eq!(request.broker_id, stored.leader, "only the leader of an epoch may ask in it");
        stored.isr = asked.new_isr_with_epochs.iter().map(|state| state.broker_id).collect();
        stored.partition_epoch += 1;
        ErrorCode::None
    };
    AlterPartitionResponse {
        topics: vec![TopicDataResponse {
            topic_id: request.topics[0].topic_id,
            partitions: vec![PartitionDataResponse {
                error_code: error.code(),
                leader_id: stored.leader,
                leader_epoch: stored.leader_epoch,
                isr: stored.isr.clone(),
                partition_epoch: stored.partition_epoch,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    }
}
