//! Who a connection is.

use super::reply::Caller;
use super::step::{Effect, Machine, When};
use crate::jute::{ClientInfo, ErrorCode, Reply};
use crate::tree::{Identity, digest_identity};
use crate::types::Zxid;

/// Identities that one connection may collect; each costs memory and every permission check.
const IDENTITIES_MAX: usize = 128;

impl Machine {
    /// Adds an identity. Credentials that are refused end the connection, as in the real server.
    pub(super) fn authenticate(
        &mut self,
        caller: Caller,
        scheme: &str,
        credentials: &[u8],
        out: &mut Vec<Effect>,
    ) {
        let proved = match scheme {
            "digest" => self.proved_by_digest(credentials),
            // The address is an identity from the beginning.
            "ip" => Some(Vec::new()),
            _ => None,
        };
        let accepted = match (proved, self.connections.get_mut(&caller.connection)) {
            (Some(proved), Some(connection)) => {
                for identity in proved {
                    if !connection.identities.contains(&identity) {
                        connection.identities.push(identity);
                    }
                }
                connection.identities.len() <= IDENTITIES_MAX
            }
            _ => false,
        };
        if accepted {
            Self::reply_with_zxid(caller, Zxid::ZERO, None, out);
        } else {
            Self::reply_with_zxid(caller, Zxid::ZERO, Some(ErrorCode::AuthFailed), out);
            self.close(caller.connection, When::AfterReplies, out);
        }
    }

    fn proved_by_digest(&self, credentials: &[u8]) -> Option<Vec<Identity>> {
        let identity = digest_identity(credentials);
        let mut proved = Vec::new();
        if self.rules.super_digest.as_deref() == Some(&*identity.id) {
            proved.push(Identity::new("super", ""));
        }
        proved.push(identity);
        Some(proved)
    }

    pub(super) fn who_am_i(&mut self, caller: Caller, out: &mut Vec<Effect>) {
        let identities = self.identities(caller.connection).to_vec();
        let infos: Vec<ClientInfo<'_>> = identities
            .iter()
            .map(|identity| ClientInfo { scheme: &identity.scheme, user: identity.user() })
            .collect();
        self.reply(caller, Ok(Reply::Identities(&infos)), Zxid::ZERO, out);
    }
}
