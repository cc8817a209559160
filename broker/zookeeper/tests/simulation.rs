//! The machine in a world of its own: virtual time, clients that come, go, fall silent and crash, a disk that is late
//! and a power that fails. Every step is checked; a failure prints its seed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

mod seed;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use ottla_zookeeper::jute::{Reader, Writer, op};
use ottla_zookeeper::machine::{Effect, Event, Machine, Rules, When};
use ottla_zookeeper::state::{Body, State, Transaction};
use ottla_zookeeper::types::{ConnectionId, Now, SessionId, Zxid};
use seed::Random;

const TICK_MS: i64 = 100;
const TIMEOUT_MS: i64 = 1_000;
const CLIENTS: usize = 5;

/// A client as it knows itself.
#[derive(Debug, Default)]
struct Client {
    connection: Option<ConnectionId>,
    session: Option<(SessionId, [u8; 16])>,
    /// Whether the handshake on the present connection was answered.
    greeted: bool,
    xid: i32,
    /// Requests without a reply, in order.
    waiting: VecDeque<i32>,
    seen: Zxid,
    silent_since_ms: i64,
}

/// What was sent and may not have left the server.
#[derive(Debug)]
struct Held {
    to: ConnectionId,
    frame: Vec<u8>,
    after: Zxid,
}

struct World {
    random: Random,
    now: Now,
    machine: Machine,
    log: Vec<Transaction>,
    durable: Zxid,
    held: VecDeque<Held>,
    clients: Vec<Client>,
    next_connection: u64,
    crashes: usize,
    expired: usize,
}

fn rules() -> Rules {
    Rules {
        tick_time_ms: TICK_MS,
        min_session_timeout_ms: TIMEOUT_MS,
        max_session_timeout_ms: TIMEOUT_MS,
        container_check_interval_ms: 700,
        super_digest: None,
    }
}

impl World {
    fn new(seed: u64) -> World {
        let now = Now { monotonic_ms: 0, wall_ms: 1_000_000 };
        World {
            random: Random::new(seed),
            now,
            machine: Machine::new(rules(), State::default(), [1; 32], now),
            log: Vec::new(),
            durable: Zxid::ZERO,
            held: VecDeque::new(),
            clients: (0..CLIENTS).map(|_| Client::default()).collect(),
            next_connection: 0,
            crashes: 0,
            expired: 0,
        }
    }

    fn step(&mut self, event: Event<'_>) {
        let mut effects = Vec::new();
        self.machine.step(self.now, event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Append(transaction) => {
                    self.check_transaction(&transaction);
                    self.log.push(transaction);
                }
                Effect::Reply { to, frame, after } | Effect::Notify { to, frame, after } => {
                    assert!(after <= self.machine.state().last_zxid, "waits for what never comes");
                    self.held.push_back(Held { to, frame: frame.to_vec(), after });
                }
                Effect::Close { connection, when } => {
                    if when == When::Now {
                        self.held.retain(|held| held.to != connection);
                    }
                    self.hang_up(connection);
                }
            }
        }
        self.deliver();
    }

    /// A session ends only when its client closed it or was silent for its timeout.
    fn check_transaction(&mut self, transaction: &Transaction) {
        let Body::CloseSession { session } = &transaction.body else { return };
        let owner = self.clients.iter().find(|client| client.session.is_some_and(|(id, _)| id == *session));
        let silent_ms = owner.map_or(i64::MAX, |client| self.now.monotonic_ms - client.silent_since_ms);
        if silent_ms < TIMEOUT_MS {
            assert!(
                owner.is_some_and(|client| client.waiting.back() == Some(&client.xid)),
                "a session ended after {silent_ms} ms of silence"
            );
        } else {
            self.expired += 1;
        }
    }

    /// Lets out what is durable, in order on each connection.
    fn deliver(&mut self) {
        let mut blocked = Vec::new();
        let mut rest = VecDeque::new();
        for held in std::mem::take(&mut self.held) {
            if held.after > self.durable || blocked.contains(&held.to) {
                blocked.push(held.to);
                rest.push_back(held);
            } else {
                self.receive(&held);
            }
        }
        self.held = rest;
    }

    fn receive(&mut self, held: &Held) {
        let durable = self.durable;
        let Some(client) = self.clients.iter_mut().find(|client| client.connection == Some(held.to)) else {
            return;
        };
        let mut reader = Reader::new(&held.frame[4..]);
        let xid = reader.i32("xid").unwrap();
        if !client.greeted {
            client.greeted = true;
            reader.i32("timeOut").unwrap();
            let session = SessionId(reader.i64("sessionId").unwrap());
            let mut password = [0; 16];
            password.copy_from_slice(reader.buffer("passwd").unwrap().unwrap());
            client.session = (session.0 != 0).then_some((session, password));
            return;
        }
        let zxid = Zxid(reader.i64("zxid").unwrap());
        assert!(zxid <= durable, "the client saw {zxid}, and {durable} is durable");
        if xid == -1 {
            return;
        }
        assert!(zxid >= client.seen, "the client went back from {} to {zxid}", client.seen);
        client.seen = zxid;
        if xid != -2 {
            assert_eq!(client.waiting.pop_front(), Some(xid), "replies come in the order of requests");
        }
    }

    fn hang_up(&mut self, connection: ConnectionId) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.connection == Some(connection)) {
            client.connection = None;
            client.waiting.clear();
        }
    }

    fn connect(&mut self, who: usize) {
        if let Some(old) = self.clients[who].connection.take() {
            // The client gives up; whether the server hears of it soon is another matter.
            self.clients[who].waiting.clear();
            if self.random.once_in(2) {
                self.step(Event::Disconnected { connection: old });
            }
        }
        self.next_connection += 1;
        let connection = ConnectionId(self.next_connection);
        let client = &mut self.clients[who];
        client.connection = Some(connection);
        client.greeted = false;
        client.silent_since_ms = self.now.monotonic_ms;
        let (session, password) = client.session.map_or((0, [0; 16]), |(id, password)| (id.0, password));
        let mut writer = Writer::new();
        writer.i32(0);
        writer.i64(client.seen.0);
        writer.i32(i32::try_from(TIMEOUT_MS).unwrap());
        writer.i64(session);
        writer.buffer(Some(&password));
        writer.bool(false);
        self.step(Event::Connected { connection, peer: IpAddr::V4(Ipv4Addr::LOCALHOST) });
        self.step(Event::Frame { connection, bytes: writer.as_bytes() });
    }

    fn request(&mut self, who: usize, operation: i32, body: &[u8]) {
        let now_ms = self.now.monotonic_ms;
        let client = &mut self.clients[who];
        let Some(connection) = client.connection else { return };
        let xid = if operation == op::PING {
            -2
        } else {
            client.xid += 1;
            client.waiting.push_back(client.xid);
            client.xid
        };
        client.silent_since_ms = now_ms;
        let mut writer = Writer::new();
        writer.i32(xid);
        writer.i32(operation);
        writer.raw(body);
        self.step(Event::Frame { connection, bytes: writer.as_bytes() });
    }

    fn act(&mut self) {
        let who = self.random.below(CLIENTS);
        let path = format!("/{}", self.random.pick(&["a", "b", "c"]));
        if self.clients[who].connection.is_none() || self.clients[who].session.is_none() {
            return self.connect(who);
        }
        match self.random.below(16) {
            0 => self.connect(who),
            1 => {
                self.request(who, op::CLOSE_SESSION, &[]);
                self.clients[who].session = None;
                self.clients[who].connection = None;
                self.clients[who].waiting.clear();
            }
            2..=5 => {
                let flags = self.random.pick(&[0, 1, 1, 3]);
                self.request(who, op::CREATE, &wire::create_body(&path, b"x", flags));
            }
            6..=7 => {
                let mut writer = Writer::new();
                writer.string(&path);
                writer.i32(-1);
                self.request(who, op::DELETE, writer.as_bytes());
            }
            8..=12 => self.request(who, op::GET_DATA, &wire::path_and_flag(&path, true)),
            _ => self.request(who, op::PING, &[]),
        }
    }

    /// The disk catches up with part of what it was given.
    fn sync(&mut self) {
        let behind = usize::try_from(self.machine.state().last_zxid.0 - self.durable.0).unwrap();
        let by = self.random.below(behind + 1);
        self.durable = Zxid(self.durable.0 + i64::try_from(by).unwrap());
        let zxid = self.durable;
        self.step(Event::Durable { zxid });
    }

    /// Everything that was not durable is gone. What clients were told is not.
    fn crash(&mut self) {
        self.crashes += 1;
        self.log.truncate(usize::try_from(self.durable.0).unwrap());
        let mut state = State::default();
        for transaction in &self.log {
            state.replay(transaction).unwrap();
        }
        self.held.clear();
        for client in &mut self.clients {
            assert!(client.seen <= state.last_zxid, "a client saw what is lost");
            client.connection = None;
            client.waiting.clear();
            client.silent_since_ms = self.now.monotonic_ms;
        }
        self.machine = Machine::new(rules(), state, [1; 32], self.now);
    }

    fn pass_time(&mut self) {
        let until_ms = self.now.monotonic_ms + i64::try_from(self.random.below(300)).unwrap();
        while let Some(due_ms) = self.machine.next_deadline()
            && due_ms <= until_ms
        {
            self.advance(due_ms);
            self.step(Event::Tick { listening: true });
            assert!(
                self.machine.next_deadline().is_none_or(|next| next > due_ms),
                "a tick that leads nowhere"
            );
        }
        self.advance(until_ms);
    }

    fn advance(&mut self, to_ms: i64) {
        self.now.wall_ms += to_ms - self.now.monotonic_ms;
        self.now.monotonic_ms = to_ms;
    }

    /// What must hold at every moment.
    fn check(&self) {
        let state = self.machine.state();
        let mut owned: BTreeMap<SessionId, usize> = BTreeMap::new();
        for (path, node) in state.tree.iter() {
            if let Some(owner) = node.stat().ephemeral_owner {
                assert!(state.sessions.get(owner).is_some(), "{path} outlived session {owner}");
                *owned.entry(owner).or_default() += 1;
            }
        }
        let listed: BTreeMap<SessionId, usize> =
            state.tree.ephemerals().map(|(session, paths)| (session, paths.len())).collect();
        assert_eq!(owned, listed);
        let timed: usize = self.machine.expiry().iter().map(|(_, sessions)| sessions.len()).sum();
        assert_eq!(timed, state.sessions.iter().len(), "every session has one deadline");
    }
}

#[test]
fn clients_come_and_go_and_nothing_they_were_told_is_lost() {
    let (mut crashes, mut expired) = (0, 0);
    for seed in 1..=150 {
        let mut world = World::new(seed);
        for _ in 0..400 {
            match world.random.below(20) {
                0..=13 => world.act(),
                14..=16 => world.sync(),
                17..=18 => world.pass_time(),
                _ if world.random.once_in(8) => world.crash(),
                _ => {}
            }
            world.check();
        }
        // Then everybody is silent, and everything that belongs to a session goes.
        for client in &mut world.clients {
            client.connection = None;
        }
        for _ in 0..40 {
            world.pass_time();
            world.check();
        }
        assert_eq!(world.machine.state().sessions.iter().len(), 0, "seed {seed}");
        assert_eq!(world.machine.state().tree.ephemerals().len(), 0, "seed {seed}");
        (crashes, expired) = (crashes + world.crashes, expired + world.expired);
    }
    assert!(crashes > 50 && expired > 50, "the world is too kind: {crashes} crashes, {expired} expired");
}
