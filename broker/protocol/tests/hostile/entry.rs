//! Where fuzzers enter: any bytes, and what must hold whatever they are. The targets are in `fuzz/`.
#![allow(dead_code, reason = "each fuzz target uses its part")]

use bytes::Bytes;
use ottla_protocol::internal_topic::{
    Assignment, ConsumerOffsetsKey, GroupValue, OffsetValue, Subscription, TransactionKey, TransactionValue,
};
use ottla_protocol::message::decode_request_header;
use ottla_protocol::record::{
    BATCH_HEADER_BYTES, BatchHeader, Compression, RecordRules, check_batch, check_records, convert_to_batch,
    decompress, iterate, messages,
};
use ottla_protocol::wire::Reader;

use super::messages::codecs;

const LIMIT_BYTES: usize = 1 << 20;

/// The first two bytes choose a request and its version, the rest is its body.
pub(crate) fn requests(data: &[u8]) {
    decode_request_header(&mut Reader::new("header", Bytes::copy_from_slice(data))).ok();
    message("Request", data);
}

/// The first two bytes choose a response and its version, the rest is its body.
pub(crate) fn responses(data: &[u8]) {
    message("Response", data);
}

/// What can be read can be written, and read again as the same.
fn message(kind: &str, data: &[u8]) {
    let Some(([which, version], body)) = data.split_first_chunk() else { return };
    let mut codecs = codecs();
    codecs.retain(|codec| codec.name.ends_with(kind));
    let Some(codec) = codecs.get(usize::from(*which) % codecs.len()) else { return };
    if let Ok(written) = (codec.decode)(Bytes::copy_from_slice(body), i16::from(*version)) {
        assert_eq!((codec.decode)(written.clone(), i16::from(*version)), Ok(written));
    }
}

/// The first byte chooses what the rest is taken for: a batch, a message set, compressed data, or an internal record.
pub(crate) fn records(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else { return };
    let shared = Bytes::copy_from_slice(rest);
    match which {
        0 => batch(&shared),
        1 => {
            if let Ok(found) = messages(&shared, LIMIT_BYTES) {
                let batch = convert_to_batch(&shared, LIMIT_BYTES)
                    .expect("messages that can be read can be converted");
                assert_eq!(iterate(&batch, 8 * LIMIT_BYTES).expect("a batch").count(), found.len());
            }
        }
        2 => {
            for codec in (1..5).filter_map(Compression::from_code) {
                decompress(codec, rest, LIMIT_BYTES).ok();
            }
        }
        _ => internal(&shared),
    }
}

fn batch(shared: &Bytes) {
    check_batch(shared).ok();
    let rules = RecordRules { needs_key: false, timestamps: None, decompressed_bytes_max: LIMIT_BYTES };
    let Ok(header) = BatchHeader::parse(shared) else { return };
    let Some(section) = shared.get(BATCH_HEADER_BYTES..header.size()) else { return };
    let checked = check_records(&header, section, rules).is_ok();
    let Ok(records) = iterate(shared, LIMIT_BYTES) else {
        assert!(!checked, "what passed the checks can be iterated");
        return;
    };
    let (mut count, mut wrong) = (0, 0);
    for record in records {
        count += 1;
        wrong += usize::from(record.is_err());
    }
    if checked {
        assert_eq!((Ok(count), wrong), (usize::try_from(header.record_count), 0));
    }
}

fn internal(shared: &Bytes) {
    ConsumerOffsetsKey::decode(shared).ok();
    OffsetValue::decode(shared).ok();
    GroupValue::decode(shared).ok();
    TransactionKey::decode(shared).ok();
    TransactionValue::decode(shared).ok();
    Subscription::decode(shared).ok();
    Assignment::decode(shared).ok();
}
