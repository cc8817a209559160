//! Whatever is asked wrongly, the asker gets the protocol's own answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use ottla_broker::client::{ConnectOptions, Connection};
use ottla_protocol::message::create_topics::CreatableTopic;
use ottla_protocol::message::{CreateTopicsRequest, ErrorCode};
use ottla_test_support::{Cluster, Options, SHORT};

use crate::OTTLA;

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
            // A broker that has just registered may not be the controller yet; clients ask again.
            let started = std::time::Instant::now();
            let error = loop {
                let answer = connection.call_highest(&request).await.unwrap();
                let error = ErrorCode::from_code(answer.topics[0].error_code);
                if error != ErrorCode::NotController || started.elapsed() > SHORT {
                    break error;
                }
            };
            assert_eq!(error, expected, "'{name}'");
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
