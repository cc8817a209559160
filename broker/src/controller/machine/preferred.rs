//! Elections that are asked for, and the balance of the leaders over the brokers.

use std::collections::BTreeMap;

use super::agenda::{Active, After, Work};
use super::effect::{Effect, Reply, Write};
use super::election::Strategy;
use super::event::{ElectionKind, RequestId};
use super::partitions::{self, Change};
use crate::types::{BrokerId, Millis, TopicPartition};
use crate::zk::layout::preferred_election;
use ottla_protocol::message::ErrorCode;

/// When the balance is looked at for the first time after an election, Kafka's five seconds.
pub(super) const FIRST_BALANCE: Millis = Millis(5000);

/// An ElectLeaders request whose writes are under way.
#[derive(Debug)]
pub(super) struct Electing {
    pub(super) request: RequestId,
    results: Vec<(TopicPartition, Result<BrokerId, ErrorCode>)>,
}

/// Answers ElectLeaders.
pub(super) fn elect_leaders(
    active: &mut Active,
    request: RequestId,
    kind: ElectionKind,
    partitions: Option<Vec<TopicPartition>>,
    out: &mut Vec<Effect>,
) {
    let everywhere = partitions.is_none();
    let partitions = partitions.unwrap_or_else(|| active.context.select(|_, _| true));
    let mut results = Vec::with_capacity(partitions.len());
    let mut changes = Vec::new();
    for name in partitions {
        match decide(active, &name, kind) {
            Ok(change) => {
                results.push((name, Ok(change.next.leader)));
                changes.push(change);
            }
            Err(ErrorCode::ElectionNotNeeded) if everywhere => {}
            Err(refusal) => results.push((name, Err(refusal))),
        }
    }
    partitions::apply(active, changes, After::ElectLeaders(Electing { request, results }), out);
}

/// Everything is written: answers.
pub(super) fn answer(mut electing: Electing, failed: &[TopicPartition], out: &mut Vec<Effect>) {
    for (name, result) in &mut electing.results {
        if result.is_ok() && failed.contains(name) {
            *result = Err(ErrorCode::UnknownServerError);
        }
    }
    out.push(Effect::Reply(electing.request, Reply::ElectLeaders(electing.results)));
}

fn decide(active: &Active, name: &TopicPartition, kind: ElectionKind) -> Result<Change, ErrorCode> {
    let context = &active.context;
    let partition = context.partition(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    if context.is_deleting(&name.topic) {
        return Err(ErrorCode::InvalidTopicException);
    }
    let leader = partition.leadership.as_ref().map(|leadership| leadership.leader);
    match kind {
        ElectionKind::Preferred => {
            if leader.is_some() && leader == partition.assignment.preferred() {
                return Err(ErrorCode::ElectionNotNeeded);
            }
            partitions::election(active, name, Strategy::Preferred)
                .ok_or(ErrorCode::PreferredLeaderNotAvailable)
        }
        ElectionKind::Unclean => {
            if leader.is_some_and(|leader| context.is_online(leader, name)) {
                return Err(ErrorCode::ElectionNotNeeded);
            }
            partitions::election(active, name, Strategy::Offline { unclean: true })
                .ok_or(ErrorCode::EligibleLeadersNotAvailable)
        }
    }
}

/// An old tool asks by the node; it is deleted when the elections are done.
pub(super) fn from_node(active: &mut Active, partitions: &[TopicPartition], out: &mut Vec<Effect>) {
    let delete = Write::Delete(preferred_election::PATH.to_owned());
    active.agenda.push_front(Work::Housekeeping(vec![delete]));
    let wanted: Vec<TopicPartition> = partitions
        .iter()
        .filter(|name| decide(active, name, ElectionKind::Preferred).is_ok())
        .cloned()
        .collect();
    partitions::elect(active, &wanted, Strategy::Preferred, out);
}

/// Elects the preferred leaders of every broker that leads too few of the partitions that it should.
pub(super) fn balance(active: &mut Active, out: &mut Vec<Effect>) {
    let mut by_broker: BTreeMap<BrokerId, (usize, Vec<TopicPartition>)> = BTreeMap::new();
    for name in active.context.select(|_, _| true) {
        let Some(partition) = active.context.partition(&name) else { continue };
        let Some(preferred) = partition.assignment.preferred() else { continue };
        let (should, missing) = by_broker.entry(preferred).or_default();
        *should += 1;
        if !partition.is_led_by(preferred) {
            missing.push(name);
        }
    }
    let limit = usize::try_from(active.settings.imbalance_percentage).unwrap_or_default();
    let mut wanted = Vec::new();
    for (broker, (should, missing)) in by_broker {
        if missing.len() * 100 <= should * limit {
            continue;
        }
        let before = wanted.len();
        wanted.extend(missing.into_iter().filter(|name| {
            active.context.is_online(broker, name)
                && active.context.partition(name).is_some_and(|partition| partition.is_in_sync(broker))
        }));
        if wanted.len() > before {
            tracing::info!(%broker, partitions = wanted.len() - before, "giving leaderships back to the broker");
        }
    }
    partitions::elect(active, &wanted, Strategy::Preferred, out);
}
