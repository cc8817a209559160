//! Random operations of several sessions against this server and a real Apache ZooKeeper side by side: replies, zxids,
//! stats and watch events must be the same at every step.
//!
//! A failure prints its seed; `OTTLA_ZOOKEEPER_SEED=… cargo test -p ottla-zookeeper --test oracle` repeats it, and
//! `OTTLA_ZOOKEEPER_TRACE=1` shows every step.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed step is a failed test"
)]

mod operations;
mod real;
mod seed;
mod shape;
mod wire;

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use operations::{Operation, Style};
use ottla_zookeeper::Server;
use ottla_zookeeper::jute::op;
use real::Real;
use seed::Random;
use shape::Sessions;
use wire::Wire;

const STEPS_MAX: usize = 4_000;
const TIME_MAX: Duration = Duration::from_secs(12);
const SUPER_DIGEST: &str = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const STYLES: [Style; 3] = [Style::OneShot, Style::Persistent, Style::Recursive];

/// One of the two servers, with its connections.
struct Side {
    address: SocketAddr,
    connections: Vec<Wire>,
    sessions: Sessions,
    awaited: Option<i32>,
}

impl Side {
    fn new(address: SocketAddr) -> Side {
        let mut side = Side { address, connections: Vec::new(), sessions: Sessions::new(), awaited: None };
        for _ in STYLES {
            let connection = side.open();
            side.connections.push(connection);
        }
        side
    }

    fn open(&mut self) -> Wire {
        let connection = Wire::connect(self.address, 30_000).unwrap();
        self.sessions.push(connection.session);
        connection
    }

    /// Begins an operation, so that the other server can work on it at the same time.
    fn begin(&mut self, who: usize, operation: &Operation) {
        let connection = &mut self.connections[who];
        self.awaited = match operation {
            Operation::Request { op, xid: Some(xid), body } => {
                connection.send_with_xid(*xid, *op, body).unwrap();
                Some(*xid)
            }
            Operation::Request { op, xid: None, body } => Some(connection.send(*op, body).unwrap()),
            Operation::CloseAndOpen => Some(connection.send(op::CLOSE_SESSION, &[]).unwrap()),
            Operation::Move => None,
        };
    }

    /// Ends the operation and returns everything that can be seen of it, on all connections.
    fn end(&mut self, who: usize, operation: &Operation) -> Vec<String> {
        let mut seen = Vec::new();
        if let Some(xid) = self.awaited.take() {
            let reply = self.connections[who].reply_to(xid).unwrap();
            let text = match operation {
                Operation::Request { op, .. } if reply.error == 0 => {
                    shape::reply(*op, &reply.body, &self.sessions)
                }
                _ => String::new(),
            };
            seen.push(format!("zxid {} error {} {text}", reply.zxid, reply.error));
        }
        match operation {
            Operation::Request { .. } => {}
            Operation::Move => {
                let old = &self.connections[who];
                let moved = Wire::attach(self.address, 30_000, old.session, &old.password).unwrap();
                self.connections[who] = moved.expect("the session lives");
            }
            Operation::CloseAndOpen => {
                let mut events = self.events_of(who);
                events.sort();
                seen.extend(events);
                self.connections[who] = self.open();
            }
        }
        self.see_events(matches!(operation, Operation::CloseAndOpen), &mut seen);
        seen
    }

    /// Collects the events on all connections. The reply to a ping comes after all events of what was done before. The
    /// nodes of a closed session go in no particular order.
    fn see_events(&mut self, in_any_order: bool, seen: &mut Vec<String>) {
        for connection in &mut self.connections {
            connection.send(op::PING, &[]).unwrap();
        }
        for index in 0..self.connections.len() {
            let pong = self.connections[index].reply_to(-2).unwrap();
            seen.push(format!("pong {index} zxid {}", pong.zxid));
            let mut events = self.events_of(index);
            if in_any_order {
                events.sort();
            }
            seen.extend(events);
        }
    }

    fn events_of(&mut self, index: usize) -> Vec<String> {
        let events = std::mem::take(&mut self.connections[index].events);
        events.iter().map(|event| shape::event(&event.body)).collect()
    }

    /// Everything in the tree, read by a connection that may read everything.
    fn dump(&mut self) -> Vec<String> {
        let mut reader = self.open();
        let credentials = operations::auth_body("digest", "super:test");
        reader.send_with_xid(-4, op::AUTH, &credentials).unwrap();
        assert_eq!(reader.reply_to(-4).unwrap().error, 0);
        let mut dump = Vec::new();
        let mut paths = vec!["/".to_owned()];
        while let Some(path) = paths.pop() {
            for (operation, body) in [
                (op::GET_DATA, wire::path_and_flag(&path, false)),
                (op::GET_ACL, wire::path_and_flag(&path, false)),
                (op::GET_CHILDREN2, wire::path_and_flag(&path, false)),
            ] {
                let reply = reader.call(operation, &body).unwrap();
                dump.push(format!(
                    "{path} {} {}",
                    reply.error,
                    shape::reply(operation, &reply.body, &self.sessions)
                ));
                if operation == op::GET_CHILDREN2 {
                    paths.extend(operations::children(&path, &reply.body));
                }
            }
        }
        dump
    }
}

#[test]
fn random_operations_have_the_same_effects_on_both() {
    let Some(real) = Real::start(SUPER_DIGEST) else { return };
    let server = Server::builder().in_memory().ephemeral_port().super_digest(SUPER_DIGEST).start().unwrap();
    let seed =
        std::env::var("OTTLA_ZOOKEEPER_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
        });
    let mut random = Random::new(seed);
    let (mut ours, mut theirs) = (Side::new(server.local_addr()), Side::new(real.address));
    let trace = std::env::var_os("OTTLA_ZOOKEEPER_TRACE").is_some();
    let started = Instant::now();
    let mut steps = 0;
    while steps < STEPS_MAX && started.elapsed() < TIME_MAX {
        let who = random.below(STYLES.len());
        let operation = operations::random(&mut random, STYLES[who]);
        theirs.begin(who, &operation);
        ours.begin(who, &operation);
        let (found, expected) = (ours.end(who, &operation), theirs.end(who, &operation));
        if trace {
            eprintln!("{steps} session {who}: {} -> {expected:?}", operation.describe());
        }
        if found != expected {
            eprintln!(
                "ours:\n{}\ntheirs:\n{}",
                wire::word(ours.address, "wchp"),
                wire::word(theirs.address, "wchp")
            );
        }
        assert_eq!(found, expected, "seed {seed}, step {steps}, session {who}: {}", operation.describe());
        steps += 1;
    }
    for (found, expected) in ours.dump().iter().zip(theirs.dump()) {
        assert_eq!(*found, expected, "seed {seed}, in the tree after {steps} steps");
    }
    eprintln!("{steps} steps from seed {seed} are the same");
    assert!(steps > 50, "only {steps} steps in {TIME_MAX:?}");
}
