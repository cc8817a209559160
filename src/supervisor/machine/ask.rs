//! What each request of an operator does.

use ottla_broker::types::Millis;

use super::event::{Effect, Notice, Role, Tell};
use super::life::Life;
use super::step::Machine;

impl Machine {
    /// Starts what is absent; whatever is there in any form is left as it is.
    pub(super) fn start(&mut self, now: Millis, role: Role, out: &mut Vec<Effect>) {
        match self.life(role) {
            Life::Absent | Life::Queued => {}
            Life::Stopping { identity, since, killed, .. } => {
                return self.set(role, Life::Stopping { identity, since, killed, again: true });
            }
            Life::Spawning { .. } | Life::Starting { .. } | Life::Running { .. } | Life::Frozen { .. } => {
                return;
            }
        }
        if role != Role::Zookeeper && !self.zookeeper_serves() {
            self.set(role, Life::Queued);
            if self.life(Role::Zookeeper) == Life::Absent {
                self.spawn(now, Role::Zookeeper, out);
            }
            return;
        }
        self.spawn(now, role, out);
    }

    /// Starts the brokers that waited for ZooKeeper.
    pub(super) fn start_queued(&mut self, now: Millis, out: &mut Vec<Effect>) {
        let queued: Vec<_> = self.lives().filter(|(_, life)| *life == Life::Queued).collect();
        for (role, _) in queued {
            self.spawn(now, role, out);
        }
    }

    fn spawn(&mut self, now: Millis, role: Role, out: &mut Vec<Effect>) {
        self.set(role, Life::Spawning { since: now });
        out.push(Effect::Report(Notice::Starting(role)));
        out.push(Effect::Spawn(role));
    }

    /// An external ZooKeeper is no process of ours and always counts as there.
    fn zookeeper_serves(&self) -> bool {
        match self.lives.get(&Role::Zookeeper) {
            None => true,
            Some(life) => matches!(life, Life::Running { .. } | Life::Frozen { .. }),
        }
    }

    /// Asks a process to end. A frozen one is thawed first, or it could not hear.
    pub(super) fn stop(&mut self, now: Millis, role: Role, again: bool, out: &mut Vec<Effect>) {
        match self.life(role) {
            Life::Queued => self.set(role, Life::Absent),
            Life::Starting { identity, .. } | Life::Running { identity } | Life::Frozen { identity } => {
                if matches!(self.life(role), Life::Frozen { .. }) {
                    out.push(Effect::Signal { role, identity, tell: Tell::GoOn });
                }
                self.set(role, Life::Stopping { identity, since: now, killed: false, again });
                out.push(Effect::Report(Notice::Stopping(role)));
                out.push(Effect::Signal { role, identity, tell: Tell::Finish });
            }
            Life::Stopping { identity, since, killed, .. } => {
                self.set(role, Life::Stopping { identity, since, killed, again });
            }
            Life::Absent => refuse(role, "it does not run", out),
            Life::Spawning { .. } => refuse(role, "it is just being started", out),
        }
    }

    pub(super) fn kill(&mut self, now: Millis, role: Role, out: &mut Vec<Effect>) {
        let Some(identity) = self.life(role).identity() else {
            return refuse(role, "it does not run", out);
        };
        self.set(role, Life::Stopping { identity, since: now, killed: true, again: false });
        out.push(Effect::Signal { role, identity, tell: Tell::Die });
    }

    pub(super) fn freeze(&mut self, role: Role, out: &mut Vec<Effect>) {
        match self.life(role) {
            Life::Starting { identity, .. } | Life::Running { identity } => {
                self.set(role, Life::Frozen { identity });
                out.push(Effect::Signal { role, identity, tell: Tell::Halt });
                out.push(Effect::Report(Notice::Frozen(role)));
            }
            Life::Frozen { .. } => {}
            Life::Absent | Life::Queued | Life::Spawning { .. } | Life::Stopping { .. } => {
                refuse(role, "only a running process can be frozen", out);
            }
        }
    }

    pub(super) fn thaw(&mut self, role: Role, out: &mut Vec<Effect>) {
        let Life::Frozen { identity } = self.life(role) else {
            return refuse(role, "it is not frozen", out);
        };
        self.set(role, Life::Running { identity });
        out.push(Effect::Signal { role, identity, tell: Tell::GoOn });
        out.push(Effect::Report(Notice::Thawed(role)));
    }

    pub(super) fn restart(&mut self, now: Millis, role: Role, out: &mut Vec<Effect>) {
        match self.life(role) {
            Life::Absent | Life::Queued => self.start(now, role, out),
            Life::Spawning { .. } => {}
            Life::Starting { .. } | Life::Running { .. } | Life::Frozen { .. } | Life::Stopping { .. } => {
                self.stop(now, role, true, out);
            }
        }
    }

    pub(super) fn go_down(&mut self, now: Millis, out: &mut Vec<Effect>) {
        self.going_down = true;
        let brokers: Vec<_> = self.lives.keys().copied().filter(|role| *role != Role::Zookeeper).collect();
        for role in brokers {
            if self.life(role) != Life::Absent {
                self.stop(now, role, false, out);
            }
        }
        self.stop_zookeeper_after_brokers(now, out);
    }

    pub(super) fn stop_zookeeper_after_brokers(&mut self, now: Millis, out: &mut Vec<Effect>) {
        let brokers_gone = self.lives().all(|(role, life)| role == Role::Zookeeper || life == Life::Absent);
        let zookeeper = self.life(Role::Zookeeper);
        let stoppable = zookeeper.identity().is_some() && !matches!(zookeeper, Life::Stopping { .. });
        if brokers_gone && stoppable {
            self.stop(now, Role::Zookeeper, false, out);
        }
    }
}

fn refuse(role: Role, why: &str, out: &mut Vec<Effect>) {
    out.push(Effect::Report(Notice::Refused { role, why: why.to_owned() }));
}
