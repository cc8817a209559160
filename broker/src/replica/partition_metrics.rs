//! What each partition looks like, under Kafka's names.

use super::hosted::HostedPartition;
use super::machine::RoleKind;
use crate::metrics::Samples;

/// Adds the gauges of one partition.
#[expect(clippy::cast_precision_loss, reason = "offsets and sizes beyond 2^52 are printed rounded")]
pub(super) fn collect(partition: &HostedPartition, samples: &mut Samples) {
    let view = partition.ask(|machine| machine.view());
    let log = partition.log();
    let number = partition.id().partition.to_string();
    let labels = [("topic", partition.id().topic.as_ref()), ("partition", number.as_str())];
    let mut gauge = |name, help, value: f64| samples.gauge(name, help, &labels, value);
    gauge("kafka_log_log_logendoffset", "Offset of the next record.", log.log_end_offset().0 as f64);
    gauge("kafka_log_log_logstartoffset", "Offset of the first record.", log.log_start_offset().0 as f64);
    gauge("kafka_log_log_size", "Bytes of the log's batches.", log.size_bytes() as f64);
    gauge("kafka_log_log_numlogsegments", "Segments of the log.", log.segment_count() as f64);
    gauge(
        "ottla_replica_partition_high_watermark",
        "Offset of the first record that is not committed.",
        view.high_watermark.0 as f64,
    );
    gauge(
        "ottla_replica_partition_leader_epoch",
        "Elections of the partition's leader.",
        f64::from(view.leader_epoch.0),
    );
    let leads = view.role == RoleKind::Leader;
    gauge("ottla_replica_partition_is_leader", "1 where this broker leads the partition.", flag(leads));
    if !leads {
        return;
    }
    let assignment = &view.assignment;
    let target = assignment.replicas.len().saturating_sub(assignment.adding.len());
    gauge("kafka_cluster_partition_replicascount", "Replicas.", assignment.replicas.len() as f64);
    gauge("kafka_cluster_partition_insyncreplicascount", "Replicas in sync.", view.isr.len() as f64);
    gauge(
        "kafka_cluster_partition_underreplicated",
        "1 while fewer replicas are in sync than there are.",
        flag(view.isr.len() < target),
    );
    gauge(
        "kafka_cluster_partition_underminisr",
        "1 while too few replicas are in sync for acks=all.",
        flag(view.is_under_min_isr),
    );
    gauge(
        "kafka_cluster_partition_laststableoffsetlag",
        "Records between the last stable offset and the high watermark.",
        view.high_watermark.distance_from(log.last_stable_offset()) as f64,
    );
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
