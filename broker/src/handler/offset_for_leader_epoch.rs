//! OffsetForLeaderEpoch: where an epoch ends, by which a client sees whether the log was cut under it.

use std::sync::Arc;

use ottla_protocol::message::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderPartition, OffsetForLeaderTopicResult,
};
use ottla_protocol::message::{ErrorCode, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use super::api::Api;
use super::call::Call;
use crate::types::{LeaderEpoch, TopicPartition};

pub(super) fn handle(api: &Arc<Api>, call: Call<OffsetForLeaderEpochRequest>) {
    let topics = call.body.topics.into_iter().map(|topic| {
        let name: Arc<str> = Arc::from(topic.topic.as_str());
        let ends = topic.partitions.iter().map(|asked| end(api, &name, asked));
        let partitions = ends.collect();
        OffsetForLeaderTopicResult { topic: topic.topic, partitions, ..OffsetForLeaderTopicResult::default() }
    });
    let topics = topics.collect();
    call.reply.send(&OffsetForLeaderEpochResponse { topics, ..OffsetForLeaderEpochResponse::default() });
}

fn end(api: &Api, topic: &Arc<str>, asked: &OffsetForLeaderPartition) -> EpochEndOffset {
    let id = TopicPartition::new(Arc::clone(topic), asked.partition);
    let current = (asked.current_leader_epoch >= 0).then_some(LeaderEpoch(asked.current_leader_epoch));
    // An epoch that is not known is answered with -1 and no error.
    let answer = EpochEndOffset { partition: asked.partition, ..EpochEndOffset::default() };
    match api.replicas.offset_for_leader_epoch(&id, current, LeaderEpoch(asked.leader_epoch)) {
        Ok(Some(end)) => EpochEndOffset { leader_epoch: end.epoch.0, end_offset: end.end.0, ..answer },
        Ok(None) => EpochEndOffset { error_code: ErrorCode::None.code(), ..answer },
        Err(error) => EpochEndOffset { error_code: error.code(), ..answer },
    }
}
