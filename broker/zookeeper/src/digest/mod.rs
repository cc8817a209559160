//! SHA-1 and base64, for the `digest` scheme of ACLs and for session passwords. SHA-1 is what that scheme is defined
//! with; nothing here relies on it against an attacker who can choose both inputs.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod base64;
mod sha1;

pub(crate) use base64::base64;
pub(crate) use sha1::sha1;
