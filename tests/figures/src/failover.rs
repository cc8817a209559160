//! From `kill -9` of a leader to the next acknowledged write, and to the new leader on the screen.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ottla_test_support::{Cluster, LONG, Options, SHORT, Screen, wait_until};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer as _, ProducerContext, ThreadedProducer};
use rdkafka::{ClientContext, Message as _};
use rustix::process::Signal;

use crate::table::{Table, ms};

const ROUNDS: usize = 5;

pub(crate) fn measure(program: &str, table: &mut Table) -> anyhow::Result<()> {
    let cluster = Cluster::prepare(program, Options::default());
    let arguments = cluster.arguments();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    // The console supervises, so that a death is told at once; it is also what shows the new leader.
    let screen = Screen::start(Path::new(program), &arguments, &[], 160, 45);
    screen.wait_for("three brokers up", LONG, |text| text.contains("3/3"));
    let (mut writes, mut shown, mut usual) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (write, show, ack) = one_failover(&cluster, &screen)?;
        writes.push(write);
        shown.push(show);
        usual.push(ack);
    }
    for list in [&mut writes, &mut shown, &mut usual] {
        list.sort();
    }
    let usual = ms(usual[ROUNDS / 2]);
    table.row(
        "kill -9 of a leader to the next acknowledged write (acks=all)",
        ms(writes[ROUNDS / 2]),
        format!("{usual} for an undisturbed write"),
    );
    table.row(
        "kill -9 of a leader to the new leader on the screen",
        ms(shown[ROUNDS / 2]),
        "same".to_owned(),
    );
    Ok(())
}

fn one_failover(cluster: &Cluster, screen: &Screen) -> anyhow::Result<(Duration, Duration, Duration)> {
    let topic = "figures";
    let settings = |config: &mut ClientConfig| {
        config
            .set("bootstrap.servers", cluster.bootstrap())
            .set("acks", "all")
            .set("linger.ms", "0")
            .set("retry.backoff.ms", "5")
            .set("reconnect.backoff.ms", "5")
            .set("topic.metadata.refresh.fast.interval.ms", "5");
    };
    let mut config = ClientConfig::new();
    settings(&mut config);
    let acknowledged = Acknowledged::default();
    let producer: ThreadedProducer<Acknowledged> = config.create_with_context(acknowledged.clone())?;
    let write = || -> anyhow::Result<Duration> {
        acknowledged.seen.store(false, Ordering::SeqCst);
        let started = Instant::now();
        producer
            .send(BaseRecord::<(), str>::to(topic).partition(0).payload("a record"))
            .map_err(|(error, _)| error)?;
        while !acknowledged.seen.load(Ordering::SeqCst) {
            anyhow::ensure!(started.elapsed() < SHORT, "a write was not acknowledged");
            thread::sleep(Duration::from_micros(200));
        }
        Ok(started.elapsed())
    };
    for _ in 0..20 {
        write()?;
    }
    let usual = write()?;
    let leader = leader_of(cluster, topic);
    let killed = Instant::now();
    cluster.signal_broker(leader, Signal::KILL);
    let written = write()?.max(killed.elapsed());
    // The time line names the partition's new leader.
    screen.wait_for("the new leader", SHORT, |text| {
        text.lines().any(|line| line.contains(topic) && line.contains("leader"))
    });
    let shown = killed.elapsed();
    producer.flush(SHORT)?;
    assert!(cluster.up().status.success());
    wait_until("every replica to be in sync", LONG, || {
        let status = cluster.status();
        let topics = status["topics"].as_array()?;
        let partitions = topics.iter().flat_map(|topic| topic["partitions"].as_array().into_iter().flatten());
        partitions.clone().count().gt(&0).then_some(())?;
        let whole = |p: &serde_json::Value| {
            p["isr"].as_array().map(Vec::len) == p["replicas"].as_array().map(Vec::len)
        };
        partitions.into_iter().all(whole).then_some(())
    });
    Ok((written, shown, usual))
}

fn leader_of(cluster: &Cluster, topic: &str) -> i32 {
    let status = cluster.status();
    let topics = status["topics"].as_array().unwrap();
    let found = topics.iter().find(|entry| entry["name"] == topic).unwrap();
    i32::try_from(found["partitions"][0]["leader"].as_i64().unwrap()).unwrap()
}

#[derive(Debug, Clone, Default)]
struct Acknowledged {
    seen: Arc<AtomicBool>,
}

impl ClientContext for Acknowledged {}

impl ProducerContext for Acknowledged {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if result.as_ref().is_ok_and(|message| message.offset() >= 0) {
            self.seen.store(true, Ordering::SeqCst);
        }
    }
}
