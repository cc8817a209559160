//! Which cluster this is, and which broker.

use std::path::Path;

use uuid::Uuid;

use super::error::StartError;
use crate::config::BrokerConfig;
use crate::disk::RealDisk;
use crate::log::MetaProperties;
use crate::types::BrokerId;
use crate::zk::layout::{broker, topic_id_from_bytes};
use crate::zk::session::{Error, Handle};

/// Returns the cluster's id, and gives a cluster without one its id.
pub(crate) async fn cluster_id(session: &Handle) -> Result<String, StartError> {
    Ok(crate::zk::cluster::cluster_id(session, fresh_uuid()?).await?)
}

/// A random id whose text does not begin with a dash, as Kafka draws them.
pub(super) fn fresh_uuid() -> Result<Uuid, StartError> {
    loop {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| StartError::Random(error.into()))?;
        if let Some(id) = topic_id_from_bytes(random) {
            return Ok(id);
        }
    }
}

/// Returns this broker's id: the configured one, the one its directories have, or a new one from the cluster.
pub(crate) async fn broker_id(session: &Handle, config: &BrokerConfig) -> Result<BrokerId, StartError> {
    if config.broker_id >= 0 {
        return Ok(BrokerId(config.broker_id));
    }
    let mut stored: Vec<BrokerId> = Vec::new();
    for directory in config.log_directories() {
        let path = Path::new(directory);
        if path.is_dir()
            && let Some(properties) = MetaProperties::read(&RealDisk, path)?
        {
            stored.extend(properties.broker_id);
        }
    }
    stored.dedup();
    match stored.as_slice() {
        [] => generated(session, config.reserved_broker_max_id).await,
        [id] => Ok(*id),
        several => Err(StartError::Identity(format!(
            "the directories in log.dirs belong to several brokers ({several:?}); give each broker its own"
        ))),
    }
}

/// The version of a node that every asker writes numbers them.
async fn generated(session: &Handle, reserved: i32) -> Result<BrokerId, StartError> {
    let path = broker::SEQUENCE_PATH;
    let stat = match session.set(path, b"", None).await {
        Err(Error::NoNode { .. }) => {
            session.ensure(path).await?;
            session.set(path, b"", None).await?
        }
        other => other?,
    };
    Ok(BrokerId(reserved.saturating_add(stat.version)))
}
