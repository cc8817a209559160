//! The group APIs over the wire, in every version.

use bytes::Bytes;
use ottla_broker::client::Connection;
use ottla_protocol::message::join_group::JoinGroupRequestProtocol;
use ottla_protocol::message::leave_group::MemberIdentity;
use ottla_protocol::message::offset_commit::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use ottla_protocol::message::offset_delete::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use ottla_protocol::message::offset_fetch::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use ottla_protocol::message::sync_group::SyncGroupRequestAssignment;
use ottla_protocol::message::{
    DeleteGroupsRequest, DescribeGroupsRequest, ErrorCode, FindCoordinatorRequest, HeartbeatRequest,
    JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, ListGroupsRequest, Message, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, SyncGroupRequest,
};

use crate::support::{Cluster, client, run, topics};

fn cluster() -> Cluster {
    Cluster::start(&[
        ("group.initial.rebalance.delay.ms", "0"),
        ("offsets.topic.num.partitions", "4"),
        ("offsets.topic.replication.factor", "1"),
    ])
}

/// Waits until the broker leads `orders` and all groups.
async fn lead(connection: &mut Connection) {
    topics(connection, &["orders", "__consumer_offsets"]).await;
    while connection.call_highest(&ListGroupsRequest::default()).await.unwrap().error_code != 0 {}
}

/// Joins as the only member, in one step or in two.
async fn join(connection: &mut Connection, group: &str, version: i16) -> JoinGroupResponse {
    let mut request = JoinGroupRequest {
        group_id: group.to_owned(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".to_owned(),
        protocols: vec![JoinGroupRequestProtocol {
            name: "range".to_owned(),
            metadata: Bytes::from_static(b"\0\0\0\0\0\x01\0\x06orders\xff\xff\xff\xff"),
            ..Default::default()
        }],
        ..Default::default()
    };
    let joined = connection.call(&request, version).await.unwrap();
    if version < 4 {
        return joined;
    }
    assert_eq!(ErrorCode::from_code(joined.error_code), ErrorCode::MemberIdRequired);
    request.member_id = joined.member_id;
    connection.call(&request, version).await.unwrap()
}

/// Joins, syncs and shows a sign of life; returns the member's id.
async fn live(connection: &mut Connection, group: &str, version: i16) -> String {
    let joined = join(connection, group, version).await;
    assert_eq!((joined.error_code, joined.generation_id), (0, 1), "version {version}");
    assert_eq!((&joined.leader, joined.members.len()), (&joined.member_id, 1), "version {version}");
    let sync_version = version.min(5);
    let sync = SyncGroupRequest {
        group_id: group.to_owned(),
        generation_id: 1,
        member_id: joined.member_id.clone(),
        protocol_type: Some("consumer".to_owned()).filter(|_| sync_version >= 5),
        protocol_name: Some("range".to_owned()).filter(|_| sync_version >= 5),
        assignments: vec![SyncGroupRequestAssignment {
            member_id: joined.member_id.clone(),
            assignment: Bytes::from_static(b"everything"),
            ..Default::default()
        }],
        ..Default::default()
    };
    let synced = connection.call(&sync, sync_version).await.unwrap();
    assert_eq!((synced.error_code, &synced.assignment[..]), (0, &b"everything"[..]), "version {version}");
    assert_eq!(heartbeat(connection, group, &joined.member_id, version.min(4)).await, 0);
    joined.member_id
}

async fn heartbeat(connection: &mut Connection, group: &str, member_id: &str, version: i16) -> i16 {
    let request = HeartbeatRequest {
        group_id: group.to_owned(),
        generation_id: 1,
        member_id: member_id.to_owned(),
        ..Default::default()
    };
    connection.call(&request, version).await.unwrap().error_code
}

/// Commits an offset of `orders-0` and one of a partition that is not there; returns both errors.
async fn commit(connection: &mut Connection, group: &str, member_id: &str, version: i16) -> [i16; 2] {
    let partition = |partition_index| OffsetCommitRequestPartition {
        partition_index,
        committed_offset: 100 + i64::from(version),
        committed_metadata: Some("note".to_owned()),
        ..Default::default()
    };
    let request = OffsetCommitRequest {
        group_id: group.to_owned(),
        generation_id_or_member_epoch: if member_id.is_empty() { -1 } else { 1 },
        member_id: member_id.to_owned(),
        topics: vec![OffsetCommitRequestTopic {
            name: "orders".to_owned(),
            partitions: vec![partition(0), partition(9)],
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = connection.call(&request, version).await.unwrap();
    let partitions = &response.topics[0].partitions;
    [partitions[0].error_code, partitions[1].error_code]
}

/// Fetches the offset of `orders-0`.
async fn fetch(connection: &mut Connection, group: &str, version: i16) -> (i64, Option<String>, i16) {
    let request = if version >= 8 {
        let topic = OffsetFetchRequestTopics {
            name: "orders".to_owned(),
            partition_indexes: vec![0],
            ..Default::default()
        };
        let group = OffsetFetchRequestGroup {
            group_id: group.to_owned(),
            topics: Some(vec![topic]),
            ..Default::default()
        };
        OffsetFetchRequest { groups: vec![group], ..Default::default() }
    } else {
        let topic = OffsetFetchRequestTopic {
            name: "orders".to_owned(),
            partition_indexes: vec![0],
            ..Default::default()
        };
        OffsetFetchRequest { group_id: group.to_owned(), topics: Some(vec![topic]), ..Default::default() }
    };
    let response = connection.call(&request, version).await.unwrap();
    if version >= 8 {
        let partition = response.groups[0].topics[0].partitions[0].clone();
        (partition.committed_offset, partition.metadata, partition.error_code)
    } else {
        let partition = response.topics[0].partitions[0].clone();
        (partition.committed_offset, partition.metadata, partition.error_code)
    }
}

#[test]
fn members_live_in_every_version() {
    let cluster = cluster();
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        lead(&mut connection).await;
        for version in JoinGroupRequest::VERSIONS {
            let group = format!("join-{version}");
            let member_id = live(&mut connection, &group, version).await;
            let leave_version = version.min(5);
            let leave = LeaveGroupRequest {
                group_id: group.clone(),
                member_id: if leave_version < 3 { member_id.clone() } else { String::new() },
                members: if leave_version < 3 {
                    vec![]
                } else {
                    vec![MemberIdentity { member_id: member_id.clone(), ..Default::default() }]
                },
                ..Default::default()
            };
            let left = connection.call(&leave, leave_version).await.unwrap();
            assert_eq!(
                (left.error_code, left.members.iter().all(|member| member.error_code == 0)),
                (0, true)
            );
            let unknown = ErrorCode::UnknownMemberId.code();
            assert_eq!(heartbeat(&mut connection, &group, &member_id, 4).await, unknown);
        }
    });
    broker.shutdown();
}

#[test]
fn offsets_are_kept_in_every_version() {
    let cluster = cluster();
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        lead(&mut connection).await;
        let unknown = ErrorCode::UnknownTopicOrPartition.code();
        assert_eq!(fetch(&mut connection, "g", 0).await.2, unknown, "ZooKeeper has none yet");
        for version in OffsetCommitRequest::VERSIONS {
            assert_eq!(commit(&mut connection, "g", "", version).await, [0, unknown], "version {version}");
            if version == 0 {
                assert_eq!(fetch(&mut connection, "g", 0).await, (100, Some(String::new()), 0));
                assert_eq!(fetch(&mut connection, "g", 1).await, (-1, Some(String::new()), 0), "kept apart");
                continue;
            }
            let expected = (100 + i64::from(version), Some("note".to_owned()), 0);
            for fetch_version in 1..=9 {
                assert_eq!(
                    fetch(&mut connection, "g", fetch_version).await,
                    expected,
                    "{version} {fetch_version}"
                );
            }
        }
        assert_eq!(commit(&mut connection, "g", "", 0).await, [0, unknown], "written over");
    });
    broker.shutdown();
}

#[test]
fn groups_are_found_described_listed_and_deleted() {
    let cluster = cluster();
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        lead(&mut connection).await;
        for version in FindCoordinatorRequest::VERSIONS {
            let key = |wanted: bool| if wanted { "g".to_owned() } else { String::new() };
            let request = FindCoordinatorRequest {
                key: key(version < 4),
                coordinator_keys: if version < 4 { vec![] } else { vec![key(true)] },
                ..Default::default()
            };
            let found = connection.call(&request, version).await.unwrap();
            let node = found.coordinators.first().map_or(found.node_id, |coordinator| coordinator.node_id);
            assert_eq!(node, 1, "version {version}");
        }
        let member_id = live(&mut connection, "g", 9).await;
        for version in DescribeGroupsRequest::VERSIONS {
            let groups = vec!["g".to_owned(), "absent".to_owned()];
            let request = DescribeGroupsRequest { groups, ..Default::default() };
            let described = connection.call(&request, version).await.unwrap();
            let group = &described.groups[0];
            assert_eq!(
                (&*group.group_state, &*group.protocol_data),
                ("Stable", "range"),
                "version {version}"
            );
            assert_eq!(group.members[0].member_id, member_id);
            assert_eq!(group.members[0].client_host, "/127.0.0.1");
            assert_eq!(&group.members[0].member_assignment[..], b"everything");
            assert_eq!((&*described.groups[1].group_state, described.groups[1].error_code), ("Dead", 0));
        }
        for version in ListGroupsRequest::VERSIONS {
            let listed = connection.call(&ListGroupsRequest::default(), version).await.unwrap();
            assert_eq!((listed.error_code, &*listed.groups[0].group_id), (0, "g"), "version {version}");
        }
        assert_eq!(commit(&mut connection, "g", &member_id, 9).await[0], 0);
        assert_eq!(delete(&mut connection, 2).await, ErrorCode::NonEmptyGroup);
        assert_eq!(delete_offset(&mut connection).await, (0, ErrorCode::GroupSubscribedToTopic.code()));
        let members = vec![MemberIdentity { member_id, ..Default::default() }];
        let leave = LeaveGroupRequest { group_id: "g".to_owned(), members, ..Default::default() };
        assert_eq!(connection.call(&leave, 5).await.unwrap().error_code, 0);
        assert_eq!(delete_offset(&mut connection).await, (0, 0));
        assert_eq!(delete(&mut connection, 0).await, ErrorCode::None);
        assert_eq!(delete(&mut connection, 1).await, ErrorCode::GroupIdNotFound);
    });
    broker.shutdown();
}

async fn delete(connection: &mut Connection, version: i16) -> ErrorCode {
    let request = DeleteGroupsRequest { groups_names: vec!["g".to_owned(); 2], ..Default::default() };
    let response = connection.call(&request, version).await.unwrap();
    assert_eq!(response.results.len(), 1, "a group that is named twice is deleted once");
    ErrorCode::from_code(response.results[0].error_code)
}

async fn delete_offset(connection: &mut Connection) -> (i16, i16) {
    let partitions = vec![OffsetDeleteRequestPartition::default()];
    let topics =
        vec![OffsetDeleteRequestTopic { name: "orders".to_owned(), partitions, ..Default::default() }];
    let request = OffsetDeleteRequest { group_id: "g".to_owned(), topics, ..Default::default() };
    let response = connection.call(&request, 0).await.unwrap();
    (response.error_code, response.topics[0].partitions[0].error_code)
}

#[test]
fn a_group_survives_the_restart_of_its_coordinator() {
    let cluster = cluster();
    let broker = cluster.broker(1);
    let member_id = run(async {
        let mut connection = client(&broker).await;
        lead(&mut connection).await;
        let member_id = live(&mut connection, "g", 9).await;
        assert_eq!(commit(&mut connection, "g", &member_id, 9).await[0], 0);
        member_id
    });
    broker.shutdown();
    let broker = cluster.broker(1);
    run(async {
        let mut connection = client(&broker).await;
        lead(&mut connection).await;
        assert_eq!(heartbeat(&mut connection, "g", &member_id, 4).await, 0);
        assert_eq!(fetch(&mut connection, "g", 9).await, (109, Some("note".to_owned()), 0));
        assert_eq!(fetch(&mut connection, "g", 2).await.0, 109);
    });
    broker.shutdown();
}
