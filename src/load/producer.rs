//! Writes the script's records at a steady rate, each acknowledged by all in-sync replicas.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use krafka::producer::Acks;
use krafka::{Kafka, Record};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::demo::Shared;
use super::plan::Script;

/// Rates are kept in slices of this length.
const SLICE: Duration = Duration::from_millis(50);
/// Records written and not yet acknowledged: with more the writer waits, so a failover does not fill the memory.
const UNACKNOWLEDGED_MAX: usize = 5_000;
/// A record that nobody took in this time counts as failed; the demo goes on with the next. The client wants it to be
/// more than one request may take, 30 s.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes until the rate's sender is gone.
pub(super) async fn run(kafka: Kafka, mut rate: watch::Receiver<u32>, shared: Arc<Shared>) {
    let producer = loop {
        let building = kafka
            .producer()
            .acks(Acks::All)
            .linger(Duration::from_millis(5))
            .delivery_timeout(DELIVERY_TIMEOUT)
            .build()
            .await;
        match building {
            Ok(producer) => break producer,
            Err(error) => {
                shared.trouble(format!("start the producer: {error}"));
                if rate.has_changed().is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    };
    let mut script = Script::new(0x0771a);
    let permits = Arc::new(Semaphore::new(UNACKNOWLEDGED_MAX));
    let mut ticks = interval(SLICE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut owed, mut last) = (0.0, Instant::now());
    loop {
        tokio::select! {
            changed = rate.changed() => if changed.is_err() { break },
            _ = ticks.tick() => {}
        }
        owed += f64::from(*rate.borrow()) * last.elapsed().as_secs_f64();
        last = Instant::now();
        // After a long stall the rate is what counts, not the backlog.
        owed = owed.min(f64::from(*rate.borrow()));
        while owed >= 1.0 {
            owed -= 1.0;
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let draft = script.draft();
            match producer.enqueue(Record::new(draft.topic, draft.value).key(draft.key)).await {
                Ok(handle) => {
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move {
                        count(handle.await.map(drop), &shared.produced, &shared);
                        drop(permit);
                    });
                }
                Err(error) => count(Err(error), &shared.produced, &shared),
            }
        }
    }
    if let Err(error) = producer.close().await {
        shared.trouble(format!("close the producer: {error}"));
    }
}

fn count(outcome: Result<(), krafka::error::KrafkaError>, counter: &AtomicU64, shared: &Shared) {
    match outcome {
        Ok(()) => {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => {
            shared.failed.fetch_add(1, Ordering::Relaxed);
            shared.trouble(format!("produce: {error}"));
        }
    }
}
