//! Brokers that register, and those that may not.

use std::collections::BTreeMap;
use std::time::Duration;

use ottla_broker::config::SecurityProtocol;
use ottla_broker::types::{BrokerId, Millis};
use ottla_broker::zk::layout::TOP_PATHS;
use ottla_broker::zk::layout::broker::{Endpoint, Registration};
use ottla_broker::zk::session::SessionEvent;
use ottla_broker::zk::{Error, cluster, registration};

use crate::servers::{close_session, connect, on_every_server};

fn at(port: i32) -> Registration {
    let endpoint = Endpoint {
        listener: "PLAINTEXT".to_owned(),
        host: "127.0.0.1".to_owned(),
        port,
        protocol: SecurityProtocol::Plaintext,
    };
    Registration {
        endpoints: vec![endpoint],
        rack: None,
        jmx_port: -1,
        timestamp: Millis(1),
        features: BTreeMap::new(),
    }
}

#[test]
fn the_first_broker_names_the_cluster() {
    on_every_server("cluster-id", async |address| {
        let zk = connect(&address).await;
        let session = zk.session();
        cluster::ensure_top_paths(&session).await.unwrap();
        cluster::ensure_top_paths(&session).await.unwrap();
        for path in TOP_PATHS {
            assert!(session.stat(path).await.unwrap().is_some(), "{path}");
        }
        let first = cluster::cluster_id(&session, uuid::Uuid::from_u128(5)).await.unwrap();
        let second = cluster::cluster_id(&session, uuid::Uuid::from_u128(6)).await.unwrap();
        assert_eq!(first, second);
        assert_eq!(first.len(), 22);
        zk.close().await;
    });
}

#[test]
fn the_epoch_is_the_nodes_creation_and_survives_a_repeated_registration() {
    on_every_server("register", async |address| {
        let zk = connect(&address).await;
        let session = zk.session();
        cluster::ensure_top_paths(&session).await.unwrap();
        let epoch = registration::register(&zk, BrokerId(1), &at(9092)).await.unwrap();
        let (_, stat) = session.get("/brokers/ids/1").await.unwrap().unwrap();
        assert_eq!((stat.czxid, stat.version), (epoch.0, 1));
        let again = registration::register(&zk, BrokerId(1), &at(9092)).await.unwrap();
        assert_eq!(again, epoch);
        registration::update(&session, BrokerId(1), &at(9093)).await.unwrap();
        let (_, stat) = session.get("/brokers/ids/1").await.unwrap().unwrap();
        assert_eq!((stat.czxid, stat.version), (epoch.0, 2));
        assert_eq!(registration::live_brokers(&session).await.unwrap(), [(BrokerId(1), at(9093))]);
        zk.close().await;
    });
}

#[test]
fn a_living_broker_keeps_its_id_and_its_address() {
    on_every_server("foreign", async |address| {
        let holder = connect(&address).await;
        cluster::ensure_top_paths(&holder.session()).await.unwrap();
        registration::register(&holder, BrokerId(1), &at(9092)).await.unwrap();
        let other = connect(&address).await;
        let error = registration::register(&other, BrokerId(2), &at(9092)).await.unwrap_err();
        assert!(matches!(error, Error::EndpointInUse { other: BrokerId(1), .. }), "{error}");
        let error = registration::register(&other, BrokerId(1), &at(9093)).await.unwrap_err();
        assert!(
            error.to_string().contains("broker id 1 is in use by the process at 127.0.0.1:9092"),
            "{error}"
        );
        holder.close().await;
        other.close().await;
    });
}

#[test]
fn a_dead_process_gives_the_id_free_when_its_session_ends() {
    on_every_server("dead", async |address| {
        let dead = connect(&address).await;
        cluster::ensure_top_paths(&dead.session()).await.unwrap();
        let old = registration::register(&dead, BrokerId(1), &at(9092)).await.unwrap();
        let next = connect(&address).await;
        let waiting = tokio::spawn({
            let next = next.clone();
            async move { registration::register(&next, BrokerId(1), &at(9092)).await }
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!waiting.is_finished());
        dead.close().await;
        let new = waiting.await.unwrap().unwrap();
        assert!(new > old);
        next.close().await;
    });
}

#[test]
fn a_new_session_registers_with_a_higher_epoch() {
    on_every_server("renewal", async |address| {
        let zk = connect(&address).await;
        cluster::ensure_top_paths(&zk.session()).await.unwrap();
        let mut events = zk.subscribe();
        let old = registration::register(&zk, BrokerId(1), &at(9092)).await.unwrap();
        close_session(&address, zk.session().identity());
        while events.next().await != SessionEvent::NewSession {}
        let new = registration::register(&zk, BrokerId(1), &at(9092)).await.unwrap();
        assert!(new > old);
        zk.close().await;
    });
}
