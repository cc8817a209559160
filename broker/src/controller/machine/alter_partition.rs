//! Leaders that change their in-sync replicas (KIP-497).
//!
//! The sender is not checked to be the leader: the epochs that it sends prove what it knows.

use std::sync::Arc;

use super::agenda::{Active, After, Work};
use super::effect::{AlteredTopic, Effect, Reply};
use super::event::{AlterPartition, AlterTopic, AlterWish, RequestId};
use super::partitions::{self, Change, Reason};
use super::types::LeaderAndIsr;
use crate::types::{BrokerId, TopicPartition};
use crate::zk::layout::partition_state::LeaderRecoveryState;
use ottla_protocol::message::ErrorCode;

/// A request whose writes are under way.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) request: RequestId,
    topics: Vec<AnsweringTopic>,
}

#[derive(Debug)]
struct AnsweringTopic {
    asked: AlterTopic,
    name: Option<Arc<str>>,
    /// A refusal known beforehand, by partition in the order asked.
    refusals: Vec<Option<ErrorCode>>,
}

/// The first version that names topics by id and tells an ineligible replica from a request not attempted.
const WITH_TOPIC_IDS: i16 = 2;

/// Checks a request, and those right behind it on the agenda, and writes what passes in one go.
pub(super) fn alter(active: &mut Active, id: RequestId, wish: AlterPartition, out: &mut Vec<Effect>) {
    let mut changes = Vec::new();
    let mut answering = Vec::new();
    check(active, id, wish, &mut changes, &mut answering, out);
    while let Some(Work::AlterPartition(..)) = active.agenda.front() {
        // A second wish for the same partition builds on the first one's result.
        let overlaps = matches!(active.agenda.front(), Some(Work::AlterPartition(_, wish))
            if touches(active, wish, &changes));
        if overlaps {
            break;
        }
        if let Some(Work::AlterPartition(id, wish)) = active.agenda.pop_front() {
            check(active, id, wish, &mut changes, &mut answering, out);
        }
    }
    partitions::apply(active, changes, After::AlterPartition(answering), out);
}

fn touches(active: &Active, wish: &AlterPartition, changes: &[Change]) -> bool {
    wish.topics.iter().any(|topic| {
        let name = name_of(active, topic);
        topic.partitions.iter().any(|wish| {
            changes.iter().any(|change| {
                Some(&change.partition.topic) == name.as_ref() && change.partition.partition == wish.partition
            })
        })
    })
}

fn check(
    active: &Active,
    request: RequestId,
    wish: AlterPartition,
    changes: &mut Vec<Change>,
    answering: &mut Vec<Answering>,
    out: &mut Vec<Effect>,
) {
    let known = active.context.brokers.get(&wish.broker);
    if known.is_none_or(|broker| broker.epoch != wish.broker_epoch) {
        out.push(Effect::Reply(request, Reply::Refused(ErrorCode::StaleBrokerEpoch)));
        return;
    }
    let version = wish.version;
    let topics = wish.topics.into_iter().map(|asked| {
        let name = name_of(active, &asked);
        let unknown = if version >= WITH_TOPIC_IDS && asked.id.is_some() {
            ErrorCode::UnknownTopicId
        } else {
            ErrorCode::UnknownTopicOrPartition
        };
        let refusals = asked.partitions.iter().map(|wish| match &name {
            None => Some(unknown),
            Some(name) => {
                let partition = TopicPartition::new(Arc::clone(name), wish.partition);
                match decide(active, &partition, wish, version) {
                    Ok(Some(next)) => {
                        changes.push(Change { partition, next, reason: Reason::Altered });
                        None
                    }
                    Ok(None) => None,
                    Err(refusal) => Some(refusal),
                }
            }
        });
        let refusals = refusals.collect();
        AnsweringTopic { asked, name, refusals }
    });
    let topics = topics.collect();
    answering.push(Answering { request, topics });
}

fn name_of(active: &Active, topic: &AlterTopic) -> Option<Arc<str>> {
    match topic.id {
        Some(id) => active.context.names.get(&id).cloned(),
        None => topic.name.clone(),
    }
}

/// Decides about one partition: what to write, nothing when it is so already, or why not.
fn decide(
    active: &Active,
    name: &TopicPartition,
    wish: &AlterWish,
    version: i16,
) -> Result<Option<LeaderAndIsr>, ErrorCode> {
    let context = &active.context;
    let partition = context.partition(name).filter(|_| !context.is_deleting(&name.topic));
    let known = partition.and_then(|partition| Some((&partition.assignment, partition.leadership.as_ref()?)));
    let (assignment, now) = known.ok_or(ErrorCode::UnknownTopicOrPartition)?;
    if wish.leader_epoch > now.leader_epoch || wish.partition_epoch > now.partition_epoch {
        // The leader knows more than this controller, so this is not the controller any more.
        return Err(ErrorCode::NotController);
    }
    if wish.leader_epoch < now.leader_epoch {
        return Err(ErrorCode::FencedLeaderEpoch);
    }
    if wish.isr == now.isr && wish.recovery == now.recovery {
        return Ok(None);
    }
    if wish.partition_epoch < now.partition_epoch {
        return Err(ErrorCode::InvalidUpdateVersion);
    }
    let recovering = LeaderRecoveryState::Recovering;
    let falls_back = now.recovery != recovering && wish.recovery == recovering;
    // A leader that has not yet heard of a reassignment's end may want a replica back that is being removed.
    let foreign = !wish.isr.iter().all(|member| assignment.replicas.contains(member));
    if foreign || wish.isr.is_empty() || falls_back || (wish.recovery == recovering && wish.isr.len() > 1) {
        return Err(ErrorCode::InvalidRequest);
    }
    let eligible =
        |broker: &BrokerId| context.brokers.contains_key(broker) && !context.shutting_down.contains(broker);
    if !wish.isr.iter().all(eligible) {
        let old = version < WITH_TOPIC_IDS;
        return Err(if old { ErrorCode::OperationNotAttempted } else { ErrorCode::IneligibleReplica });
    }
    Ok(Some(LeaderAndIsr {
        isr: wish.isr.clone(),
        recovery: wish.recovery,
        controller_epoch: context.epoch,
        ..now.clone()
    }))
}

/// Everything is written: answers with what is stored now, and tells everybody about every partition that was named.
pub(super) fn answer(
    active: &mut Active,
    answering: Vec<Answering>,
    failed: &[TopicPartition],
    out: &mut Vec<Effect>,
) {
    let mut moving = Vec::new();
    for Answering { request, topics } in answering {
        let topics = topics.into_iter().map(|topic| {
            let results = topic.asked.partitions.iter().zip(&topic.refusals).map(|(wish, refusal)| {
                let name =
                    topic.name.as_ref().map(|name| TopicPartition::new(Arc::clone(name), wish.partition));
                let result = result(active, name.as_ref(), *refusal, failed);
                if let Some(name) = name {
                    let partition = active.context.partition(&name);
                    if result.is_ok() && partition.is_some_and(|it| it.assignment.is_reassigning()) {
                        moving.push(name.clone());
                    }
                    if partition.is_some() {
                        active.outgoing.know(&name);
                    }
                }
                (wish.partition, result)
            });
            let partitions = results.collect();
            AlteredTopic { id: topic.asked.id, name: topic.asked.name, partitions }
        });
        let topics = topics.collect();
        out.push(Effect::Reply(request, Reply::AlterPartition(topics)));
    }
    if !moving.is_empty() {
        active.agenda.push_front(Work::AdvanceReassignments { partitions: moving, begin: false });
    }
}

fn result(
    active: &Active,
    name: Option<&TopicPartition>,
    refusal: Option<ErrorCode>,
    failed: &[TopicPartition],
) -> Result<LeaderAndIsr, ErrorCode> {
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    let name = name.ok_or(ErrorCode::UnknownTopicOrPartition)?;
    if failed.contains(name) {
        return Err(ErrorCode::InvalidUpdateVersion);
    }
    let partition = active.context.partition(name).and_then(|partition| partition.leadership.clone());
    partition.ok_or(ErrorCode::UnknownTopicOrPartition)
}
