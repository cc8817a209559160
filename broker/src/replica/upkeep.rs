//! What has to be done from time to time: looking for followers that lag, and at what retention did.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::hosted::HostedPartition;
use super::machine::Event;
use super::manager::{ReplicaManager, Wake, lock};

/// The thread that does it. Ends when it is dropped.
#[derive(Debug)]
pub struct ReplicaUpkeep {
    stop: SyncSender<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl ReplicaUpkeep {
    /// Starts the thread.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(manager: &Arc<ReplicaManager>) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel(1);
        let weak = Arc::downgrade(manager);
        let lag_ms = u64::try_from(manager.options.lag_time_max.0).unwrap_or(0);
        let tick = Duration::from_millis((lag_ms / 2).max(1));
        let work = move || run(&weak, &stopped, tick);
        let thread = std::thread::Builder::new().name("replica-upkeep".to_owned()).spawn(work)?;
        Ok(Self { stop, thread: Mutex::new(Some(thread)) })
    }

    /// Ends the thread and waits for it.
    pub fn stop(&self) {
        // A full channel means that it was told already.
        let _told = self.stop.try_send(());
        let thread = lock(&self.thread).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("replica upkeep ended by a panic");
        }
    }
}

impl Drop for ReplicaUpkeep {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(manager: &Weak<ReplicaManager>, stopped: &Receiver<()>, tick: Duration) {
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(tick) {
        let Some(manager) = manager.upgrade() else { return };
        manager.tick();
    }
}

impl ReplicaManager {
    /// Lets every leader look for followers that lag, and tells every machine where retention has moved its log start.
    pub(super) fn tick(&self) {
        for partition in self.partitions() {
            let mut wake = Wake::default();
            {
                let _role = partition.keep_role();
                self.follow_retention(&partition, &mut wake);
                self.step(&partition, Event::Tick, &mut wake);
            }
            self.wake(wake);
        }
    }

    fn follow_retention(&self, partition: &Arc<HostedPartition>, wake: &mut Wake) {
        let log_start = partition.log().log_start_offset();
        if partition.ask(|machine| machine.log().start) < log_start {
            self.step(partition, Event::LogStartAdvanced { log_start }, wake);
        }
    }
}
