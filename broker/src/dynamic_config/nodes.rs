//! Reading and writing the nodes under `/config`.

use std::collections::BTreeMap;

use crate::zk::layout::config::{self, Entity, Values};
use crate::zk::layout::config_change;
use crate::zk::session::{CreateMode, Error, Handle};

/// Reads the settings of `entity`; one without a node has none.
///
/// # Errors
/// When the session is over or the node makes no sense.
pub async fn read(session: &Handle, entity: &Entity) -> Result<Values, Error> {
    match session.get(&entity.path()).await? {
        Some((data, _)) => Ok(config::decode(entity, &data)?),
        None => Ok(Values::new()),
    }
}

/// Reads the settings of all topics that have any. A node that makes no sense is left out with a warning.
///
/// # Errors
/// When the session is over.
pub async fn read_topics(session: &Handle) -> Result<BTreeMap<String, Values>, Error> {
    let parent = format!("{}/topics", config::ROOT);
    let names = match session.children(&parent).await {
        Ok(names) => names,
        Err(Error::NoNode { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let reads = names.into_iter().map(|name| async move {
        let values = read(session, &Entity::Topic(name.clone())).await;
        (name, values)
    });
    let mut topics = BTreeMap::new();
    for (name, values) in futures::future::join_all(reads).await {
        match values {
            Ok(values) if values.is_empty() => {}
            Ok(values) => {
                topics.insert(name, values);
            }
            Err(Error::Layout(error)) => tracing::warn!(topic = %name, %error, "ignoring a topic's settings"),
            Err(error) => return Err(error),
        }
    }
    Ok(topics)
}

/// Writes the settings of `entity` and notifies every broker. The last writer wins.
///
/// # Errors
/// When the session is over or a node may not be written.
pub async fn write(session: &Handle, entity: &Entity, values: &Values) -> Result<(), Error> {
    let path = entity.path();
    let data = config::encode(values);
    loop {
        match session.set(&path, &data, None).await {
            Ok(_) => break,
            Err(Error::NoNode { .. }) => {}
            Err(error) => return Err(error),
        }
        match session.create_recursive(&path, &data).await {
            Ok(()) => break,
            // Somebody was faster; what is there now is overwritten.
            Err(Error::NodeExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let notification = config_change::encode(entity);
    session.create(config_change::SEQUENCE_PATH, &notification, CreateMode::PersistentSequential).await?;
    Ok(())
}
