//! Batches, message sets, compressed data and the records of internal topics.

use bytes::Bytes;
use ottla_protocol::internal_topic::{
    Assignment, ConsumerOffsetsKey, GroupValue, OffsetValue, Subscription, TransactionKey, TransactionValue,
};
use ottla_protocol::record::{
    BATCH_HEADER_BYTES, BatchBuilder, BatchHeader, Compression, NewRecord, RecordRules, TimestampType,
    check_batch, check_records, compress, convert_to_batch, crc32, decompress, entries, iterate, messages,
};

use super::allocation::peak_of;
use super::declared::random::Random;

/// To how many bytes anything may decompress here.
const LIMIT_BYTES: usize = 1 << 20;
/// What codecs hold for themselves: zstd takes the most, a window of up to 128 MiB when the data asks for one.
const CODEC_BYTES: usize = 4 << 20;

const RULES: RecordRules =
    RecordRules { needs_key: false, timestamps: None, decompressed_bytes_max: LIMIT_BYTES };

fn batch(codec: Compression) -> Vec<u8> {
    let mut builder = BatchBuilder::new().compression(codec).producer(7, 1, 5);
    for number in 0..30_u8 {
        builder.add(NewRecord {
            timestamp: 1_700_000_000_000 + i64::from(number),
            key: (number % 3 > 0).then_some(&[number]),
            value: (number % 5 > 0).then_some(b"a value that is compressible, a value that is"),
            headers: &[("header", Some(b"x")), ("empty", Some(b"")), ("null", None)],
        });
    }
    builder.build_at(1_000, 4).unwrap().to_vec()
}

/// Everything that can be done with bytes that claim to be a batch.
fn handle(bytes: &[u8]) {
    let shared = Bytes::copy_from_slice(bytes);
    let ((), peak) = peak_of(|| {
        check_batch(bytes).ok();
        if let Ok(header) = BatchHeader::parse(bytes) {
            check_records(&header, bytes.get(BATCH_HEADER_BYTES..).unwrap(), RULES).ok();
            header.last_offset();
            header.last_sequence();
        }
        if let Ok(records) = iterate(&shared, LIMIT_BYTES) {
            records.for_each(drop);
        }
    });
    let most = CODEC_BYTES + 4 * LIMIT_BYTES + 40 * bytes.len();
    assert!(peak <= most, "{} bytes made it hold {peak}", bytes.len());
}

#[test]
fn batches_with_damage() {
    let mut random = Random::new(1);
    for code in 0..5 {
        let whole = batch(Compression::from_code(code).unwrap());
        handle(&whole);
        for end in 0..whole.len() {
            handle(&whole[..end]);
        }
        for _ in 0..600 {
            let mut damaged = whole.clone();
            let position = random.below(damaged.len());
            damaged[position] ^= random.bytes(1)[0];
            handle(&damaged);
        }
    }
}

#[test]
fn a_count_of_records_that_lies_costs_nothing() {
    for claimed in [-1, 0, 1, 29, 31, 1_000_000, i32::MAX, i32::MIN] {
        let mut bytes = batch(Compression::None);
        bytes[57..61].copy_from_slice(&claimed.to_be_bytes());
        bytes[23..27].copy_from_slice(&claimed.wrapping_sub(1).to_be_bytes());
        let header = BatchHeader::parse(&bytes).unwrap();
        let (outcome, peak) = peak_of(|| check_records(&header, &bytes[BATCH_HEADER_BYTES..], RULES));
        assert!(outcome.is_err(), "{claimed}");
        assert_eq!(peak, 0, "the walk is done in place");
        handle(&bytes);
    }
}

#[test]
fn what_a_leader_does_to_plain_records_allocates_nothing() {
    let bytes = batch(Compression::None);
    let header = check_batch(&bytes).unwrap();
    let (outcome, peak) = peak_of(|| {
        check_batch(&bytes).unwrap();
        let records = &bytes[BATCH_HEADER_BYTES..];
        header.assigned(77, 5).with_timestamps(TimestampType::LogAppendTime, 9, records).encode();
        check_records(&header, records, RULES)
    });
    assert!(outcome.is_ok());
    assert_eq!(peak, 0);
}

fn entry(magic: u8, attributes: u8, offset: i64, value: &[u8]) -> Vec<u8> {
    let mut body = vec![magic, attributes];
    if magic == 1 {
        body.extend(1_700_000_000_000_i64.to_be_bytes());
    }
    body.extend((-1_i32).to_be_bytes());
    body.extend(i32::try_from(value.len()).unwrap().to_be_bytes());
    body.extend(value);
    let mut entry = offset.to_be_bytes().to_vec();
    entry.extend(i32::try_from(body.len() + 4).unwrap().to_be_bytes());
    entry.extend(crc32(&body).to_be_bytes());
    entry.extend(body);
    entry
}

fn handle_set(bytes: Vec<u8>) {
    let set = Bytes::from(bytes);
    let ((), peak) = peak_of(|| {
        entries(&set).ok();
        messages(&set, LIMIT_BYTES).ok();
        convert_to_batch(&set, LIMIT_BYTES).ok();
    });
    // A message of 26 bytes is a structure of about 100 in memory.
    let most = CODEC_BYTES + 16 * LIMIT_BYTES + 40 * set.len();
    assert!(peak <= most, "{} bytes made it hold {peak}", set.len());
}

#[test]
fn message_sets_with_damage() {
    let mut random = Random::new(2);
    for (magic, code) in [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)] {
        let plain: Vec<u8> = (0..4).flat_map(|offset| entry(magic, 0, offset, b"some value")).collect();
        let whole = match Compression::from_code(i16::from(code)).unwrap() {
            Compression::None => plain,
            codec => entry(magic, code, 3, &compress(codec, &plain).unwrap()),
        };
        assert_eq!(messages(&Bytes::from(whole.clone()), LIMIT_BYTES).unwrap().len(), 4);
        for end in 0..whole.len() {
            handle_set(whole[..end].to_vec());
        }
        for _ in 0..300 {
            let mut damaged = whole.clone();
            let position = random.below(damaged.len());
            damaged[position] ^= random.bytes(1)[0];
            // With a checksum that fits, the damage gets further.
            if position >= 16 && code == 0 {
                let length = i32::from_be_bytes(damaged[8..12].try_into().unwrap());
                let end = 12 + usize::try_from(length).unwrap();
                let fitting = crc32(&damaged[16..end]);
                damaged[12..16].copy_from_slice(&fitting.to_be_bytes());
            } else if position >= 16 {
                let fitting = crc32(&damaged[16..]);
                damaged[12..16].copy_from_slice(&fitting.to_be_bytes());
            }
            handle_set(damaged);
        }
    }
}

#[test]
fn many_small_bombs_in_one_set_share_one_limit() {
    let zeros = entry(1, 0, 0, &vec![0; LIMIT_BYTES - 1_000]);
    let packed = compress(Compression::Gzip, &zeros).unwrap();
    let set: Vec<u8> = (0..50).flat_map(|offset| entry(1, 1, offset, &packed)).collect();
    assert!(messages(&Bytes::from(set.clone()), LIMIT_BYTES).is_err());
    handle_set(set);
}

#[test]
fn compressed_data_with_damage() {
    let mut random = Random::new(4);
    let data: Vec<u8> = (0..20_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
    for code in 1..5 {
        let codec = Compression::from_code(code).unwrap();
        let packed = compress(codec, &data).unwrap();
        for round in 0..400 {
            let mut damaged = packed.clone();
            // The beginning says most about what is to come.
            let room = if round % 2 == 0 { 24.min(damaged.len()) } else { damaged.len() };
            let position = random.below(room);
            damaged[position] ^= random.bytes(1)[0];
            damaged.truncate(damaged.len() - random.below(4));
            let (outcome, peak) = peak_of(|| decompress(codec, &damaged, LIMIT_BYTES));
            assert!(peak <= CODEC_BYTES + 4 * LIMIT_BYTES, "{codec} held {peak}: {outcome:?}");
        }
    }
}

#[test]
fn internal_records_of_random_bytes() {
    let mut random = Random::new(6);
    for round in 0..30_000 {
        let count = random.below(80);
        let mut bytes = random.bytes(count);
        if round % 3 > 0 {
            bytes.iter_mut().for_each(|byte| *byte %= 3);
        }
        if let Some(version) = bytes.get_mut(..2) {
            version[0] = 0;
            version[1] %= 5;
        }
        let bytes = Bytes::from(bytes);
        let ((), peak) = peak_of(|| {
            ConsumerOffsetsKey::decode(&bytes).ok();
            OffsetValue::decode(&bytes).ok();
            GroupValue::decode(&bytes).ok();
            TransactionKey::decode(&bytes).ok();
            TransactionValue::decode(&bytes).ok();
            Subscription::decode(&bytes).ok();
            Assignment::decode(&bytes).ok();
        });
        assert!(peak <= 64 * 1024 + 400 * bytes.len());
    }
}
