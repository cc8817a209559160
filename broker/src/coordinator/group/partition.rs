//! One partition of `__consumer_offsets` on this broker: who coordinates its groups, and the shard while it is us.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::coordinator::Surroundings;
use super::machine::{
    self, AppendId, Effect, ErrorCode, Event, Reply, Report, Request, RequestId, Shard, Standing, State,
};
use super::storage::Batch;
use crate::types::{LeaderEpoch, Millis};

/// Called once with the answer.
pub(super) type Complete = Box<dyn FnOnce(Reply) + Send>;

/// How many inputs may wait for one partition. Connections have one request each, so this many mean that something is
/// stuck; further requests are told to retry.
const INBOX_MAX: usize = 100_000;

/// One partition. Whoever brings an input works on all inputs that wait, unless somebody else is at it already: nobody
/// waits for a lock, and an append that is finished at once can say so without a deadlock.
pub(super) struct Partition {
    number: i32,
    surroundings: Arc<Surroundings>,
    inbox: Mutex<VecDeque<Input>>,
    desk: Mutex<Desk>,
    this: Weak<Self>,
}

/// What a partition is told.
pub(super) enum Input {
    Request {
        request: Request,
        complete: Complete,
    },
    BecomeLeader(LeaderEpoch),
    Loaded {
        epoch: LeaderEpoch,
        shard: Box<Shard>,
    },
    Resign(Option<LeaderEpoch>),
    Appended {
        term: u64,
        append: AppendId,
        outcome: Result<(), ErrorCode>,
    },
    /// Anything for the shard, if there is one.
    Event(Event),
}

/// The state behind the lock.
struct Desk {
    role: Role,
    /// Counts the times that the partition was loaded; outcomes of an earlier term mean nothing.
    term: u64,
    requests: u64,
    waiting: BTreeMap<RequestId, Complete>,
    effects: Vec<Effect>,
}

enum Role {
    Follower,
    Loading(LeaderEpoch),
    Leader(LeaderEpoch, Box<Shard>),
}

impl Partition {
    pub(super) fn new(number: i32, surroundings: Arc<Surroundings>) -> Arc<Self> {
        let desk = Desk {
            role: Role::Follower,
            term: 0,
            requests: 0,
            waiting: BTreeMap::new(),
            effects: Vec::new(),
        };
        Arc::new_cyclic(|this| Self {
            number,
            surroundings,
            inbox: Mutex::default(),
            desk: Mutex::new(desk),
            this: this.clone(),
        })
    }

    pub(super) fn number(&self) -> i32 {
        self.number
    }

    /// Brings an input.
    pub(super) fn submit(&self, input: Input) {
        let refused = {
            let mut inbox = lock(&self.inbox);
            match input {
                Input::Request { request, complete } if inbox.len() >= INBOX_MAX => Some((request, complete)),
                input => {
                    inbox.push_back(input);
                    None
                }
            }
        };
        if let Some((request, complete)) = refused {
            complete(machine::refuse(&request, ErrorCode::CoordinatorNotAvailable));
        }
        self.work();
    }

    /// Returns how many groups are in each state, in the order of `states`; zeros if this broker does not lead.
    pub(super) fn count_groups<const N: usize>(&self, states: [State; N]) -> [usize; N] {
        self.look(|desk| match &desk.role {
            Role::Leader(_, shard) => shard.count_in(states),
            Role::Follower | Role::Loading(_) => [0; N],
        })
    }

    /// Returns whether the partition is still to be loaded for this epoch.
    pub(super) fn wants_load(&self, epoch: LeaderEpoch) -> bool {
        self.look(|desk| matches!(desk.role, Role::Loading(wanted) if wanted == epoch))
    }

    /// Looks at the desk. Whoever brought an input meanwhile has left it to us.
    fn look<T>(&self, look: impl FnOnce(&Desk) -> T) -> T {
        let seen = look(&lock(&self.desk));
        if !lock(&self.inbox).is_empty() {
            self.work();
        }
        seen
    }

    fn work(&self) {
        loop {
            let mut desk = match self.desk.try_lock() {
                Ok(desk) => desk,
                // A panic in an answer's completion leaves the desk whole: the shard had finished its step.
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                // Its holder looks into the inbox again after letting go.
                Err(TryLockError::WouldBlock) => return,
            };
            let mut worked = false;
            while let Some(input) = self.next_input() {
                self.take(&mut desk, input);
                worked = true;
            }
            if worked {
                self.surroundings.deadlines.set(self.number, desk.deadline());
            }
            drop(desk);
            if lock(&self.inbox).is_empty() {
                return;
            }
        }
    }

    fn next_input(&self) -> Option<Input> {
        lock(&self.inbox).pop_front()
    }

    fn take(&self, desk: &mut Desk, input: Input) {
        match input {
            Input::Request { request, complete } => self.take_request(desk, request, complete),
            Input::BecomeLeader(epoch) => self.become_leader(desk, epoch),
            Input::Loaded { epoch, shard } => {
                if matches!(desk.role, Role::Loading(wanted) if wanted == epoch) {
                    tracing::info!(partition = self.number, %epoch, groups = shard.group_count(), "groups are loaded");
                    desk.role = Role::Leader(epoch, shard);
                    desk.term += 1;
                    self.step(desk, Event::Loaded);
                }
            }
            Input::Resign(epoch) => self.resign(desk, epoch),
            Input::Appended { term, append, outcome } => {
                if term == desk.term {
                    self.step(desk, Event::AppendFinished { append, outcome });
                }
            }
            Input::Event(event) => self.step(desk, event),
        }
    }

    fn take_request(&self, desk: &mut Desk, request: Request, complete: Complete) {
        let standing = match &desk.role {
            Role::Follower => Standing::NotCoordinator,
            Role::Loading(_) => Standing::Loading,
            Role::Leader(..) => Standing::Ready,
        };
        if let Some(refusal) = machine::refusal(&request, standing) {
            complete(refusal);
            return;
        }
        desk.requests += 1;
        let id = RequestId(desk.requests);
        desk.waiting.insert(id, complete);
        self.step(desk, Event::Request { id, request });
    }

    /// A leader that is elected again goes on with what it knows: nobody else has led in between.
    fn become_leader(&self, desk: &mut Desk, epoch: LeaderEpoch) {
        match &mut desk.role {
            Role::Leader(known, _) => *known = epoch.max(*known),
            Role::Loading(known) if *known >= epoch => {}
            Role::Follower | Role::Loading(_) => {
                desk.role = Role::Loading(epoch);
                self.surroundings.loads.push(self.this.clone(), epoch);
            }
        }
    }

    fn resign(&self, desk: &mut Desk, epoch: Option<LeaderEpoch>) {
        let known = match &desk.role {
            Role::Follower => return,
            Role::Loading(known) | Role::Leader(known, _) => *known,
        };
        if epoch.is_some_and(|epoch| epoch < known) {
            return;
        }
        self.step(desk, Event::Resigned);
        if matches!(desk.role, Role::Leader(..)) {
            tracing::info!(
                partition = self.number,
                "groups are unloaded: this broker does not lead any more"
            );
        }
        desk.role = Role::Follower;
        desk.term += 1;
        debug_assert!(desk.waiting.is_empty(), "a shard that resigns answers everybody");
        desk.waiting.clear();
    }

    fn step(&self, desk: &mut Desk, event: Event) {
        let Role::Leader(_, shard) = &mut desk.role else { return };
        let mut effects = std::mem::take(&mut desk.effects);
        shard.step(self.surroundings.clock.now(), event, &mut effects);
        for effect in effects.drain(..) {
            self.perform(desk, effect);
        }
        desk.effects = effects;
    }

    fn perform(&self, desk: &mut Desk, effect: Effect) {
        self.surroundings.metrics.count(&effect);
        match effect {
            Effect::Append { append, records, transaction } => {
                let timestamp = self.surroundings.clock.now().wall;
                let batch = Batch { records, transaction, timestamp };
                let (this, term) = (self.this.clone(), desk.term);
                let done = move |outcome| {
                    if let Some(this) = this.upgrade() {
                        this.submit(Input::Appended { term, append, outcome });
                    }
                };
                self.surroundings.storage.append(self.number, batch, Box::new(done));
            }
            Effect::Reply { to, reply, .. } => {
                if let Some(complete) = desk.waiting.remove(&to) {
                    complete(reply);
                }
            }
            Effect::Report(report) => log_report(self.number, &report),
        }
    }
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Returns a seed for member ids that no other broker or term has.
pub(super) fn random_seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0 ^ uuid::Uuid::new_v4().as_u64_pair().1
}

/// A panic elsewhere leaves these locks' data whole: each holder changes one thing.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn log_report(partition: i32, report: &Report) {
    match report {
        Report::RebalanceStarted { group, from, generation, reason } => {
            let reason = reason.text();
            tracing::info!(%group, %from, %generation, partition, reason, "group prepares to rebalance");
        }
        Report::GenerationStarted { group, generation, members: 0 } => {
            tracing::info!(%group, %generation, partition, "group is empty");
        }
        Report::GenerationStarted { group, generation, members } => {
            tracing::info!(%group, %generation, members, partition, "group has a new generation");
        }
        Report::Stabilized { group, generation } => {
            tracing::info!(%group, %generation, partition, "group is stable");
        }
        Report::MemberExpired { group, member } => {
            tracing::info!(%group, %member, partition, "member was silent for its session timeout and is removed");
        }
        Report::OffsetsExpired { group, count } => {
            tracing::info!(%group, count, partition, "offsets expired");
        }
        Report::Removed { group } => tracing::info!(%group, partition, "group is removed"),
    }
}

impl Desk {
    fn deadline(&self) -> Option<Millis> {
        match &self.role {
            Role::Leader(_, shard) => shard.next_deadline(),
            Role::Follower | Role::Loading(_) => None,
        }
    }
}
