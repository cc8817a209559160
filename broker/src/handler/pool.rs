//! The handlers: threads that take requests off the channel and run them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::metrics::{Counter, IdleMeter, Metrics};
use crate::net::{RequestChannel, Work};

/// What a handler does with a request.
type Run = Arc<dyn Fn(Work) + Send + Sync>;

/// The running handlers.
pub struct HandlerPool {
    channel: Arc<RequestChannel>,
    run: Run,
    panics: Arc<Counter>,
    threads: Mutex<Threads>,
}

#[derive(Debug, Default)]
struct Threads {
    running: Vec<Handler>,
    next_number: usize,
    /// How many are wanted; the others end after what they are running.
    wanted: usize,
}

#[derive(Debug)]
struct Handler {
    thread: JoinHandle<()>,
    idle: Arc<IdleMeter>,
}

impl std::fmt::Debug for HandlerPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandlerPool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl HandlerPool {
    /// Starts `count` handlers that give what they take off `channel` to `run`.
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub fn start(
        channel: Arc<RequestChannel>,
        count: usize,
        metrics: &Metrics,
        run: impl Fn(Work) + Send + Sync + 'static,
    ) -> std::io::Result<Arc<Self>> {
        let panics = metrics.counter("ottla_handler_panics_total", "Requests that ended in a panic.", &[]);
        let pool = Arc::new(Self { channel, run: Arc::new(run), panics, threads: Mutex::default() });
        pool.set_size(count)?;
        let weak = Arc::downgrade(&pool);
        metrics.gauge_reader(
            "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent",
            "Share of the last minute that handlers slept, 0 to 1.",
            &[],
            move || weak.upgrade().map_or(0.0, |pool| pool.idle_ratio()),
        );
        let weak = Arc::downgrade(&pool);
        metrics.gauge_reader("ottla_handler_threads", "Handlers that run requests.", &[], move || {
            weak.upgrade().map_or(0.0, |pool| f64::from(u32::try_from(pool.size()).unwrap_or(u32::MAX)))
        });
        Ok(pool)
    }

    /// Returns the number of handlers.
    #[must_use]
    pub fn size(&self) -> usize {
        self.lock().wanted
    }

    /// Changes the number of handlers; those that are too many end after what they are running.
    ///
    /// # Errors
    /// When a thread cannot be had.
    pub fn set_size(&self, count: usize) -> std::io::Result<()> {
        let mut threads = self.lock();
        threads.running.retain(|handler| !handler.thread.is_finished());
        if count < threads.wanted {
            self.channel.retire(threads.wanted - count);
            threads.wanted = count;
        }
        while threads.wanted < count {
            let handler = self.start_handler(threads.next_number)?;
            threads.running.push(handler);
            threads.next_number += 1;
            threads.wanted += 1;
        }
        Ok(())
    }

    /// Returns the share of the last minute that handlers slept, 0 to 1.
    #[must_use]
    pub fn idle_ratio(&self) -> f64 {
        let threads = self.lock();
        let live = threads.running.iter().filter(|handler| !handler.thread.is_finished());
        let (count, sum) =
            live.fold((0_u32, 0.0), |(count, sum), handler| (count + 1, sum + handler.idle.ratio()));
        sum / f64::from(count.max(1))
    }

    /// Waits until the handlers have run what waits and ended; the channel must be closed.
    pub fn join(&self) {
        let running = std::mem::take(&mut self.lock().running);
        for handler in running {
            if handler.thread.join().is_err() {
                tracing::error!("a handler ended by a panic");
            }
        }
    }

    fn start_handler(&self, number: usize) -> std::io::Result<Handler> {
        let idle = Arc::new(IdleMeter::default());
        let (channel, run) = (Arc::clone(&self.channel), Arc::clone(&self.run));
        let (panics, meter) = (Arc::clone(&self.panics), Arc::clone(&idle));
        let thread = std::thread::Builder::new().name(format!("handler-{number}")).spawn(move || {
            while let Some(work) = channel.pop(&meter) {
                run_one(work, run.as_ref(), &panics);
            }
        })?;
        Ok(Handler { thread, idle })
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs one request. A panic is the fault of one request: its responder is dropped with it, which closes the
/// connection, and the handler goes on.
fn run_one(work: Work, run: &(dyn Fn(Work) + Send + Sync), panics: &Counter) {
    let (api, version) = (work.request.api, work.request.version);
    let timing = Arc::clone(work.responder.timing());
    timing.take();
    if catch_unwind(AssertUnwindSafe(|| run(work))).is_err() {
        panics.increment();
        tracing::error!(%api, version, "a request ended in a panic; its connection is closed");
    }
    timing.leave();
}
