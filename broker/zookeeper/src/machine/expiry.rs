//! What ends because time passes.

use super::step::{Effect, Machine, When};
use crate::state::Body;
use crate::tree::Draft;
use crate::types::{Now, SessionId};

impl Machine {
    pub(super) fn tick(&mut self, now: Now, listening: bool, out: &mut Vec<Effect>) {
        if !listening || self.is_late(now) {
            self.forgive_silence(now);
        } else {
            for session in self.expiry.take_expired(now.monotonic_ms) {
                self.expire(now, session, out);
            }
        }
        if self.next_container_check_ms.is_some_and(|due| due <= now.monotonic_ms) {
            self.next_container_check_ms = None;
            self.remove_unattended(now, out);
        }
    }

    /// Tells whether the tick itself comes more than a tick late: the whole process was stopped or starved, and clients
    /// could not be heard although they spoke.
    fn is_late(&self, now: Now) -> bool {
        self.expiry
            .next_deadline()
            .is_some_and(|due| now.monotonic_ms.saturating_sub(due) > self.rules.tick_time_ms)
    }

    /// Gives sessions that would end their full timeout again, as after a restart.
    fn forgive_silence(&mut self, now: Now) {
        for session in self.expiry.take_expired(now.monotonic_ms) {
            let timeout_ms = self.state.sessions.get(session).map_or(0, |session| session.timeout_ms);
            self.expiry.touch(session, timeout_ms, now.monotonic_ms);
        }
    }

    fn expire(&mut self, now: Now, session: SessionId, out: &mut Vec<Effect>) {
        self.commit(now, Body::CloseSession { session }, out);
        if let Some(connection) = self.attached.get(&session).copied() {
            self.close(connection, When::Now, out);
        }
    }

    fn remove_unattended(&mut self, now: Now, out: &mut Vec<Effect>) {
        for path in self.state.tree.due_for_removal(now.wall_ms) {
            let decided = Draft::new(&self.state.tree).delete_unattended(&path);
            if let Ok(change) = decided {
                self.commit(now, Body::Changes(vec![change]), out);
            }
        }
    }

    /// Plans the next look at containers and TTL nodes, as long as there are any.
    pub(super) fn plan_container_check(&mut self, now: Now) {
        if !self.state.tree.has_unattended() {
            self.next_container_check_ms = None;
        } else if self.next_container_check_ms.is_none() {
            let due = now.monotonic_ms.saturating_add(self.rules.container_check_interval_ms);
            self.next_container_check_ms = Some(due);
        }
    }
}
