//! One broker.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use ottla_broker::StartError;
use ottla_protocol::message::describe_configs::DescribeConfigsResource;
use ottla_protocol::message::incremental_alter_configs::{AlterConfigsResource, AlterableConfig};
use ottla_protocol::message::{
    AllocateProducerIdsRequest, DescribeConfigsRequest, DescribeConfigsResponse, DescribeLogDirsRequest,
    ErrorCode, IncrementalAlterConfigsRequest, InitProducerIdRequest,
};

use crate::support::{Cluster, client, run, topics, wait_until};

const BROKER: i8 = 4;

#[test]
fn it_starts_says_who_it_is_and_stops() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    let runtime = cluster.runtime(1);
    assert_eq!((runtime.broker_id, runtime.port), (1, broker.bound()[0].address.port()));
    assert_eq!(runtime.pid, std::process::id());
    let page = page(&runtime.metrics_address.unwrap());
    assert!(page.contains("kafka_network_requestchannel_requestqueuesize 0\n"), "{page}");
    let directories = run(async {
        let mut client = client(&broker).await;
        client.call_highest(&DescribeLogDirsRequest { topics: None, ..Default::default() }).await.unwrap()
    });
    assert!(directories.results[0].log_dir.ends_with("broker-1"));
    assert!(directories.results[0].total_bytes > 0);
    broker.shutdown();
    // Its session was closed, so its id is free at once.
    cluster.broker(1).shutdown();
}

fn page(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

#[test]
fn a_second_broker_with_the_same_id_is_refused() {
    let cluster = Cluster::start(&[("zookeeper.session.timeout.ms", "2000")]);
    let broker = cluster.broker(1);
    let elsewhere = cluster.folder.path().join("elsewhere").display().to_string();
    let refused = cluster.try_broker(1, &[("log.dirs", &elsewhere)]).unwrap_err();
    assert!(refused.to_string().contains("broker id 1 is in use"), "{refused}");
    let same_logs =
        cluster.try_broker(2, &[("log.dirs", &cluster.folder.path().join("broker-1").display().to_string())]);
    assert!(matches!(same_logs, Err(StartError::Log(_))), "{same_logs:?}");
    broker.shutdown();
}

#[test]
fn what_cannot_be_reached_or_bound_is_said_plainly() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    let taken = format!("PLAINTEXT://{}", broker.bound()[0].address);
    let error = cluster.try_broker(2, &[("listeners", &taken)]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("bind listener {taken}")), "{error}");
    let nobody = [("zookeeper.connect", "127.0.0.1:1"), ("zookeeper.connection.timeout.ms", "300")];
    let error = cluster.try_broker(2, &nobody).unwrap_err().to_string();
    assert!(error.contains("ZooKeeper at 127.0.0.1:1 does not answer"), "{error}");
    broker.shutdown();
}

#[test]
fn ids_are_generated_and_kept() {
    let cluster = Cluster::start(&[]);
    let generate = [("broker.id", "-1")];
    let broker = cluster.try_broker(7, &generate).unwrap();
    assert_eq!(broker.id().0, 1001);
    broker.shutdown();
    let again = cluster.try_broker(7, &generate).unwrap();
    assert_eq!(again.id().0, 1001);
    again.shutdown();
}

#[test]
fn producer_ids_are_never_given_twice() {
    let cluster = Cluster::start(&[]);
    let brokers = [cluster.broker(1), cluster.broker(2)];
    let mut ids = run(async {
        let mut ids = Vec::new();
        for broker in &brokers {
            let mut client = client(broker).await;
            for _ in 0..1_100 {
                let request = InitProducerIdRequest { transactional_id: None, ..Default::default() };
                let response = client.call_highest(&request).await.unwrap();
                assert_eq!((response.error_code, response.producer_epoch), (0, 0));
                ids.push(response.producer_id);
            }
        }
        ids
    });
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2_200);
    brokers.into_iter().for_each(ottla_broker::Broker::shutdown);
}

#[test]
fn the_controller_gives_blocks_of_ids_to_registered_brokers_only() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    run(async {
        let mut client = client(&broker).await;
        topics(&mut client, &["orders"]).await;
        for (broker_id, expected) in [(1, ErrorCode::StaleBrokerEpoch), (7, ErrorCode::BrokerIdNotRegistered)]
        {
            let request = AllocateProducerIdsRequest { broker_id, broker_epoch: -1, ..Default::default() };
            let response = client.call_highest(&request).await.unwrap();
            assert_eq!(ErrorCode::from_code(response.error_code), expected);
        }
    });
    broker.shutdown();
}

#[test]
fn thread_counts_change_by_a_request() {
    let cluster = Cluster::start(&[]);
    let broker = cluster.broker(1);
    run(async {
        let mut client = client(&broker).await;
        let alter = |name: &str, value: &str| IncrementalAlterConfigsRequest {
            resources: vec![AlterConfigsResource {
                resource_type: BROKER,
                resource_name: "1".to_owned(),
                configs: vec![AlterableConfig {
                    name: name.to_owned(),
                    config_operation: 0,
                    value: Some(value.to_owned()),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        for (name, value, expected) in [
            ("num.network.threads", "5", ErrorCode::None),
            ("num.network.threads", "0", ErrorCode::InvalidRequest),
            ("broker.rack", "x", ErrorCode::InvalidRequest),
        ] {
            let response = client.call_highest(&alter(name, value)).await.unwrap();
            assert_eq!(response.responses[0].error_code, expected.code(), "{name}={value}");
        }
    });
    let processors = || broker.metrics().render().matches("kafka_network_processor_idlepercent{").count();
    wait_until("five processors", || processors() == 5);
    let described = run(describe(&broker, "num.network.threads"));
    let entry = &described.results[0].configs[0];
    // Dynamic, of this broker.
    assert_eq!((entry.value.as_deref(), entry.config_source), (Some("5"), 2));
    assert_eq!(entry.synonyms.len(), 2);
    broker.shutdown();
}

async fn describe(broker: &ottla_broker::Broker, key: &str) -> DescribeConfigsResponse {
    let request = DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type: BROKER,
            resource_name: "1".to_owned(),
            configuration_keys: Some(vec![key.to_owned()]),
            ..Default::default()
        }],
        include_synonyms: true,
        ..Default::default()
    };
    client(broker).await.call_highest(&request).await.unwrap()
}
