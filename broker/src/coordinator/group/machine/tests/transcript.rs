//! Writes what a shard is told and what it wants as a story, one line each.

use std::fmt::Write;

use bytes::Bytes;

use super::world::kind;
use crate::coordinator::group::machine::{
    After, Effect, Event, GroupMetadata, InstanceId, JoinReply, MemberId, Record, Reply, Report, Request,
};

/// A conversation so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    text: String,
}

impl Transcript {
    /// Returns the conversation, with the random part of member ids cut to four digits.
    pub(super) fn text(&self) -> String {
        shorten_uuids(&self.text)
    }

    pub(super) fn event(&mut self, steady: i64, event: &Event) {
        let told = match event {
            Event::Request { id, request } => format!("#{} {}", id.0, told_request(request)),
            Event::AppendFinished { append, outcome } => format!("append {} {outcome:?}", append.0),
            Event::TransactionEnded { producer_id, committed } => {
                format!("transaction of {} ended, committed: {committed}", producer_id.0)
            }
            Event::TopicsDeleted { topics } => format!("topics deleted: {topics:?}"),
            Event::Loaded => "loaded".to_owned(),
            Event::Resigned => "resigned".to_owned(),
            Event::Tick => "tick".to_owned(),
        };
        self.line(&format!("{steady:>6} {told}"));
    }

    pub(super) fn effect(&mut self, effect: &Effect) {
        let wanted = match effect {
            Effect::Append { append, records, .. } => {
                let records: Vec<String> = records.iter().map(told_record).collect();
                format!("append {}: {}", append.0, records.join("; "))
            }
            Effect::Reply { to, reply, after: After::Nothing } => {
                format!("#{} <- {}", to.0, told_reply(reply))
            }
            Effect::Reply { to, reply, after: After::Durable(append) } => {
                format!("#{} <- {} (after append {})", to.0, told_reply(reply), append.0)
            }
            Effect::Report(report) => format!("* {}", told_report(report)),
        };
        self.line(&format!("         {wanted}"));
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{}", line.trim_end()).expect("a string takes any text");
    }
}

fn told_request(request: &Request) -> String {
    let details = match request {
        Request::Join(request) => {
            let protocols: Vec<&str> = request.protocols.iter().map(|protocol| &*protocol.name).collect();
            format!("{} [{}]", who(&request.member_id, request.instance_id.as_ref()), protocols.join(" "))
        }
        Request::Sync(request) => {
            let who = who(&request.member_id, request.instance_id.as_ref());
            let assignments: Vec<String> =
                request.assignments.iter().map(|(id, bytes)| format!("{id} gets {}", text(bytes))).collect();
            format!("{who} generation {} [{}]", request.generation, assignments.join(", "))
        }
        Request::Heartbeat(request) => {
            format!(
                "{} generation {}",
                who(&request.member_id, request.instance_id.as_ref()),
                request.generation
            )
        }
        Request::Leave(request) => {
            let members =
                request.members.iter().map(|member| who(&member.member_id, member.instance_id.as_ref()));
            members.collect::<Vec<_>>().join(", ")
        }
        Request::Commit(request) => {
            let offsets =
                request.offsets.iter().map(|one| format!("{} = {}", one.topic_partition, one.offset));
            let who = who(&request.member_id, request.instance_id.as_ref());
            format!("{who} generation {} [{}]", request.generation, offsets.collect::<Vec<_>>().join(", "))
        }
        Request::Fetch(_)
        | Request::Describe(_)
        | Request::List(_)
        | Request::DeleteGroup(_)
        | Request::DeleteOffsets(_) => String::new(),
    };
    format!("{} {details}", kind(request))
}

fn told_reply(reply: &Reply) -> String {
    match reply {
        Reply::Join(reply) => told_join(reply),
        Reply::Sync(reply) => format!("{:?} assignment [{}]", reply.error, text(&reply.assignment)),
        Reply::Heartbeat(reply) => format!("{:?}", reply.error),
        Reply::Leave(reply) => {
            let members: Vec<String> = reply.members.iter().map(|(_, error)| format!("{error:?}")).collect();
            format!("{:?} [{}]", reply.error, members.join(", "))
        }
        Reply::Commit(reply) => {
            let partitions =
                reply.partitions.iter().map(|(partition, error)| format!("{partition}: {error:?}"));
            partitions.collect::<Vec<_>>().join(", ")
        }
        Reply::Fetch(reply) => {
            let partitions =
                reply.partitions.iter().map(|one| format!("{} = {}", one.topic_partition, one.offset));
            format!("{:?} [{}]", reply.error, partitions.collect::<Vec<_>>().join(", "))
        }
        Reply::Describe(reply) => {
            let state = reply.state.map_or("", |state| state.name());
            format!("{:?} {state} with {} members", reply.error, reply.members.len())
        }
        Reply::List(reply) => format!("{:?} {:?}", reply.error, reply.groups),
        Reply::DeleteGroup(reply) => format!("{:?}", reply.error),
        Reply::DeleteOffsets(reply) => format!("{:?} {:?}", reply.error, reply.partitions),
    }
}

fn told_join(reply: &JoinReply) -> String {
    let mut told = format!("{:?} {}", reply.error, who(&reply.member_id, None));
    if reply.generation.is_some() {
        let leader = reply.leader.as_ref().map_or("nobody", MemberId::as_str);
        let protocol = reply.protocol.as_deref().unwrap_or("none");
        write!(told, " generation {} protocol {protocol} leader {leader}", reply.generation)
            .expect("a string");
    }
    if !reply.members.is_empty() {
        let members: Vec<&str> = reply.members.iter().map(|member| member.member_id.as_str()).collect();
        write!(told, " members [{}]", members.join(", ")).expect("a string");
    }
    if reply.skip_assignment {
        told.push_str(" skip assignment");
    }
    told
}

fn told_record(record: &Record) -> String {
    match record {
        Record::Group { group, value: None } => format!("group {group} gone"),
        Record::Group { group, value: Some(value) } => format!("group {group} {}", told_metadata(value)),
        Record::Offset { topic_partition, value: None, .. } => format!("offset {topic_partition} gone"),
        Record::Offset { topic_partition, value: Some(value), .. } => {
            format!("offset {topic_partition} = {}", value.offset)
        }
    }
}

fn told_metadata(value: &GroupMetadata) -> String {
    let leader = value.leader.as_ref().map_or("nobody", MemberId::as_str);
    let members = value.members.iter().map(|member| {
        format!("{}: {}", who(&member.member_id, member.instance_id.as_ref()), text(&member.assignment))
    });
    let members: Vec<String> = members.collect();
    let protocol = value.protocol.as_deref().unwrap_or("none");
    format!("generation {} protocol {protocol} leader {leader} [{}]", value.generation, members.join(", "))
}

fn told_report(report: &Report) -> String {
    match report {
        Report::RebalanceStarted { from, generation, reason, .. } => {
            format!("rebalance from {from}, generation {generation}: {}", reason.text())
        }
        Report::GenerationStarted { generation, members, .. } => {
            format!("generation {generation} with {members} members")
        }
        Report::Stabilized { generation, .. } => format!("generation {generation} is stable"),
        Report::MemberExpired { member, .. } => format!("{member} expired"),
        Report::OffsetsExpired { count, .. } => format!("{count} offsets expired"),
        Report::Removed { group } => format!("group {group} removed"),
    }
}

fn who(member_id: &MemberId, instance_id: Option<&InstanceId>) -> String {
    let member_id = if member_id.is_unknown() { "no id" } else { member_id.as_str() };
    match instance_id {
        Some(instance_id) => format!("{member_id} ({instance_id})"),
        None => member_id.to_owned(),
    }
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Cuts `8-4-4-4-12` hexadecimal digits to the first four.
fn shorten_uuids(text: &str) -> String {
    let is_uuid = |part: &str| {
        part.len() == 36
            && part.bytes().enumerate().all(|(index, byte)| match index {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let mut short = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.get(..36).is_some_and(is_uuid) {
            short.push_str(&rest[..4]);
            rest = &rest[36..];
        } else {
            short.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    short
}
