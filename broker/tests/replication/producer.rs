//! A producer and a consumer that know only the wire.

use bytes::{Buf, Bytes};
use ottla_broker::client::Connection;
use ottla_protocol::message::fetch::{FetchPartition, FetchTopic};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{ErrorCode, FetchRequest, ProduceRequest};
use ottla_protocol::wire::Records;

use crate::controller::{TOPIC, TOPIC_ID};

/// Sends one record with a number in it. Returns its offset, or why it was not taken.
pub(crate) async fn produce(client: &mut Connection, acks: i16, number: u32) -> Result<i64, ErrorCode> {
    let request = ProduceRequest {
        acks,
        // Short, so that a leader that was cut off does not keep its producer for long.
        timeout_ms: 300,
        topic_data: vec![TopicProduceData {
            name: TOPIC.to_owned(),
            partition_data: vec![PartitionProduceData {
                index: 0,
                records: Some(batch(number)),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = client.call(&request, 11).await.map_err(|_unknown| ErrorCode::NetworkException)?;
    let outcome = &response.responses[0].partition_responses[0];
    match ErrorCode::from_code(outcome.error_code) {
        ErrorCode::None => Ok(outcome.base_offset),
        error => Err(error),
    }
}

/// Reads everything that is committed, as offset and number.
pub(crate) async fn consume(client: &mut Connection) -> Vec<(i64, u32)> {
    let mut all = Vec::new();
    loop {
        let from = all.last().map_or(0, |(offset, _)| offset + 1);
        let request = FetchRequest {
            max_wait_ms: 0,
            min_bytes: 1,
            max_bytes: 1 << 20,
            topics: vec![FetchTopic {
                topic_id: TOPIC_ID,
                partitions: vec![FetchPartition {
                    fetch_offset: from,
                    partition_max_bytes: 1 << 20,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let response = client.call(&request, 16).await.unwrap();
        let data = &response.responses[0].partitions[0];
        assert_eq!(data.error_code, ErrorCode::None.code());
        let Records::Bytes(records) = &data.records else { return all };
        let before = all.len();
        all.extend(numbers(records).into_iter().filter(|(offset, _)| *offset >= from));
        if all.len() == before {
            return all;
        }
    }
}

/// Offset and number of each batch.
pub(crate) fn numbers(mut records: &[u8]) -> Vec<(i64, u32)> {
    let mut found = Vec::new();
    while records.len() > 12 {
        let (mut header, offset) = (records, (&records[..8]).get_i64());
        header.advance(8);
        let size = 12 + header.get_i32() as usize;
        if records.len() < size {
            break;
        }
        // The value is the last but the count of headers.
        let value = &records[size - 5..size - 1];
        found.push((offset, u32::from_be_bytes(value.try_into().unwrap())));
        records = &records[size..];
    }
    found
}

/// A batch of one record whose value is a number of four bytes.
fn batch(number: u32) -> Bytes {
    let mut tail = Vec::new();
    tail.extend(0i16.to_be_bytes());
    tail.extend(0i32.to_be_bytes());
    tail.extend(1_700_000_000_000i64.to_be_bytes());
    tail.extend(1_700_000_000_000i64.to_be_bytes());
    tail.extend((-1i64).to_be_bytes());
    tail.extend((-1i16).to_be_bytes());
    tail.extend((-1i32).to_be_bytes());
    tail.extend(1i32.to_be_bytes());
    // Length, attributes, timestamp delta, offset delta, no key, a value of four bytes, no headers; zig-zag.
    tail.extend([20, 0, 0, 0, 1, 8]);
    tail.extend(number.to_be_bytes());
    tail.push(0);
    let mut batch = Vec::new();
    batch.extend(0i64.to_be_bytes());
    batch.extend((tail.len() as i32 + 9).to_be_bytes());
    batch.extend((-1i32).to_be_bytes());
    batch.push(2);
    batch.extend(crc_fast::crc32_iscsi(&tail).to_be_bytes());
    batch.extend(tail);
    batch.into()
}
