//! What one broker takes from and gives to librdkafka, beside bare loops of the same machine.

use std::time::{Duration, Instant};

use ottla_test_support::{Cluster, LONG, Options, SHORT};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};

use crate::bare;
use crate::table::{Table, rate};

const TOPIC: &str = "throughput";
const RECORD_BYTES: usize = 1_000;
const RECORDS: usize = 500_000;
const BYTES: u64 = (RECORD_BYTES * RECORDS) as u64;
const ROUNDS: usize = 3;

pub(crate) fn measure(program: &str, table: &mut Table) -> anyhow::Result<()> {
    let (mut produced, mut consumed, mut written, mut sent) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let cluster = Cluster::start(program, Options { brokers: 1, ..Options::default() });
        produced.push(produce(&cluster)?);
        consumed.push(consume(&cluster)?);
        written.push(bare::write(BYTES));
        sent.push(bare::sendfile(BYTES));
    }
    for list in [&mut produced, &mut consumed, &mut written, &mut sent] {
        list.sort();
    }
    let middle = |list: &[Duration]| rate(BYTES, list[ROUNDS / 2]);
    let row = |figure: f64, limit: f64, what: &str| {
        (format!("{figure:.0} MB/s"), format!("{limit:.0} MB/s {what}; ratio {:.2}", figure / limit))
    };
    let (figure, beside) = row(middle(&produced), middle(&written), "bare `write` loop to a file, 64 KiB");
    table.row("produce to one broker from librdkafka (1,000-byte records, acks=all)", figure, beside);
    let (figure, beside) = row(middle(&consumed), middle(&sent), "bare `sendfile` loop to a socket, 256 KiB");
    table.row("fetch from one broker to librdkafka", figure, beside);
    Ok(())
}

fn client(cluster: &Cluster) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", cluster.bootstrap());
    config
}

fn produce(cluster: &Cluster) -> anyhow::Result<Duration> {
    let producer: BaseProducer = client(cluster)
        .set("acks", "all")
        .set("linger.ms", "5")
        .set("batch.size", "1000000")
        .set("queue.buffering.max.messages", "1000000")
        .set("queue.buffering.max.kbytes", "1048576")
        .create()?;
    // The first write makes the topic; it does not count.
    producer
        .send(BaseRecord::<(), str>::to(TOPIC).partition(0).payload("first"))
        .map_err(|(error, _)| error)?;
    producer.flush(LONG)?;
    let payload = vec![b'x'; RECORD_BYTES];
    let started = Instant::now();
    for _ in 0..RECORDS {
        let mut record = BaseRecord::<(), [u8]>::to(TOPIC).partition(0).payload(&payload[..]);
        while let Err((error, back)) = producer.send(record) {
            anyhow::ensure!(
                error.rdkafka_error_code() == Some(rdkafka::types::RDKafkaErrorCode::QueueFull),
                "produce: {error}"
            );
            producer.poll(Duration::from_millis(1));
            record = back;
        }
    }
    producer.flush(LONG)?;
    Ok(started.elapsed())
}

fn consume(cluster: &Cluster) -> anyhow::Result<Duration> {
    let consumer: BaseConsumer = client(cluster)
        .set("group.id", "figures")
        .set("enable.auto.commit", "false")
        .set("fetch.message.max.bytes", "8388608")
        .set("queued.max.messages.kbytes", "262144")
        .create()?;
    let mut assignment = TopicPartitionList::new();
    assignment.add_partition_offset(TOPIC, 0, Offset::Beginning)?;
    consumer.assign(&assignment)?;
    let mut started = None;
    let mut count = 0;
    while count <= RECORDS {
        let Some(message) = consumer.poll(SHORT) else {
            anyhow::bail!("only {count} of {RECORDS} records came")
        };
        let message = message?;
        started.get_or_insert_with(Instant::now);
        count += usize::from(message.payload().is_some());
    }
    Ok(started.map_or(Duration::ZERO, |started| started.elapsed()))
}
