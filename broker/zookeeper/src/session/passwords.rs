//! Session passwords from a secret given at birth.

use std::fmt;

use crate::digest::sha1;
use crate::jute::{PASSWORD_BYTES, Password};
use crate::types::SessionId;

/// Makes the passwords of new sessions. The secret is new at every start: passwords are stored with their sessions.
#[derive(Clone)]
pub struct Passwords {
    secret: [u8; 32],
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passwords(..)")
    }
}

impl Passwords {
    /// Returns a source of passwords; `secret` must be random.
    #[must_use]
    pub fn new(secret: [u8; 32]) -> Self {
        Passwords { secret }
    }

    /// Returns the password of a session: a digest over secret, identity and secret, cut to length.
    #[must_use]
    pub fn of(&self, id: SessionId) -> Password {
        let mut message = Vec::with_capacity(72);
        message.extend_from_slice(&self.secret);
        message.extend_from_slice(&id.0.to_be_bytes());
        message.extend_from_slice(&self.secret);
        let mut password = [0; PASSWORD_BYTES];
        for (byte, digest) in password.iter_mut().zip(sha1(&message)) {
            *byte = digest;
        }
        Password(password)
    }
}
