//! What is written can be read, and what nobody wrote does no harm.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use ottla_zookeeper::jute::{
    Acl, ConnectRequest, EventKind, Password, Permissions, Reader, Request, Stat, WatchedEvent, Writer,
};
use ottla_zookeeper::machine::{Effect, Event, Machine, Rules};
use ottla_zookeeper::state::{Body, State, Transaction, decode_node, encode_node};
use ottla_zookeeper::tree::{Change, Node, Owner};
use ottla_zookeeper::types::{ConnectionId, Now, SessionId, Zxid};
use proptest::prelude::*;

fn acl() -> impl Strategy<Value = Arc<[Acl]>> {
    let entry = (any::<i32>(), ".{0,8}", ".{0,8}")
        .prop_map(|(permissions, scheme, id)| Acl::new(Permissions(permissions), &scheme, &id));
    prop::collection::vec(entry, 0..4).prop_map(Into::into)
}

fn data() -> impl Strategy<Value = Option<Arc<[u8]>>> {
    prop::option::of(prop::collection::vec(any::<u8>(), 0..64).prop_map(Into::into))
}

fn owner() -> impl Strategy<Value = Owner> {
    prop_oneof![
        Just(Owner::Nobody),
        Just(Owner::Container),
        any::<i64>().prop_map(|session| Owner::Session(SessionId(session))),
        any::<i64>().prop_map(Owner::TimeToLive),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let path = || ".{0,20}".prop_map(Arc::<str>::from);
    prop_oneof![
        (path(), data(), acl(), owner()).prop_map(|(path, data, acl, owner)| Change::Create {
            path,
            data,
            acl,
            owner
        }),
        path().prop_map(|path| Change::Delete { path }),
        (path(), data(), any::<i32>()).prop_map(|(path, data, version)| Change::SetData {
            path,
            data,
            version
        }),
        (path(), acl(), any::<i32>()).prop_map(|(path, acl, aversion)| Change::SetAcl {
            path,
            acl,
            aversion
        }),
    ]
}

fn transaction() -> impl Strategy<Value = Transaction> {
    let body = prop_oneof![
        (any::<i64>(), any::<[u8; 16]>(), any::<i64>()).prop_map(|(session, password, timeout_ms)| {
            Body::OpenSession { session: SessionId(session), password: Password(password), timeout_ms }
        }),
        any::<i64>().prop_map(|session| Body::CloseSession { session: SessionId(session) }),
        prop::collection::vec(change(), 0..5).prop_map(Body::Changes),
    ];
    (any::<i64>(), any::<i64>(), body).prop_map(|(zxid, time_ms, body)| Transaction {
        zxid: Zxid(zxid),
        time_ms,
        body,
    })
}

fn machine() -> Machine {
    let rules = Rules {
        tick_time_ms: 100,
        min_session_timeout_ms: 200,
        max_session_timeout_ms: 2_000,
        container_check_interval_ms: 1_000,
        super_digest: None,
    };
    Machine::new(rules, State::default(), [0; 32], Now::default())
}

fn handshake() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.raw(&[0; 12]);
    writer.i32(1_000);
    writer.i64(0);
    writer.buffer(Some(&[0; 16]));
    writer.into_bytes()
}

/// Frames that are a little more likely to be understood than noise.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let operation = prop_oneof![-12..30_i32, 99..109_i32, any::<i32>()];
    let noise = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(b'/'), any::<u8>()], 0..80);
    (any::<i32>(), operation, noise).prop_map(|(xid, operation, noise)| {
        let mut writer = Writer::new();
        writer.i32(xid);
        writer.i32(operation);
        writer.raw(&noise);
        writer.into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn transactions_round_trip(transaction in transaction()) {
        let mut writer = Writer::new();
        transaction.encode(&mut writer);
        let mut reader = Reader::new(writer.as_bytes());
        prop_assert_eq!(Transaction::decode(&mut reader).unwrap(), transaction);
        prop_assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn a_transaction_that_is_cut_short_is_not_one(transaction in transaction(), cut in any::<prop::sample::Index>()) {
        let mut writer = Writer::new();
        transaction.encode(&mut writer);
        let bytes = &writer.as_bytes()[..cut.index(writer.as_bytes().len())];
        prop_assert!(Transaction::decode(&mut Reader::new(bytes)).is_err());
    }

    #[test]
    fn nodes_round_trip(data in data(), acl in acl(), owner in owner(), numbers in any::<[i64; 5]>(), counts in any::<[i32; 3]>()) {
        let mut node = Node::new(data, acl, owner, Zxid(numbers[0]), numbers[1]);
        node.mzxid = Zxid(numbers[2]);
        node.pzxid = Zxid(numbers[3]);
        node.mtime_ms = numbers[4];
        [node.version, node.aversion, node.children_created] = counts;
        node.touched = Zxid::ZERO;
        let mut writer = Writer::new();
        encode_node("/path", &node, &mut writer);
        let (path, read) = decode_node(&mut Reader::new(writer.as_bytes())).unwrap();
        prop_assert_eq!((&*path, read), ("/path", node));
    }

    #[test]
    fn stats_round_trip(numbers in any::<[i64; 6]>(), counts in any::<[i32; 5]>()) {
        let stat = Stat {
            czxid: Zxid(numbers[0]),
            mzxid: Zxid(numbers[1]),
            ctime_ms: numbers[2],
            mtime_ms: numbers[3],
            version: counts[0],
            cversion: counts[1],
            aversion: counts[2],
            ephemeral_owner: (numbers[4] != 0).then_some(SessionId(numbers[4])),
            data_length: counts[3],
            num_children: counts[4],
            pzxid: Zxid(numbers[5]),
        };
        let mut writer = Writer::new();
        stat.encode(&mut writer);
        prop_assert_eq!(writer.as_bytes().len(), 68);
        prop_assert_eq!(Stat::decode(&mut Reader::new(writer.as_bytes())).unwrap(), stat);
    }

    #[test]
    fn noise_is_refused_or_understood_but_never_fatal(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for operation in -12..110 {
            let _understood = Request::decode(operation, &mut Reader::new(&bytes));
        }
        let _understood = ConnectRequest::decode(&mut Reader::new(&bytes));
        let _understood = Transaction::decode(&mut Reader::new(&bytes));
        let _understood = decode_node(&mut Reader::new(&bytes));
    }

    #[test]
    fn every_request_gets_one_reply_or_the_end_of_its_connection(frames in prop::collection::vec(frame(), 1..20)) {
        let mut machine = machine();
        let connection = ConnectionId(1);
        let mut out = Vec::new();
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        machine.step(Now::default(), Event::Connected { connection, peer }, &mut out);
        machine.step(Now::default(), Event::Frame { connection, bytes: &handshake() }, &mut out);
        for frame in &frames {
            out.clear();
            let alive = machine.connection(connection).is_some();
            machine.step(Now::default(), Event::Frame { connection, bytes: frame }, &mut out);
            let replies = out.iter().filter(|effect| matches!(effect, Effect::Reply { .. })).count();
            let closes = out.iter().filter(|effect| matches!(effect, Effect::Close { .. })).count();
            prop_assert!(replies == 1 || closes == 1 || !alive, "{replies} replies, {closes} closes");
            prop_assert!(alive || out.is_empty(), "a connection that was closed is not answered");
        }
    }
}

#[test]
fn events_have_the_bytes_that_clients_expect() {
    let frame = WatchedEvent { kind: EventKind::NodeDeleted, path: "/a", zxid: Zxid(7) }.into_frame();
    let expected = [
        &[0, 0, 0, 30][..],
        &[0xff, 0xff, 0xff, 0xff],
        &[0, 0, 0, 0, 0, 0, 0, 7],
        &[0, 0, 0, 0],
        &[0, 0, 0, 2],
        &[0, 0, 0, 3],
        &[0, 0, 0, 2, b'/', b'a'],
    ]
    .concat();
    assert_eq!(frame, expected);
}
