//! What a frame costs depends on what is visible, not on what exists.

use std::collections::BTreeMap;

use ottla::model::{Model, PartitionState, PartitionUpdate, TopicUpdate, Update};
use ottla::widget::Tier;
use ottla_broker::types::{BrokerId, ControllerEpoch, LeaderEpoch, Millis, PartitionEpoch, TopicPartition};

use crate::screen::{console, draw, press, text};

fn large(topics: i32) -> Model {
    let mut model = Model::default();
    for topic in 0..topics {
        let name = format!("topic-{topic:04}");
        let replicas = |n: i32| vec![BrokerId(n % 3 + 1), BrokerId((n + 1) % 3 + 1)];
        let partitions: BTreeMap<_, _> = (0..20).map(|n| (n, replicas(n))).collect();
        let update = TopicUpdate::Assigned { topic_id: None, partitions };
        model.apply(Millis(1), Update::Topic { topic: name.clone(), update });
        for n in 0..20 {
            let state = PartitionState {
                leader: BrokerId(n % 3 + 1),
                leader_epoch: LeaderEpoch(0),
                controller_epoch: ControllerEpoch(1),
                isr: replicas(n),
                partition_epoch: PartitionEpoch(0),
            };
            let partition = TopicPartition::new(name.as_str(), n);
            model.apply(Millis(1), Update::Partition { partition, update: PartitionUpdate::State(state) });
        }
    }
    model
}

#[test]
fn ten_thousand_partitions_scroll() {
    let model = large(500);
    assert_eq!(model.summary.partitions, 10_000);
    let mut console = console("dark", Tier::Braille);
    press(&mut console, &model, Millis(1), "3 G");
    let shown = text(&draw(&mut console, &model, Millis(1), (120, 40)));
    assert!(shown.contains("topic-0499-19"), "{shown}");
    press(&mut console, &model, Millis(1), "g");
    let shown = text(&draw(&mut console, &model, Millis(1), (120, 40)));
    assert!(shown.contains("topic-0000-0"), "{shown}");
}
