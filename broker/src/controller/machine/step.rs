//! The controller as one step: events in, effects out.

use super::agenda::{Active, Work};
use super::effect::{Effect, Reply};
use super::event::{Campaign, Event, RequestId, Snapshot};
use super::startup;
use super::types::Settings;
use crate::types::{BrokerId, ControllerEpoch, Millis};
use ottla_protocol::message::ErrorCode;

/// The controller of one broker: in office, or waiting for its turn.
#[derive(Debug)]
pub struct ControllerMachine {
    settings: Settings,
    role: Role,
    /// The last controller that was read, for those who ask.
    controller: Option<BrokerId>,
}

#[derive(Debug)]
enum Role {
    /// No session, or not registered in it yet.
    Idle,
    /// Somebody else is in office, or is being elected.
    Following,
    /// The attempt to be elected is under way.
    Campaigning,
    /// Elected; the cluster is being read.
    Loading { epoch: ControllerEpoch, epoch_version: i32 },
    /// In office.
    Active(Box<Active>),
}

impl ControllerMachine {
    /// Returns the controller of a broker that has not registered yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, role: Role::Idle, controller: None }
    }

    /// Takes one event. Same state, same `now`, same event: same effects, in the same order.
    pub fn step(&mut self, now: Millis, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::SessionReady => {
                self.role = Role::Following;
                out.push(Effect::ReadController);
            }
            Event::SessionExpired => {
                self.resign(out);
                self.controller = None;
                self.role = Role::Idle;
            }
            Event::ControllerRead(controller) => self.controller_read(controller, out),
            Event::Campaigned(campaign) => self.campaigned(&campaign, out),
            Event::Loaded(snapshot) => self.loaded(now, *snapshot, out),
            Event::LoadFailed => self.load_failed(out),
            Event::Cluster(epoch, event) => {
                if let Role::Active(active) = &mut self.role
                    && active.context.epoch == epoch
                {
                    active.happened(event, out);
                    self.work(out);
                }
            }
            Event::Request(id, request) => match &mut self.role {
                Role::Active(active) => {
                    active.asked(id, request);
                    self.work(out);
                }
                Role::Idle | Role::Following | Role::Campaigning | Role::Loading { .. } => refuse(id, out),
            },
            Event::Tick => self.tick(now, out),
        }
    }

    /// Returns when [`Event::Tick`] is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        match &self.role {
            Role::Active(active) => active.next_balance,
            Role::Idle | Role::Following | Role::Campaigning | Role::Loading { .. } => None,
        }
    }

    /// Returns the epoch, while this broker is in office.
    #[must_use]
    pub fn active_epoch(&self) -> Option<ControllerEpoch> {
        match &self.role {
            Role::Active(active) => Some(active.context.epoch),
            Role::Idle | Role::Following | Role::Campaigning | Role::Loading { .. } => None,
        }
    }

    /// Returns the controller that `/controller` named last.
    #[must_use]
    pub fn controller(&self) -> Option<BrokerId> {
        self.controller
    }

    /// Returns how much work waits; a driver takes no more events while it is too much.
    #[must_use]
    pub fn backlog(&self) -> usize {
        match &self.role {
            Role::Active(active) => active.agenda.len(),
            Role::Idle | Role::Following | Role::Campaigning | Role::Loading { .. } => 0,
        }
    }

    /// Returns what the controller knows, while this broker is in office.
    #[must_use]
    pub fn context(&self) -> Option<&super::context::Context> {
        match &self.role {
            Role::Active(active) => Some(&active.context),
            Role::Idle | Role::Following | Role::Campaigning | Role::Loading { .. } => None,
        }
    }

    fn controller_read(&mut self, controller: Option<BrokerId>, out: &mut Vec<Effect>) {
        self.controller = controller;
        match (&self.role, controller) {
            (Role::Idle | Role::Campaigning, _) => {}
            (Role::Following, None) => {
                self.role = Role::Campaigning;
                out.push(Effect::Campaign);
            }
            // Left over from a session of ours that is ending: its end is watched.
            (Role::Following, Some(_)) => {}
            (Role::Loading { .. } | Role::Active(_), Some(broker)) if broker == self.settings.me => {}
            (Role::Loading { .. } | Role::Active(_), Some(_)) => self.resign(out),
            (Role::Loading { .. } | Role::Active(_), None) => {
                self.resign(out);
                self.role = Role::Campaigning;
                out.push(Effect::Campaign);
            }
        }
    }

    fn campaigned(&mut self, campaign: &Campaign, out: &mut Vec<Effect>) {
        if !matches!(self.role, Role::Campaigning) {
            return;
        }
        let won = match *campaign {
            Campaign::Won { epoch, epoch_version } => Some((epoch, epoch_version)),
            // The answer to an earlier attempt was lost: both nodes say that it succeeded.
            Campaign::Refused { controller, tried, epoch, epoch_version }
                if controller == Some(self.settings.me) && epoch == tried =>
            {
                Some((epoch, epoch_version))
            }
            Campaign::Refused { .. } | Campaign::Failed => None,
        };
        match won {
            Some((epoch, epoch_version)) => {
                self.controller = Some(self.settings.me);
                self.role = Role::Loading { epoch, epoch_version };
                out.push(Effect::Load(epoch));
            }
            None => {
                self.role = Role::Following;
                out.push(Effect::ReadController);
            }
        }
    }

    fn loaded(&mut self, now: Millis, snapshot: Snapshot, out: &mut Vec<Effect>) {
        let Role::Loading { epoch, epoch_version } = self.role else { return };
        out.push(Effect::Elected(epoch));
        let settings = self.settings.clone();
        let active = startup::take_office(settings, epoch, epoch_version, snapshot, now, out);
        self.role = Role::Active(Box::new(active));
        self.work(out);
    }

    fn load_failed(&mut self, out: &mut Vec<Effect>) {
        let Role::Loading { epoch_version, .. } = self.role else { return };
        self.role = Role::Following;
        out.push(Effect::Resign);
        out.push(Effect::Abdicate(epoch_version));
        out.push(Effect::ReadController);
    }

    fn tick(&mut self, now: Millis, out: &mut Vec<Effect>) {
        let Role::Active(active) = &mut self.role else { return };
        if active.next_balance.is_some_and(|due| due <= now) {
            active.next_balance = Some(now.plus(Millis(active.settings.balance_interval_ms)));
            active.agenda.push_back(Work::Balance);
            self.work(out);
        }
    }

    fn work(&mut self, out: &mut Vec<Effect>) {
        let Role::Active(active) = &mut self.role else { return };
        active.run(out);
        if active.fenced {
            tracing::warn!(epoch = %active.context.epoch, "another controller was elected");
            self.resign(out);
            out.push(Effect::ReadController);
        }
    }

    /// Leaves office: whoever waits for an answer hears that this is not the controller.
    fn resign(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.role, Role::Following) {
            Role::Active(active) => {
                for request in active.unanswered() {
                    refuse(request, out);
                }
                out.push(Effect::Resign);
            }
            Role::Loading { .. } => out.push(Effect::Resign),
            role @ (Role::Idle | Role::Following | Role::Campaigning) => self.role = role,
        }
    }
}

fn refuse(request: RequestId, out: &mut Vec<Effect>) {
    out.push(Effect::Reply(request, Reply::Refused(ErrorCode::NotController)));
}
