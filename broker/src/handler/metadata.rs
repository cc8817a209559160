//! Metadata: which brokers and topics there are, and who leads what.

use std::sync::Arc;

use ottla_protocol::message::metadata::{MetadataRequestTopic, MetadataResponseTopic};
use ottla_protocol::message::{ErrorCode, MetadataRequest, MetadataResponse};

use super::api::Api;
use super::call::Call;
use crate::metadata::MetadataQuery;
use crate::types::{check_topic_name, topic_id_of_wire};

/// The first version that knows topic ids, and the first that can ask by them.
const TOPIC_ID_VERSION: i16 = 10;
const ASK_BY_ID_VERSION: i16 = 12;
/// Without an authorizer every operation is allowed: a bit for each that a topic or the cluster has
/// (Kafka: `AclEntry.supportedOperations`).
const TOPIC_OPERATIONS: i32 = 0b1101_1111_1000;
const CLUSTER_OPERATIONS: i32 = 0b1_1111_1010_0000;

pub(super) fn handle(api: &Arc<Api>, call: Call<MetadataRequest>) {
    let Call { body, version, connection, reply, .. } = call;
    let snapshot = api.metadata.load();
    let query = MetadataQuery { snapshot: &snapshot, listener: &connection.listener, version };
    let mut topics = topics(api, &query, &body);
    if body.include_topic_authorized_operations {
        topics.iter_mut().for_each(|topic| topic.topic_authorized_operations = TOPIC_OPERATIONS);
    }
    let defaults = MetadataResponse::default();
    let cluster_authorized_operations = if body.include_cluster_authorized_operations {
        CLUSTER_OPERATIONS
    } else {
        defaults.cluster_authorized_operations
    };
    reply.send(&MetadataResponse {
        brokers: query.brokers(),
        cluster_id: Some(api.cluster_id.clone()),
        controller_id: query.controller_id(),
        topics,
        cluster_authorized_operations,
        ..defaults
    });
}

fn topics(api: &Api, query: &MetadataQuery<'_>, request: &MetadataRequest) -> Vec<MetadataResponseTopic> {
    let Some(asked) = &request.topics else { return query.all_topics() };
    if query.version == 0 && asked.is_empty() {
        return query.all_topics();
    }
    let is_wrong = |topic: &MetadataRequestTopic| {
        (topic.name.is_none() || topic_id_of_wire(topic.topic_id).is_some())
            && (TOPIC_ID_VERSION..ASK_BY_ID_VERSION).contains(&query.version)
    };
    if asked.iter().any(is_wrong) {
        return asked.iter().map(|topic| refused(topic, ErrorCode::InvalidRequest)).collect();
    }
    let described = asked.iter().map(|topic| {
        query.asked(topic).unwrap_or_else(|| unknown(api, topic, request.allow_auto_topic_creation))
    });
    described.collect()
}

fn refused(topic: &MetadataRequestTopic, error: ErrorCode) -> MetadataResponseTopic {
    MetadataResponseTopic {
        topic_id: topic.topic_id,
        ..MetadataQuery::failed(topic.name.as_deref().unwrap_or_default(), error)
    }
}

/// A topic that does not exist is created when client and broker both want that; the client comes again.
fn unknown(api: &Api, topic: &MetadataRequestTopic, may_create: bool) -> MetadataResponseTopic {
    let name = topic.name.as_deref().unwrap_or_default();
    let error = if check_topic_name(name).is_err() {
        ErrorCode::InvalidTopicException
    } else if may_create && api.config.current().auto_create_topics_enable {
        match api.topic_starter.start(name) {
            Ok(()) => ErrorCode::LeaderNotAvailable,
            Err(error) => error,
        }
    } else {
        ErrorCode::UnknownTopicOrPartition
    };
    MetadataQuery::failed(name, error)
}
