//! Which nodes may be created.

use std::borrow::Cow;

use super::access::{normalize, permits};
use super::change::Change;
use super::draft::Draft;
use super::identity::Identity;
use super::node::Owner;
use super::path;
use crate::jute::{Create, CreateKind, ErrorCode, Permissions};
use crate::types::{Millis, SessionId};

/// The longest time to live: the owner field of the real server keeps 40 bits for it.
const TTL_MS_MAX: Millis = (1 << 40) - 1;

/// A create mode, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    owner: Owner,
    sequential: bool,
}

impl Draft<'_> {
    /// Decides a create of any kind.
    ///
    /// # Errors
    /// In the order of the real server: mode and time to live, form of the path, form of the ACL, parent, permission,
    /// characters of the path, existence, ephemeral parent.
    pub fn create(
        &mut self,
        create: &Create<'_>,
        session: SessionId,
        identities: &[Identity],
    ) -> Result<Change, ErrorCode> {
        let mode = mode(create, session)?;
        let parent_path = path::parent(&create.path).ok_or(ErrorCode::BadArguments)?;
        let acl = normalize(&create.acl, identities)?;
        let parent = self.find(parent_path)?;
        if !permits(&parent.acl, Permissions::CREATE, identities) {
            return Err(ErrorCode::NoAuth);
        }
        let path: Cow<'_, str> = if mode.sequential {
            format!("{}{:010}", create.path, parent.children_created).into()
        } else {
            Cow::Borrowed(&*create.path)
        };
        if !path::is_valid(&path) {
            return Err(ErrorCode::BadArguments);
        }
        if self.exists(&path) {
            return Err(ErrorCode::NodeExists);
        }
        if matches!(parent.owner, Owner::Session(_)) {
            return Err(ErrorCode::NoChildrenForEphemerals);
        }
        let data = create.data.map(Into::into);
        let change = Change::Create { path: path.as_ref().into(), data, acl, owner: mode.owner };
        self.record(&change);
        Ok(change)
    }
}

/// The flags are those of `CreateMode`. The operation decides first: a container operation makes containers, and a
/// plain create with the container's flag makes a plain node.
fn mode(create: &Create<'_>, session: SessionId) -> Result<Mode, ErrorCode> {
    let (owner, sequential) = match create.flags {
        0 | 4 => (Owner::Nobody, false),
        1 => (Owner::Session(session), false),
        2 => (Owner::Nobody, true),
        3 => (Owner::Session(session), true),
        5 => (Owner::TimeToLive(create.ttl_ms), false),
        6 => (Owner::TimeToLive(create.ttl_ms), true),
        _ => return Err(ErrorCode::BadArguments),
    };
    let has_ttl = matches!(owner, Owner::TimeToLive(_));
    if has_ttl != (create.kind == CreateKind::Ttl) || (has_ttl && !(1..=TTL_MS_MAX).contains(&create.ttl_ms))
    {
        return Err(ErrorCode::BadArguments);
    }
    let owner = if create.kind == CreateKind::Container { Owner::Container } else { owner };
    Ok(Mode { owner, sequential })
}

#[cfg(test)]
mod tests {
    use super::super::nodes::Tree;
    use super::*;
    use crate::jute::Acl;
    use crate::types::Zxid;

    const SESSION: SessionId = SessionId(7);

    fn request(path: &str, flags: i32) -> Create<'_> {
        Create {
            kind: CreateKind::Create,
            path: path.into(),
            data: None,
            acl: vec![Acl::new(Permissions::ALL, "world", "anyone")],
            flags,
            ttl_ms: -1,
        }
    }

    fn decide(tree: &Tree, create: &Create<'_>) -> Result<(String, Owner), ErrorCode> {
        match Draft::new(tree).create(create, SESSION, &[])? {
            Change::Create { path, owner, .. } => Ok((path.to_string(), owner)),
            other => panic!("{other:?}"),
        }
    }

    fn tree_with(paths: &[(&str, i32)]) -> Tree {
        let mut tree = Tree::default();
        for (path, flags) in paths {
            let change = Draft::new(&tree).create(&request(path, *flags), SESSION, &[]).unwrap();
            tree.apply(&change, Zxid(1), 0).unwrap();
        }
        tree
    }

    #[test]
    fn errors_come_in_the_order_of_the_real_server() {
        let tree = tree_with(&[("/e", 1), ("/p", 0)]);
        let no_acl = |path| Create { acl: Vec::new(), ..request(path, 0) };
        let cases = [
            (request("/nope/x", 9), Err(ErrorCode::BadArguments)),
            (no_acl("x"), Err(ErrorCode::BadArguments)),
            (no_acl("/nope/x"), Err(ErrorCode::InvalidAcl)),
            (request("/nope/.", 0), Err(ErrorCode::NoNode)),
            (request("/p/.", 0), Err(ErrorCode::BadArguments)),
            (request("/", 0), Err(ErrorCode::NodeExists)),
            (request("/p", 0), Err(ErrorCode::NodeExists)),
            (request("/e/x", 0), Err(ErrorCode::NoChildrenForEphemerals)),
            (request("/p/x", 0), Ok(("/p/x".to_owned(), Owner::Nobody))),
            (request("/p/x", 1), Ok(("/p/x".to_owned(), Owner::Session(SESSION)))),
        ];
        for (create, expected) in cases {
            assert_eq!(decide(&tree, &create), expected, "{create:?}");
        }
    }

    #[test]
    fn kinds_flags_and_times_to_live() {
        let tree = Tree::default();
        let cases = [
            (CreateKind::Create, 4, -1, Ok(Owner::Nobody)),
            (CreateKind::Create, 5, -1, Err(ErrorCode::BadArguments)),
            (CreateKind::Create2, 7, -1, Err(ErrorCode::BadArguments)),
            (CreateKind::Create, -1, -1, Err(ErrorCode::BadArguments)),
            (CreateKind::Container, 4, -1, Ok(Owner::Container)),
            (CreateKind::Container, 1, -1, Ok(Owner::Container)),
            (CreateKind::Ttl, 5, 1, Ok(Owner::TimeToLive(1))),
            (CreateKind::Ttl, 5, TTL_MS_MAX, Ok(Owner::TimeToLive(TTL_MS_MAX))),
            (CreateKind::Ttl, 5, TTL_MS_MAX + 1, Err(ErrorCode::BadArguments)),
            (CreateKind::Ttl, 5, 0, Err(ErrorCode::BadArguments)),
            (CreateKind::Ttl, 0, 100, Err(ErrorCode::BadArguments)),
        ];
        for (kind, flags, ttl_ms, expected) in cases {
            let create = Create { kind, ttl_ms, ..request("/x", flags) };
            assert_eq!(decide(&tree, &create).map(|(_, owner)| owner), expected, "{kind:?} {flags} {ttl_ms}");
        }
    }

    #[test]
    fn sequence_numbers_have_ten_digits_and_wrap_as_documented() {
        let mut tree = tree_with(&[("/p", 0), ("/p/plain", 0)]);
        assert_eq!(decide(&tree, &request("/p/s-", 2)).unwrap().0, "/p/s-0000000001");
        assert_eq!(decide(&tree, &request("/p/", 3)).unwrap().0, "/p/0000000001");
        let mut full = Tree::empty();
        for (path, node) in tree.iter() {
            let mut node = node.clone();
            node.children.clear();
            if &**path == "/p" {
                node.children_created = i32::MAX;
            }
            full.restore(path.clone(), node).unwrap();
        }
        tree = full;
        let change = Draft::new(&tree).create(&request("/p/s-", 2), SESSION, &[]).unwrap();
        assert_eq!(&**change.path(), "/p/s-2147483647");
        tree.apply(&change, Zxid(2), 0).unwrap();
        assert_eq!(decide(&tree, &request("/p/s-", 2)).unwrap().0, "/p/s--2147483648");
    }
}
