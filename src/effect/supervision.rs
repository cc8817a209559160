//! Orders to processes, and which of the supervisor's words answer which order.

use std::collections::BTreeMap;

use ottla_broker::types::BrokerId;

use crate::action::BrokerOrder;
use crate::model::{ActionId, Severity, Update};
use crate::supervisor::{Ask, Notice, Role, Said};

/// Orders that were passed on and have not ended.
#[derive(Debug, Default)]
pub(super) struct Pending {
    orders: BTreeMap<Role, (ActionId, BrokerOrder)>,
}

impl Pending {
    /// Notes that an order was passed on; returns one that it replaces.
    pub(super) fn note(&mut self, role: Role, id: ActionId, order: BrokerOrder) -> Option<ActionId> {
        self.orders.insert(role, (id, order)).map(|(id, _)| id)
    }

    /// Returns the order that a notice ends, and what came of it.
    pub(super) fn ended_by(&mut self, notice: &Notice) -> Option<(ActionId, Result<String, String>)> {
        let (role, outcome) = match notice {
            Notice::Ready { role, address, took } => {
                let took = took.map(|took| format!(" after {took}")).unwrap_or_default();
                (role, Ok(format!("{role} serves at {address}{took}")))
            }
            Notice::StartFailed { role, why } => (role, Err(why.clone())),
            Notice::Stopped(role) => (role, Ok(format!("{role} has stopped"))),
            Notice::Died { role, ending } => (role, Ok(format!("{role}: {ending}"))),
            Notice::Frozen(role) => (role, Ok(format!("{role} stands still"))),
            Notice::Thawed(role) => (role, Ok(format!("{role} goes on"))),
            Notice::Refused { role, why } => (role, Err(why.clone())),
            Notice::Starting(_)
            | Notice::Slow(_)
            | Notice::Stopping(_)
            | Notice::Overdue(_)
            | Notice::StaleFiles(_) => return None,
        };
        let (_, order) = self.orders.get(role)?;
        // A restart is over when the process serves again, not when the old one has ended.
        if *order == BrokerOrder::Restart && matches!(notice, Notice::Stopped(_) | Notice::Died { .. }) {
            return None;
        }
        self.orders.remove(role).map(|(id, _)| (id, outcome))
    }
}

/// Returns what the supervisor is asked for.
pub(super) fn ask(role: Role, order: BrokerOrder) -> Ask {
    match order {
        BrokerOrder::Start => Ask::Start(role),
        BrokerOrder::Stop => Ask::Stop(role),
        BrokerOrder::Kill => Ask::Kill(role),
        BrokerOrder::Freeze => Ask::Freeze(role),
        BrokerOrder::Thaw => Ask::Thaw(role),
        BrokerOrder::Restart => Ask::Restart(role),
    }
}

/// Returns the role of a broker.
pub(super) fn role(broker: BrokerId) -> Role {
    Role::Broker(broker.0)
}

/// Returns what is worth a line in the timeline that no state shows.
pub(super) fn remark(said: &Said) -> Option<Update> {
    let (severity, text) = match said {
        Said::SteppedOver { role, port, taken } => {
            let taken: Vec<_> = taken.iter().map(u16::to_string).collect();
            (
                Severity::Info,
                format!("{role} listens on {port}: {} taken by other programs", taken.join(", ")),
            )
        }
        Said::WaitingFor(pid) => {
            let text =
                format!("another ottla (process {pid}) is starting or stopping the cluster; waiting for it");
            (Severity::Info, text)
        }
        Said::Farewell { role, outcome: Err(why) } => {
            (Severity::Warning, format!("{role}: its death is left to the session timeout: {why}"))
        }
        Said::Farewell { role, outcome: Ok(count) } if *count > 0 => {
            (Severity::Info, format!("{role}: ZooKeeper was told of its death at once"))
        }
        Said::Notice(Notice::StaleFiles(role)) => {
            (Severity::Warning, format!("{role} had died unnoticed; its pid file was removed"))
        }
        Said::Notice(Notice::Slow(role)) => {
            (Severity::Warning, format!("{role} runs but does not serve yet"))
        }
        Said::Notice(Notice::Overdue(role)) => {
            (Severity::Warning, format!("{role} did not stop in time and is killed"))
        }
        Said::Farewell { .. } | Said::Notice(_) => return None,
    };
    Some(Update::Notice { severity, text })
}
