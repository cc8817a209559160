//! One member of a demo group: joins, reads, commits, and leaves when told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use krafka::Kafka;
use krafka::consumer::{AutoOffsetReset, Consumer};
use krafka::error::KrafkaError;
use tokio::sync::oneshot;

use super::demo::Shared;
use super::plan::DemoGroup;

/// How long a poll waits for records before it looks around.
const POLL: Duration = Duration::from_millis(500);
/// Short, so that a member that is killed is missed soon: this is for watching.
const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
/// How long to wait before trying again after trouble.
const PAUSE: Duration = Duration::from_millis(500);

/// Reads until told to leave; trouble is reported and outlived.
pub(super) async fn run(
    bootstrap: String,
    group: DemoGroup,
    consumed: Arc<AtomicU64>,
    mut leave: oneshot::Receiver<()>,
    shared: Arc<Shared>,
) {
    loop {
        let consumer = match Box::pin(join(&bootstrap, group)).await {
            Ok(consumer) => consumer,
            Err(error) => {
                shared.trouble(format!("join {}: {error}", group.name));
                tokio::select! {
                    _ = &mut leave => return,
                    () = tokio::time::sleep(PAUSE) => continue,
                }
            }
        };
        let ended = tokio::select! {
            _ = &mut leave => None,
            error = read(&consumer, &consumed) => Some(error),
        };
        if let Some(error) = &ended {
            shared.trouble(format!("read as a member of {}: {error}", group.name));
        }
        if let Err(error) = consumer.close().await {
            shared.trouble(format!("leave {}: {error}", group.name));
        }
        if ended.is_none() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A member has connections of its own: a broker works off the requests of one connection one by one, so the heartbeat of
/// one member would wait behind another's parked join.
async fn join(bootstrap: &str, group: DemoGroup) -> Result<Consumer, KrafkaError> {
    let client_id = format!("demo-{}", group.name);
    let kafka = Kafka::builder(bootstrap).client_id(client_id).connect().await?;
    let consumer = kafka
        .consumer(group.name)
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .session_timeout(SESSION_TIMEOUT)
        .heartbeat_interval(Duration::from_secs(1))
        .auto_commit_interval(Duration::from_secs(1))
        .build()
        .await?;
    consumer.subscribe(group.topics).await?;
    Ok(consumer)
}

/// Reads until something cannot be outlived by polling again.
async fn read(consumer: &Consumer, consumed: &AtomicU64) -> KrafkaError {
    loop {
        match consumer.poll(POLL).await {
            Ok(records) => {
                consumed.fetch_add(u64::try_from(records.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
            Err(error) => return error,
        }
    }
}
