//! The controller's commands: LeaderAndIsr and StopReplica, and what they make of a replica.

use ottla_protocol::message::ErrorCode;

use super::effect::{Effect, RoleChange};
use super::event::PartitionCommand;
use super::follower::Follower;
use super::leader::Leader;
use super::local::Local;
use super::partition::{Partition, Role};
use crate::types::{LeaderEpoch, Millis};

/// The leader epoch of a StopReplica for a topic that is being deleted: it always wins.
const EPOCH_DURING_DELETE: LeaderEpoch = LeaderEpoch(-2);

impl Partition {
    /// Applies a LeaderAndIsr command. Only a greater leader epoch changes the role, so a command that is sent again is
    /// refused and does no harm.
    pub(super) fn leader_and_isr(
        &mut self,
        now: Millis,
        command: PartitionCommand,
        leader_is_known: bool,
        out: &mut Vec<Effect>,
    ) {
        match self.admit(&command) {
            Admission::Apply => {}
            Admission::Answer(error) => {
                out.push(Effect::Answer(error));
                return;
            }
        }
        out.push(Effect::Answer(ErrorCode::None));
        if command.leader == self.local.broker {
            self.become_leader(now, command, out);
        } else if leader_is_known {
            self.become_follower(command, out);
        } else if self.local.topic_id.is_none() {
            self.local.topic_id = command.topic_id;
        }
    }

    /// Applies a StopReplica command; answers a stale one with FENCED_LEADER_EPOCH.
    pub(super) fn stop(&mut self, leader_epoch: LeaderEpoch, out: &mut Vec<Effect>) {
        let always = leader_epoch == EPOCH_DURING_DELETE || leader_epoch == LeaderEpoch::UNKNOWN;
        if !always && leader_epoch < self.local.leader_epoch {
            out.push(Effect::Answer(ErrorCode::FencedLeaderEpoch));
            return;
        }
        out.push(Effect::Answer(ErrorCode::None));
        match &mut self.role {
            // Only what it fetches stops: it knows its leader and its epoch, so that an old command cannot wake it.
            Role::Follower(follower) => follower.halt(),
            role @ (Role::Leader(_) | Role::Undecided) => *role = Role::Undecided,
        }
        out.push(Effect::StopFetching);
        out.push(Effect::RoleChanged(RoleChange::Stopped));
        out.push(Effect::Recheck);
    }

    fn admit(&mut self, command: &PartitionCommand) -> Admission {
        let local = &mut self.local;
        let disagrees =
            matches!((local.topic_id, command.topic_id), (Some(own), Some(other)) if own != other);
        if disagrees {
            return Admission::Answer(ErrorCode::InconsistentTopicId);
        }
        if command.leader_epoch > local.leader_epoch {
            let is_replica = command.assignment.contains(local.broker);
            return if is_replica {
                Admission::Apply
            } else {
                Admission::Answer(ErrorCode::UnknownTopicOrPartition)
            };
        }
        if command.leader_epoch == local.leader_epoch && command.topic_id != local.topic_id {
            local.topic_id = command.topic_id;
            return Admission::Answer(ErrorCode::None);
        }
        Admission::Answer(ErrorCode::StaleControllerEpoch)
    }

    fn become_leader(&mut self, now: Millis, command: PartitionCommand, out: &mut Vec<Effect>) {
        let PartitionCommand { isr, recovery, .. } = adopt(&mut self.local, command);
        let previous = match std::mem::replace(&mut self.role, Role::Undecided) {
            Role::Leader(leader) => Some(leader),
            Role::Follower(_) | Role::Undecided => None,
        };
        let epoch = self.local.leader_epoch;
        out.push(Effect::StopFetching);
        out.push(Effect::AssignEpochStart { epoch, start: self.local.log.end });
        self.local.log.latest_epoch = Some(epoch);
        let leader = Leader::begin(&self.local, now, previous, isr, recovery);
        leader.advance_high_watermark(&mut self.local, now, out);
        self.role = Role::Leader(leader);
        out.push(Effect::RoleChanged(RoleChange::Leader(epoch)));
        out.push(Effect::Recheck);
    }

    fn become_follower(&mut self, command: PartitionCommand, out: &mut Vec<Effect>) {
        let PartitionCommand { leader, leader_epoch, .. } = adopt(&mut self.local, command);
        out.push(Effect::StopFetching);
        let follower = Follower::begin(&self.local, leader, out);
        self.role = Role::Follower(follower);
        out.push(Effect::RoleChanged(RoleChange::Follower(leader_epoch)));
        out.push(Effect::Recheck);
        out.push(Effect::StartFetching { leader, leader_epoch });
    }
}

enum Admission {
    Apply,
    Answer(ErrorCode),
}

/// Takes over what a command says whatever the role.
fn adopt(local: &mut Local, command: PartitionCommand) -> PartitionCommand {
    local.topic_id = command.topic_id.or(local.topic_id);
    local.controller_epoch = command.controller_epoch;
    local.leader_epoch = command.leader_epoch;
    local.partition_epoch = command.partition_epoch;
    local.assignment = command.assignment.clone();
    command
}
