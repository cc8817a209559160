//! Delayed operations, and the purgatory they wait in.

use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::reaper::{self, Timer};
use super::timer_wheel::TimerKey;
use super::watch_list::WatchLists;

/// Why an operation completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// What it waited for has happened.
    Satisfied,
    /// Its time ran out, or the purgatory was full when it came.
    Expired,
    /// The purgatory shuts down.
    Shutdown,
}

/// What an operation can watch: a partition, a group, whatever its condition depends on.
pub trait WatchKey: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> WatchKey for K {}

/// Something that waits for a condition or for its time to run out, whichever comes first.
pub trait DelayedOperation: Send + 'static {
    /// Looks whether the condition holds now. Called whenever a watched key changed, never by two threads at once.
    /// May take locks, so [`Purgatory::check`] must not be called while holding one of them.
    fn is_satisfied(&mut self) -> bool;

    /// Answers. Called exactly once, on the thread that found the condition true or the time run out.
    fn complete(self, completion: Completion);
}

/// How a purgatory is set up.
#[derive(Debug, Clone)]
pub struct PurgatoryOptions {
    /// Named in the reaper thread's name.
    pub name: &'static str,
    /// How many operations may wait; one more completes as [`Completion::Expired`] at once.
    pub operations_max: usize,
    /// After how many completed operations their remains are swept out of the watch lists,
    /// `*.purgatory.purge.interval.requests`.
    pub purge_interval: usize,
}

/// Delayed operations by the keys they watch and by their deadline.
pub struct Purgatory<K: WatchKey, Op: DelayedOperation> {
    shared: Arc<Shared<K, Op>>,
    reaper: Mutex<Option<JoinHandle<()>>>,
}

/// What the purgatory and its reaper share.
pub(super) struct Shared<K, Op> {
    pub(super) options: PurgatoryOptions,
    pub(super) lists: WatchLists<K, Op>,
    pub(super) timer: Timer<Arc<Entry<K, Op>>>,
    delayed: AtomicUsize,
    /// Completed operations that the watch lists may still name.
    pub(super) stale: AtomicUsize,
    stopping: AtomicBool,
}

/// One operation and what is known of it.
pub(super) struct Entry<K, Op> {
    keys: Vec<K>,
    operation: Mutex<Option<Op>>,
    completed: AtomicBool,
    timer_key: Mutex<Option<TimerKey>>,
}

impl<K, Op> Entry<K, Op> {
    pub(super) fn is_completed(&self) -> bool {
        self.completed.load(Ordering::Acquire)
    }
}

impl<K: WatchKey, Op: DelayedOperation> Purgatory<K, Op> {
    /// Starts an empty purgatory and its reaper thread.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(options: PurgatoryOptions) -> std::io::Result<Self> {
        let name = format!("reaper-{}", options.name);
        let shared = Arc::new(Shared {
            options,
            lists: WatchLists::new(),
            timer: Timer::new(),
            delayed: AtomicUsize::new(0),
            stale: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        });
        let for_thread = Arc::clone(&shared);
        let reaper = std::thread::Builder::new().name(name).spawn(move || reaper::run(&for_thread))?;
        Ok(Self { shared, reaper: Mutex::new(Some(reaper)) })
    }

    /// Completes `operation` now if it is satisfied; otherwise lets it wait for a [`check`](Self::check) of one of
    /// `keys`, but for no longer than `wait`.
    pub fn submit(&self, mut operation: Op, keys: Vec<K>, wait: Duration) {
        if operation.is_satisfied() {
            operation.complete(Completion::Satisfied);
            return;
        }
        let shared = &self.shared;
        if shared.stopping.load(Ordering::Acquire) {
            operation.complete(Completion::Shutdown);
            return;
        }
        if shared.delayed.fetch_add(1, Ordering::AcqRel) >= shared.options.operations_max {
            shared.delayed.fetch_sub(1, Ordering::AcqRel);
            operation.complete(Completion::Expired);
            return;
        }
        let entry = Arc::new(Entry {
            keys,
            operation: Mutex::new(Some(operation)),
            completed: AtomicBool::new(false),
            timer_key: Mutex::new(None),
        });
        for key in &entry.keys {
            shared.lists.watch(key, &entry);
        }
        // What it waits for may have happened between the first look and the watching.
        if shared.complete_if_satisfied(&entry) {
            return;
        }
        shared.set_timer(&entry, wait);
    }

    /// Completes every operation that watches `key` and is satisfied now; returns how many.
    pub fn check(&self, key: &K) -> usize {
        let watchers = self.shared.lists.watchers(key);
        watchers.iter().filter(|entry| self.shared.complete_if_satisfied(entry)).count()
    }

    /// Returns how many operations wait.
    #[must_use]
    pub fn delayed(&self) -> usize {
        self.shared.delayed.load(Ordering::Acquire)
    }

    /// Returns how many entries the watch lists hold: an operation counts once per key, and completed ones until the
    /// next sweep.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.shared.lists.len()
    }

    /// Completes everything that waits as [`Completion::Shutdown`] and ends the reaper; later operations that are not
    /// satisfied at once complete the same way.
    pub fn shutdown(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.timer.stop();
        let reaper = lock(&self.reaper).take();
        if let Some(reaper) = reaper
            && reaper.thread().id() != std::thread::current().id()
            && reaper.join().is_err()
        {
            tracing::error!(purgatory = self.shared.options.name, "reaper thread ended by a panic");
        }
    }
}

impl<K: WatchKey, Op: DelayedOperation> Drop for Purgatory<K, Op> {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl<K: WatchKey, Op: DelayedOperation> fmt::Debug for Purgatory<K, Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Purgatory")
            .field("name", &self.shared.options.name)
            .field("delayed", &self.delayed())
            .finish_non_exhaustive()
    }
}

impl<K: WatchKey, Op: DelayedOperation> Shared<K, Op> {
    fn complete_if_satisfied(&self, entry: &Entry<K, Op>) -> bool {
        let taken = {
            let mut operation = lock(&entry.operation);
            if operation.as_mut().is_some_and(Op::is_satisfied) { operation.take() } else { None }
        };
        self.finish(entry, taken, Completion::Satisfied)
    }

    /// Completes an operation whose condition no longer matters.
    pub(super) fn complete_anyway(&self, entry: &Entry<K, Op>, completion: Completion) -> bool {
        let taken = lock(&entry.operation).take();
        self.finish(entry, taken, completion)
    }

    fn finish(&self, entry: &Entry<K, Op>, taken: Option<Op>, completion: Completion) -> bool {
        let Some(operation) = taken else { return false };
        entry.completed.store(true, Ordering::Release);
        let timer_key = lock(&entry.timer_key).take();
        if let Some(timer_key) = timer_key {
            self.timer.cancel(timer_key);
        }
        self.delayed.fetch_sub(1, Ordering::AcqRel);
        if self.stale.fetch_add(1, Ordering::AcqRel) + 1 == self.options.purge_interval {
            self.timer.wake();
        }
        operation.complete(completion);
        true
    }

    fn set_timer(&self, entry: &Arc<Entry<K, Op>>, wait: Duration) {
        let timer_key = self.timer.insert(wait, Arc::clone(entry));
        let Some(timer_key) = timer_key else {
            self.complete_anyway(entry, Completion::Shutdown);
            return;
        };
        *lock(&entry.timer_key) = Some(timer_key);
        // A check on another thread may have completed it before there was a timer to cancel.
        if entry.is_completed() {
            let timer_key = lock(&entry.timer_key).take();
            if let Some(timer_key) = timer_key {
                self.timer.cancel(timer_key);
            }
        }
    }
}

/// A panic elsewhere leaves these locks' data whole: each holder changes one field.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Waits until a shared number reaches what it needs.
    struct Reaches {
        number: Arc<AtomicUsize>,
        needed: usize,
        told: Sender<(usize, Completion)>,
    }

    impl DelayedOperation for Reaches {
        fn is_satisfied(&mut self) -> bool {
            self.number.load(Ordering::SeqCst) >= self.needed
        }

        fn complete(self, completion: Completion) {
            self.told.send((self.needed, completion)).unwrap();
        }
    }

    struct World {
        number: Arc<AtomicUsize>,
        purgatory: Purgatory<&'static str, Reaches>,
        told: Sender<(usize, Completion)>,
        heard: Receiver<(usize, Completion)>,
    }

    impl World {
        fn new(operations_max: usize) -> Self {
            let (told, heard) = channel();
            let options = PurgatoryOptions { name: "test", operations_max, purge_interval: 4 };
            let purgatory = Purgatory::start(options).unwrap();
            Self { number: Arc::new(AtomicUsize::new(0)), purgatory, told, heard }
        }

        fn submit(&self, needed: usize, keys: &[&'static str], wait: Duration) {
            let operation = Reaches { number: Arc::clone(&self.number), needed, told: self.told.clone() };
            self.purgatory.submit(operation, keys.to_vec(), wait);
        }

        fn hear(&self) -> (usize, Completion) {
            self.heard.recv_timeout(Duration::from_secs(20)).unwrap()
        }
    }

    const LONG: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_satisfied_operation_completes_without_waiting() {
        let world = World::new(10);
        world.submit(0, &["a"], LONG);
        assert_eq!(world.heard.try_recv(), Ok((0, Completion::Satisfied)));
        assert_eq!((world.purgatory.delayed(), world.purgatory.watched()), (0, 0));
    }

    #[test]
    fn a_check_completes_what_it_satisfies_and_leaves_the_rest() {
        let world = World::new(10);
        world.submit(1, &["a", "b"], LONG);
        world.submit(2, &["a"], LONG);
        world.number.store(1, Ordering::SeqCst);
        assert_eq!(world.purgatory.check(&"c"), 0);
        assert_eq!(world.purgatory.check(&"a"), 1);
        assert_eq!(world.purgatory.check(&"b"), 0, "it completes once, whatever key it also watched");
        assert_eq!(world.heard.try_recv(), Ok((1, Completion::Satisfied)));
        assert_eq!(world.purgatory.delayed(), 1);
    }

    #[test]
    fn the_reaper_completes_what_nobody_satisfied() {
        let world = World::new(10);
        world.submit(5, &["a"], LONG);
        world.submit(6, &["a"], Duration::from_millis(5));
        assert_eq!(world.hear(), (6, Completion::Expired));
        assert_eq!(world.purgatory.delayed(), 1);
    }

    #[test]
    fn one_too_many_is_answered_at_once() {
        let world = World::new(1);
        world.submit(5, &["a"], LONG);
        world.submit(6, &["a"], LONG);
        assert_eq!(world.heard.try_recv(), Ok((6, Completion::Expired)));
    }

    #[test]
    fn shutdown_completes_everything_and_what_comes_later() {
        let world = World::new(10);
        world.submit(5, &["a"], LONG);
        world.purgatory.shutdown();
        assert_eq!(world.heard.try_recv(), Ok((5, Completion::Shutdown)));
        world.submit(6, &["a"], LONG);
        assert_eq!(world.heard.try_recv(), Ok((6, Completion::Shutdown)));
        assert_eq!(world.purgatory.delayed(), 0);
    }

    #[test]
    fn each_operation_completes_exactly_once_under_contention() {
        let world = World::new(10_000);
        let count = 2_000;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while world.number.fetch_add(1, Ordering::SeqCst) < count {
                        world.purgatory.check(&"a");
                        world.purgatory.check(&"b");
                    }
                });
            }
            for needed in 1..=count {
                let wait = if needed % 3 == 0 { Duration::from_millis(1) } else { LONG };
                world.submit(needed, &["a", "b"], wait);
            }
        });
        world.purgatory.check(&"a");
        let mut seen: Vec<usize> = (0..count).map(|_| world.hear().0).collect();
        seen.sort_unstable();
        assert_eq!(seen, (1..=count).collect::<Vec<_>>());
        assert!(world.heard.try_recv().is_err());
        assert_eq!(world.purgatory.delayed(), 0);
    }
}
