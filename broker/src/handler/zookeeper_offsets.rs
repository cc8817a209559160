//! Offsets that the first consumers keep in ZooKeeper: versions 0 of OffsetCommit and OffsetFetch.

use std::sync::Arc;

use ottla_protocol::message::ErrorCode;

use super::api::Api;
use crate::coordinator::group::machine::OffsetToCommit;
use crate::types::{Offset, TopicPartition};
use crate::zk::layout::consumer_offset;
use crate::zk::{Error, Handle};

/// Writes offsets in the background; `complete` gets the outcomes in the order of the offsets.
pub(super) fn commit(
    api: &Arc<Api>,
    group: String,
    offsets: Vec<OffsetToCommit>,
    complete: impl FnOnce(Vec<(TopicPartition, ErrorCode)>) + Send + 'static,
) {
    let session = api.zk.session();
    let metadata_max = usize::try_from(api.config.current().offset_metadata_max_bytes).unwrap_or(0);
    api.spawn(async move {
        let mut outcomes = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let error = if offset.metadata.len() > metadata_max {
                ErrorCode::OffsetMetadataTooLarge
            } else {
                commit_one(&session, &group, &offset).await.err().unwrap_or(ErrorCode::None)
            };
            outcomes.push((offset.topic_partition, error));
        }
        complete(outcomes);
    });
}

async fn commit_one(session: &Handle, group: &str, offset: &OffsetToCommit) -> Result<(), ErrorCode> {
    let partition = &offset.topic_partition;
    let path = consumer_offset::path(group, partition).ok_or(ErrorCode::InvalidGroupId)?;
    write(session, &path, &consumer_offset::encode(offset.offset)).await.map_err(|error| {
        tracing::warn!(group, %partition, %error, "an offset could not be written to ZooKeeper");
        ErrorCode::UnknownServerError
    })
}

/// Writes the node, or makes it. Of two that make it at once, the later one finds it there and writes it.
async fn write(session: &Handle, path: &str, data: &[u8]) -> Result<(), Error> {
    match session.set(path, data, None).await {
        Err(Error::NoNode { .. }) => {}
        set => return set.map(drop),
    }
    match session.create_recursive(path, data).await {
        Err(Error::NodeExists { .. }) => session.set(path, data, None).await.map(drop),
        created => created,
    }
}

/// Reads offsets in the background; `complete` gets them in the order of the partitions, `None` for one that was never
/// committed.
pub(super) fn fetch(
    api: &Arc<Api>,
    group: String,
    partitions: Vec<TopicPartition>,
    complete: impl FnOnce(Vec<Found>) + Send + 'static,
) {
    let session = api.zk.session();
    api.spawn(async move {
        let mut found = Vec::with_capacity(partitions.len());
        for partition in partitions {
            let offset = fetch_one(&session, &group, &partition).await;
            found.push(Found { partition, offset });
        }
        complete(found);
    });
}

/// What ZooKeeper knows of one partition.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) partition: TopicPartition,
    pub(super) offset: Result<Option<Offset>, ErrorCode>,
}

async fn fetch_one(
    session: &Handle,
    group: &str,
    partition: &TopicPartition,
) -> Result<Option<Offset>, ErrorCode> {
    let path = consumer_offset::path(group, partition).ok_or(ErrorCode::InvalidGroupId)?;
    match session.get(&path).await {
        Ok(node) => Ok(node.and_then(|(data, _)| consumer_offset::decode(&data))),
        Err(error) => {
            tracing::warn!(group, %partition, %error, "an offset could not be read from ZooKeeper");
            Err(ErrorCode::UnknownServerError)
        }
    }
}
