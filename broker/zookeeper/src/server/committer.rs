//! Brings transactions to the disk, those of all connections together, and tells the driver when they are durable.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::driver::{Driver, Pending};
use super::error::Error;
use crate::store::{AppendError, Journal};
use crate::types::{Millis, Zxid};

/// How long to wait before a full disk is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A batch on its way to the disk.
pub(super) struct Job {
    pending: Pending,
    last: Zxid,
    done: oneshot::Sender<(Pending, Result<(), AppendError>)>,
}

/// Where transactions go.
#[derive(Debug)]
pub(super) enum Sink {
    /// To the disk's own cache, at once: the disk is not waited for.
    Direct(Box<Journal>),
    /// To a thread that waits for the disk, so that reads go on meanwhile.
    Thread { jobs: mpsc::Sender<Job>, thread: Option<JoinHandle<()>> },
}

impl Sink {
    /// Returns a sink for a journal that waits for the disk, or not.
    pub(super) fn new(journal: Journal, force_sync: bool) -> Result<Self, Error> {
        if !force_sync {
            return Ok(Sink::Direct(Box::new(journal)));
        }
        // One batch is on its way, and the next gathers in the driver.
        let (jobs, received) = mpsc::channel(1);
        let thread = std::thread::Builder::new()
            .name("zookeeper-log".to_owned())
            .spawn(move || write_all(journal, received))
            .map_err(|source| Error::System { operation: "start the log's thread", source })?;
        Ok(Sink::Thread { jobs, thread: Some(thread) })
    }

    /// Appends a batch. The sink itself stays where it is, so that a server that stops in the middle can still wait
    /// for the thread.
    async fn append(
        sink: &RefCell<Sink>,
        pending: Pending,
        last: Zxid,
    ) -> (Pending, Result<(), AppendError>) {
        let jobs = match &mut *sink.borrow_mut() {
            Sink::Direct(journal) => {
                let result = journal.append(pending.records.as_bytes(), pending.count, last);
                return (pending, result);
            }
            Sink::Thread { jobs, .. } => jobs.clone(),
        };
        let (done, finished) = oneshot::channel();
        if jobs.send(Job { pending, last, done }).await.is_ok()
            && let Ok(result) = finished.await
        {
            return result;
        }
        let gone = std::io::Error::other("the log's thread has ended");
        (Pending::default(), Err(AppendError::Broken(gone)))
    }

    /// Makes the last transactions durable and waits for the thread.
    pub(super) fn finish(self) -> Result<(), AppendError> {
        match self {
            Sink::Direct(mut journal) => journal.sync(),
            Sink::Thread { jobs, thread } => {
                drop(jobs);
                match thread.map(JoinHandle::join) {
                    Some(Err(_panic)) => {
                        Err(AppendError::Broken(std::io::Error::other("the log's thread panicked")))
                    }
                    Some(Ok(())) | None => Ok(()),
                }
            }
        }
    }
}

fn write_all(mut journal: Journal, mut jobs: mpsc::Receiver<Job>) {
    while let Some(Job { pending, last, done }) = jobs.blocking_recv() {
        let result = journal.append(pending.records.as_bytes(), pending.count, last);
        // Nobody waits when the server stops in the middle; the batch is in the log all the same.
        let _stopping = done.send((pending, result));
    }
}

/// Commits whatever gathers. Returns only when the log is broken.
pub(super) async fn commit(sink: &RefCell<Sink>, driver: &Rc<RefCell<Driver>>) -> Result<(), AppendError> {
    let wake = Rc::clone(&driver.borrow().commit);
    loop {
        let taken = driver.borrow_mut().take_pending();
        match taken {
            None => wake.notified().await,
            Some((pending, last)) => commit_batch(sink, driver, pending, last).await?,
        }
    }
}

/// Commits one batch, however long the disk is full.
async fn commit_batch(
    sink: &RefCell<Sink>,
    driver: &Rc<RefCell<Driver>>,
    mut pending: Pending,
    last: Zxid,
) -> Result<(), AppendError> {
    let mut failed = false;
    loop {
        let started = Instant::now();
        let (back, result) = Sink::append(sink, pending, last).await;
        pending = back;
        match result {
            Ok(()) => {
                if failed {
                    tracing::info!("the transaction log can be written again");
                }
                let mut driver = driver.borrow_mut();
                let elapsed_ms = Millis::try_from(started.elapsed().as_millis()).unwrap_or(Millis::MAX);
                let statistics = &mut driver.statistics;
                statistics.sync_latency.record(elapsed_ms);
                statistics.commit_batches = statistics.commit_batches.saturating_add(1);
                statistics.commit_count = statistics.commit_count.saturating_add(pending.count);
                driver.recycle(pending);
                driver.durable(last);
                return Ok(());
            }
            Err(AppendError::Again(error)) => {
                if !failed {
                    tracing::error!(%error, "cannot write the transaction log, writes wait until it can be written");
                }
                failed = true;
                driver.borrow_mut().statistics.commit_failures += 1;
                tokio::time::sleep(RETRY_AFTER).await;
            }
            Err(broken @ AppendError::Broken(_)) => return Err(broken),
        }
    }
}
