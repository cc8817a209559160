//! Nothing that was acknowledged is lost, whoever is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ottla_test_support::{Cluster, LONG, Options, SHORT, wait_until};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext, Message as _, Offset, TopicPartitionList};
use rustix::process::Signal;
use serde_json::Value;

use crate::OTTLA;

const TOPIC: &str = "ledger";
const PARTITIONS: usize = 4;
const KILLS: usize = 6;

#[test]
fn no_acknowledged_record_is_lost_when_brokers_are_killed() {
    let settings = vec![("num.partitions".to_owned(), PARTITIONS.to_string())];
    let cluster = Cluster::start(OTTLA, Options { settings, ..Options::default() });
    let acknowledged = Acknowledged::default();
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (bootstrap, acknowledged, stop) = (cluster.bootstrap(), acknowledged.clone(), Arc::clone(&stop));
        thread::spawn(move || write(&bootstrap, acknowledged, &stop))
    };
    wait_until("the first record to be acknowledged", LONG, || (acknowledged.count() > 0).then_some(()));

    for round in 0..KILLS {
        let status = cluster.wait_for_status("everything to be in sync", is_whole);
        // Every other time the one that decides, otherwise whoever leads partition 0.
        let victim = if round % 2 == 0 { &status["controller"]["id"] } else { leader(&status, 0) };
        let victim = i32::try_from(victim.as_i64().unwrap()).unwrap();
        let before = acknowledged.count();
        cluster.signal_broker(victim, Signal::KILL);
        // What a console would do at once: tell ZooKeeper, and start it again.
        let up = cluster.up();
        assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
        wait_until("writes to go on", LONG, || (acknowledged.count() > before + 50).then_some(()));
    }
    stop.store(true, Ordering::SeqCst);
    writer.join().unwrap();
    cluster.wait_for_status("everything to be in sync", is_whole);
    check(&cluster.bootstrap(), &acknowledged);
}

#[test]
fn a_broker_that_stops_in_order_hands_over_first() {
    let cluster = Cluster::start(OTTLA, Options::default());
    let acknowledged = Acknowledged::default();
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (bootstrap, acknowledged, stop) = (cluster.bootstrap(), acknowledged.clone(), Arc::clone(&stop));
        thread::spawn(move || write(&bootstrap, acknowledged, &stop))
    };
    wait_until("the first record to be acknowledged", LONG, || (acknowledged.count() > 0).then_some(()));
    let status = cluster.wait_for_status("everything to be in sync", is_whole);
    let victim = i32::try_from(leader(&status, 0).as_i64().unwrap()).unwrap();
    cluster.signal_broker(victim, Signal::TERM);
    wait_until("the broker to end", LONG, || cluster.broker_pid(victim).is_none().then_some(()));
    cluster.wait_for_status("others to lead", |status| {
        let led = leader(status, 0).as_i64();
        led.is_some() && led != Some(i64::from(victim))
    });
    let before = acknowledged.count();
    wait_until("writes to go on", LONG, || (acknowledged.count() > before + 50).then_some(()));
    assert!(cluster.up().status.success());
    cluster.wait_for_status("everything to be in sync", is_whole);
    stop.store(true, Ordering::SeqCst);
    writer.join().unwrap();
    check(&cluster.bootstrap(), &acknowledged);
}

fn topic(status: &Value) -> Option<&Value> {
    status["topics"].as_array()?.iter().find(|topic| topic["name"] == TOPIC)
}

fn leader(status: &Value, partition: usize) -> &Value {
    &topic(status).unwrap()["partitions"][partition]["leader"]
}

fn is_whole(status: &Value) -> bool {
    let all_up = status["brokers"]
        .as_array()
        .is_some_and(|brokers| brokers.iter().all(|broker| broker["state"] == "up"));
    let partitions = topic(status).and_then(|topic| topic["partitions"].as_array());
    all_up
        && status["controller"]["id"].is_i64()
        && partitions.is_some_and(|partitions| {
            partitions.iter().all(|partition| {
                let count = |field: &str| partition[field].as_array().map(Vec::len);
                count("isr") == count("replicas") && partition["leader"].is_i64()
            })
        })
}

/// What brokers acknowledged: for each partition, the number of each record by its offset.
#[derive(Debug, Clone, Default)]
struct Acknowledged {
    records: Arc<Mutex<BTreeMap<(i32, i64), u64>>>,
}

impl Acknowledged {
    fn count(&self) -> usize {
        self.records.lock().unwrap().len()
    }
}

impl ClientContext for Acknowledged {}

impl ProducerContext for Acknowledged {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        // A record that was given up may be there or not; nothing is claimed of it.
        if let Ok(message) = result {
            let number = u64::from_be_bytes(message.payload().unwrap().try_into().unwrap());
            let place = (message.partition(), message.offset());
            assert_eq!(
                self.records.lock().unwrap().insert(place, number),
                None,
                "one offset for two records"
            );
        }
    }
}

fn write(bootstrap: &str, acknowledged: Acknowledged, stop: &AtomicBool) {
    let producer: ThreadedProducer<Acknowledged> = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("acks", "all")
        .set("enable.idempotence", "true")
        .set("linger.ms", "2")
        .set("message.timeout.ms", "60000")
        .set("reconnect.backoff.max.ms", "500")
        .create_with_context(acknowledged)
        .unwrap();
    let mut number = 0_u64;
    while !stop.load(Ordering::SeqCst) {
        let payload = number.to_be_bytes();
        let key = (number % 50).to_be_bytes();
        if producer.send(BaseRecord::to(TOPIC).key(&key[..]).payload(&payload[..])).is_ok() {
            number += 1;
        }
        thread::sleep(Duration::from_micros(500));
    }
    producer.flush(LONG).unwrap();
}

/// Reads every partition from its beginning to its end: each acknowledged record is where it was said to be, and no
/// record is there twice.
fn check(bootstrap: &str, acknowledged: &Acknowledged) {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "checker")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    let metadata = consumer.fetch_metadata(Some(TOPIC), SHORT).unwrap();
    let partitions = i32::try_from(metadata.topics()[0].partitions().len()).unwrap();
    let mut assignment = TopicPartitionList::new();
    let mut left = BTreeSet::new();
    let mut ends = BTreeMap::new();
    for partition in 0..partitions {
        let (start, end) = consumer.fetch_watermarks(TOPIC, partition, SHORT).unwrap();
        assert_eq!(start, 0);
        assignment.add_partition_offset(TOPIC, partition, Offset::Beginning).unwrap();
        ends.insert(partition, end);
        if end > 0 {
            left.insert(partition);
        }
    }
    consumer.assign(&assignment).unwrap();
    let mut read = BTreeMap::new();
    let mut numbers = BTreeSet::new();
    while !left.is_empty() {
        let message =
            consumer.poll(SHORT).unwrap_or_else(|| panic!("{left:?} not read to their ends")).unwrap();
        let number = u64::from_be_bytes(message.payload().unwrap().try_into().unwrap());
        assert!(numbers.insert(number), "record {number} is there twice");
        read.insert((message.partition(), message.offset()), number);
        if message.offset() + 1 >= ends[&message.partition()] {
            left.remove(&message.partition());
        }
    }
    for (place, number) in &*acknowledged.records.lock().unwrap() {
        assert_eq!(read.get(place), Some(number), "acknowledged record {number} at {place:?} is lost");
    }
}
