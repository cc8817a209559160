//! What effects must do.

use std::collections::BTreeMap;
use std::fmt;

use ottla_broker::types::{BrokerId, TopicPartition};
use serde::{Deserialize, Serialize};

use crate::model::ActionId;

/// A command on its way, with the number by which its outcome comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// The number.
    pub id: ActionId,
    /// What must be done.
    pub command: Command,
}

/// What must be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Do something to a broker's process.
    Broker {
        /// Which one.
        broker: BrokerId,
        /// What.
        order: BrokerOrder,
    },
    /// Start or stop the embedded ZooKeeper server, freeze or thaw it.
    Zookeeper(BrokerOrder),
    /// Hand the leadership of a partition to another in-sync replica.
    MoveLeadership {
        /// Which one.
        partition: TopicPartition,
        /// Who is to lead.
        to: BrokerId,
    },
    /// Hand the leadership of these partitions to their preferred leaders.
    ElectPreferred {
        /// Which ones; all that are not led by theirs when empty.
        partitions: Vec<TopicPartition>,
    },
    /// Create a topic.
    CreateTopic {
        /// Its name.
        name: String,
        /// How many partitions.
        partitions: i32,
        /// How many replicas of each.
        replication_factor: i16,
        /// Its settings.
        configs: BTreeMap<String, String>,
    },
    /// Delete a topic with everything in it.
    DeleteTopic {
        /// Its name.
        name: String,
    },
    /// Change the demo load.
    Load(LoadOrder),
}

/// What to do to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerOrder {
    /// Start it.
    Start,
    /// Stop it in an orderly way: it hands over what it leads first.
    Stop,
    /// Kill it where it stands (SIGKILL).
    Kill,
    /// Stop its clock (SIGSTOP).
    Freeze,
    /// Let it go on (SIGCONT).
    Thaw,
    /// Stop it in an orderly way, then start it; start it when it does not run.
    Restart,
}

impl BrokerOrder {
    /// Returns the verb.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Kill => "kill",
            Self::Freeze => "freeze",
            Self::Thaw => "thaw",
            Self::Restart => "restart",
        }
    }
}

/// What to do with the demo load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadOrder {
    /// Turn it on, creating its topics where they are missing.
    Start,
    /// Turn it off. Its topics stay.
    Stop,
    /// Write this many records per second.
    SetRate(u32),
    /// Add a member to a group.
    AddMember {
        /// Which group.
        group: String,
    },
    /// Take a member out of a group.
    RemoveMember {
        /// Which group.
        group: String,
    },
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broker { broker, order } => write!(f, "{} broker {broker}", order.verb()),
            Self::Zookeeper(order) => write!(f, "{} ZooKeeper", order.verb()),
            Self::MoveLeadership { partition, to } => {
                write!(f, "move leadership of {partition} to broker {to}")
            }
            Self::ElectPreferred { partitions } => match partitions.as_slice() {
                [] => f.write_str("elect the preferred leaders of all partitions"),
                [only] => write!(f, "elect the preferred leader of {only}"),
                many => write!(f, "elect the preferred leaders of {} partitions", many.len()),
            },
            Self::CreateTopic { name, partitions, replication_factor, .. } => {
                let noun = if *partitions == 1 { "partition" } else { "partitions" };
                write!(f, "create topic {name}, {partitions} {noun}, replication factor {replication_factor}")
            }
            Self::DeleteTopic { name } => write!(f, "delete topic {name}"),
            Self::Load(LoadOrder::Start) => f.write_str("turn the demo load on"),
            Self::Load(LoadOrder::Stop) => f.write_str("turn the demo load off"),
            Self::Load(LoadOrder::SetRate(rate)) => write!(f, "set the demo load to {rate} records/s"),
            Self::Load(LoadOrder::AddMember { group }) => write!(f, "add a member to group {group}"),
            Self::Load(LoadOrder::RemoveMember { group }) => write!(f, "take a member out of group {group}"),
        }
    }
}
