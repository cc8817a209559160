//! Conversations with the machine. Each transcript shows what arrives and what is to be done, in order; the rule that
//! it is about stands in the name of the test.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use super::{Effect, Event, Machine, Rules, When};
use crate::jute::{Acl, Permissions, Reader, Writer, op, xid};
use crate::state::{Body, State};
use crate::types::{ConnectionId, Now, SessionId, Zxid};

const START_WALL_MS: i64 = 1_000_000;
/// The first session of a machine that starts then.
const FIRST_SESSION: i64 = 1 << 56 | START_WALL_MS << 16;

/// A machine and the transcript of what was said.
struct Conversation {
    machine: Machine,
    now: Now,
    transcript: String,
}

fn rules() -> Rules {
    Rules {
        tick_time_ms: 100,
        min_session_timeout_ms: 200,
        max_session_timeout_ms: 2_000,
        container_check_interval_ms: 1_000,
        super_digest: None,
    }
}

impl Conversation {
    fn new() -> Self {
        Self::with_state(State::default())
    }

    fn with_state(state: State) -> Self {
        let now = Now { monotonic_ms: 0, wall_ms: START_WALL_MS };
        let machine = Machine::new(rules(), state, [7; 32], now);
        Conversation { machine, now, transcript: String::new() }
    }

    fn step(&mut self, what: &str, event: Event<'_>) {
        writeln!(self.transcript, "{what}").unwrap();
        let mut effects = Vec::new();
        self.machine.step(self.now, event, &mut effects);
        for effect in effects {
            writeln!(self.transcript, "    {}", describe(&effect)).unwrap();
        }
    }

    fn wait(&mut self, ms: i64) {
        self.now.monotonic_ms += ms;
        self.now.wall_ms += ms;
        writeln!(self.transcript, "{ms} ms pass").unwrap();
    }

    fn tick(&mut self) {
        self.step("tick", Event::Tick { listening: true });
    }

    fn durable(&mut self, zxid: i64) {
        self.step(&format!("durable up to 0x{zxid:x}"), Event::Durable { zxid: Zxid(zxid) });
    }

    fn connect(&mut self, id: u64) {
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.step(&format!("c{id} connects"), Event::Connected { connection: ConnectionId(id), peer });
    }

    fn frame(&mut self, id: u64, what: &str, bytes: &[u8]) {
        self.step(&format!("c{id} {what}"), Event::Frame { connection: ConnectionId(id), bytes });
    }

    fn hello(&mut self, id: u64, timeout_ms: i32) {
        self.connect(id);
        self.frame(id, "asks for a session", &hello(0, timeout_ms, 0, &[0; 16]));
        let last = self.machine.state().last_zxid;
        self.durable(last.0);
    }

    fn request(&mut self, id: u64, number: i32, operation: i32, what: &str, body: &[u8]) {
        let mut writer = Writer::new();
        writer.i32(number);
        writer.i32(operation);
        writer.raw(body);
        self.frame(id, what, writer.as_bytes());
    }

    fn create(&mut self, id: u64, number: i32, path: &str, flags: i32) {
        self.request(
            id,
            number,
            op::CREATE,
            &format!("creates {path} with flags {flags}"),
            &create(path, flags),
        );
    }

    fn set(&mut self, id: u64, number: i32, path: &str) {
        let mut writer = Writer::new();
        writer.string(path);
        writer.buffer(Some(b"x"));
        writer.i32(-1);
        self.request(id, number, op::SET_DATA, &format!("writes {path}"), writer.as_bytes());
    }

    fn get(&mut self, id: u64, number: i32, path: &str, watch: bool) {
        let what = format!("reads {path}{}", if watch { " and watches" } else { "" });
        self.request(id, number, op::GET_DATA, &what, &path_and_flag(path, watch));
    }

    fn exists(&mut self, id: u64, number: i32, path: &str, watch: bool) {
        let what = format!("asks for {path}{}", if watch { " and watches" } else { "" });
        self.request(id, number, op::EXISTS, &what, &path_and_flag(path, watch));
    }

    fn password(&self, session: i64) -> [u8; 16] {
        self.machine.state().sessions.get(SessionId(session)).unwrap().password.0
    }
}

fn hello(last_zxid_seen: i64, timeout_ms: i32, session: i64, password: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.i32(0);
    writer.i64(last_zxid_seen);
    writer.i32(timeout_ms);
    writer.i64(session);
    writer.buffer(Some(password));
    writer.bool(false);
    writer.into_bytes()
}

fn create(path: &str, flags: i32) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.string(path);
    writer.buffer(Some(b""));
    Acl::encode_list(&[Acl::new(Permissions::ALL, "world", "anyone")], &mut writer);
    writer.i32(flags);
    writer.into_bytes()
}

fn path_and_flag(path: &str, flag: bool) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.string(path);
    writer.bool(flag);
    writer.into_bytes()
}

fn describe(effect: &Effect) -> String {
    match effect {
        Effect::Append(transaction) => match &transaction.body {
            Body::OpenSession { session, timeout_ms, .. } => {
                format!("log {}: session +{} opens for {timeout_ms} ms", transaction.zxid, relative(*session))
            }
            Body::CloseSession { session } => {
                format!("log {}: session +{} closes", transaction.zxid, relative(*session))
            }
            Body::Changes(changes) => {
                let paths: Vec<_> =
                    changes.iter().map(|change| format!("{} {}", name(change), change.path())).collect();
                format!("log {}: {paths:?}", transaction.zxid)
            }
        },
        Effect::Reply { to, frame, after } => format!("c{} <- {} (after {after})", to.0, reply(frame)),
        Effect::Notify { to, frame, after } => format!("c{} <- {} (after {after})", to.0, event(frame)),
        Effect::Close { connection, when: When::Now } => format!("close c{} now", connection.0),
        Effect::Close { connection, when: When::AfterReplies } => {
            format!("close c{} after its replies", connection.0)
        }
    }
}

fn name(change: &crate::tree::Change) -> &'static str {
    match change {
        crate::tree::Change::Create { .. } => "create",
        crate::tree::Change::Delete { .. } => "delete",
        crate::tree::Change::SetData { .. } => "set",
        crate::tree::Change::SetAcl { .. } => "set acl of",
    }
}

fn relative(session: SessionId) -> i64 {
    session.0 - FIRST_SESSION
}

fn reply(frame: &[u8]) -> String {
    let mut reader = Reader::new(&frame[4..]);
    let first = reader.i32("xid").unwrap();
    if first == 0 {
        let timeout_ms = reader.i32("timeOut").unwrap();
        let session = SessionId(reader.i64("sessionId").unwrap());
        return if session.0 == 0 {
            "no such session".to_owned()
        } else {
            format!("session +{} with {timeout_ms} ms", relative(session))
        };
    }
    let (zxid, error) = (Zxid(reader.i64("zxid").unwrap()), reader.i32("err").unwrap());
    format!("reply to {first}: zxid {zxid}, error {error}, {} bytes", reader.remaining())
}

fn event(frame: &[u8]) -> String {
    let mut reader = Reader::new(&frame[4..]);
    assert_eq!(reader.i32("xid").unwrap(), xid::NOTIFICATION);
    let zxid = reader.i64("zxid").unwrap();
    reader.i32("err").unwrap();
    let kind = match reader.i32("type").unwrap() {
        1 => "created",
        2 => "deleted",
        3 => "changed",
        4 => "children of",
        other => panic!("event {other}"),
    };
    assert_eq!(reader.i32("state").unwrap(), 3);
    format!("{kind} {}, zxid {zxid}", reader.string("path").unwrap())
}

#[test]
fn reads_of_quiet_nodes_pass_while_a_write_is_on_its_way() {
    let mut talk = Conversation::new();
    talk.hello(1, 1_000);
    talk.hello(2, 1_000);
    talk.create(1, 1, "/busy", 0);
    talk.create(1, 2, "/quiet", 0);
    talk.durable(4);
    talk.set(1, 3, "/busy");
    talk.get(2, 1, "/quiet", false);
    talk.get(2, 2, "/busy", false);
    talk.get(2, 3, "/quiet", false);
    talk.get(1, 4, "/quiet", false);
    talk.durable(5);
    talk.get(2, 4, "/quiet", false);
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn an_event_comes_before_the_reply_that_shows_its_change() {
    let mut talk = Conversation::new();
    talk.hello(1, 1_000);
    talk.hello(2, 1_000);
    talk.exists(2, 1, "/w", true);
    talk.create(1, 1, "/w", 0);
    talk.get(2, 2, "/w", true);
    talk.set(2, 3, "/w");
    talk.set(1, 2, "/w");
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn a_session_moves_to_the_connection_that_knows_its_password() {
    let mut talk = Conversation::new();
    talk.hello(1, 1_000);
    talk.create(1, 1, "/mine", 1);
    let password = talk.password(FIRST_SESSION);
    talk.connect(2);
    talk.frame(2, "continues the session", &hello(2, 500, FIRST_SESSION, &password));
    talk.create(1, 2, "/late", 0);
    talk.step("c1 is gone", Event::Disconnected { connection: ConnectionId(1) });
    talk.exists(2, 1, "/mine", false);
    talk.connect(3);
    talk.frame(3, "continues it with a wrong password", &hello(0, 500, FIRST_SESSION, &[0; 16]));
    talk.connect(4);
    talk.frame(4, "continues it", &hello(0, 500, FIRST_SESSION, &password));
    talk.request(4, 1, op::CLOSE_SESSION, "closes the session", &[]);
    talk.connect(5);
    talk.frame(5, "continues it too late", &hello(0, 500, FIRST_SESSION, &password));
    talk.connect(6);
    talk.frame(6, "has seen the future", &hello(99, 500, 0, &[0; 16]));
    talk.connect(7);
    talk.frame(7, "says half a sentence", &[0, 0]);
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn a_silent_session_ends_with_all_its_nodes_at_the_tick() {
    let mut talk = Conversation::new();
    talk.hello(1, 300);
    talk.hello(2, 1_000);
    talk.create(1, 1, "/b", 1);
    talk.create(1, 2, "/a", 1);
    talk.exists(2, 1, "/a", true);
    talk.wait(200);
    talk.request(2, xid::PING, op::PING, "pings", &[]);
    assert_eq!(talk.machine.next_deadline(), Some(400));
    talk.wait(199);
    talk.tick();
    talk.wait(1);
    talk.tick();
    assert_eq!(talk.machine.next_deadline(), Some(1_300));
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn a_server_that_was_stopped_itself_gives_sessions_their_time_again() {
    let mut talk = Conversation::new();
    talk.hello(1, 300);
    talk.wait(60_000);
    talk.tick();
    assert_eq!(talk.machine.next_deadline(), Some(60_400));
    talk.wait(400);
    talk.tick();
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn silence_says_nothing_while_the_server_does_not_listen() {
    let mut talk = Conversation::new();
    talk.hello(1, 300);
    talk.wait(400);
    talk.step("tick while not listening", Event::Tick { listening: false });
    assert_eq!(talk.machine.next_deadline(), Some(800));
    assert!(talk.transcript.ends_with("tick while not listening\n"), "{}", talk.transcript);
}

#[test]
fn empty_containers_and_expired_nodes_are_removed_at_the_check() {
    let mut talk = Conversation::new();
    talk.hello(1, 2_000);
    talk.request(1, 1, op::CREATE_CONTAINER, "creates the container /c", &create("/c", 4));
    talk.create(1, 2, "/c/x", 0);
    let mut ttl = create("/t", 5);
    ttl.extend_from_slice(&500_i64.to_be_bytes());
    talk.request(1, 3, op::CREATE_TTL, "creates /t for 500 ms", &ttl);
    let mut delete = Writer::new();
    delete.string("/c/x");
    delete.i32(-1);
    talk.request(1, 4, op::DELETE, "deletes /c/x", delete.as_bytes());
    assert_eq!(talk.machine.next_deadline(), Some(1_000));
    talk.wait(1_000);
    talk.tick();
    assert_eq!(talk.machine.next_deadline(), Some(2_100), "only the session is left to wait for");
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn failed_writes_take_a_zxid_and_bad_bodies_of_reads_do_not() {
    let mut talk = Conversation::new();
    talk.hello(1, 1_000);
    talk.create(1, 1, "/no/parent", 0);
    talk.request(1, 2, op::CREATE, "sends half a create", &[0]);
    talk.request(1, 3, op::GET_DATA, "sends half a read", &[0]);
    talk.request(1, 4, op::CHECK, "checks outside of a multi", &[]);
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn sessions_of_an_earlier_run_have_their_full_timeout() {
    let mut before = Conversation::new();
    before.hello(1, 300);
    before.create(1, 1, "/mine", 1);
    let state = before.machine.state().clone();
    let mut talk = Conversation::with_state(state);
    assert_eq!(talk.machine.next_deadline(), Some(400));
    assert_eq!(talk.machine.durable(), Zxid(2));
    talk.wait(400);
    talk.tick();
    insta::assert_snapshot!(talk.transcript);
}

#[test]
fn missed_changes_are_told_when_watches_come_back() {
    let mut talk = Conversation::new();
    talk.hello(1, 1_000);
    for (number, path) in (1..).zip(["/changed", "/same", "/parent", "/parent/new"]) {
        talk.create(1, number, path, 0);
    }
    talk.set(1, 5, "/changed");
    let mut writer = Writer::new();
    writer.i64(2);
    for paths in [&["/changed", "/gone"][..], &["/same", "/absent"], &["/parent"], &["/p"], &["/r"]] {
        writer.count(paths.len());
        for path in paths {
            writer.string(path);
        }
    }
    talk.transcript.clear();
    talk.request(1, -8, op::SET_WATCHES2, "brings its watches back, having seen 0x2", writer.as_bytes());
    assert_eq!(talk.machine.watches().count(), 3, "those that told something are spent");
    insta::assert_snapshot!(talk.transcript);
}
