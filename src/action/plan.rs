//! What a command will do to the cluster, and whether it may.

use ottla_broker::types::{BrokerId, TopicPartition};
use thiserror::Error;

use super::command::{BrokerOrder, Command, LoadOrder};
use super::topic_name::check_topic_name;
use crate::model::{Broker, BrokerState, Model, Partition, Topic};

/// How many names a consequence lists.
const NAMES_MAX: usize = 4;

/// A command with what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What must be done.
    pub command: Command,
    /// What follows from it, in words, the gravest first.
    pub consequences: Vec<String>,
    /// How the operator must agree.
    pub confirmation: Confirmation,
    /// The word on the button.
    pub yes: &'static str,
}

/// How the operator must agree to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// Nothing is lost: do it.
    None,
    /// It is asked.
    Ask,
    /// It is asked, and marked as something that costs.
    Danger,
    /// This word must be typed: what goes cannot be had back.
    Type(String),
}

/// Why a command is not carried out, in words that say what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Says what a command will do, or why it may not be done.
///
/// # Errors
/// When the console may only look, when what it is about is not there, or when it could not work.
pub fn plan(model: &Model, command: Command) -> Result<Plan, Refusal> {
    if model.cluster.profile.read_only {
        return Err(refuse("this console may only look: it was started with --read-only"));
    }
    match &command {
        Command::Broker { broker, order } => plan_broker(model, *broker, *order),
        Command::Zookeeper(order) => plan_zookeeper(model, *order),
        Command::MoveLeadership { partition, to } => plan_move(model, partition, *to),
        Command::ElectPreferred { partitions } => plan_elect(model, partitions),
        Command::CreateTopic { name, partitions, replication_factor, .. } => {
            plan_create(model, name, *partitions, *replication_factor)
        }
        Command::DeleteTopic { name } => plan_delete(model, name),
        Command::Load(order) => plan_load(model, order),
    }
    .map(|terms| Plan {
        command,
        consequences: terms.consequences,
        confirmation: terms.confirmation,
        yes: terms.yes,
    })
}

/// What a plan says beside its command.
struct Terms {
    consequences: Vec<String>,
    confirmation: Confirmation,
    yes: &'static str,
}

impl Terms {
    const AT_ONCE: Self = Self { consequences: Vec::new(), confirmation: Confirmation::None, yes: "Do it" };
}

fn refuse(why: impl Into<String>) -> Refusal {
    Refusal(why.into())
}

fn plan_broker(model: &Model, id: BrokerId, order: BrokerOrder) -> Result<Terms, Refusal> {
    let broker = model.brokers.get(&id).ok_or_else(|| refuse(format!("there is no broker {id}")))?;
    if !broker.is_owned() {
        return Err(refuse(format!(
            "broker {id} was not started from this data directory: its process cannot be reached from here"
        )));
    }
    let gone = broker.state == BrokerState::Down;
    match order {
        BrokerOrder::Start | BrokerOrder::Restart if gone => Ok(Terms::AT_ONCE),
        BrokerOrder::Start => Err(refuse(format!("broker {id} runs already"))),
        _ if gone => Err(refuse(format!("broker {id} is down: R starts it"))),
        BrokerOrder::Thaw if broker.state == BrokerState::Frozen => Ok(Terms::AT_ONCE),
        BrokerOrder::Thaw => Err(refuse(format!("broker {id} is not frozen"))),
        BrokerOrder::Freeze if broker.state == BrokerState::Frozen => {
            Err(refuse(format!("broker {id} is frozen already")))
        }
        BrokerOrder::Stop if broker.state == BrokerState::Frozen => Err(refuse(format!(
            "broker {id} is frozen and cannot stop in order: Z lets it go on, X kills it"
        ))),
        BrokerOrder::Stop | BrokerOrder::Kill | BrokerOrder::Freeze | BrokerOrder::Restart => {
            Ok(plan_loss(model, broker, order))
        }
    }
}

/// Says what it means that a broker will not serve for a while.
fn plan_loss(model: &Model, broker: &Broker, order: BrokerOrder) -> Terms {
    let id = broker.id;
    let led: Vec<_> = model.partitions().filter(|(_, _, p)| p.leader() == Some(id)).collect();
    let orphans: Vec<String> = led
        .iter()
        .filter(|(_, _, partition)| successors(model, partition, id).next().is_none())
        .map(|(topic, number, _)| format!("{topic}-{number}"))
        .collect();
    let mut consequences = vec![match order {
        BrokerOrder::Kill => "SIGKILL: it can neither hand over nor flush.".to_owned(),
        BrokerOrder::Freeze => {
            "SIGSTOP: it keeps its session until that expires, and its partitions until then.".to_owned()
        }
        BrokerOrder::Restart => "It hands over, stops, and is started again.".to_owned(),
        _ => "It hands over what it leads, then stops.".to_owned(),
    }];
    let moving = led.len() - orphans.len();
    if moving > 0 {
        let noun = if moving == 1 { "partition gets" } else { "partitions get" };
        consequences.push(format!("{moving} {noun} another leader from the isr."));
    }
    if !orphans.is_empty() {
        let (noun, verb) = if orphans.len() == 1 { ("partition", "goes") } else { ("partitions", "go") };
        consequences.push(format!(
            "{} {noun} {verb} offline, no other replica is in sync: {}.",
            orphans.len(),
            names(&orphans)
        ));
    }
    if model.cluster.controller == Some(id) {
        consequences.push("It is the controller: the others elect a new one.".to_owned());
    }
    if led.is_empty() {
        consequences.push("It leads no partition.".to_owned());
    }
    let confirmation = if order == BrokerOrder::Kill || !orphans.is_empty() {
        Confirmation::Danger
    } else {
        Confirmation::Ask
    };
    let yes = match order {
        BrokerOrder::Kill => "Kill",
        BrokerOrder::Freeze => "Freeze",
        BrokerOrder::Restart => "Restart",
        _ => "Stop",
    };
    Terms { consequences, confirmation, yes }
}

/// Returns the in-sync replicas that could lead instead of a broker.
fn successors<'a>(
    model: &'a Model,
    partition: &'a Partition,
    leader: BrokerId,
) -> impl Iterator<Item = BrokerId> + 'a {
    partition.isr().iter().copied().filter(move |id| *id != leader && serves(model, *id))
}

fn serves(model: &Model, id: BrokerId) -> bool {
    model.brokers.get(&id).is_none_or(|broker| broker.state.serves())
}

fn plan_zookeeper(model: &Model, order: BrokerOrder) -> Result<Terms, Refusal> {
    let process = model.zookeeper.as_ref().ok_or_else(|| refuse("ZooKeeper is not run by this console"))?;
    let gone = process.state.as_ref().is_none_or(|state| state.is_gone());
    match order {
        BrokerOrder::Start | BrokerOrder::Restart if gone => Ok(Terms::AT_ONCE),
        BrokerOrder::Thaw => Ok(Terms::AT_ONCE),
        BrokerOrder::Start => Err(refuse("ZooKeeper runs already")),
        _ if gone => Err(refuse("ZooKeeper is down: R starts it")),
        _ => Ok(Terms {
            consequences: vec![
                "While it is away nothing can be elected, created or deleted.".to_owned(),
                "Brokers go on serving until their sessions expire.".to_owned(),
            ],
            confirmation: Confirmation::Danger,
            yes: "Do it",
        }),
    }
}

/// Returns the brokers that could take over the leadership of a partition, the preferred one first.
pub fn leadership_candidates(model: &Model, partition: &Partition) -> Vec<BrokerId> {
    let leader = partition.leader();
    let able = |id: &BrokerId| Some(*id) != leader && partition.isr().contains(id) && serves(model, *id);
    partition.replicas.iter().copied().filter(able).collect()
}

fn plan_move(model: &Model, name: &TopicPartition, to: BrokerId) -> Result<Terms, Refusal> {
    let partition = model.partition(name).ok_or_else(|| refuse(format!("there is no partition {name}")))?;
    if partition.leader() == Some(to) {
        return Err(refuse(format!("broker {to} leads {name} already")));
    }
    if !partition.isr().contains(&to) {
        return Err(refuse(format!(
            "broker {to} is not in the isr of {name}: it would lose records that were acknowledged"
        )));
    }
    if !serves(model, to) {
        return Err(refuse(format!("broker {to} does not serve")));
    }
    Ok(Terms::AT_ONCE)
}

fn plan_elect(model: &Model, partitions: &[TopicPartition]) -> Result<Terms, Refusal> {
    let all = partitions.is_empty();
    let chosen: Vec<(String, &Partition)> = if all {
        model
            .partitions()
            .filter(|(_, _, partition)| partition.health.not_preferred)
            .map(|(topic, number, partition)| (format!("{topic}-{number}"), partition))
            .collect()
    } else {
        partitions.iter().filter_map(|name| Some((name.to_string(), model.partition(name)?))).collect()
    };
    let can = |partition: &Partition| {
        partition
            .preferred_leader()
            .is_some_and(|preferred| partition.isr().contains(&preferred) && serves(model, preferred))
    };
    let (able, unable): (Vec<_>, Vec<_>) = chosen
        .iter()
        .filter(|(_, partition)| partition.leader() != partition.preferred_leader())
        .partition(|(_, partition)| can(partition));
    if able.is_empty() && unable.is_empty() {
        return Err(refuse("every partition is led by its preferred leader already"));
    }
    let unable: Vec<String> = unable.into_iter().map(|(name, _)| name.clone()).collect();
    if able.is_empty() {
        return Err(refuse(format!("no preferred leader is in sync and alive: {}", names(&unable))));
    }
    if !all {
        return Ok(Terms::AT_ONCE);
    }
    let moving = able.len();
    let mut consequences = vec![if moving == 1 {
        "1 partition is handed to its preferred leader.".to_owned()
    } else {
        format!("{moving} partitions are handed to their preferred leaders.")
    }];
    if !unable.is_empty() {
        consequences.push(format!("Left as they are, not in sync: {}.", names(&unable)));
    }
    Ok(Terms { consequences, confirmation: Confirmation::Ask, yes: "Elect" })
}

fn plan_create(model: &Model, name: &str, partitions: i32, factor: i16) -> Result<Terms, Refusal> {
    check_topic_name(name).map_err(Refusal)?;
    if model.topics.contains_key(name) {
        return Err(refuse(format!("topic {name} exists already")));
    }
    if partitions < 1 || factor < 1 {
        return Err(refuse("a topic needs at least one partition and one replica"));
    }
    let up = model.summary.brokers_up;
    if usize::try_from(factor).is_ok_and(|factor| factor > up) {
        return Err(refuse(format!("{factor} replicas need {factor} brokers, and {up} are up")));
    }
    Ok(Terms::AT_ONCE)
}

fn plan_delete(model: &Model, name: &str) -> Result<Terms, Refusal> {
    let topic = model.topics.get(name).ok_or_else(|| refuse(format!("there is no topic {name}")))?;
    if Topic::is_internal(name) {
        return Err(refuse(format!("{name} belongs to the brokers: without it groups lose their offsets")));
    }
    if topic.deleting {
        return Err(refuse(format!("topic {name} is being deleted already")));
    }
    let records: i64 = topic
        .partitions
        .values()
        .filter_map(|partition| {
            Some(partition.log_end_offset()?.distance_from(partition.log_start_offset()?))
        })
        .sum();
    let mut consequences = vec![format!(
        "{} partitions with about {records} records are gone for good.",
        topic.partitions.len()
    )];
    let readers: Vec<String> = model
        .groups
        .iter()
        .filter(|(_, group)| group.offsets.keys().any(|partition| &*partition.topic == name))
        .map(|(group, _)| group.clone())
        .collect();
    if !readers.is_empty() {
        consequences.push(format!("Read by {}.", names(&readers)));
    }
    Ok(Terms { consequences, confirmation: Confirmation::Type(name.to_owned()), yes: "Delete" })
}

fn plan_load(model: &Model, order: &LoadOrder) -> Result<Terms, Refusal> {
    let load = &model.load.state;
    match order {
        LoadOrder::Start if load.running => Err(refuse("the demo load is on already")),
        LoadOrder::Start if model.summary.brokers_up == 0 => {
            Err(refuse("the demo load needs a broker that is up"))
        }
        LoadOrder::Start => Ok(Terms::AT_ONCE),
        LoadOrder::Stop
        | LoadOrder::SetRate(_)
        | LoadOrder::AddMember { .. }
        | LoadOrder::RemoveMember { .. }
            if !load.running =>
        {
            Err(refuse("the demo load is off: L turns it on"))
        }
        LoadOrder::AddMember { group } | LoadOrder::RemoveMember { group } => {
            let known = load.groups.iter().find(|known| known.group == *group);
            match known {
                None => Err(refuse(format!("group {group} does not belong to the demo load"))),
                Some(known) if known.members == 0 && matches!(order, LoadOrder::RemoveMember { .. }) => {
                    Err(refuse(format!("group {group} has no member of the demo load")))
                }
                Some(_) => Ok(Terms::AT_ONCE),
            }
        }
        LoadOrder::Stop | LoadOrder::SetRate(_) => Ok(Terms::AT_ONCE),
    }
}

/// Lists a few names and counts the rest.
fn names(list: &[String]) -> String {
    let shown = list.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match list.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
