//! What the controller counts, under Kafka's names. Zeros where this broker is not in office.

use crate::controller::Controller;
use crate::metrics::{Metrics, Samples};

/// Registers the controller's gauges.
pub(super) fn register(metrics: &Metrics, controller: &Controller) {
    let controller = controller.clone();
    metrics.collector(move |samples| collect(&controller, samples));
}

fn collect(controller: &Controller, samples: &mut Samples) {
    let counts = controller.counts();
    let mut gauge = |name, help, count: usize| {
        samples.gauge(name, help, &[], f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    };
    gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "1 where this broker is the controller.",
        usize::from(controller.is_active()),
    );
    gauge("kafka_controller_kafkacontroller_globaltopiccount", "Topics of the cluster.", counts.topics);
    gauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "Partitions of the cluster.",
        counts.partitions,
    );
    gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "Partitions without a leader.",
        counts.offline_partitions,
    );
    gauge(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
        "Partitions that another than their preferred replica leads.",
        counts.not_led_by_preferred,
    );
    gauge(
        "kafka_controller_kafkacontroller_topicstodeletecount",
        "Topics marked for deletion.",
        counts.topics_to_delete,
    );
}
