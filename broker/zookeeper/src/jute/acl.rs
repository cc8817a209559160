//! Access control lists as they travel.

use super::{DecodeError, Reader, Writer};

/// A set of permissions, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permissions(pub i32);

impl Permissions {
    /// Read data and list children.
    pub const READ: Permissions = Permissions(1);
    /// Write data.
    pub const WRITE: Permissions = Permissions(2);
    /// Create children.
    pub const CREATE: Permissions = Permissions(4);
    /// Delete children.
    pub const DELETE: Permissions = Permissions(8);
    /// Write the ACL.
    pub const ADMIN: Permissions = Permissions(16);
    /// Everything.
    pub const ALL: Permissions = Permissions(31);

    /// Tells whether any permission of `other` is in this set.
    #[must_use]
    pub fn intersects(self, other: Permissions) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the permissions of either set.
    #[must_use]
    pub const fn union(self, other: Permissions) -> Permissions {
        Permissions(self.0 | other.0)
    }
}

/// One entry of an access control list: who may do what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acl {
    /// What is permitted.
    pub permissions: Permissions,
    /// How an identity is proved: `world`, `ip`, `digest`, `auth`.
    pub scheme: Box<str>,
    /// The identity within the scheme.
    pub id: Box<str>,
}

impl Acl {
    /// The fewest bytes an entry takes: permissions and two empty strings.
    const BYTES_MIN: usize = 12;

    /// Returns an entry.
    #[must_use]
    pub fn new(permissions: Permissions, scheme: &str, id: &str) -> Self {
        Acl { permissions, scheme: scheme.into(), id: id.into() }
    }

    /// Writes a list.
    pub fn encode_list(acl: &[Acl], writer: &mut Writer) {
        writer.count(acl.len());
        for entry in acl {
            writer.i32(entry.permissions.0);
            writer.string(&entry.scheme);
            writer.string(&entry.id);
        }
    }

    /// Reads a list; null reads as empty.
    ///
    /// # Errors
    /// When the frame ends before or a string is null.
    pub fn decode_list(reader: &mut Reader<'_>) -> Result<Vec<Acl>, DecodeError> {
        let count = reader.count("acl", Acl::BYTES_MIN)?;
        let mut acl = Vec::with_capacity(count);
        for _ in 0..count {
            let permissions = Permissions(reader.i32("perms")?);
            let scheme = reader.string("scheme")?.into();
            let id = reader.string("id")?.into();
            acl.push(Acl { permissions, scheme, id });
        }
        Ok(acl)
    }
}
