//! Transactions, and the events that they cause.

use bytes::Bytes;

use super::step::{Effect, Machine};
use crate::jute::{Permissions, WatchedEvent};
use crate::state::{Body, Transaction};
use crate::tree::{Applied, permits};
use crate::types::{ConnectionId, Now, Zxid};
use crate::watch::Notification;

impl Machine {
    /// Takes the next zxid, has the transaction logged, applies it, and sends the events that it causes. Returns what
    /// it did.
    pub(super) fn commit(&mut self, now: Now, body: Body, out: &mut Vec<Effect>) -> (Zxid, Vec<Applied>) {
        let zxid = self.state.last_zxid.next();
        let transaction = Transaction { zxid, time_ms: now.wall_ms, body };
        let applied = self.state.replay(&transaction).expect("it was decided on this state");
        out.push(Effect::Append(transaction));
        let mut notifications = Vec::new();
        for change in &applied {
            self.watches.trigger(change, &mut notifications);
        }
        for notification in &notifications {
            self.notify(notification, zxid, out);
        }
        (zxid, applied)
    }

    fn notify(&mut self, notification: &Notification, zxid: Zxid, out: &mut Vec<Effect>) {
        let event = WatchedEvent { kind: notification.kind, path: &notification.path, zxid };
        let frame = Bytes::from(event.into_frame());
        for connection in &notification.connections {
            if !permits(&notification.acl, Permissions::READ, self.identities(*connection)) {
                continue;
            }
            self.send_event(*connection, frame.clone(), zxid, out);
        }
    }

    /// Sends an event; whatever is sent to the connection later waits for `after` too.
    pub(super) fn send_event(&mut self, to: ConnectionId, frame: Bytes, after: Zxid, out: &mut Vec<Effect>) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.seen = connection.seen.max(after);
            out.push(Effect::Notify { to, frame, after: connection.seen });
        }
    }
}
