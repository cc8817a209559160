//! What no input may do: panic, or make a decoder hold more than its bytes can justify.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

mod allocation;
#[path = "../declared/mod.rs"]
mod declared;
mod entry;
mod messages;
mod records;

use allocation::peak_of;
use bytes::Bytes;
use declared::generate::{Generated, Length, generate, generate_wide};
use declared::random::Random;
use declared::schema::{self, Declared};
use messages::{Codec, codecs};
use ottla_protocol::message::decode_request_header;
use ottla_protocol::wire::Reader;

/// The most a decoder may hold: a fixed part, and so many bytes for each byte of input. In memory an empty string is
/// 24 bytes and a structure a few hundred, which a byte or two on the wire can stand for; a growing vector holds up to
/// three times what is in it.
const FIXED_BYTES: usize = 64 * 1024;
const BYTES_PER_BYTE: usize = 400;

fn decode(codec: &Codec, version: i16, bytes: &[u8]) -> Result<Bytes, String> {
    let shared = Bytes::copy_from_slice(bytes);
    let (outcome, peak) = peak_of(|| (codec.decode)(shared, version));
    let most = FIXED_BYTES + BYTES_PER_BYTE * bytes.len();
    assert!(peak <= most, "{} v{version}: {} bytes made it hold {peak}", codec.name, bytes.len());
    outcome
}

fn for_every_version(work: impl Fn(&Declared, &Codec, i16)) {
    let codecs = codecs();
    for declared in schema::all() {
        let codec = codecs.iter().find(|codec| codec.name == declared.name).unwrap();
        for version in declared.versions.clone() {
            work(&declared, codec, version);
        }
    }
}

#[test]
fn random_bytes() {
    for_every_version(|declared, codec, version| {
        let mut random = Random::new(u64::try_from(version).unwrap());
        for round in 0..60 {
            let count = random.below(200);
            let mut bytes = random.bytes(count);
            if round % 2 == 0 {
                // Small numbers get further into a message than large ones.
                bytes.iter_mut().for_each(|byte| *byte %= 4);
            }
            let Ok(again) = decode(codec, version, &bytes) else { continue };
            let once_more = decode(codec, version, &again).unwrap();
            assert_eq!(once_more, again, "{} v{version} {bytes:02x?}", declared.name);
        }
    });
}

#[test]
fn valid_messages_that_are_cut() {
    for_every_version(|declared, codec, version| {
        let bytes = generate(declared, version, &mut Random::new(5)).bytes;
        for end in 0..bytes.len().min(600) {
            let outcome = decode(codec, version, &bytes[..end]);
            assert!(outcome.is_err(), "{} v{version} cut at {end}: {bytes:02x?}", declared.name);
        }
    });
}

#[test]
fn valid_messages_with_lengths_that_lie() {
    for_every_version(|declared, codec, version| {
        for seed in 0..2 {
            let message = generate(declared, version, &mut Random::new(seed));
            for length in message.lengths.iter().take(100) {
                for lie in lies(*length) {
                    let bytes = with_lie(&message, *length, lie);
                    let outcome = decode(codec, version, &bytes);
                    assert!(outcome.is_err(), "{} v{version} {length:?} {lie:02x?}", declared.name);
                }
            }
        }
    });
}

/// Lengths that no message of this size can have.
fn lies(length: Length) -> Vec<&'static [u8]> {
    match (length.compact, length.size) {
        (true, _) => vec![
            &[0xff, 0xff, 0xff, 0xff, 0x0f],
            &[0xff, 0xff, 0xff, 0xff, 0x07],
            &[0xff, 0xff, 0x7f],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ],
        (false, 2) => vec![&[0x7f, 0xff], &[0x80, 0x00], &[0xff, 0xfe]],
        (false, _) => {
            vec![
                &[0x7f, 0xff, 0xff, 0xff],
                &[0x80, 0, 0, 0],
                &[0xff, 0xff, 0xff, 0xfe],
                &[0x00, 0xff, 0xff, 0xff],
            ]
        }
    }
}

fn with_lie(message: &Generated, length: Length, lie: &[u8]) -> Vec<u8> {
    let mut bytes = message.bytes[..length.position].to_vec();
    bytes.extend_from_slice(lie);
    bytes.extend_from_slice(&message.bytes[length.position + length.size..]);
    bytes
}

#[test]
fn valid_messages_with_damage() {
    for_every_version(|declared, codec, version| {
        let mut random = Random::new(77);
        for seed in 0..3 {
            let bytes = generate(declared, version, &mut Random::new(seed)).bytes;
            for _ in 0..25 {
                let mut damaged = bytes.clone();
                for _ in 0..=random.below(3) {
                    let position = random.below(damaged.len());
                    if let Some(byte) = damaged.get_mut(position) {
                        *byte ^= random.bytes(1)[0];
                    }
                }
                let Ok(again) = decode(codec, version, &damaged) else { continue };
                assert_eq!(decode(codec, version, &again), Ok(again), "{} v{version}", declared.name);
            }
        }
    });
}

#[test]
fn lists_of_the_smallest_elements() {
    for_every_version(|declared, codec, version| {
        for list in 0.. {
            let Some(bytes) = generate_wide(declared, version, list, 5_000) else { break };
            assert!(decode(codec, version, &bytes).is_ok(), "{} v{version} list {list}", declared.name);
        }
    });
}

#[test]
fn headers_of_random_bytes() {
    let mut random = Random::new(3);
    for _ in 0..20_000 {
        let count = random.below(40);
        let mut bytes = random.bytes(count);
        if let Some(first) = bytes.get_mut(..1) {
            first[0] = 0;
        }
        if bytes.len() > 4 {
            bytes[1] %= 80;
            bytes[2] = 0;
            bytes[3] %= 20;
        }
        let (_, peak) = peak_of(|| decode_request_header(&mut Reader::new("header", Bytes::from(bytes))));
        assert!(peak <= FIXED_BYTES);
    }
}

/// The corpus of the fuzz targets, with whatever they found once.
#[test]
fn the_fuzzers_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    type Enter = fn(&[u8]);
    let targets: [(&str, Enter); 3] =
        [("requests", entry::requests), ("responses", entry::responses), ("records", entry::records)];
    for (target, enter) in targets {
        let inputs = std::fs::read_dir(folder.join(target)).unwrap();
        let count = inputs.map(|input| enter(&std::fs::read(input.unwrap().path()).unwrap())).count();
        assert!(count > 5, "{target} has a corpus");
    }
}

/// Not a test of anything: writes the corpus anew, when messages were added.
#[test]
#[ignore = "writes fuzz/corpus"]
fn write_the_fuzzers_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, kind) in [("requests", "Request"), ("responses", "Response")] {
        let codecs = codecs();
        let names = codecs.iter().map(|codec| codec.name).filter(|name| name.ends_with(kind));
        for (index, name) in names.enumerate() {
            let declared = schema::named(name);
            let version = *declared.versions.end();
            let mut input = vec![u8::try_from(index).unwrap(), u8::try_from(version).unwrap()];
            input.extend(generate(&declared, version, &mut Random::new(12)).bytes);
            std::fs::write(folder.join(target).join(name), input).unwrap();
        }
    }
    let vectors = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    for name in [
        "v2-none",
        "v2-gzip",
        "v2-snappy",
        "v2-lz4",
        "v2-zstd",
        "v2-transaction",
        "v0-lz4",
        "v1",
        "v1-gzip",
        "v1-snappy",
    ] {
        let mut input = vec![u8::from(!name.starts_with("v2"))];
        input.extend(std::fs::read(vectors.join(format!("{name}.log"))).unwrap());
        std::fs::write(folder.join("records").join(name), input).unwrap();
    }
}
