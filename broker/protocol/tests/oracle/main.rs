//! Every message and version beside other implementations.
//!
//! Random valid bytes are made from the declarations by a small encoder of the tests' own (`declared/`). Ours and the
//! `kafka-protocol` crates 0.15.1 (Kafka 3.9) and 0.18 (Kafka 4.1) must read them as the same names and values, and
//! each must write the same bytes again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

#[path = "../declared/mod.rs"]
mod declared;
mod messages;
mod tree;

use std::fmt::Debug;

use bytes::{Buf, Bytes, BytesMut};
use declared::generate::generate;
use declared::random::Random;
use declared::schema::{self, Declared};
use messages::Comparison;
use ottla_protocol::message::{ApiKey, Message};
use ottla_protocol::wire::{Reader, Writer};
use tree::Tree;

/// Messages per version. Every message has tens of versions and fields, so that thousands come together.
const ROUNDS: u64 = 20;

/// What another implementation makes of bytes: its tree of values, and the bytes it writes again.
type Other = fn(&mut Bytes, i16) -> Result<(String, Bytes), String>;

fn ours<M: Message + Debug + Clone + PartialEq>(bytes: &Bytes, version: i16) -> (String, Bytes) {
    let mut reader = Reader::new(M::NAME, bytes.clone());
    let message = M::decode(&mut reader, version).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reader.left(), 0, "{}", M::NAME);
    let mut writer = Writer::new();
    message.encode(&mut writer, version).unwrap_or_else(|error| panic!("{}: {error}", M::NAME));
    let mut again = Reader::new(M::NAME, bytes.clone());
    assert_eq!(M::decode(&mut again, version), Ok(message.clone()));
    (format!("{message:?}"), writer.into_bytes())
}

macro_rules! other {
    ($function:ident, $krate:ident) => {
        fn $function<M>(bytes: &mut Bytes, version: i16) -> Result<(String, Bytes), String>
        where
            M: $krate::protocol::Decodable + $krate::protocol::Encodable + Debug,
        {
            let message = M::decode(bytes, version).map_err(|error| format!("decode: {error}"))?;
            let mut out = BytesMut::new();
            message.encode(&mut out, version).map_err(|error| format!("encode: {error}"))?;
            Ok((format!("{message:?}"), out.freeze()))
        }
    };
}

other!(other_015, kafka_protocol_015);
other!(other_018, kafka_protocol_018);

fn compare(declared: &Declared, comparison: &Comparison) {
    for version in declared.versions.clone() {
        for round in 0..ROUNDS {
            let seed = round * 1_000 + u64::try_from(version).unwrap();
            let bytes = Bytes::from(generate(declared, version, &mut Random::new(seed)).bytes);
            let case = format!("{} v{version} seed {seed} bytes {bytes:02x?}", declared.name);
            let (text, written) = (comparison.ours)(&bytes, version);
            assert_eq!(written, bytes, "{case}: ours writes other bytes for {text}");
            let mine = Tree::parse(&text);
            for other in &comparison.others {
                if !other.versions.contains(&version) {
                    continue;
                }
                let mut left = bytes.clone();
                let (text, written) = (other.run)(&mut left, version)
                    .unwrap_or_else(|error| panic!("{case}: {}: {error}", other.name));
                assert!(!left.has_remaining(), "{case}: {} reads less", other.name);
                assert_eq!(written, bytes, "{case}: {} writes other bytes for {text}", other.name);
                if let Some(difference) = mine.difference(&Tree::parse(&text), other.exact) {
                    panic!("{case}: {}: {difference}\nours   {mine:?}\ntheirs {text}", other.name);
                }
            }
        }
    }
}

#[test]
fn no_message_is_forgotten() {
    let declared: Vec<String> = schema::all().into_iter().map(|declared| declared.name).collect();
    let mut compared: Vec<String> =
        messages::all().into_iter().map(|comparison| comparison.message.to_owned()).collect();
    compared.sort();
    let mut sorted = declared.clone();
    sorted.sort();
    assert_eq!(compared, sorted);
    for key in ApiKey::ALL {
        assert!(declared.contains(&format!("{key}Request")), "{key}");
        assert!(declared.contains(&format!("{key}Response")), "{key}");
    }
}

#[test]
fn the_versions_are_those_of_kafka_3_9() {
    for comparison in messages::all() {
        let declared = schema::named(comparison.message);
        assert_eq!(comparison.versions, declared.versions, "{}", declared.name);
        assert_eq!(comparison.others[0].versions, declared.versions, "{}", declared.name);
    }
}

#[test]
fn headers_have_the_versions_of_the_other_implementation() {
    for (key, request, response) in messages::header_versions() {
        for version in key.versions() {
            assert_eq!(key.request_header_version(version), request(version), "{key} {version}");
            assert_eq!(key.response_header_version(version), response(version), "{key} {version}");
        }
    }
}

#[test]
fn defaults_are_those_of_the_other_implementation() {
    for comparison in messages::all() {
        let (mine, theirs) = ((comparison.default)(), (comparison.others[0].default)());
        if let Some(difference) = Tree::parse(&mine).difference(&Tree::parse(&theirs), true) {
            panic!("{}: {difference}", comparison.message);
        }
    }
}

#[test]
fn requests_are_read_and_written_as_others_do() {
    check_all(|declared| declared.key.is_some());
}

#[test]
fn responses_are_read_and_written_as_others_do() {
    check_all(|declared| declared.key.is_none());
}

fn check_all(wanted: fn(&Declared) -> bool) {
    for comparison in messages::all() {
        let declared = schema::named(comparison.message);
        if wanted(&declared) {
            compare(&declared, &comparison);
        }
    }
}
