//! Everything once, for commands that print and end.

use std::time::Duration;

use ottla_broker::types::BrokerId;

use super::groups::GroupReader;
use super::map::ClusterMap;
use super::processes::Processes;
use super::{kafka, metrics, zookeeper};
use crate::model::{SourceHealth, SourceName, SourceUpdate, Update};
use crate::supervisor::Layout;

/// How long a broker that does not answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where to read.
#[derive(Debug, Clone)]
pub struct ReadOnce {
    /// `host:port,host:port/chroot`.
    pub zookeeper: String,
    /// Where a local cluster lies.
    pub layout: Option<Layout>,
}

/// Reads every source once. What cannot be read is among the updates as a stale source, with the reason.
pub async fn read_once(from: &ReadOnce) -> Vec<Update> {
    let mut updates = Vec::new();
    let mut map = ClusterMap::default();
    match Box::pin(tokio::time::timeout(PATIENCE, read_zookeeper(&from.zookeeper))).await {
        Ok(Ok(found)) => {
            for update in &found {
                map.observe(update);
            }
            updates.extend(found);
        }
        Ok(Err(why)) => updates.push(stale(SourceName::Zookeeper, why)),
        Err(_elapsed) => {
            updates.push(stale(
                SourceName::Zookeeper,
                format!("zookeeper at {} does not answer", from.zookeeper),
            ));
        }
    }
    for (broker, address) in &map.brokers {
        match Box::pin(tokio::time::timeout(PATIENCE, read_offsets(*broker, address, &map))).await {
            Ok(Ok(update)) => updates.push(update),
            Ok(Err(why)) => updates.push(stale(SourceName::Kafka(*broker), why)),
            Err(_elapsed) => updates.push(stale(SourceName::Kafka(*broker), "no answer".to_owned())),
        }
        if let Some(layout) = &from.layout {
            match metrics::read_broker(layout, *broker).await {
                Ok(Some(sample)) => updates.push(Update::Network { broker: *broker, sample }),
                Ok(None) => {}
                Err(error) => updates.push(stale(SourceName::Metrics(*broker), error.to_string())),
            }
        }
    }
    if !map.brokers.is_empty() {
        match Box::pin(tokio::time::timeout(PATIENCE, GroupReader::default().read(&map))).await {
            Ok(Ok(found)) => updates.extend(found),
            Ok(Err(why)) => updates.push(stale(SourceName::Groups, why)),
            Err(_elapsed) => updates.push(stale(SourceName::Groups, "no answer".to_owned())),
        }
    }
    if let Some(layout) = &from.layout {
        updates.extend(Processes::default().look(layout));
    }
    updates
}

async fn read_zookeeper(connect: &str) -> Result<Vec<Update>, String> {
    let client = zookeeper::connect(connect).await.map_err(|error| error.to_string())?;
    let (mut updates, damaged) = zookeeper::read_all(&client).await.map_err(|error| error.to_string())?;
    updates.extend(damaged.into_iter().map(|why| stale(SourceName::Zookeeper, why)));
    Ok(updates)
}

async fn read_offsets(broker: BrokerId, address: &str, map: &ClusterMap) -> Result<Update, String> {
    let mut connection = kafka::connect(address).await.map_err(|error| error.to_string())?;
    let replicas = kafka::ask(&mut connection, broker, map).await.map_err(|error| error.to_string())?;
    Ok(Update::Offsets { broker, replicas })
}

fn stale(source: SourceName, why: String) -> Update {
    Update::Source(SourceUpdate { source, health: SourceHealth::Stale { why } })
}
