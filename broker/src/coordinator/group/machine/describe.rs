//! `DescribeGroups` and `ListGroups`: what a group looks like from outside.

use ottla_protocol::message::ErrorCode;

use super::group::Group;
use super::member::Member;
use super::reply::{DescribeReply, DescribedMember, ListedGroup};
use super::request::ListRequest;
use super::state::State;

/// The group type of all groups here (KIP-848).
const CLASSIC: &str = "classic";

impl Group {
    /// Returns state and members; what they told and got only while the group is stable.
    pub(super) fn describe(&self) -> DescribeReply {
        let protocol = match (self.state, &self.protocol) {
            (State::Stable, Some(protocol)) => protocol.clone(),
            _ => "".into(),
        };
        let members = self.members.iter().map(|member| self.describe_member(member));
        DescribeReply {
            error: ErrorCode::None,
            state: Some(self.state),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            protocol,
            members: members.collect(),
        }
    }

    fn describe_member(&self, member: &Member) -> DescribedMember {
        let stable_protocol = self.protocol.as_deref().filter(|_| self.state == State::Stable);
        let (metadata, assignment) = match stable_protocol {
            Some(protocol) => (member.metadata(protocol), member.assignment.clone()),
            None => Default::default(),
        };
        DescribedMember {
            member_id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            metadata,
            assignment,
        }
    }

    /// Returns the group's line in a list, if the list wants it and the group is not being removed.
    pub(super) fn list(&self, request: &ListRequest) -> Option<ListedGroup> {
        let wants = |wanted: &[String], own: &str| {
            wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(own))
        };
        let is_wanted = self.state != State::Dead
            && wants(&request.states, self.state.name())
            && wants(&request.types, CLASSIC);
        is_wanted.then(|| ListedGroup {
            group: self.id.clone(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            state: self.state,
        })
    }
}

/// Describes a group that is not there.
pub(super) fn describe_absent() -> DescribeReply {
    DescribeReply {
        error: ErrorCode::None,
        state: Some(State::Dead),
        protocol_type: "".into(),
        protocol: "".into(),
        members: Vec::new(),
    }
}
