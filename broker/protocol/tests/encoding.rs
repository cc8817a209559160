//! What encoder and decoder promise beside bytes that are right: nothing is lost silently, nothing is copied, and
//! errors say where.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::fetch::{FetchableTopicResponse, PartitionData};
use ottla_protocol::message::produce::{PartitionProduceData, TopicProduceData};
use ottla_protocol::message::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, FetchRequest, FetchResponse, HeartbeatRequest,
    HeartbeatResponse, Message, MetadataRequest, ProduceRequest, decode_request_header, decode_response,
    encode_request, encode_response,
};
use ottla_protocol::wire::{DecodeErrorKind, EncodeError, Part, Reader, Records, Region, Writer};

fn whole(parts: &[Part]) -> Bytes {
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Part::Bytes(piece) => bytes.extend_from_slice(piece),
            Part::Region(region) => bytes.resize(bytes.len() + region.size(), 0xee),
        }
    }
    Bytes::from(bytes)
}

fn produce(records: Bytes) -> ProduceRequest {
    let partition = PartitionProduceData { index: 3, records: Some(records), ..Default::default() };
    let topic =
        TopicProduceData { name: "orders".to_owned(), partition_data: vec![partition], ..Default::default() };
    ProduceRequest { acks: -1, timeout_ms: 1_500, topic_data: vec![topic], ..Default::default() }
}

#[test]
fn produced_records_are_slices_of_what_was_received() {
    let records = Bytes::from(vec![7; 10_000]);
    for version in ProduceRequest::VERSIONS {
        let parts = encode_request(&produce(records.clone()), version, 9, Some("client")).unwrap();
        let shared =
            parts.iter().any(|part| matches!(part, Part::Bytes(bytes) if bytes.as_ptr() == records.as_ptr()));
        assert!(shared, "records are passed on, not copied");
        let frame = whole(&parts);
        let mut reader = Reader::new("ProduceRequest", frame.clone());
        let header = decode_request_header(&mut reader).unwrap();
        assert_eq!((header.api_key, header.api_version, header.correlation_id), (0, version, 9));
        assert_eq!(header.client_id.as_deref(), Some("client"));
        let request = ProduceRequest::decode(&mut reader, version).unwrap();
        reader.finish().unwrap();
        let found = request.topic_data[0].partition_data[0].records.clone().unwrap();
        assert_eq!(found, records);
        assert!(frame.as_ptr_range().contains(&found.as_ptr()), "version {version}");
    }
}

#[derive(Debug)]
struct Stretch(usize);

impl Region for Stretch {
    fn size(&self) -> usize {
        self.0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn fetched_records_stay_where_they_lie() {
    for version in FetchResponse::VERSIONS {
        let regions: Vec<Arc<dyn Region>> =
            vec![Arc::new(Stretch(70_000)), Arc::new(Stretch(0)), Arc::new(Stretch(5))];
        let partition = PartitionData { records: Records::Regions(regions), ..Default::default() };
        let topic = FetchableTopicResponse { partitions: vec![partition], ..Default::default() };
        let response = FetchResponse { responses: vec![topic], ..Default::default() };
        let parts = encode_response(&response, ApiKey::Fetch, version, 1).unwrap();
        let sent: Vec<usize> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Region(region) => Some(region.as_any().downcast_ref::<Stretch>().unwrap().0),
                Part::Bytes(_) => None,
            })
            .collect();
        assert_eq!(sent, [70_000, 5], "an empty region is nothing to send");
        let (_, read) = decode_response::<FetchRequest>(whole(&parts), version).unwrap();
        let Records::Bytes(bytes) = &read.responses[0].partitions[0].records else { panic!("{read:?}") };
        assert_eq!(bytes.len(), 70_005, "the length in front counts them all");
        assert!(bytes.iter().all(|byte| *byte == 0xee));
    }
}

#[test]
fn a_request_never_loses_what_a_version_cannot_carry() {
    let encode = |request: &FetchRequest, version| request.encode(&mut Writer::new(), version);
    let request = FetchRequest { replica_id: 7, ..Default::default() };
    assert!(encode(&request, 14).is_ok());
    assert_eq!(encode(&request, 15), Err(EncodeError::Unavailable { field: "replica_id", version: 15 }));
    let ignorable = FetchRequest { rack_id: "rack".to_owned(), ..Default::default() };
    assert!(encode(&ignorable, 10).is_ok(), "the definition says that this may be dropped");
    assert!(matches!(encode(&request, 18), Err(EncodeError::Version { .. })));
    let every = MetadataRequest { topics: None, ..Default::default() };
    assert_eq!(
        every.encode(&mut Writer::new(), 0),
        Err(EncodeError::Null { field: "topics", version: 0 }),
        "version 0 asks for all topics with an empty list"
    );
    assert!(every.encode(&mut Writer::new(), 1).is_ok());
}

#[test]
fn errors_say_where() {
    let mut writer = Writer::new();
    produce(Bytes::from_static(b"records")).encode(&mut writer, 3).unwrap();
    let bytes = writer.into_bytes();
    let cut = bytes.slice(..bytes.len() - 3);
    let error = ProduceRequest::decode(&mut Reader::new("ProduceRequest", cut), 3).unwrap_err();
    assert_eq!(error.path, "ProduceRequest.topic_data[0].partition_data[0].records");
    assert_eq!(error.kind, DecodeErrorKind::Length(7));
    assert_eq!(error.offset, bytes.len() - 7, "behind the length");
}

#[test]
fn an_old_broker_answers_api_versions_in_version_0() {
    // KIP-511: whatever was asked in, the answer to an unknown version has the oldest form.
    let refusal = ApiVersionsResponse { error_code: 35, ..Default::default() };
    let frame = whole(&encode_response(&refusal, ApiKey::ApiVersions, 0, 4).unwrap());
    let (header, read) = decode_response::<ApiVersionsRequest>(frame, 4).unwrap();
    assert_eq!((header.correlation_id, read.error_code), (4, 35));
    let answer = ApiVersionsResponse { throttle_time_ms: 3, ..Default::default() };
    let frame = whole(&encode_response(&answer, ApiKey::ApiVersions, 4, 4).unwrap());
    assert_eq!(decode_response::<ApiVersionsRequest>(frame, 4).unwrap().1, answer);
}

#[test]
fn bytes_behind_a_response_are_an_error() {
    let frame = whole(&encode_response(&HeartbeatResponse::default(), ApiKey::Heartbeat, 0, 4).unwrap());
    assert!(decode_response::<HeartbeatRequest>(frame.clone(), 0).is_ok());
    let longer = Bytes::from([&frame[..], b"!"].concat());
    let error = decode_response::<HeartbeatRequest>(longer, 0).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::Surplus(1));
}
