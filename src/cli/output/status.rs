//! The status as text for people.
#![expect(clippy::print_stdout, reason = "this is the place that prints")]

use std::fmt::Display;

use crate::model::{BrokerStatus, GroupStatus, Model, PartitionStatus, Status, TopicStatus};

/// Prints what is known of the cluster.
pub(in crate::cli) fn status(status: &Status, model: &Model) {
    let controller =
        status.controller.id.map_or_else(|| "no controller".to_owned(), |id| format!("controller {id}"));
    println!(
        "{}: {controller}, zookeeper {} {}",
        status.cluster, status.zookeeper.connect, status.zookeeper.state
    );
    let summary = &model.summary;
    println!(
        "{} partitions, {} offline, {} under-replicated, {} not led by the preferred leader",
        summary.partitions, summary.offline, summary.under_replicated, summary.not_preferred
    );
    println!("\nBROKER  STATE         ADDRESS                PID  LEADS  REPLICAS  MEMORY");
    status.brokers.iter().for_each(broker);
    for topic in status.topics.iter().filter(|topic| !topic.name.starts_with("__")) {
        println!("\n{}", topic.name);
        partitions(topic);
    }
    for group in &status.groups {
        self::group(group);
    }
    for source in &status.stale_sources {
        println!("\nnot read: {}: {}", source.source, source.why);
    }
}

fn or_dash<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn broker(broker: &BrokerStatus) {
    let address = broker.host.as_deref().zip(broker.port).map(|(host, port)| format!("{host}:{port}"));
    let memory = broker.resident_bytes.map(|bytes| format!("{} MiB", bytes >> 20));
    println!(
        "{:>6}  {:<12}  {:<17}  {:>7}  {:>5}  {:>8}  {:>7}",
        broker.id,
        broker.state.word(),
        or_dash(address),
        or_dash(broker.pid),
        broker.leaders,
        broker.replicas,
        or_dash(memory),
    );
}

fn partitions(topic: &TopicStatus) {
    println!("  PARTITION  LEADER  EPOCH  REPLICAS    IN SYNC     START        END  HIGH WATERMARK  LAG");
    topic.partitions.iter().for_each(partition);
}

fn partition(partition: &PartitionStatus) {
    let list = |ids: &[ottla_broker::types::BrokerId]| {
        let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
        ids.join(",")
    };
    let lag = partition.replica_logs.iter().filter_map(|replica| replica.lag).max();
    let mark = match (partition.offline, partition.under_replicated) {
        (true, _) => "  offline",
        (false, true) => "  under-replicated",
        (false, false) => "",
    };
    println!(
        "  {:>9}  {:>6}  {:>5}  {:<10}  {:<8}  {:>7}  {:>9}  {:>14}  {:>3}{mark}",
        partition.partition,
        or_dash(partition.leader),
        or_dash(partition.leader_epoch),
        list(&partition.replicas),
        list(&partition.isr),
        or_dash(partition.log_start_offset),
        or_dash(partition.log_end_offset),
        or_dash(partition.high_watermark),
        or_dash(lag),
    );
}

fn group(group: &GroupStatus) {
    println!(
        "\ngroup {}: {}, generation {}, coordinator {}, {} members, lag {}",
        group.group,
        group.state.word(),
        or_dash(group.generation),
        or_dash(group.coordinator),
        group.members.len(),
        or_dash(group.lag),
    );
    for member in &group.members {
        let topics = member.assignment.iter().map(|(topic, partitions)| {
            let numbers: Vec<_> = partitions.iter().map(ToString::to_string).collect();
            format!("{topic}[{}]", numbers.join(","))
        });
        let topics: Vec<_> = topics.collect();
        println!("  {} at {}: {}", member.client_id, member.client_host, topics.join(" "));
    }
}
