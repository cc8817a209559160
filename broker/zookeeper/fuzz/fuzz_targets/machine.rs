//! A connection that sends what it likes: frames of one byte of length each, after a proper handshake.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use libfuzzer_sys::fuzz_target;
use ottla_zookeeper::jute::Writer;
use ottla_zookeeper::machine::{Event, Machine, Rules};
use ottla_zookeeper::state::State;
use ottla_zookeeper::types::{ConnectionId, Now};

fuzz_target!(|bytes: &[u8]| {
    let rules = Rules {
        tick_time_ms: 100,
        min_session_timeout_ms: 200,
        max_session_timeout_ms: 2_000,
        container_check_interval_ms: 1_000,
        super_digest: None,
    };
    let mut machine = Machine::new(rules, State::default(), [0; 32], Now::default());
    let connection = ConnectionId(1);
    let mut out = Vec::new();
    machine.step(Now::default(), Event::Connected { connection, peer: IpAddr::V4(Ipv4Addr::LOCALHOST) }, &mut out);
    let mut hello = Writer::new();
    hello.raw(&[0; 12]);
    hello.i32(1_000);
    hello.i64(0);
    hello.buffer(Some(&[0; 16]));
    machine.step(Now::default(), Event::Frame { connection, bytes: hello.as_bytes() }, &mut out);
    let mut rest = bytes;
    while let Some((length, tail)) = rest.split_first() {
        let (frame, tail) = tail.split_at(tail.len().min(usize::from(*length)));
        out.clear();
        machine.step(Now::default(), Event::Frame { connection, bytes: frame }, &mut out);
        rest = tail;
    }
});
