//! The application of transactions.

use super::transaction::{Body, Transaction};
use crate::session::{Session, Sessions};
use crate::tree::{Applied, Change, Inconsistent, Tree};
use crate::types::{SessionId, Zxid};

/// Everything that outlives the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The nodes.
    pub tree: Tree,
    /// The open sessions.
    pub sessions: Sessions,
    /// The last transaction.
    pub last_zxid: Zxid,
}

/// A transaction that does not follow on the state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Transactions are missing or come twice.
    #[error("transaction {found} follows {last}")]
    Order {
        /// The last transaction applied.
        last: Zxid,
        /// The one that came.
        found: Zxid,
    },
    /// A change does not fit the tree.
    #[error("transaction {zxid}: {source}")]
    Change {
        /// The transaction.
        zxid: Zxid,
        /// What does not fit.
        source: Inconsistent,
    },
}

impl State {
    /// Applies the next transaction and returns what it did, in order.
    ///
    /// # Errors
    /// When it is not the next one or does not fit; neither happens to one that was decided on this state.
    pub fn replay(&mut self, transaction: &Transaction) -> Result<Vec<Applied>, ReplayError> {
        let zxid = transaction.zxid;
        if zxid != self.last_zxid.next() {
            return Err(ReplayError::Order { last: self.last_zxid, found: zxid });
        }
        self.last_zxid = zxid;
        match &transaction.body {
            Body::OpenSession { session, password, timeout_ms } => {
                self.sessions.open(*session, Session { password: *password, timeout_ms: *timeout_ms });
                Ok(Vec::new())
            }
            Body::CloseSession { session } => self.close_session(*session, transaction),
            Body::Changes(changes) => changes.iter().map(|change| self.apply(change, transaction)).collect(),
        }
    }

    /// An ephemeral node has no children, so its session's nodes can go in any order; they go by path.
    fn close_session(
        &mut self,
        session: SessionId,
        transaction: &Transaction,
    ) -> Result<Vec<Applied>, ReplayError> {
        self.sessions.close(session);
        let paths: Vec<_> = self.tree.ephemerals_of(session).cloned().collect();
        paths.into_iter().map(|path| self.apply(&Change::Delete { path }, transaction)).collect()
    }

    fn apply(&mut self, change: &Change, transaction: &Transaction) -> Result<Applied, ReplayError> {
        let zxid = transaction.zxid;
        self.tree
            .apply(change, zxid, transaction.time_ms)
            .map_err(|source| ReplayError::Change { zxid, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jute::Password;
    use crate::tree::{AppliedKind, Owner};

    fn transaction(zxid: i64, body: Body) -> Transaction {
        Transaction { zxid: Zxid(zxid), time_ms: 5, body }
    }

    #[test]
    fn all_ephemeral_nodes_of_a_session_go_in_one_transaction() {
        let mut state = State::default();
        let session = SessionId(9);
        let open = Body::OpenSession { session, password: Password([0; 16]), timeout_ms: 100 };
        state.replay(&transaction(1, open)).unwrap();
        let owner = Owner::Session(session);
        let create = |path: &str| Change::Create { path: path.into(), data: None, acl: [].into(), owner };
        let applied = state.replay(&transaction(2, Body::Changes(vec![create("/b"), create("/a")]))).unwrap();
        assert_eq!(applied.len(), 2);
        let applied = state.replay(&transaction(3, Body::CloseSession { session })).unwrap();
        let gone: Vec<_> = applied.iter().map(|applied| (applied.kind, &*applied.path)).collect();
        assert_eq!(gone, [(AppliedKind::Deleted, "/a"), (AppliedKind::Deleted, "/b")]);
        assert!(state.sessions.get(session).is_none());
        assert_eq!(state.tree.ephemerals().len(), 0);
        assert_eq!(state.tree.get("/").unwrap().pzxid, Zxid(3));
    }

    #[test]
    fn a_gap_is_refused() {
        let mut state = State::default();
        let error = state.replay(&transaction(2, Body::Changes(vec![]))).unwrap_err();
        assert_eq!(error.to_string(), "transaction 0x2 follows 0x0");
    }
}
