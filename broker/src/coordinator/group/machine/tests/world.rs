//! A shard with a log that does as it is told and a clock that is moved by hand.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::transcript::Transcript;
use crate::coordinator::group::machine::{
    After, AppendId, CommitReply, CommitRequest, Config, DescribeReply, DescribeRequest, Effect, ErrorCode,
    Event, FetchRequest, Generation, GroupId, GroupRequest, HeartbeatReply, HeartbeatRequest, JoinReply,
    JoinRequest, LeaveReply, LeaveRequest, LeavingMember, MemberId, Now, OffsetToCommit, Protocol, Record,
    Reply, Request, RequestId, Shard, State, SyncReply, SyncRequest, Transaction,
};
use crate::types::{LeaderEpoch, Millis, Offset, TopicPartition};

/// What the wall clock shows when the steady clock shows zero.
pub(super) const WALL_START: i64 = 1_700_000_000_000;

/// How the log answers appends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Log {
    /// Everything is in sync at once.
    Takes,
    /// Appends stay under way until [`World::finish_appends`].
    Holds,
    /// Appends fail.
    Refuses(ErrorCode),
}

/// One append as the log got it.
#[derive(Debug, Clone)]
pub(super) struct Appended {
    pub(super) append: AppendId,
    pub(super) records: Vec<Record>,
    pub(super) transaction: Option<Transaction>,
}

/// A shard and everything around it.
#[derive(Debug)]
pub(super) struct World {
    pub(super) shard: Shard,
    pub(super) log: Log,
    /// What is in sync, in order.
    pub(super) stored: Vec<Appended>,
    /// What is under way.
    pub(super) held: Vec<Appended>,
    pub(super) replies: BTreeMap<RequestId, Reply>,
    pub(super) transcript: Transcript,
    steady: i64,
    requests: u64,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with_config(Config::default())
    }

    pub(super) fn with_config(config: Config) -> Self {
        let mut world = Self {
            shard: Shard::new(config, 1),
            log: Log::Takes,
            stored: Vec::new(),
            held: Vec::new(),
            replies: BTreeMap::new(),
            transcript: Transcript::default(),
            steady: 0,
            requests: 0,
        };
        world.event(Event::Loaded);
        world
    }

    pub(super) fn now(&self) -> Now {
        Now { steady: Millis(self.steady), wall: Millis(WALL_START + self.steady) }
    }

    /// Gives the shard an event and does what it wants.
    pub(super) fn event(&mut self, event: Event) {
        self.transcript.event(self.steady, &event);
        let mut out = Vec::new();
        self.shard.step(self.now(), event, &mut out);
        let mut outcomes = Vec::new();
        for effect in out {
            self.transcript.effect(&effect);
            self.perform(effect, &mut outcomes);
        }
        for (append, outcome) in outcomes {
            self.event(Event::AppendFinished { append, outcome });
        }
    }

    fn perform(&mut self, effect: Effect, outcomes: &mut Vec<(AppendId, Result<(), ErrorCode>)>) {
        match effect {
            Effect::Append { append, records, transaction } => {
                let appended = Appended { append, records: records.to_vec(), transaction };
                match self.log {
                    Log::Takes => {
                        self.stored.push(appended);
                        outcomes.push((append, Ok(())));
                    }
                    Log::Holds => self.held.push(appended),
                    Log::Refuses(error) => outcomes.push((append, Err(error))),
                }
            }
            Effect::Reply { to, reply, after } => {
                if let After::Durable(append) = after {
                    let is_stored = self.stored.iter().any(|stored| stored.append == append);
                    assert!(is_stored, "{to:?} is answered before {append:?} is in sync");
                }
                let earlier = self.replies.insert(to, reply);
                assert_eq!(earlier, None, "{to:?} is answered twice");
            }
            Effect::Report(_) => {}
        }
    }

    /// Tells the outcome of all appends under way.
    pub(super) fn finish_appends(&mut self, outcome: Result<(), ErrorCode>) {
        for appended in std::mem::take(&mut self.held) {
            let append = appended.append;
            if outcome.is_ok() {
                self.stored.push(appended);
            }
            self.event(Event::AppendFinished { append, outcome });
        }
    }

    /// Lets time pass, with a tick at every deadline on the way.
    pub(super) fn pass(&mut self, duration_ms: i64) {
        let end = self.steady + duration_ms;
        while let Some(deadline) = self.shard.next_deadline().filter(|deadline| deadline.0 <= end) {
            self.steady = self.steady.max(deadline.0);
            self.event(Event::Tick);
            let next = self.shard.next_deadline();
            assert!(
                next.is_none_or(|next| next.0 > self.steady),
                "a tick leaves nothing due behind: {next:?}"
            );
        }
        self.steady = end;
    }

    /// Asks, whether the answer comes now or later.
    pub(super) fn ask(&mut self, request: impl GroupRequest) -> RequestId {
        self.requests += 1;
        let id = RequestId(self.requests);
        self.event(Event::Request { id, request: request.into_request() });
        id
    }

    /// Asks what is answered at once.
    pub(super) fn call<R: GroupRequest>(&mut self, request: R) -> R::Reply {
        let id = self.ask(request);
        self.answer::<R>(id).expect("answered at once")
    }

    /// Returns the answer, if it has come.
    pub(super) fn answer<R: GroupRequest>(&self, id: RequestId) -> Option<R::Reply> {
        self.replies
            .get(&id)
            .cloned()
            .map(|reply| R::reply(reply).expect("the reply is of the request's kind"))
    }

    pub(super) fn joined(&self, id: RequestId) -> JoinReply {
        self.answer::<JoinRequest>(id).expect("the join is answered")
    }

    pub(super) fn synced(&self, id: RequestId) -> SyncReply {
        self.answer::<SyncRequest>(id).expect("the sync is answered")
    }

    pub(super) fn is_open(&self, id: RequestId) -> bool {
        !self.replies.contains_key(&id)
    }

    pub(super) fn describe(&mut self) -> DescribeReply {
        self.call(DescribeRequest { group: group() })
    }

    pub(super) fn state(&mut self) -> State {
        self.describe().state.expect("a group always has a state")
    }

    pub(super) fn heartbeat(&mut self, member_id: &MemberId, generation: i32) -> ErrorCode {
        let HeartbeatReply { error } = self.call(heartbeat(member_id, generation));
        error
    }

    pub(super) fn leave(&mut self, member_id: &MemberId) -> LeaveReply {
        let members = vec![LeavingMember { member_id: member_id.clone(), instance_id: None }];
        self.call(LeaveRequest { group: group(), members })
    }

    /// Commits offset 5 of topic `t`, partition 0; returns that partition's error.
    pub(super) fn commit(&mut self, member_id: &MemberId, generation: i32) -> ErrorCode {
        let CommitReply { partitions } = self.call(commit(member_id, generation, &[("t", 0, 5)]));
        partitions[0].1
    }

    /// Returns the committed offset of a partition; -1 for none.
    pub(super) fn committed(&mut self, topic: &str, partition: i32) -> i64 {
        let wanted = vec![TopicPartition::new(topic, partition)];
        let request = FetchRequest { group: group(), topic_partitions: Some(wanted), require_stable: false };
        self.call(request).partitions[0].offset.0
    }

    /// Joins with one dynamic member per client name, through the two steps of version 4, and completes the join phase;
    /// returns their ids. The leader comes first.
    pub(super) fn complete_join(&mut self, clients: &[&str]) -> Vec<MemberId> {
        let joins: Vec<RequestId> = clients.iter().map(|client| self.join_with_new_id(client)).collect();
        // The second member extends the initial delay once.
        self.pass(if clients.len() > 1 { 6_000 } else { 3_000 });
        let mut ids = Vec::new();
        for join in joins {
            let reply = self.joined(join);
            assert_eq!(reply.error, ErrorCode::None);
            if reply.leader.as_ref() == Some(&reply.member_id) {
                ids.insert(0, reply.member_id);
            } else {
                ids.push(reply.member_id);
            }
        }
        ids
    }

    /// Asks for an id and joins with it.
    pub(super) fn join_with_new_id(&mut self, client: &str) -> RequestId {
        let refused = self.call(join(client));
        assert_eq!(refused.error, ErrorCode::MemberIdRequired);
        self.ask(JoinRequest { member_id: refused.member_id, ..join(client) })
    }

    /// Makes a stable group with one member per client name; returns their ids, the leader's first.
    pub(super) fn stable(&mut self, clients: &[&str]) -> Vec<MemberId> {
        let ids = self.complete_join(clients);
        let generation = self.generation();
        self.sync_all(&ids, generation);
        assert_eq!(self.state(), State::Stable);
        ids
    }

    /// Syncs all members, the leader first in the list and last to sync.
    pub(super) fn sync_all(&mut self, ids: &[MemberId], generation: i32) -> Vec<SyncReply> {
        let (leader, followers) = ids.split_first().expect("a group has a leader");
        let mut syncs: Vec<RequestId> = followers.iter().map(|id| self.ask(sync(id, generation))).collect();
        let assignments = ids.iter().map(|id| (id.clone(), Bytes::from(format!("for {id}"))));
        let request = SyncRequest { assignments: assignments.collect(), ..sync(leader, generation) };
        syncs.insert(0, self.ask(request));
        syncs.into_iter().map(|id| self.synced(id)).collect()
    }

    /// Returns the generation of the last group record in the log or of the last completed join.
    pub(super) fn generation(&self) -> i32 {
        let joins = self.replies.values().filter_map(|reply| match reply {
            Reply::Join(reply) => Some(reply.generation.0),
            _ => None,
        });
        joins.max().unwrap_or(0)
    }

    /// Returns a shard that has read what is in sync.
    pub(super) fn reload(&self) -> Shard {
        let mut shard = Shard::new(self.shard.config.clone(), 2 + self.stored.len() as u64);
        for appended in &self.stored {
            for record in &appended.records {
                shard.replay(record, appended.transaction.map(|transaction| transaction.producer_id));
            }
        }
        shard
    }

    /// Goes on with another coordinator that has read what is in sync.
    pub(super) fn fail_over(&mut self) {
        self.event(Event::Resigned);
        self.shard = self.reload();
        self.held.clear();
        self.event(Event::Loaded);
    }
}

/// The group of most tests.
pub(super) fn group() -> GroupId {
    "g".into()
}

/// A dynamic member's first join, at version 5.
pub(super) fn join(client: &str) -> JoinRequest {
    JoinRequest {
        group: group(),
        member_id: MemberId::unknown(),
        instance_id: None,
        client_id: client.into(),
        client_host: "/127.0.0.1".into(),
        rebalance_timeout_ms: 60_000,
        session_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![protocol("range", &["t"])],
        require_known_member_id: true,
        supports_skipping_assignment: false,
    }
}

/// A static member's join.
pub(super) fn static_join(instance: &str) -> JoinRequest {
    JoinRequest { instance_id: Some(instance.into()), ..join("client") }
}

/// A dynamic member's join before version 4.
pub(super) fn old_join(client: &str) -> JoinRequest {
    JoinRequest { require_known_member_id: false, ..join(client) }
}

/// An assignor with a subscription to topics.
pub(super) fn protocol(name: &str, topics: &[&str]) -> Protocol {
    let mut metadata = vec![0, 0];
    metadata.extend(u32::try_from(topics.len()).unwrap().to_be_bytes());
    for topic in topics {
        metadata.extend(u16::try_from(topic.len()).unwrap().to_be_bytes());
        metadata.extend(topic.as_bytes());
    }
    metadata.extend([0xff; 4]);
    Protocol { name: name.into(), metadata: metadata.into() }
}

pub(super) fn sync(member_id: &MemberId, generation: i32) -> SyncRequest {
    SyncRequest {
        group: group(),
        generation: Generation(generation),
        member_id: member_id.clone(),
        instance_id: None,
        protocol_type: None,
        protocol: None,
        assignments: Vec::new(),
    }
}

pub(super) fn heartbeat(member_id: &MemberId, generation: i32) -> HeartbeatRequest {
    HeartbeatRequest {
        group: group(),
        generation: Generation(generation),
        member_id: member_id.clone(),
        instance_id: None,
    }
}

pub(super) fn commit(member_id: &MemberId, generation: i32, offsets: &[(&str, i32, i64)]) -> CommitRequest {
    let offsets = offsets.iter().map(|(topic, partition, offset)| OffsetToCommit {
        topic_partition: TopicPartition::new(*topic, *partition),
        offset: Offset(*offset),
        leader_epoch: LeaderEpoch::UNKNOWN,
        metadata: "".into(),
        commit_timestamp: None,
    });
    CommitRequest {
        group: group(),
        generation: Generation(generation),
        member_id: member_id.clone(),
        instance_id: None,
        retention: None,
        transaction: None,
        offsets: offsets.collect(),
    }
}

/// A commit by a consumer that is no member.
pub(super) fn simple_commit(offsets: &[(&str, i32, i64)]) -> CommitRequest {
    commit(&MemberId::unknown(), -1, offsets)
}

/// Returns an id that no coordinator gave out.
pub(super) fn stranger() -> MemberId {
    "stranger".into()
}

/// Returns whether a request is refused by a group that is not there.
pub(super) fn kind(request: &Request) -> &'static str {
    match request {
        Request::Join(_) => "join",
        Request::Sync(_) => "sync",
        Request::Heartbeat(_) => "heartbeat",
        Request::Leave(_) => "leave",
        Request::Commit(_) => "commit",
        Request::Fetch(_) => "fetch",
        Request::Describe(_) => "describe",
        Request::List(_) => "list",
        Request::DeleteGroup(_) => "delete group",
        Request::DeleteOffsets(_) => "delete offsets",
    }
}
