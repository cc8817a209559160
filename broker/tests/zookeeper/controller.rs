//! Controllers that are elected, act, and follow each other.

use ottla_broker::controller::machine::{ElectionKind, Reply, Request};
use ottla_broker::types::{BrokerId, ControllerEpoch, TopicPartition};
use ottla_broker::zk::layout::{controller, delete_topics, partition_state, topic};
use ottla_broker::zk::session::CreateMode;
use ottla_protocol::message::ErrorCode;

use crate::cluster::{MockBroker, create_topic, state, wait_for};
use crate::servers::{close_session, on_every_server};

async fn start(address: &str, ids: &[i32]) -> Vec<MockBroker> {
    let mut brokers = Vec::new();
    for id in ids {
        brokers.push(MockBroker::start(address, *id).await);
        if brokers.len() == 1 {
            wait_for("a controller", async || brokers[0].controller.is_active()).await;
        }
    }
    let all: Vec<i32> = ids.to_vec();
    wait_for("all know all", async || brokers.iter().all(|broker| broker.told().brokers == all)).await;
    brokers
}

fn tp(topic: &str, partition: i32) -> TopicPartition {
    TopicPartition::new(topic, partition)
}

#[test]
fn one_broker_is_elected_and_a_topic_gets_leaders() {
    on_every_server("topic-created", async |address| {
        let brokers = start(&address, &[1, 2, 3]).await;
        let active: Vec<bool> = brokers.iter().map(|broker| broker.controller.is_active()).collect();
        assert_eq!(active, [true, false, false]);
        assert_eq!(brokers[0].controller.epoch(), Some(ControllerEpoch(1)));
        let session = brokers[0].zk.session();
        create_topic(&session, "t", &[&[1, 2, 3], &[2, 3, 1]]).await;
        wait_for("everybody knows the leaders", async || {
            brokers.iter().all(|broker| {
                let told = broker.told();
                told.knows.get(&tp("t", 0)) == Some(&(1, 0)) && told.leads.get(&tp("t", 1)) == Some(&(2, 0))
            })
        })
        .await;
        assert_eq!(state(&session, "t", 0).await, Some((1, 0, vec![1, 2, 3])));
        let refused = brokers[1].ask(Request::ListReassignments(None)).await;
        assert_eq!(refused, Reply::Refused(ErrorCode::NotController));
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn the_controller_dies_and_another_one_elects_its_leaders_anew() {
    on_every_server("controller-dies", async |address| {
        let mut brokers = start(&address, &[1, 2, 3]).await;
        create_topic(&brokers[0].zk.session(), "t", &[&[1, 2, 3], &[2, 3, 1]]).await;
        wait_for("leaders", async || brokers[2].told().knows.len() == 2).await;
        brokers.remove(0).die().await;
        wait_for("the leader's successor is known", async || {
            brokers.iter().all(|broker| broker.told().knows.get(&tp("t", 0)) == Some(&(2, 1)))
        })
        .await;
        let session = brokers[0].zk.session();
        assert_eq!(state(&session, "t", 0).await, Some((2, 1, vec![2, 3])));
        assert_eq!(state(&session, "t", 1).await, Some((2, 1, vec![2, 3])));
        let active = brokers.iter().filter(|broker| broker.controller.is_active()).count();
        assert_eq!(active, 1);
        let epochs: Vec<_> = brokers.iter().filter_map(|broker| broker.controller.epoch()).collect();
        assert_eq!(epochs, [ControllerEpoch(2)]);
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn a_controller_that_loses_its_session_registers_anew_and_another_is_elected() {
    on_every_server("session-lost", async |address| {
        let brokers = start(&address, &[1, 2]).await;
        create_topic(&brokers[0].zk.session(), "t", &[&[1, 2]]).await;
        wait_for("leaders", async || brokers[1].told().knows.len() == 1).await;
        let before = brokers[0].epoch();
        close_session(&address, brokers[0].zk.session().identity());
        wait_for("a new controller", async || {
            brokers.iter().any(|broker| broker.controller.epoch() == Some(ControllerEpoch(2)))
        })
        .await;
        wait_for("a new registration", async || brokers[0].epoch() > before).await;
        wait_for("both brokers are known again", async || {
            brokers.iter().all(|broker| broker.told().brokers == [1, 2])
        })
        .await;
        wait_for("the partition is led by 2", async || {
            brokers
                .iter()
                .all(|broker| broker.told().knows.get(&tp("t", 0)).is_some_and(|(_, epoch)| *epoch > 0))
        })
        .await;
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn a_frozen_broker_delays_only_itself() {
    on_every_server("frozen", async |address| {
        let brokers = start(&address, &[1, 2, 3]).await;
        brokers[2].freeze(true);
        create_topic(&brokers[0].zk.session(), "t", &[&[1, 2, 3]]).await;
        wait_for("the others know", async || {
            brokers[..2].iter().all(|broker| broker.told().knows.contains_key(&tp("t", 0)))
        })
        .await;
        assert!(!brokers[2].told().knows.contains_key(&tp("t", 0)));
        brokers[2].freeze(false);
        wait_for("and it hears everything", async || brokers[2].told().leads.contains_key(&tp("t", 0))).await;
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn a_topic_is_deleted_everywhere() {
    on_every_server("deletion", async |address| {
        let brokers = start(&address, &[1, 2]).await;
        let session = brokers[0].zk.session();
        create_topic(&session, "t", &[&[1, 2], &[2, 1]]).await;
        wait_for("leaders", async || brokers[1].told().knows.len() == 2).await;
        session.create(&delete_topics::path("t"), b"", CreateMode::Persistent).await.unwrap();
        wait_for("the nodes are gone", async || {
            session.stat(&topic::path("t")).await.unwrap().is_none()
                && session.stat(&delete_topics::path("t")).await.unwrap().is_none()
        })
        .await;
        for broker in &brokers {
            assert_eq!(broker.told().deleted, [tp("t", 0), tp("t", 1)]);
            assert!(broker.told().knows.is_empty());
        }
        create_topic(&session, "t", &[&[1, 2]]).await;
        wait_for("the name can be used again", async || brokers[1].told().knows.len() == 1).await;
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn leadership_is_moved_by_reordering_replicas_and_electing_the_preferred() {
    on_every_server("moved", async |address| {
        let brokers = start(&address, &[1, 2, 3]).await;
        let session = brokers[0].zk.session();
        create_topic(&session, "t", &[&[1, 2, 3]]).await;
        wait_for("leaders", async || brokers[1].told().knows.len() == 1).await;
        let order = [3, 1, 2].map(BrokerId).to_vec();
        let reply = brokers[0].ask(Request::Reassign(vec![(tp("t", 0), Some(order))])).await;
        assert_eq!(reply, Reply::Reassign(vec![(tp("t", 0), Ok(()))]));
        let partitions = Some(vec![tp("t", 0)]);
        let reply = brokers[0].ask(Request::ElectLeaders { kind: ElectionKind::Preferred, partitions }).await;
        assert_eq!(reply, Reply::ElectLeaders(vec![(tp("t", 0), Ok(BrokerId(3)))]));
        assert_eq!(state(&session, "t", 0).await, Some((3, 2, vec![1, 2, 3])));
        let (data, _) = session.get(&topic::path("t")).await.unwrap().unwrap();
        assert!(String::from_utf8(data).unwrap().contains(r#""partitions":{"0":[3,1,2]}"#));
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn hundreds_of_partitions_of_a_dead_broker_get_leaders_in_few_requests() {
    on_every_server("many", async |address| {
        let mut brokers = start(&address, &[1, 2, 3]).await;
        let session = brokers[0].zk.session();
        let partitions: Vec<&[i32]> = vec![&[3, 1, 2]; 500];
        create_topic(&session, "big", &partitions).await;
        wait_for("leaders", async || brokers[1].told().leads.len() == 500).await;
        let before = brokers[1].told().commands;
        let started = std::time::Instant::now();
        brokers.pop().unwrap().die().await;
        wait_for("new leaders", async || {
            let leads = brokers[1].told().leads;
            leads.values().all(|(leader, epoch)| (*leader, *epoch) == (1, 1))
        })
        .await;
        eprintln!("500 leaders after {:?}", started.elapsed());
        assert_eq!(brokers[1].told().commands, before + 1, "one request for all");
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn a_state_node_that_somebody_else_wrote_stands_in_the_way_of_no_other() {
    on_every_server("interference", async |address| {
        let mut brokers = start(&address, &[1, 2, 3]).await;
        let session = brokers[0].zk.session();
        create_topic(&session, "t", &[&[3, 1, 2], &[3, 1, 2], &[3, 1, 2]]).await;
        wait_for("leaders", async || brokers[1].told().leads.len() == 3).await;
        let path = partition_state::path(&tp("t", 1));
        let (data, stat) = session.get(&path).await.unwrap().unwrap();
        let mut stored = partition_state::PartitionState::decode(&path, &data).unwrap();
        stored.isr = vec![BrokerId(3), BrokerId(2)];
        session.set(&path, &stored.encode(), Some(stat.version)).await.unwrap();
        brokers.pop().unwrap().die().await;
        wait_for("new leaders", async || {
            let leads = brokers[1].told().leads;
            [(0, 1), (1, 2), (2, 1)]
                .iter()
                .all(|(partition, leader)| leads.get(&tp("t", *partition)).is_some_and(|it| it.0 == *leader))
        })
        .await;
        assert_eq!(state(&session, "t", 0).await, Some((1, 1, vec![1, 2])));
        assert_eq!(state(&session, "t", 1).await, Some((2, 1, vec![2])));
        for broker in brokers {
            broker.die().await;
        }
    });
}

#[test]
fn a_controller_whose_epoch_is_over_changes_nothing_more() {
    on_every_server("fenced", async |address| {
        let brokers = start(&address, &[1, 2]).await;
        let session = brokers[1].zk.session();
        create_topic(&session, "t", &[&[1, 2]]).await;
        wait_for("leaders", async || brokers[1].told().leads.len() == 1).await;
        // As if another controller had been elected while this one did not look.
        session
            .set(controller::EPOCH_PATH, &controller::encode_epoch(ControllerEpoch(9)), None)
            .await
            .unwrap();
        let order = vec![BrokerId(2), BrokerId(1)];
        let reply = brokers[0].ask(Request::Reassign(vec![(tp("t", 0), Some(order))])).await;
        assert_eq!(reply, Reply::Refused(ErrorCode::NotController));
        let (data, _) = session.get(&topic::path("t")).await.unwrap().unwrap();
        assert!(String::from_utf8(data).unwrap().contains(r#""partitions":{"0":[1,2]}"#));
        assert!(!brokers[0].controller.is_active());
        for broker in brokers {
            broker.die().await;
        }
    });
}
