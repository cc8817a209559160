//! Which writes other than creations may happen.

use std::sync::Arc;

use super::access::{normalize, permits};
use super::change::Change;
use super::draft::Draft;
use super::identity::Identity;
use super::node::Owner;
use super::path;
use crate::jute::{Acl, ErrorCode, Permissions};

/// The version that a client gives when any will do.
const ANY_VERSION: i32 = -1;

impl Draft<'_> {
    /// Decides a deletion.
    ///
    /// # Errors
    /// Reserved or malformed path, parent, permission on the parent, node, version, children, in this order.
    pub fn delete(&mut self, path: &str, version: i32, identities: &[Identity]) -> Result<Change, ErrorCode> {
        let parent =
            path::parent(path).filter(|_| !path::is_reserved(path)).ok_or(ErrorCode::BadArguments)?;
        let parent = self.find(parent)?;
        if !permits(&parent.acl, Permissions::DELETE, identities) {
            return Err(ErrorCode::NoAuth);
        }
        let node = self.find(path)?;
        next_version(node.version, version)?;
        if node.children > 0 {
            return Err(ErrorCode::NotEmpty);
        }
        let change = Change::Delete { path: path.into() };
        self.record(&change);
        Ok(change)
    }

    /// Decides the removal of an empty container or of a TTL node whose time is over.
    ///
    /// # Errors
    /// When the node is gone, has children, or belongs to a session.
    pub fn delete_unattended(&mut self, path: &Arc<str>) -> Result<Change, ErrorCode> {
        let node = self.find(path)?;
        if node.children > 0 {
            return Err(ErrorCode::NotEmpty);
        }
        if matches!(node.owner, Owner::Nobody | Owner::Session(_)) {
            return Err(ErrorCode::BadVersion);
        }
        let change = Change::Delete { path: Arc::clone(path) };
        self.record(&change);
        Ok(change)
    }

    /// Decides a write of data.
    ///
    /// # Errors
    /// Form of the path, node, permission, version, in this order.
    pub fn set_data(
        &mut self,
        path: &str,
        data: Option<&[u8]>,
        version: i32,
        identities: &[Identity],
    ) -> Result<Change, ErrorCode> {
        if !path::is_valid(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.find(path)?;
        if !permits(&node.acl, Permissions::WRITE, identities) {
            return Err(ErrorCode::NoAuth);
        }
        let version = next_version(node.version, version)?;
        let change = Change::SetData { path: path.into(), data: data.map(Into::into), version };
        self.record(&change);
        Ok(change)
    }

    /// Decides a write of an ACL.
    ///
    /// # Errors
    /// Form of the path, form of the ACL, node, permission, version, in this order.
    pub fn set_acl(
        &mut self,
        path: &str,
        acl: &[Acl],
        version: i32,
        identities: &[Identity],
    ) -> Result<Change, ErrorCode> {
        if !path::is_valid(path) {
            return Err(ErrorCode::BadArguments);
        }
        let acl = normalize(acl, identities)?;
        let node = self.find(path)?;
        if !permits(&node.acl, Permissions::ADMIN, identities) {
            return Err(ErrorCode::NoAuth);
        }
        let aversion = next_version(node.aversion, version)?;
        let change = Change::SetAcl { path: path.into(), acl, aversion };
        self.record(&change);
        Ok(change)
    }

    /// Compares a version, which changes nothing.
    ///
    /// # Errors
    /// Form of the path, node, permission, version, in this order.
    pub fn check(&self, path: &str, version: i32, identities: &[Identity]) -> Result<(), ErrorCode> {
        if !path::is_valid(path) {
            return Err(ErrorCode::BadArguments);
        }
        let node = self.find(path)?;
        if !permits(&node.acl, Permissions::READ, identities) {
            return Err(ErrorCode::NoAuth);
        }
        next_version(node.version, version).map(|_| ())
    }
}

fn next_version(found: i32, expected: i32) -> Result<i32, ErrorCode> {
    if expected != ANY_VERSION && expected != found {
        return Err(ErrorCode::BadVersion);
    }
    Ok(found.wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::super::nodes::Tree;
    use super::*;
    use crate::types::{SessionId, Zxid};

    fn tree() -> Tree {
        let mut tree = Tree::default();
        let open: Arc<[Acl]> = Arc::new([Acl::new(Permissions::ALL, "world", "anyone")]);
        let closed: Arc<[Acl]> = Arc::new([Acl::new(Permissions::ALL, "digest", "a:1")]);
        for (path, acl) in [("/p", &open), ("/p/x", &open), ("/s", &closed), ("/s/x", &open)] {
            let owner = Owner::Nobody;
            let change = Change::Create { path: path.into(), data: None, acl: Arc::clone(acl), owner };
            tree.apply(&change, Zxid(1), 0).unwrap();
        }
        tree
    }

    #[test]
    fn deletions_are_refused_in_the_order_of_the_real_server() {
        let tree = tree();
        let cases = [
            ("/", -1, ErrorCode::BadArguments),
            ("/zookeeper", -1, ErrorCode::BadArguments),
            ("/zookeeper/quota", 9, ErrorCode::BadArguments),
            ("", -1, ErrorCode::BadArguments),
            ("p", -1, ErrorCode::BadArguments),
            ("/nope/x", -1, ErrorCode::NoNode),
            ("/s/nope", -1, ErrorCode::NoAuth),
            ("/s/x", 9, ErrorCode::NoAuth),
            ("/p", 9, ErrorCode::BadVersion),
            ("/p", 0, ErrorCode::NotEmpty),
        ];
        for (path, version, expected) in cases {
            assert_eq!(Draft::new(&tree).delete(path, version, &[]), Err(expected), "{path}");
        }
        assert!(Draft::new(&tree).delete("/p/x", 0, &[]).is_ok());
    }

    #[test]
    fn writes_are_refused_in_the_order_of_the_real_server() {
        let tree = tree();
        let mut draft = Draft::new(&tree);
        assert_eq!(draft.set_data("/p/", None, -1, &[]), Err(ErrorCode::BadArguments));
        assert_eq!(draft.set_data("/nope", None, -1, &[]), Err(ErrorCode::NoNode));
        assert_eq!(draft.set_data("/s", None, 9, &[]), Err(ErrorCode::NoAuth));
        assert_eq!(draft.set_data("/p", None, 9, &[]), Err(ErrorCode::BadVersion));
        assert_eq!(draft.set_acl("/nope", &[], -1, &[]), Err(ErrorCode::InvalidAcl));
        assert_eq!(draft.check("/s", 0, &[]), Err(ErrorCode::NoAuth));
        assert_eq!(draft.check("/p", 1, &[]), Err(ErrorCode::BadVersion));
        assert_eq!(draft.check("/p", 0, &[]), Ok(()));
    }

    #[test]
    fn later_operations_see_the_earlier_ones_of_the_same_transaction() {
        let tree = tree();
        let mut draft = Draft::new(&tree);
        assert_eq!(draft.delete("/p", 0, &[]), Err(ErrorCode::NotEmpty));
        draft.delete("/p/x", 0, &[]).unwrap();
        assert_eq!(draft.check("/p/x", -1, &[]), Err(ErrorCode::NoNode));
        draft.set_data("/p", None, 0, &[]).unwrap();
        assert_eq!(draft.check("/p", 1, &[]), Ok(()));
        draft.delete("/p", 1, &[]).unwrap();
        assert!(tree.get("/p/x").is_some(), "nothing is applied");
    }

    #[test]
    fn only_what_nobody_attends_is_removed_unasked() {
        let mut tree = tree();
        let acl: Arc<[Acl]> = Arc::new([]);
        for (path, owner) in
            [("/c", Owner::Container), ("/e", Owner::Session(SessionId(1))), ("/t", Owner::TimeToLive(1))]
        {
            let change = Change::Create { path: path.into(), data: None, acl: Arc::clone(&acl), owner };
            tree.apply(&change, Zxid(2), 0).unwrap();
        }
        let mut draft = Draft::new(&tree);
        assert!(draft.delete_unattended(&"/c".into()).is_ok());
        assert!(draft.delete_unattended(&"/t".into()).is_ok());
        assert_eq!(draft.delete_unattended(&"/e".into()), Err(ErrorCode::BadVersion));
        assert_eq!(draft.delete_unattended(&"/p".into()), Err(ErrorCode::NotEmpty));
        assert_eq!(draft.delete_unattended(&"/c".into()), Err(ErrorCode::NoNode));
    }
}
