//! Which commands of which controller are obeyed.

use ottla_protocol::message::ErrorCode;

use crate::types::{BrokerEpoch, ControllerEpoch};

/// The highest controller epoch this broker has obeyed. A controller that was replaced but does not know it yet is
/// refused, and so is a command that was meant for this broker's earlier registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerFence {
    highest: ControllerEpoch,
}

impl Default for ControllerFence {
    fn default() -> Self {
        Self { highest: ControllerEpoch(-1) }
    }
}

impl ControllerFence {
    /// Admits a command, and from then on refuses those of earlier controllers.
    ///
    /// `own` is the epoch of this broker's registration. A request may carry a greater one when the registration was
    /// just renewed and this broker has not learnt its new epoch yet.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH or STALE_CONTROLLER_EPOCH.
    pub fn admit(
        &mut self,
        own: BrokerEpoch,
        addressed: BrokerEpoch,
        controller: ControllerEpoch,
    ) -> Result<(), ErrorCode> {
        if addressed != BrokerEpoch::UNKNOWN && addressed < own {
            return Err(ErrorCode::StaleBrokerEpoch);
        }
        if controller < self.highest {
            return Err(ErrorCode::StaleControllerEpoch);
        }
        self.highest = controller;
        Ok(())
    }

    /// Returns the highest epoch obeyed so far; −1 for none.
    #[must_use]
    pub fn highest(&self) -> ControllerEpoch {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_refused_by_epoch() {
        let mut fence = ControllerFence::default();
        for (name, own, addressed, controller, expected) in [
            ("the first", 10, 10, 3, Ok(())),
            ("the same controller", 10, 10, 3, Ok(())),
            ("from before this registration", 10, 9, 4, Err(ErrorCode::StaleBrokerEpoch)),
            ("a refused command raises nothing", 10, 10, 3, Ok(())),
            ("for a registration not yet known here", 10, 11, 4, Ok(())),
            ("an old controller", 10, 10, 3, Err(ErrorCode::StaleControllerEpoch)),
            ("a peer without broker epochs", 10, -1, 4, Ok(())),
        ] {
            let got = fence.admit(BrokerEpoch(own), BrokerEpoch(addressed), ControllerEpoch(controller));
            assert_eq!(got, expected, "{name}");
        }
        assert_eq!(fence.highest(), ControllerEpoch(4));
    }
}
