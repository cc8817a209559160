//! FindCoordinator: which broker coordinates a group, by the leader of its partition of `__consumer_offsets`.

use std::sync::Arc;

use ottla_protocol::message::find_coordinator::Coordinator;
use ottla_protocol::message::{ErrorCode, FindCoordinatorRequest, FindCoordinatorResponse};

use super::api::Api;
use super::call::Call;
use crate::coordinator::group::partition_for;
use crate::types::TopicPartition;
use crate::zk::layout::topic_name::CONSUMER_OFFSETS;

/// The first version that asks for many keys at once.
const BATCHED: i16 = 4;
/// The type of a key that is a group; the other is a transactional id (1).
const GROUP: i8 = 0;

pub(super) fn handle(api: &Arc<Api>, call: Call<FindCoordinatorRequest>) {
    let Call { body, version, connection, reply, .. } = call;
    let find = |key: &str| find(api, body.key_type, key, &connection.listener);
    if version >= BATCHED {
        let coordinators = body.coordinator_keys.iter().map(|key| find(key)).collect();
        reply.send(&FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() });
        return;
    }
    let found = find(&body.key);
    reply.send(&FindCoordinatorResponse {
        error_code: found.error_code,
        error_message: found.error_message,
        node_id: found.node_id,
        host: found.host,
        port: found.port,
        ..FindCoordinatorResponse::default()
    });
}

fn find(api: &Api, key_type: i8, key: &str, listener: &str) -> Coordinator {
    match locate(api, key_type, key, listener) {
        Ok(coordinator) => Coordinator { key: key.to_owned(), ..coordinator },
        Err((error, message)) => Coordinator {
            key: key.to_owned(),
            node_id: -1,
            host: String::new(),
            port: -1,
            error_code: error.code(),
            error_message: Some(message.to_owned()),
            ..Coordinator::default()
        },
    }
}

fn locate(
    api: &Api,
    key_type: i8,
    key: &str,
    listener: &str,
) -> Result<Coordinator, (ErrorCode, &'static str)> {
    if key_type != GROUP {
        // Final for clients: coming again would not help them.
        return Err((ErrorCode::InvalidRequest, "this cluster coordinates groups only, no transactions"));
    }
    let cluster = api.metadata.load();
    let Some(topic) = cluster.topic(CONSUMER_OFFSETS) else {
        return Err(match api.topic_starter.start(CONSUMER_OFFSETS) {
            Ok(()) => (ErrorCode::CoordinatorNotAvailable, "__consumer_offsets is being created"),
            Err(_) => (ErrorCode::CoordinatorNotAvailable, "__consumer_offsets cannot be created now"),
        });
    };
    let count = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
    let partition = TopicPartition::new(Arc::clone(&topic.name), partition_for(key, count));
    let leader = cluster.partition(&partition).map(|state| state.leader);
    let endpoint = leader.and_then(|leader| Some((leader, cluster.endpoint(leader, listener)?)));
    let Some((leader, endpoint)) = endpoint else {
        return Err((ErrorCode::CoordinatorNotAvailable, "the group's partition has no leader now"));
    };
    Ok(Coordinator {
        node_id: leader.0,
        host: endpoint.host.clone(),
        port: i32::from(endpoint.port),
        error_message: None,
        ..Coordinator::default()
    })
}
