//! Who a connection is.

use crate::digest;

/// A proved identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// How it was proved: `ip`, `digest`, or `super`, which passes every ACL.
    pub scheme: Box<str>,
    /// The identity within the scheme.
    pub id: Box<str>,
}

impl Identity {
    /// Returns an identity.
    #[must_use]
    pub fn new(scheme: &str, id: &str) -> Self {
        Identity { scheme: scheme.into(), id: id.into() }
    }

    /// Tells whether this is the super user.
    #[must_use]
    pub fn is_super(&self) -> bool {
        &*self.scheme == "super"
    }

    /// Tells whether the identity was proved by a secret, so that the scheme `auth` may stand for it.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        &*self.scheme == "digest"
    }

    /// Returns the name that `whoAmI` shows.
    #[must_use]
    pub fn user(&self) -> &str {
        match &*self.scheme {
            "digest" => self.id.split(':').next().unwrap_or_default(),
            "super" => "",
            _ => &self.id,
        }
    }
}

/// Returns the identity that credentials `user:password` prove: `user:base64(sha1(user:password))`.
#[must_use]
pub fn digest_identity(credentials: &[u8]) -> Identity {
    let text = String::from_utf8_lossy(credentials);
    let user = text.split(':').next().unwrap_or_default();
    let id = format!("{user}:{}", digest::base64(&digest::sha1(text.as_bytes())));
    Identity::new("digest", &id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_prove_the_digest_that_the_real_server_stores() {
        let identity = digest_identity(b"user:pw");
        assert_eq!(&*identity.id, "user:2Om+GBbT2q/tS6pdvACZbbm7/1A=");
        assert_eq!(identity.user(), "user");
        assert_eq!(digest_identity(b"").user(), "");
    }
}
