//! Access control: what a list permits, and how a client's list becomes the one that is stored.

use std::sync::Arc;

use super::identity::Identity;
use super::ip_range::IpRange;
use crate::jute::{Acl, ErrorCode, Permissions};

/// Tells whether `acl` gives any of `needed` to one of the identities (`ZooKeeperServer.checkACL`). An empty list
/// protects nothing.
#[must_use]
pub fn permits(acl: &[Acl], needed: Permissions, identities: &[Identity]) -> bool {
    acl.is_empty()
        || identities.iter().any(Identity::is_super)
        || acl.iter().any(|entry| entry.permissions.intersects(needed) && applies(entry, identities))
}

fn applies(entry: &Acl, identities: &[Identity]) -> bool {
    match &*entry.scheme {
        "world" => &*entry.id == "anyone",
        "digest" => {
            identities.iter().any(|identity| &*identity.scheme == "digest" && identity.id == entry.id)
        }
        "ip" => IpRange::parse(&entry.id).is_some_and(|range| {
            identities.iter().any(|identity| &*identity.scheme == "ip" && range.contains(&identity.id))
        }),
        _ => false,
    }
}

/// Returns the list to store for the list of a client (`PrepRequestProcessor.fixupACL`): duplicates collapse, and the
/// scheme `auth` becomes the proved identities of the connection.
///
/// # Errors
/// [`ErrorCode::InvalidAcl`] when the list is empty, an entry is malformed or of an unknown scheme, or `auth` stands
/// for nobody.
pub fn normalize(acl: &[Acl], identities: &[Identity]) -> Result<Arc<[Acl]>, ErrorCode> {
    if acl.is_empty() {
        return Err(ErrorCode::InvalidAcl);
    }
    let mut stored = Vec::with_capacity(acl.len());
    for (index, entry) in acl.iter().enumerate() {
        if acl.get(..index).is_some_and(|before| before.contains(entry)) {
            continue;
        }
        match &*entry.scheme {
            "world" if &*entry.id == "anyone" => stored.push(entry.clone()),
            "auth" => expand(entry, identities, &mut stored)?,
            "digest" if is_digest(&entry.id) => stored.push(entry.clone()),
            "ip" if IpRange::parse(&entry.id).is_some() => stored.push(entry.clone()),
            _ => return Err(ErrorCode::InvalidAcl),
        }
    }
    Ok(stored.into())
}

fn expand(entry: &Acl, identities: &[Identity], stored: &mut Vec<Acl>) -> Result<(), ErrorCode> {
    let before = stored.len();
    for identity in identities.iter().filter(|identity| identity.is_authenticated()) {
        stored.push(Acl::new(entry.permissions, &identity.scheme, &identity.id));
    }
    if stored.len() == before { Err(ErrorCode::InvalidAcl) } else { Ok(()) }
}

/// Java's `split(":")` drops empty parts at the end, so `a:` has one part and `:b` has two.
fn is_digest(id: &str) -> bool {
    let mut parts: Vec<&str> = id.split(':').collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts.len() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(permissions: i32, scheme: &str, id: &str) -> Acl {
        Acl::new(Permissions(permissions), scheme, id)
    }

    #[test]
    fn entries_are_accepted_or_refused_as_the_real_server_does() {
        let cases = [
            ("world", "anyone", true),
            ("world", "nobody", false),
            ("digest", "a:b", true),
            ("digest", ":b", true),
            ("digest", "a:", false),
            ("digest", "a", false),
            ("digest", "a:b:c", false),
            ("ip", "1.2.3.4/8", true),
            ("ip", "1.2.3.4/33", false),
            ("super", "", false),
            ("sasl", "x", false),
            ("auth", "", false),
        ];
        for (scheme, id, expected) in cases {
            assert_eq!(normalize(&[acl(31, scheme, id)], &[]).is_ok(), expected, "{scheme}:{id}");
        }
        assert_eq!(normalize(&[], &[]), Err(ErrorCode::InvalidAcl));
    }

    #[test]
    fn auth_stands_for_every_proved_identity_and_duplicates_collapse() {
        let identities = [
            Identity::new("ip", "127.0.0.1"),
            Identity::new("digest", "a:1"),
            Identity::new("digest", "b:2"),
        ];
        let list = [acl(31, "auth", ""), acl(1, "world", "anyone"), acl(1, "world", "anyone")];
        let expected = [acl(31, "digest", "a:1"), acl(31, "digest", "b:2"), acl(1, "world", "anyone")];
        assert_eq!(&*normalize(&list, &identities).unwrap(), expected);
    }

    #[test]
    fn permissions_hold_for_those_they_are_given_to() {
        let list = [acl(1, "world", "anyone"), acl(16, "digest", "a:1"), acl(2, "ip", "127.0.0.0/8")];
        let local = [Identity::new("ip", "127.0.0.1")];
        let user = [Identity::new("ip", "10.0.0.1"), Identity::new("digest", "a:1")];
        let root = [Identity::new("super", "")];
        assert!(permits(&list, Permissions::READ, &[]));
        assert!(permits(&list, Permissions::WRITE, &local) && !permits(&list, Permissions::WRITE, &user));
        assert!(permits(&list, Permissions::ADMIN, &user) && !permits(&list, Permissions::ADMIN, &local));
        assert!(permits(&list, Permissions::DELETE, &root) && !permits(&list, Permissions::DELETE, &user));
        assert!(permits(&[], Permissions::DELETE, &[]));
    }
}
