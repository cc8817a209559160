//! The request channel: one bounded queue between processors and handlers.
//!
//! A place must be had before a request is put in, so a full channel stops processors from reading, and the client's
//! socket fills instead of memory. A handler is woken only when one sleeps that was not woken already.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::request::Request;
use super::response::Responder;
use crate::metrics::{IdleMeter, WindowedMax};

/// A request on its way to a handler, with the way back.
#[derive(Debug)]
pub struct Work {
    /// What is asked.
    pub request: Request,
    /// Where the answer goes.
    pub responder: Responder,
}

/// The queue between processors and handlers.
#[derive(Debug)]
pub struct RequestChannel {
    places: Semaphore,
    capacity: usize,
    state: Mutex<State>,
    arrived: Condvar,
    depth: AtomicUsize,
    deepest: WindowedMax,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Work>,
    /// Handlers that wait.
    sleeping: usize,
    /// Handlers that were woken and have not yet looked.
    woken: usize,
    /// Handlers that shall end.
    retiring: usize,
    closed: bool,
}

/// The broker takes no more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl RequestChannel {
    /// Makes a channel that holds `capacity` requests.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            places: Semaphore::new(capacity),
            capacity,
            state: Mutex::default(),
            arrived: Condvar::new(),
            depth: AtomicUsize::new(0),
            deepest: WindowedMax::default(),
        }
    }

    /// Puts a request in, waiting for a place while there is none.
    pub(crate) async fn push(&self, work: Work) -> Result<(), Closed> {
        let place = self.places.acquire().await.map_err(|_closed| Closed)?;
        place.forget();
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.queue.push_back(work);
        let depth = state.queue.len();
        self.depth.store(depth, Ordering::Relaxed);
        let wake = state.sleeping > state.woken;
        if wake {
            state.woken += 1;
        }
        drop(state);
        self.deepest.note(depth);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Takes the next request, sleeping while there is none; none when the calling handler shall end.
    pub fn pop(&self, idle: &IdleMeter) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if state.retiring > 0 {
                state.retiring -= 1;
                return None;
            }
            if let Some(work) = state.queue.pop_front() {
                self.depth.store(state.queue.len(), Ordering::Relaxed);
                drop(state);
                self.places.add_permits(1);
                return Some(work);
            }
            if state.closed {
                return None;
            }
            state.sleeping += 1;
            idle.sleep();
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            idle.wake();
            state.sleeping -= 1;
            state.woken = state.woken.saturating_sub(1);
        }
    }

    /// Takes no more requests; handlers end once they have run those that wait.
    pub fn close(&self) {
        self.places.close();
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Makes `count` handlers end after the request they are running.
    pub fn retire(&self, count: usize) {
        self.lock().retiring += count;
        self.arrived.notify_all();
    }

    /// Returns how many requests it holds at most.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns how many requests wait.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth.load(Ordering::Relaxed)
    }

    /// Returns the most requests that waited in the last minute.
    #[must_use]
    pub fn deepest(&self) -> u32 {
        self.deepest.value()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
