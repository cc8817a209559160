//! Whatever is sent, the sender gets the protocol's own answer or a closed connection, it is counted, and nobody else
//! notices.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_protocol::message::create_topics::CreatableTopic;
use ottla_protocol::message::{CreateTopicsRequest, ErrorCode, MetadataRequest};
use ottla_test_support::{Cluster, Options, SHORT, wait_until};
use serde_json::Value;

use crate::OTTLA;

#[test]
fn nonsense_costs_its_sender_the_connection_and_nobody_else_anything() {
    let settings = vec![("connections.max.idle.ms".to_owned(), "3000".to_owned())];
    let cluster = Cluster::start(OTTLA, Options { brokers: 1, settings, ..Options::default() });
    let pid = cluster.broker_pid(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut witness = runtime.block_on(connect(&cluster));
    let mut nonsense: Vec<(&str, Vec<u8>)> = vec![
        ("garbage", b"GET / HTTP/1.1\r\nHost: example\r\n\r\n".to_vec()),
        ("a frame that claims 2 GiB", vec![0x7f, 0xff, 0xff, 0xff, 0, 18, 0, 0]),
        ("a negative frame", vec![0xff, 0xff, 0xff, 0xfe, 0, 0]),
        ("an empty frame", vec![0, 0, 0, 0]),
        ("an unknown API key", frame(&[0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff])),
        ("an unknown version", frame(&[0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff])),
        (
            "a body that claims two thousand million topics",
            frame(&[0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]),
        ),
        ("a half frame and then silence", vec![0, 0, 0, 100, 0, 3]),
    ];
    for (what, bytes) in &mut nonsense {
        let mut stream = TcpStream::connect(cluster.bootstrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        // Closed in an orderly way or reset: either way it is over.
        stream.read_to_end(&mut rest).ok();
        assert!(rest.is_empty(), "{what}: answered {rest:?}");
        let answer = runtime.block_on(witness.call_highest(&MetadataRequest::default()));
        assert!(answer.is_ok(), "after {what}: {answer:?}");
    }
    assert_eq!(cluster.broker_pid(1), pid, "the broker is the one it was");
    let counted = wait_until("refusals to be counted", SHORT, || {
        let page = metrics_page(&cluster);
        let counts = page.lines().filter(|line| line.starts_with("ottla_network_rejected_total"));
        let total: f64 = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
        (total >= 7.0).then_some(total)
    });
    assert!(counted >= 7.0);
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_as_the_protocol_says() {
    let cluster = Cluster::start(OTTLA, Options { brokers: 1, ..Options::default() });
    let mut stream = TcpStream::connect(cluster.bootstrap()).unwrap();
    stream.set_read_timeout(Some(SHORT)).unwrap();
    stream.write_all(&frame(&[0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff])).unwrap();
    let mut head = [0; 10];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[4..8], [0, 0, 0, 7], "the correlation id comes back");
    assert_eq!(head[8..10], ErrorCode::UnsupportedVersion.code().to_be_bytes());
}

#[test]
fn a_topic_name_with_illegal_characters_is_refused_by_name() {
    let cluster = Cluster::start(OTTLA, Options { brokers: 1, ..Options::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = connect(&cluster).await;
        for (name, expected) in [
            ("bad/name", ErrorCode::InvalidTopicException),
            ("..", ErrorCode::InvalidTopicException),
            ("", ErrorCode::InvalidTopicException),
            (&"x".repeat(250), ErrorCode::InvalidTopicException),
            ("good", ErrorCode::None),
            ("good", ErrorCode::TopicAlreadyExists),
        ] {
            let topic = CreatableTopic {
                name: name.to_owned(),
                num_partitions: 1,
                replication_factor: 1,
                ..CreatableTopic::default()
            };
            let request = CreateTopicsRequest {
                topics: vec![topic],
                timeout_ms: 20_000,
                ..CreateTopicsRequest::default()
            };
            let answer = connection.call_highest(&request).await.unwrap();
            assert_eq!(ErrorCode::from_code(answer.topics[0].error_code), expected, "'{name}'");
        }
    });
}

async fn connect(cluster: &Cluster) -> Connection {
    let mut connection = Connection::connect(&cluster.bootstrap(), ConnectOptions::default()).await.unwrap();
    connection.negotiate().await.unwrap();
    connection
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(body);
    bytes
}

fn metrics_page(cluster: &Cluster) -> String {
    let record = std::fs::read_to_string(cluster.data_dir().join("broker-1/runtime.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let mut stream = TcpStream::connect(record["metrics_address"].as_str().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}
