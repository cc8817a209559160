//! Making sure that the demo's topics are there.

use std::time::Duration;

use krafka::Kafka;
use krafka::admin::{CreateTopicsOptions, NewTopic};
use krafka::error::{ErrorCode, KrafkaError};

use super::plan::TOPICS;

/// Creates the topics that do not exist, as replicated as the cluster's own default.
///
/// # Errors
/// When the controller cannot be reached or refuses a topic.
pub(super) async fn ensure(kafka: &Kafka) -> Result<(), KrafkaError> {
    let wanted = TOPICS
        .iter()
        .map(|topic| NewTopic::new(topic.name, topic.partitions, -1))
        .collect::<Result<Vec<_>, _>>()?;
    let options = CreateTopicsOptions::default().timeout(Duration::from_secs(15));
    for (_, outcome) in kafka.admin().create_topics(wanted, options).await? {
        match outcome {
            Ok(()) | Err(KrafkaError::Broker { code: ErrorCode::TopicAlreadyExists, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
