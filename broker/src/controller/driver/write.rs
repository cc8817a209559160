//! Does the machine's writes: many changes in one transaction where they allow it, each on its own where they do not.
//!
//! Every transaction begins with a check of the controller's epoch. Changes of state nodes go out in chunks; when one
//! change of a chunk cannot be made, nothing of it was, and each is made on its own, so that the outcome of one never
//! depends on another's.

use std::collections::BTreeSet;

use futures::future::join_all;

use super::load::read_state;
use crate::controller::machine::{LeaderAndIsr, Outcome, Write};
use crate::types::{PartitionEpoch, TopicPartition};
use crate::zk::layout::config::Entity;
use crate::zk::layout::partition_state::{self, PartitionState};
use crate::zk::layout::topic;
use crate::zk::layout::{controller, delete_topics};
use crate::zk::session::{CreateMode, Error, Handle, MultiError, Op, OpResult};

/// So many state nodes in one transaction: about 50 KiB, far from the 1 MiB that a server takes.
const CHUNK_CHANGES: usize = 200;
/// How often a topic's nodes are listed again when somebody adds to them while they are deleted.
const DELETE_ATTEMPTS: usize = 5;

/// A session and the fence around every write in it.
struct Fenced<'a> {
    session: &'a Handle,
    epoch_version: i32,
}

/// Makes the changes; the outcomes come in their order.
pub(super) async fn write(session: &Handle, epoch_version: i32, changes: Vec<Write>) -> Vec<Outcome> {
    let fenced = Fenced { session, epoch_version };
    let mut outcomes = vec![Outcome::Failed; changes.len()];
    let (states, others): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .enumerate()
        .partition(|(_, change)| matches!(change, Write::State(..) | Write::NewState(..)));
    let chunks = states.chunks(CHUNK_CHANGES).map(|chunk| fenced.chunk(chunk));
    let others = others.iter().map(|(index, change)| {
        let fenced = &fenced;
        async move { (*index, fenced.one(change).await) }
    });
    let (chunks, others) = futures::future::join(join_all(chunks), join_all(others)).await;
    for (index, outcome) in chunks.into_iter().flatten().chain(others) {
        if let Some(slot) = outcomes.get_mut(index) {
            *slot = outcome;
        }
    }
    outcomes
}

impl Fenced<'_> {
    /// Runs `ops` behind the check of the epoch.
    async fn run(&self, ops: Vec<Op>) -> Result<Vec<OpResult>, MultiError> {
        let mut all =
            vec![Op::Check { path: controller::EPOCH_PATH.to_owned(), version: self.epoch_version }];
        all.extend(ops);
        let mut results = self.session.multi(&all).await?;
        if !results.is_empty() {
            results.remove(0);
        }
        Ok(results)
    }

    async fn chunk(&self, changes: &[(usize, Write)]) -> Vec<(usize, Outcome)> {
        if changes.len() > 1
            && let Some(outcomes) = self.together(changes).await
        {
            return outcomes;
        }
        let each = changes.iter().map(|(index, change)| async { (*index, self.one(change).await) });
        join_all(each).await
    }

    /// Makes all changes at once; nothing when one of them stands in the way of the others.
    async fn together(&self, changes: &[(usize, Write)]) -> Option<Vec<(usize, Outcome)>> {
        let mut ops = Vec::with_capacity(changes.len());
        // Which result belongs to which change.
        let mut results_of = Vec::with_capacity(changes.len());
        let mut parents = BTreeSet::new();
        for (_, change) in changes {
            match change {
                Write::State(name, state, expected) => ops.push(set(name, state, *expected)),
                Write::NewState(name, state) => {
                    // The parent of a new topic's partitions; where it exists, the single changes find out.
                    if name.partition == 0 && parents.insert(name.topic.clone()) {
                        ops.push(create(topic::partitions_path(&name.topic), Vec::new()));
                    }
                    ops.push(create(partition_state::partition_path(name), Vec::new()));
                    ops.push(create(partition_state::path(name), state.encode()));
                }
                Write::Topic(..)
                | Write::DeleteTopic(_)
                | Write::Set(..)
                | Write::Put(..)
                | Write::Delete(_) => return None,
            }
            results_of.push(ops.len().saturating_sub(1));
        }
        match self.run(ops).await {
            Ok(results) => {
                let outcome = |at: &usize| Outcome::Done(version(results.get(*at)));
                Some(changes.iter().map(|(index, _)| *index).zip(results_of.iter().map(outcome)).collect())
            }
            Err(error) if is_fence(&error) => {
                Some(changes.iter().map(|(index, _)| (*index, Outcome::Fenced)).collect())
            }
            Err(_) => None,
        }
    }

    async fn one(&self, change: &Write) -> Outcome {
        match change {
            Write::State(name, state, expected) => self.state(name, state, *expected).await,
            Write::NewState(name, state) => self.new_state(name, state).await,
            Write::Topic(name, node) => {
                let set = Op::Set { path: topic::path(name), data: node.encode(), version: None };
                self.simply(vec![set]).await
            }
            Write::DeleteTopic(name) => self.delete_topic(name).await,
            Write::Set(path, data) => {
                let set = Op::Set { path: path.clone(), data: data.clone(), version: None };
                self.simply(vec![set]).await
            }
            Write::Put(path, data) => {
                // Watchers of a node that says so already need not be woken.
                if matches!(self.session.get(path).await, Ok(Some((stored, _))) if stored == *data) {
                    return Outcome::Done(0);
                }
                let set = Op::Set { path: path.clone(), data: data.clone(), version: None };
                match self.run(vec![set]).await {
                    Err(MultiError::Operation { index: 1, source: Error::NoNode { .. }, .. }) => {
                        self.simply(vec![create(path.clone(), data.clone())]).await
                    }
                    other => outcome(path, other),
                }
            }
            Write::Delete(path) => {
                match self.run(vec![Op::Delete { path: path.clone(), version: None }]).await {
                    Err(MultiError::Operation { index: 1, source: Error::NoNode { .. }, .. }) => {
                        Outcome::Done(0)
                    }
                    other => outcome(path, other),
                }
            }
        }
    }

    async fn simply(&self, ops: Vec<Op>) -> Outcome {
        let path = ops.first().map(|op| op.path().to_owned()).unwrap_or_default();
        outcome(&path, self.run(ops).await)
    }

    async fn state(
        &self,
        name: &TopicPartition,
        state: &PartitionState,
        expected: PartitionEpoch,
    ) -> Outcome {
        match self.run(vec![set(name, state, expected)]).await {
            Err(MultiError::Operation { index: 1, source: Error::BadVersion { .. }, .. }) => {
                self.conflict(name, state, PartitionEpoch(expected.0.saturating_add(1))).await
            }
            other => outcome(&partition_state::path(name), other),
        }
    }

    async fn new_state(&self, name: &TopicPartition, state: &PartitionState) -> Outcome {
        let node = create(partition_state::path(name), state.encode());
        let parents = [topic::partitions_path(&name.topic), partition_state::partition_path(name)];
        for parent in parents {
            match self.run(vec![create(parent.clone(), Vec::new())]).await {
                Ok(_) | Err(MultiError::Operation { index: 1, source: Error::NodeExists { .. }, .. }) => {}
                other => return outcome(&parent, other),
            }
        }
        match self.run(vec![node]).await {
            Err(MultiError::Operation { index: 1, source: Error::NodeExists { .. }, .. }) => {
                self.conflict(name, state, PartitionEpoch(0)).await
            }
            other => outcome(&partition_state::path(name), other),
        }
    }

    /// The node is not as expected: what it says, or that an earlier attempt of the same write was taken.
    async fn conflict(
        &self,
        name: &TopicPartition,
        wanted: &PartitionState,
        written: PartitionEpoch,
    ) -> Outcome {
        match read_state(self.session, name).await {
            Ok(Some(stored)) if is_own(&stored, wanted, written) => Outcome::Done(written.0),
            Ok(stored) => Outcome::Conflict(stored),
            Err(Error::SessionExpired | Error::Closed) => Outcome::Fenced,
            Err(error) => {
                tracing::warn!(partition = %name, %error, "a state node cannot be read");
                Outcome::Failed
            }
        }
    }

    /// Deletes a topic's nodes, children first, then its configuration, then its mark.
    async fn delete_topic(&self, name: &str) -> Outcome {
        for _ in 0..DELETE_ATTEMPTS {
            let mut nodes = match self.session.tree(&topic::path(name)).await {
                Ok(nodes) => nodes,
                Err(Error::SessionExpired | Error::Closed) => return Outcome::Fenced,
                Err(error) => {
                    tracing::warn!(topic = name, %error, "the topic's nodes cannot be listed");
                    return Outcome::Failed;
                }
            };
            // A child's path is longer than its parent's.
            nodes.sort_by_key(|path| std::cmp::Reverse(path.len()));
            match self.delete_all(nodes).await {
                Ok(()) => {
                    let config = Entity::Topic(name.to_owned()).path();
                    for path in [config, delete_topics::path(name)] {
                        let deleted = self.one_boxed(Write::Delete(path)).await;
                        if !matches!(deleted, Outcome::Done(_)) {
                            return deleted;
                        }
                    }
                    return Outcome::Done(0);
                }
                Err(error) if is_fence(&error) => return Outcome::Fenced,
                Err(error) => {
                    tracing::debug!(topic = name, %error, "the topic's nodes changed; listing them again")
                }
            }
        }
        Outcome::Failed
    }

    async fn one_boxed(&self, change: Write) -> Outcome {
        Box::pin(self.one(&change)).await
    }

    async fn delete_all(&self, nodes: Vec<String>) -> Result<(), MultiError> {
        for chunk in nodes.chunks(CHUNK_CHANGES) {
            let ops = chunk.iter().map(|path| Op::Delete { path: path.clone(), version: None });
            self.run(ops.collect()).await?;
        }
        Ok(())
    }
}

fn set(name: &TopicPartition, state: &PartitionState, expected: PartitionEpoch) -> Op {
    Op::Set { path: partition_state::path(name), data: state.encode(), version: Some(expected.0) }
}

fn create(path: String, data: Vec<u8>) -> Op {
    Op::Create { path, data, mode: CreateMode::Persistent }
}

fn version(result: Option<&OpResult>) -> i32 {
    match result {
        Some(OpResult::Stat(stat)) => stat.version,
        Some(OpResult::Done) | None => 0,
    }
}

/// Says whether what is stored is what was to be written, by an attempt whose answer was lost.
fn is_own(stored: &LeaderAndIsr, wanted: &PartitionState, written: PartitionEpoch) -> bool {
    stored.partition_epoch == written && stored.to_node(stored.controller_epoch) == *wanted
}

/// Another controller was elected, or the session is over.
fn is_fence(error: &MultiError) -> bool {
    match error {
        MultiError::Operation {
            index: 0, source: Error::BadVersion { .. } | Error::NoNode { .. }, ..
        } => true,
        MultiError::Operation { source, .. } | MultiError::Request(source) => {
            matches!(source, Error::SessionExpired | Error::Closed)
        }
    }
}

fn outcome(path: &str, result: Result<Vec<OpResult>, MultiError>) -> Outcome {
    match result {
        Ok(results) => Outcome::Done(version(results.last())),
        Err(error) if is_fence(&error) => Outcome::Fenced,
        Err(error) => {
            tracing::warn!(path, %error, "a node was not written");
            Outcome::Failed
        }
    }
}
