//! The records of internal topics: the exact bytes that are written, every version that is read, and the consumers'
//! blobs beside another implementation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

use bytes::{Bytes, BytesMut};
use kafka_protocol_015::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription};
use kafka_protocol_015::protocol::{Decodable as _, Encodable as _};
use ottla_protocol::internal_topic::{
    Assignment, ConsumerOffsetsKey, GroupKey, GroupMember, GroupValue, OffsetKey, OffsetValue, Subscription,
    TopicPartitions, TransactionKey, TransactionStatus, TransactionValue,
};
use ottla_protocol::wire::Writer;

/// Puts together what a record of some version should be: plain forms and flexible ones.
#[derive(Default)]
struct Expected {
    writer: Writer,
    flexible: bool,
}

impl Expected {
    fn new(version: i16, flexible_from: i16) -> Self {
        let mut this = Self { flexible: version >= flexible_from, ..Self::default() };
        this.writer.raw(&version.to_be_bytes());
        this
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.writer.raw(bytes);
        self
    }

    fn text(self, text: Option<&str>) -> Self {
        match (self.flexible, text) {
            (true, None) => self.raw(&[0]),
            (true, Some(text)) => self.count(text.len()).raw(text.as_bytes()),
            (false, None) => self.raw(&[0xff, 0xff]),
            (false, Some(text)) => {
                let length = u16::try_from(text.len()).unwrap().to_be_bytes();
                self.raw(&length).raw(text.as_bytes())
            }
        }
    }

    /// The length of bytes or of an array.
    fn count(mut self, count: usize) -> Self {
        let count = u32::try_from(count).unwrap();
        if self.flexible {
            self.writer.unsigned_varint(count + 1);
            self
        } else {
            self.raw(&count.to_be_bytes())
        }
    }

    /// The end of a structure; an unknown tagged field is to be passed over.
    fn end(self, tagged: bool) -> Self {
        match (self.flexible, tagged) {
            (false, _) => self,
            (true, false) => self.raw(&[0]),
            (true, true) => self.raw(&[1, 9, 2, 0xab, 0xcd]),
        }
    }

    fn bytes(self) -> Bytes {
        self.writer.into_bytes()
    }
}

fn topic(name: &str, partitions: &[i32]) -> TopicPartitions {
    TopicPartitions { topic: name.to_owned(), partitions: partitions.to_vec() }
}

#[test]
fn keys_of_consumer_offsets() {
    let key = OffsetKey { group: "g".to_owned(), topic: "orders".to_owned(), partition: 7 };
    for version in [0, 1] {
        let bytes =
            Expected::new(version, 9).text(Some("g")).text(Some("orders")).raw(&7_i32.to_be_bytes()).bytes();
        assert_eq!(ConsumerOffsetsKey::decode(&bytes), Ok(ConsumerOffsetsKey::Offset(key.clone())));
        if version == 1 {
            assert_eq!(key.encode(), Ok(bytes));
        }
    }
    let bytes = Expected::new(2, 9).text(Some("g")).bytes();
    let key = GroupKey { group: "g".to_owned() };
    assert_eq!(key.encode().as_ref(), Ok(&bytes));
    assert_eq!(ConsumerOffsetsKey::decode(&bytes), Ok(ConsumerOffsetsKey::Group(key)));
    let later = Expected::new(3, 9).raw(b"whatever").bytes();
    assert_eq!(ConsumerOffsetsKey::decode(&later), Ok(ConsumerOffsetsKey::Unknown(3)));
    assert!(ConsumerOffsetsKey::decode(&Bytes::from_static(b"\0")).is_err());
}

fn offset_value(version: i16, value: &OffsetValue) -> Bytes {
    let mut expected = Expected::new(version, 4).raw(&value.offset.to_be_bytes());
    if version >= 3 {
        expected = expected.raw(&value.leader_epoch.to_be_bytes());
    }
    expected = expected.text(Some(&value.metadata)).raw(&value.commit_timestamp.to_be_bytes());
    if version == 1 {
        expected = expected.raw(&value.expire_timestamp.to_be_bytes());
    }
    expected.end(true).bytes()
}

#[test]
fn committed_offsets_of_every_version() {
    for version in 0..=4 {
        let value = OffsetValue {
            offset: 42,
            leader_epoch: if version >= 3 { 5 } else { -1 },
            metadata: "note".to_owned(),
            commit_timestamp: 1_700_000_000_000,
            expire_timestamp: if version == 1 { 1_700_000_900_000 } else { -1 },
        };
        let bytes = offset_value(version, &value);
        assert_eq!(OffsetValue::decode(&bytes).as_ref(), Ok(&value), "version {version}");
        if version == 1 || version == 3 {
            assert_eq!(value.encode(), Ok(bytes), "what Kafka 3.9 writes");
        }
    }
    assert!(OffsetValue::decode(&Expected::new(5, 9).raw(&[0; 40]).bytes()).is_err());
}

fn group_value(version: i16, value: &GroupValue) -> Bytes {
    let mut expected = Expected::new(version, 4)
        .text(Some(&value.protocol_type))
        .raw(&value.generation.to_be_bytes())
        .text(value.protocol.as_deref())
        .text(value.leader.as_deref());
    if version >= 2 {
        expected = expected.raw(&value.state_timestamp.to_be_bytes());
    }
    expected = expected.count(value.members.len());
    for (index, member) in value.members.iter().enumerate() {
        expected = expected.text(Some(&member.member_id));
        if version >= 3 {
            expected = expected.text(member.group_instance_id.as_deref());
        }
        expected = expected.text(Some(&member.client_id)).text(Some(&member.client_host));
        if version >= 1 {
            expected = expected.raw(&member.rebalance_timeout_ms.to_be_bytes());
        }
        expected = expected
            .raw(&member.session_timeout_ms.to_be_bytes())
            .count(member.subscription.len())
            .raw(&member.subscription)
            .count(member.assignment.len())
            .raw(&member.assignment)
            .end(index == 0);
    }
    expected.end(false).bytes()
}

fn member(version: i16, number: i32) -> GroupMember {
    GroupMember {
        member_id: format!("member-{number}"),
        group_instance_id: (version >= 3 && number == 0).then(|| "static".to_owned()),
        client_id: "client".to_owned(),
        client_host: "/127.0.0.1".to_owned(),
        rebalance_timeout_ms: if version >= 1 { 300_000 } else { 45_000 },
        session_timeout_ms: 45_000,
        subscription: Bytes::from_static(b"wants"),
        assignment: Bytes::from_static(if number == 0 { b"" } else { b"has" }),
    }
}

#[test]
fn groups_of_every_version() {
    for version in 0..=4 {
        for members in 0..3 {
            let value = GroupValue {
                protocol_type: "consumer".to_owned(),
                generation: 3,
                protocol: (members > 0).then(|| "range".to_owned()),
                leader: (members > 0).then(|| "member-0".to_owned()),
                state_timestamp: if version >= 2 { 1_700_000_000_000 } else { -1 },
                members: (0..members).map(|number| member(version, number)).collect(),
            };
            let bytes = group_value(version, &value);
            assert_eq!(GroupValue::decode(&bytes).as_ref(), Ok(&value), "version {version}");
            if version == 3 {
                assert_eq!(value.encode(), Ok(bytes), "what Kafka 3.9 writes");
            }
        }
    }
}

fn transaction_value(version: i16, value: &TransactionValue, status: i8) -> Bytes {
    let mut expected = Expected::new(version, 1)
        .raw(&value.producer_id.to_be_bytes())
        .raw(&value.producer_epoch.to_be_bytes())
        .raw(&value.timeout_ms.to_be_bytes())
        .raw(&status.to_be_bytes());
    expected = match &value.partitions {
        None if version == 0 => expected.raw(&(-1_i32).to_be_bytes()),
        None => expected.raw(&[0]),
        Some(topics) => {
            expected = expected.count(topics.len());
            for topic in topics {
                expected = expected.text(Some(&topic.topic)).count(topic.partitions.len());
                for partition in &topic.partitions {
                    expected = expected.raw(&partition.to_be_bytes());
                }
                expected = expected.end(true);
            }
            expected
        }
    };
    expected
        .raw(&value.last_update_timestamp.to_be_bytes())
        .raw(&value.start_timestamp.to_be_bytes())
        .end(true)
        .bytes()
}

#[test]
fn transactions_of_every_version_and_status() {
    let key = TransactionKey { transactional_id: "payments-1".to_owned() };
    let bytes = Expected::new(0, 9).text(Some("payments-1")).bytes();
    assert_eq!(key.encode().as_ref(), Ok(&bytes));
    assert_eq!(TransactionKey::decode(&bytes), Ok(Some(key)));
    assert_eq!(TransactionKey::decode(&Expected::new(1, 9).raw(b"?").bytes()), Ok(None));

    use TransactionStatus::{
        CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    };
    let statuses = [Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead];
    for version in [0, 1] {
        for (status, code) in statuses.into_iter().zip(0_i8..) {
            for partitions in [None, Some(vec![]), Some(vec![topic("a", &[0, 5]), topic("b", &[])])] {
                let value = TransactionValue {
                    producer_id: 4_000,
                    producer_epoch: 7,
                    timeout_ms: 60_000,
                    status,
                    partitions,
                    last_update_timestamp: 1_700_000_000_001,
                    start_timestamp: 1_700_000_000_000,
                };
                let bytes = transaction_value(version, &value, code);
                assert_eq!(TransactionValue::decode(&bytes).as_ref(), Ok(&value), "version {version}");
                if version == 0 {
                    assert_eq!(value.encode(), Ok(bytes), "what Kafka 3.9 writes");
                }
            }
        }
    }
    let mut unknown = TransactionValue::decode(&transaction_value(0, &empty_transaction(), 6));
    assert!(unknown.is_ok());
    unknown = TransactionValue::decode(&transaction_value(0, &empty_transaction(), 7));
    assert!(unknown.is_err(), "a status that is never stored");
}

fn empty_transaction() -> TransactionValue {
    TransactionValue {
        producer_id: 1,
        producer_epoch: 0,
        timeout_ms: 1,
        status: TransactionStatus::Empty,
        partitions: None,
        last_update_timestamp: -1,
        start_timestamp: -1,
    }
}

/// Consumers put the version in front of what the other implementation encodes.
fn with_version(version: i16, body: &BytesMut) -> Bytes {
    Bytes::from([&version.to_be_bytes()[..], body].concat())
}

#[test]
fn subscriptions_beside_another_implementation() {
    let mine = Subscription {
        topics: vec!["orders".to_owned(), "päckchen".to_owned()],
        user_data: Some(Bytes::from_static(b"data")),
        owned_partitions: vec![topic("orders", &[0, 3])],
        generation_id: 12,
        rack_id: Some("rack".to_owned()),
    };
    let written = mine.encode().unwrap();
    let theirs = ConsumerProtocolSubscription::decode(&mut written.slice(2..), 3).unwrap();
    for version in 0..=3 {
        let mut body = BytesMut::new();
        let mut asked = theirs.clone();
        // They refuse what a version does not have.
        if version < 1 {
            asked.owned_partitions.clear();
        }
        if version < 2 {
            asked.generation_id = -1;
        }
        if version < 3 {
            asked.rack_id = None;
        }
        asked.encode(&mut body, version).unwrap();
        let read = Subscription::decode(&with_version(version, &body)).unwrap();
        let expected = Subscription {
            owned_partitions: if version >= 1 { mine.owned_partitions.clone() } else { Vec::new() },
            generation_id: if version >= 2 { 12 } else { -1 },
            rack_id: mine.rack_id.clone().filter(|_| version >= 3),
            ..mine.clone()
        };
        assert_eq!(read, expected, "version {version}");
        if version == 3 {
            assert_eq!(with_version(3, &body), written);
            body.extend_from_slice(b"fields of the future");
            assert_eq!(Subscription::decode(&with_version(9, &body)), Ok(mine.clone()));
        }
    }
}

#[test]
fn assignments_beside_another_implementation() {
    let mine = Assignment { partitions: vec![topic("a", &[1, 2]), topic("b", &[])], user_data: None };
    let written = mine.encode().unwrap();
    let theirs = ConsumerProtocolAssignment::decode(&mut written.slice(2..), 0).unwrap();
    for version in 0..=3 {
        let mut body = BytesMut::new();
        theirs.encode(&mut body, version).unwrap();
        assert_eq!(Assignment::decode(&with_version(version, &body)).as_ref(), Ok(&mine));
    }
    assert_eq!(Assignment::decode(&Bytes::new()), Ok(Assignment::default()), "nothing was assigned");
}
