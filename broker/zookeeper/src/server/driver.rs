//! Steps the machine and performs its effects.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

use super::connection::SESSIONLESS_MAX_MS;
use super::outbox::{Kind, Outbox};
use crate::admin::{
    self, Answer, ConnectionFigures, ConnectionStatistics, Figures, Latency, Reset, Statistics,
};
use crate::config::{Config, Storage};
use crate::jute::{Reader, RequestHeader, Writer};
use crate::machine::{Effect, Event, Machine, When};
use crate::state::Transaction;
use crate::store::sizes;
use crate::types::{ConnectionId, Millis, Now, Zxid};

/// A connection as the driver knows it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    pub(super) statistics: ConnectionStatistics,
    pub(super) outbox: Rc<RefCell<Outbox>>,
}

impl Peer {
    pub(super) fn outstanding(&self) -> usize {
        self.outbox.borrow().outstanding()
    }
}

/// Transactions that are not on their way to the disk yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) records: Writer,
    pub(super) count: u64,
}

/// The machine and everything that its effects need.
#[derive(Debug)]
pub(super) struct Driver {
    pub(super) config: Config,
    pub(super) local_address: SocketAddr,
    pub(super) machine: Machine,
    pub(super) statistics: Statistics,
    pub(super) peers: BTreeMap<ConnectionId, Peer>,
    clock: Clock,
    per_address: BTreeMap<IpAddr, usize>,
    next_connection: u64,
    effects: Vec<Effect>,
    pending: Pending,
    keeps_log: bool,
    waiting: BTreeSet<ConnectionId>,
    outstanding: usize,
    buffered_bytes: usize,
    throttled: Vec<Rc<Notify>>,
    /// Tells the committer that there is something to commit.
    pub(super) commit: Rc<Notify>,
    /// Tells the ticker that the next deadline came nearer.
    pub(super) rearm: Rc<Notify>,
    armed_ms: Option<Millis>,
}

/// Reads the clocks for the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    started: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Clock { started: Instant::now() }
    }

    pub(super) fn now(self) -> Now {
        let monotonic_ms = Millis::try_from(self.started.elapsed().as_millis()).unwrap_or(Millis::MAX);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { monotonic_ms, wall_ms: Millis::try_from(since_epoch.as_millis()).unwrap_or(Millis::MAX) }
    }

    /// Returns the instant of a time of the machine.
    pub(super) fn instant(self, monotonic_ms: Millis) -> Instant {
        let since = std::time::Duration::from_millis(monotonic_ms.max(0).unsigned_abs());
        self.started.checked_add(since).unwrap_or(self.started)
    }
}

impl Driver {
    /// `keeps_log` says whether transactions go to a disk and are durable only when the committer says so.
    pub(super) fn new(
        config: Config,
        local_address: SocketAddr,
        machine: Machine,
        clock: Clock,
        keeps_log: bool,
    ) -> Self {
        Driver {
            config,
            local_address,
            machine,
            statistics: Statistics::default(),
            peers: BTreeMap::new(),
            clock,
            per_address: BTreeMap::new(),
            next_connection: 0,
            effects: Vec::new(),
            pending: Pending::default(),
            keeps_log,
            waiting: BTreeSet::new(),
            outstanding: 0,
            buffered_bytes: 0,
            throttled: Vec::new(),
            commit: Rc::default(),
            rearm: Rc::default(),
            armed_ms: None,
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Counts bytes that a connection keeps of half a request, and tells whether there is room for them.
    pub(super) fn keep(&mut self, before: usize, after: usize) -> bool {
        self.buffered_bytes = self.buffered_bytes.saturating_sub(before).saturating_add(after);
        after <= before || self.buffered_bytes <= self.config.max_buffered_bytes
    }

    /// Counts bytes off that went to the socket.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.buffered_bytes = self.buffered_bytes.saturating_sub(bytes);
    }

    /// Takes a connection in, or refuses it when there are too many.
    pub(super) fn connected(&mut self, address: SocketAddr) -> Option<(ConnectionId, Rc<RefCell<Outbox>>)> {
        let from_address = self.per_address.get(&address.ip()).copied().unwrap_or(0);
        if self.peers.len() >= self.config.max_connections
            || from_address >= self.config.max_connections_per_address
        {
            self.statistics.connections_rejected = self.statistics.connections_rejected.saturating_add(1);
            return None;
        }
        self.statistics.connections_accepted = self.statistics.connections_accepted.saturating_add(1);
        self.per_address.insert(address.ip(), from_address.saturating_add(1));
        self.next_connection = self.next_connection.wrapping_add(1);
        let connection = ConnectionId(self.next_connection);
        let outbox = Rc::new(RefCell::new(Outbox::default()));
        let statistics = ConnectionStatistics::new(self.clock.now().wall_ms);
        self.peers.insert(connection, Peer { address, statistics, outbox: Rc::clone(&outbox) });
        self.step(Event::Connected { connection, peer: address.ip() });
        Some((connection, outbox))
    }

    /// Takes one frame in. [`Driver::settle`] must follow after the last of those that arrived together.
    pub(super) fn received(&mut self, connection: ConnectionId, frame: &[u8]) {
        let statistics = &mut self.statistics;
        statistics.packets_received = statistics.packets_received.saturating_add(1);
        statistics.bytes_received = statistics.bytes_received.saturating_add(frame.len() as u64 + 4);
        let has_session = self.machine.connection(connection).is_some_and(|c| c.session().is_some());
        if let Some(peer) = self.peers.get_mut(&connection) {
            peer.statistics.packets_received = peer.statistics.packets_received.saturating_add(1);
            if has_session && let Ok(header) = RequestHeader::decode(&mut Reader::new(frame)) {
                peer.statistics.last_op = header.op;
                peer.statistics.last_xid = header.xid;
            }
        }
        self.step(Event::Frame { connection, bytes: frame });
    }

    /// Forgets a connection whose task ends.
    pub(super) fn disconnected(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.peers.remove(&connection) {
            self.statistics.connections_dropped = self.statistics.connections_dropped.saturating_add(1);
            self.outstanding = self.outstanding.saturating_sub(peer.outstanding());
            self.buffered_bytes = self.buffered_bytes.saturating_sub(peer.outbox.borrow().bytes());
            self.waiting.remove(&connection);
            if let Some(count) = self.per_address.get_mut(&peer.address.ip()) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.per_address.remove(&peer.address.ip());
                }
            }
        }
        self.step(Event::Disconnected { connection });
        self.wake_throttled();
    }

    pub(super) fn tick(&mut self) {
        self.step(Event::Tick { listening: self.throttled.is_empty() });
        self.settle();
    }

    /// Sees to the transactions of the steps so far.
    pub(super) fn settle(&mut self) {
        if self.pending.count == 0 {
            return;
        }
        if self.keeps_log {
            self.commit.notify_one();
        } else {
            self.pending = Pending::default();
            self.durable(self.machine.state().last_zxid);
        }
    }

    /// Hands over the transactions that are to be committed together, and the last of them.
    pub(super) fn take_pending(&mut self) -> Option<(Pending, Zxid)> {
        if self.pending.count == 0 {
            return None;
        }
        Some((std::mem::take(&mut self.pending), self.machine.state().last_zxid))
    }

    /// Takes back the room of transactions that are committed.
    pub(super) fn recycle(&mut self, mut pending: Pending) {
        const ROOM_BYTES_MAX: usize = 256 << 10;
        if self.pending.count == 0 && pending.records.as_bytes().len() <= ROOM_BYTES_MAX {
            pending.records.clear();
            self.pending = Pending { records: pending.records, count: 0 };
        }
    }

    /// Releases what waited for transactions up to `zxid`.
    pub(super) fn durable(&mut self, zxid: Zxid) {
        self.step(Event::Durable { zxid });
        for connection in std::mem::take(&mut self.waiting) {
            self.release(connection);
        }
        self.wake_throttled();
    }

    /// Tells whether more requests may be read; if not, `wake` is told when they may.
    pub(super) fn may_read(&mut self, wake: &Rc<Notify>) -> bool {
        if self.outstanding < self.config.max_outstanding_requests {
            return true;
        }
        self.statistics.request_throttle_wait_count =
            self.statistics.request_throttle_wait_count.saturating_add(1);
        self.throttled.push(Rc::clone(wake));
        false
    }

    fn wake_throttled(&mut self) {
        if self.outstanding < self.config.max_outstanding_requests {
            for wake in self.throttled.drain(..) {
                wake.notify_one();
            }
        }
    }

    /// Returns when the next tick is due, and takes it for granted that the caller sees to it.
    pub(super) fn arm(&mut self) -> Option<Millis> {
        self.armed_ms = self.machine.next_deadline();
        self.armed_ms
    }

    fn step(&mut self, event: Event<'_>) {
        let now = self.clock.now();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine.step(now, event, &mut effects);
        for effect in effects.drain(..) {
            self.perform(effect, now);
        }
        self.effects = effects;
        let deadline_ms = self.machine.next_deadline();
        if deadline_ms.is_some_and(|deadline| self.armed_ms.is_none_or(|armed| deadline < armed)) {
            self.armed_ms = deadline_ms;
            self.rearm.notify_one();
        }
    }

    fn perform(&mut self, effect: Effect, now: Now) {
        match effect {
            Effect::Append(transaction) => self.append(&transaction),
            Effect::Reply { to, frame, after } => {
                self.outstanding = self.outstanding.saturating_add(1);
                self.send(to, frame, after, Kind::Reply { received_ms: now.monotonic_ms });
            }
            Effect::Notify { to, frame, after } => self.send(to, frame, after, Kind::Event),
            Effect::Close { connection, when } => {
                if let Some(peer) = self.peers.get(&connection) {
                    let mut outbox = peer.outbox.borrow_mut();
                    outbox.close(when);
                    outbox.wake.notify_one();
                }
            }
        }
    }

    fn append(&mut self, transaction: &Transaction) {
        self.pending.count = self.pending.count.saturating_add(1);
        if self.keeps_log {
            transaction.encode(&mut self.pending.records);
        }
    }

    fn send(&mut self, to: ConnectionId, frame: bytes::Bytes, after: Zxid, kind: Kind) {
        match self.peers.get(&to) {
            Some(peer) => {
                let mut outbox = peer.outbox.borrow_mut();
                self.buffered_bytes = self.buffered_bytes.saturating_add(frame.len());
                outbox.push(frame, after, kind);
                let too_much = outbox.bytes() > self.config.max_unsent_bytes
                    || self.buffered_bytes > self.config.max_buffered_bytes;
                if too_much && outbox.closing().is_none() {
                    outbox.close(When::Now);
                    self.statistics.slow_connections_closed =
                        self.statistics.slow_connections_closed.saturating_add(1);
                }
            }
            None => {
                if matches!(kind, Kind::Reply { .. }) {
                    self.outstanding = self.outstanding.saturating_sub(1);
                }
                return;
            }
        }
        self.release(to);
    }

    fn release(&mut self, connection: ConnectionId) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let now_ms = self.clock.now().monotonic_ms;
        let (statistics, own) = (&mut self.statistics, &mut peer.statistics);
        let outstanding = &mut self.outstanding;
        let mut outbox = peer.outbox.borrow_mut();
        outbox.release(self.machine.durable(), |kind, frame| {
            statistics.packets_sent = statistics.packets_sent.saturating_add(1);
            statistics.bytes_sent = statistics.bytes_sent.saturating_add(frame.len() as u64);
            own.packets_sent = own.packets_sent.saturating_add(1);
            if let Kind::Reply { received_ms } = kind {
                *outstanding = outstanding.saturating_sub(1);
                statistics.latency.record(now_ms.saturating_sub(received_ms));
                own.latency.record(now_ms.saturating_sub(received_ms));
                own.last_response_ms = now_ms;
                let mut reader = Reader::new(frame.get(8..16).unwrap_or_default());
                own.last_zxid = reader.i64("zxid").map_or(own.last_zxid, Zxid);
            }
        });
        if outbox.is_waiting() {
            self.waiting.insert(connection);
        }
        outbox.wake.notify_one();
    }

    /// Answers a four-letter word.
    pub(super) fn answer(&mut self, word: [u8; 4]) -> String {
        self.statistics.packets_received = self.statistics.packets_received.saturating_add(1);
        let Answer { text, reset } = admin::answer(word, &self.figures());
        match reset {
            Some(Reset::Server) => self.reset_statistics(),
            Some(Reset::Connections) => self.peers.values_mut().for_each(|peer| peer.statistics.reset()),
            None => {}
        }
        self.statistics.packets_sent = self.statistics.packets_sent.saturating_add(1);
        text
    }

    fn figures(&self) -> Figures<'_> {
        let (log_bytes, snapshot_bytes) = match &self.config.storage {
            Storage::Memory => (0, 0),
            Storage::Directory(path) => sizes(path),
        };
        let connections = self.peers.iter().map(|(id, peer)| {
            let (address, outstanding) = (peer.address, peer.outstanding());
            (*id, ConnectionFigures { address, statistics: &peer.statistics, outstanding })
        });
        Figures {
            now: self.clock.now(),
            config: &self.config,
            local_address: self.local_address,
            machine: &self.machine,
            statistics: &self.statistics,
            connections: connections.collect(),
            outstanding: self.outstanding,
            sessionless_max_ms: SESSIONLESS_MAX_MS,
            log_bytes,
            snapshot_bytes,
        }
    }

    fn reset_statistics(&mut self) {
        self.statistics.packets_received = 0;
        self.statistics.packets_sent = 0;
        self.statistics.latency = Latency::default();
    }
}
