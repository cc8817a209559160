//! Who may read and change a node.

use zookeeper_client::{Acl, Acls, Permission};

/// Everything for the creator, reading for all.
static CREATOR_AND_READERS: &[Acl] =
    &[Acl::new_const(Permission::ALL, "auth", ""), Acl::new_const(Permission::READ, "world", "anyone")];

/// The nodes that hold secrets: only their creator sees them.
const SECRET: [&str; 3] = ["/config/users", "/config/brokers", "/delegation_token/tokens"];

/// Returns the access rules of `path`, by Kafka's rule for `zookeeper.set.acl`.
pub(super) fn for_path(path: &str, restricted: bool) -> Acls<'static> {
    let below =
        |root: &str| path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    if !restricted || below("/consumers") {
        Acls::anyone_all()
    } else if SECRET.into_iter().any(below) {
        Acls::creator_all()
    } else {
        Acls::new(CREATOR_AND_READERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let permissions = |path: &str, restricted| for_path(path, restricted).to_vec();
        assert_eq!(permissions("/brokers/ids", false), Acls::anyone_all().to_vec());
        assert_eq!(permissions("/consumers/g", true), Acls::anyone_all().to_vec());
        assert_eq!(permissions("/config/users/u", true), Acls::creator_all().to_vec());
        assert_eq!(permissions("/config/usersx", true), CREATOR_AND_READERS.to_vec());
        assert_eq!(permissions("/brokers/topics/t", true), CREATOR_AND_READERS.to_vec());
    }
}
