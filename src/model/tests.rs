//! What the model makes of what it is told, told as stories.

use std::collections::BTreeMap;

use ottla_broker::types::{
    BrokerEpoch, BrokerId, ControllerEpoch, LeaderEpoch, Millis, Offset, PartitionEpoch, TopicPartition,
};
use proptest::prelude::*;

use super::*;

/// A model with what has happened, in short words.
struct Teller {
    model: Model,
    now: i64,
}

impl Teller {
    /// Three brokers whose processes run from here, and topic `t` with a partition for each to lead.
    fn cluster() -> Self {
        let mut teller = Self { model: Model::default(), now: 1_000 };
        for id in 1..=3 {
            teller.process(id, ProcessState::Running { pid: 100, took: None });
            teller.register(id);
        }
        let partitions = (0..3).map(|n| (n, (0..3).map(|i| BrokerId((n + i) % 3 + 1)).collect())).collect();
        teller.tell(Update::Topic {
            topic: "t".into(),
            update: TopicUpdate::Assigned { topic_id: None, partitions },
        });
        for n in 0..3 {
            teller.state(n, n + 1, 0, &[1, 2, 3]);
        }
        teller.tell(Update::BrokersListed((1..=3).map(BrokerId).collect()));
        teller.tell(Update::TopicsListed(vec!["t".into()]));
        teller.tell(Update::GroupsListed(Vec::new()));
        teller
    }

    fn tell(&mut self, update: Update) {
        self.model.apply(Millis(self.now), update);
    }

    fn after(&mut self, ms: i64) -> &mut Self {
        self.now += ms;
        self
    }

    fn process(&mut self, id: i32, state: ProcessState) {
        let process = ProcessKind::Broker(BrokerId(id));
        self.tell(Update::Process { process, update: ProcessUpdate::State(state) });
    }

    fn register(&mut self, id: i32) {
        let registration = Registration {
            host: "h".into(),
            port: 9092,
            rack: None,
            epoch: BrokerEpoch(self.now),
            registered_at: Millis(self.now),
        };
        self.tell(Update::Broker { broker: BrokerId(id), update: BrokerUpdate::Registered(registration) });
    }

    fn state(&mut self, n: i32, leader: i32, epoch: i32, isr: &[i32]) {
        let state = PartitionState {
            leader: BrokerId(leader),
            leader_epoch: LeaderEpoch(epoch),
            controller_epoch: ControllerEpoch(1),
            isr: isr.iter().copied().map(BrokerId).collect(),
            partition_epoch: PartitionEpoch(epoch),
        };
        let partition = TopicPartition::new("t", n);
        self.tell(Update::Partition { partition, update: PartitionUpdate::State(state) });
    }

    fn ends(&mut self, broker: i32, end: i64) {
        let replica = ReplicaOffsets {
            partition: TopicPartition::new("t", 0),
            log_start_offset: Some(Offset(0)),
            log_end_offset: Some(Offset(end)),
            high_watermark: Some(Offset(end)),
            size_bytes: None,
        };
        self.tell(Update::Offsets { broker: BrokerId(broker), replicas: vec![replica] });
    }

    fn group(&mut self, state: GroupState, generation: i32, members: &[&str]) {
        let member = |name: &&str| Member {
            member_id: (*name).into(),
            client_id: (*name).into(),
            assignment: vec![TopicPartition::new("t", 0)],
            ..Member::default()
        };
        let description = GroupDescription {
            state,
            generation: Some(generation),
            members: members.iter().map(member).collect(),
            ..GroupDescription::default()
        };
        self.tell(Update::Group { group: "g".into(), update: GroupUpdate::Described(description) });
    }

    /// Returns what happened since the cluster was set up, oldest first, with how long it took.
    fn told(&self) -> Vec<String> {
        let events: Vec<_> = self.model.timeline.newest_first().filter(|event| event.at.0 > 1_000).collect();
        let line = |event: &&Event| match event.took {
            Some(took) => format!("{} [{took}]", event.text),
            None => event.text.clone(),
        };
        events.iter().rev().map(line).collect()
    }
}

#[test]
fn what_is_there_at_first_is_no_news() {
    let teller = Teller::cluster();
    let topics = teller.model.timeline.newest_first().filter(|event| event.kind == EventKind::Topic);
    assert_eq!(topics.count(), 0);
    assert_eq!((teller.model.summary.partitions, teller.model.summary.offline), (3, 0));
}

#[test]
fn a_failover_is_told_with_the_time_without_a_leader() {
    let mut teller = Teller::cluster();
    teller.after(500).process(2, ProcessState::Died { ending: "killed".into() });
    assert_eq!(teller.model.summary.offline, 1, "its leader is dead, whatever the state node says");
    teller.after(12).tell(Update::Broker { broker: BrokerId(2), update: BrokerUpdate::Unregistered });
    teller.after(31).state(1, 3, 1, &[3, 1]);
    teller.state(0, 1, 0, &[1, 3]);
    teller.after(8_000).process(2, ProcessState::Running { pid: 101, took: Some(Millis(600)) });
    teller.register(2);
    teller.after(400).state(1, 3, 1, &[3, 1, 2]);
    teller.after(100).state(1, 2, 2, &[3, 1, 2]);
    insta::assert_debug_snapshot!(teller.told());
    assert_eq!((teller.model.summary.offline, teller.model.summary.not_preferred), (0, 0));
    assert_eq!(teller.model.summary.under_replicated, 1, "partition 0 still waits for broker 2");
}

#[test]
fn a_leader_that_comes_back_before_anybody_else_is_elected_is_told_as_such() {
    let mut teller = Teller::cluster();
    teller.after(10).process(1, ProcessState::Frozen { pid: 100 });
    assert_eq!(teller.model.brokers[&BrokerId(1)].state, BrokerState::Frozen);
    teller.after(700).process(1, ProcessState::Running { pid: 100, took: None });
    assert!(
        teller
            .told()
            .iter()
            .any(|line| line == "t-0: leader 1 serves again; 700 ms without a leader [700 ms]")
    );
    assert_eq!(teller.model.summary.offline, 0);
}

#[test]
fn a_partition_that_nobody_can_lead_stays_offline_until_somebody_does() {
    let mut teller = Teller::cluster();
    teller.after(10).state(0, 1, 0, &[1]);
    teller.after(10).process(1, ProcessState::Died { ending: "killed".into() });
    teller.after(10).state(0, -1, 1, &[1]);
    assert_eq!(teller.model.summary.offline, 1);
    teller.after(4_980).process(1, ProcessState::Running { pid: 102, took: None });
    teller.register(1);
    teller.after(10).state(0, 1, 2, &[1]);
    assert_eq!(teller.model.summary.offline, 0);
    let last = teller.told().pop().unwrap();
    assert!(last.starts_with("t-0: leader 1 → 1 (epoch 2); 5.0 s without a leader"), "{last}");
}

#[test]
fn a_rebalance_is_told_with_its_cause_and_duration() {
    let mut teller = Teller::cluster();
    teller.after(10).group(GroupState::Stable, 4, &["a", "b"]);
    teller.after(1_000).group(GroupState::PreparingRebalance, 4, &["a", "b"]);
    assert_eq!(teller.model.summary.rebalancing, 1);
    teller.after(120).group(GroupState::CompletingRebalance, 5, &["a", "b", "c"]);
    teller.after(30).group(GroupState::Stable, 5, &["a", "b", "c"]);
    teller.after(1_000).group(GroupState::Stable, 6, &["a", "c"]);
    teller.after(10).group(GroupState::Empty, 7, &[]);
    insta::assert_debug_snapshot!(teller.told());
    assert_eq!(teller.model.summary.rebalancing, 0);
}

#[test]
fn members_of_one_name_are_told_apart_by_their_ids() {
    let mut teller = Teller::cluster();
    let member = |client: &str, id: &str| Member {
        client_id: client.into(),
        member_id: format!("{client}-{id}"),
        ..Member::default()
    };
    let members = vec![member("app", "6f1c9a52"), member("app", "02d4e881"), member("other", "77aa0c31")];
    let description = GroupDescription { members, ..GroupDescription::default() };
    teller.tell(Update::Group { group: "g".into(), update: GroupUpdate::Described(description) });
    let group = &teller.model.groups["g"];
    let names: Vec<_> = (0..4).map(|index| group.member_name(index)).collect();
    assert_eq!(names, [Some("app-6f1c".into()), Some("app-02d4".into()), Some("other".into()), None]);
}

#[test]
fn lag_follows_both_ends_and_never_falls_below_zero() {
    let mut teller = Teller::cluster();
    teller.after(10).ends(1, 100);
    let offset =
        GroupOffset { partition: TopicPartition::new("t", 0), offset: Offset(70), committed_at: None };
    teller.tell(Update::Group { group: "g".into(), update: GroupUpdate::Offsets(vec![offset.clone()]) });
    assert_eq!(teller.model.groups["g"].lag, Some(30));
    teller.after(1_000).ends(1, 150);
    assert_eq!(teller.model.groups["g"].lag, Some(80), "it grows without a commit");
    let ahead = GroupOffset { offset: Offset(160), ..offset };
    teller.tell(Update::Group { group: "g".into(), update: GroupUpdate::Offsets(vec![ahead]) });
    assert_eq!(teller.model.groups["g"].lag, Some(0), "committed after the end was read");
    assert_eq!(teller.model.summary.lag, 0);
}

#[test]
fn replica_lag_and_rates_come_from_the_logs() {
    let mut teller = Teller::cluster();
    teller.after(10).ends(1, 100);
    teller.ends(2, 90);
    teller.after(1_000).ends(1, 300);
    let partition = teller.model.partition(&TopicPartition::new("t", 0)).unwrap();
    assert_eq!(partition.logs[&BrokerId(2)].lag, Some(210));
    assert_eq!(partition.replica_lag_max(), Some(210));
    assert!((partition.records_per_second - 100.0).abs() < 1.0, "half of the newest rate counts at once");
}

#[test]
fn a_source_falls_silent_and_is_heard_again() {
    let mut teller = Teller::cluster();
    let say = |health| Update::Source(SourceUpdate { source: SourceName::Groups, health });
    teller.after(10).tell(say(SourceHealth::Fresh));
    teller.after(10).tell(say(SourceHealth::Stale { why: "timed out".into() }));
    teller.after(10).tell(say(SourceHealth::Stale { why: "refused".into() }));
    assert_eq!(teller.model.stale(SourceName::Groups), Some((Millis(1_020), "refused")));
    teller.after(3_000).tell(say(SourceHealth::Fresh));
    assert_eq!(teller.told(), ["groups: cannot be read: timed out", "groups: can be read again [3010 ms]"]);
}

#[test]
fn an_action_is_one_line_that_ends_in_its_outcome() {
    let mut teller = Teller::cluster();
    let say = |progress| Update::Action(ActionUpdate { id: ActionId(1), progress });
    teller.after(10).tell(say(Progress::Started("stop broker 2".into())));
    teller.after(5).tell(say(Progress::Step("SIGTERM sent".into())));
    assert_eq!(teller.told(), ["stop broker 2: SIGTERM sent"]);
    teller.after(300).tell(say(Progress::Done("it handed over 4 partitions".into())));
    assert_eq!(teller.told(), ["stop broker 2: it handed over 4 partitions [305 ms]"]);
}

#[test]
fn a_topic_of_the_same_name_with_another_id_is_another_topic() {
    let mut teller = Teller::cluster();
    let assigned = |id: &str| TopicUpdate::Assigned {
        topic_id: Some(id.into()),
        partitions: BTreeMap::from([(0, vec![BrokerId(1)])]),
    };
    teller.after(10).tell(Update::Topic { topic: "u".into(), update: assigned("one") });
    teller.after(10).tell(Update::Topic { topic: "u".into(), update: assigned("two") });
    let told = teller.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].starts_with("topic u deleted") && told[2].starts_with("topic u created"), "{told:?}");
}

/// Updates of every kind, about a few things, in any order.
fn updates() -> impl Strategy<Value = Update> {
    let broker = 1..4_i32;
    prop_oneof![
        (broker.clone(), 0..3_i32, 0..4_i32, proptest::collection::vec(1..4_i32, 0..3)).prop_map(
            |(leader, n, epoch, isr)| {
                let leader = if epoch == 3 { -1 } else { leader };
                let state = PartitionState {
                    leader: BrokerId(leader),
                    leader_epoch: LeaderEpoch(epoch),
                    controller_epoch: ControllerEpoch(1),
                    isr: isr.into_iter().map(BrokerId).collect(),
                    partition_epoch: PartitionEpoch(epoch),
                };
                Update::Partition {
                    partition: TopicPartition::new("t", n),
                    update: PartitionUpdate::State(state),
                }
            }
        ),
        (0..3_i32).prop_map(|n| Update::Partition {
            partition: TopicPartition::new("t", n),
            update: PartitionUpdate::Stateless
        }),
        (broker.clone(), 0..4_u32).prop_map(|(id, state)| Update::Process {
            process: ProcessKind::Broker(BrokerId(id)),
            update: ProcessUpdate::State(match state {
                0 => ProcessState::Running { pid: 1, took: None },
                1 => ProcessState::Frozen { pid: 1 },
                2 => ProcessState::Died { ending: "killed".into() },
                _ => ProcessState::Starting { pid: None },
            }),
        }),
        (broker.clone(), 0..3_i32, 0..500_i64).prop_map(|(id, n, end)| Update::Offsets {
            broker: BrokerId(id),
            replicas: vec![ReplicaOffsets {
                partition: TopicPartition::new("t", n),
                log_start_offset: None,
                log_end_offset: Some(Offset(end)),
                high_watermark: None,
                size_bytes: None,
            }],
        }),
        proptest::collection::vec(1..4_i32, 1..4).prop_map(|replicas| Update::Topic {
            topic: "t".into(),
            update: TopicUpdate::Assigned {
                topic_id: None,
                partitions: BTreeMap::from([(0, replicas.into_iter().map(BrokerId).collect())]),
            },
        }),
        (broker, any::<bool>()).prop_map(|(id, registered)| Update::Broker {
            broker: BrokerId(id),
            update: if registered {
                BrokerUpdate::Registered(Registration {
                    host: "h".into(),
                    port: 1,
                    rack: None,
                    epoch: BrokerEpoch(1),
                    registered_at: Millis(1),
                })
            } else {
                BrokerUpdate::Unregistered
            },
        }),
        Just(Update::TopicsListed(Vec::new())),
        Just(Update::BrokersListed(vec![BrokerId(1)])),
    ]
}

proptest! {
    /// The sums that are kept up to date by differences are those that counting anew would give.
    #[test]
    fn sums_are_what_counting_gives(list in proptest::collection::vec(updates(), 0..60)) {
        let mut teller = Teller::cluster();
        for update in list {
            teller.after(7).tell(update);
        }
        let model = &teller.model;
        let count = |test: fn(&Partition) -> bool| {
            i64::try_from(model.partitions().filter(|(_, _, partition)| test(partition)).count()).unwrap()
        };
        prop_assert_eq!(model.summary.partitions, count(|_| true));
        prop_assert_eq!(model.summary.offline, count(|partition| partition.health.offline));
        prop_assert_eq!(model.summary.under_replicated, count(|partition| partition.health.under_replicated));
        prop_assert_eq!(model.summary.not_preferred, count(|partition| partition.health.not_preferred));
        let leaders: i64 = model.summary.shares.values().map(|share| share.leaders).sum();
        prop_assert_eq!(leaders, count(|partition| partition.leader().is_some()));
        let copies: usize = model.partitions().map(|(_, _, partition)| partition.replicas.len()).sum();
        let counted: i64 = model.summary.shares.values().map(|share| share.replicas).sum();
        prop_assert_eq!(counted, i64::try_from(copies).unwrap());
    }

    /// What is written to a recording comes back as it was.
    #[test]
    fn updates_survive_json(update in updates()) {
        let text = serde_json::to_string(&update).unwrap();
        prop_assert_eq!(serde_json::from_str::<Update>(&text).unwrap(), update);
    }
}
