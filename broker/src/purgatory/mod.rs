//! Operations that wait for something to happen or for their time to run out.
//!
//! A produce that waits for its replicas, or a fetch that waits for enough bytes, holds no thread: it becomes a
//! [`DelayedOperation`] here. Whoever changes what the operation waits for calls [`Purgatory::check`] with the key of
//! what changed (the partition that was appended to, say), on its own thread, and every operation that watches the key
//! looks whether it is satisfied now. A reaper thread completes those whose time has run out.
//!
//! ```text
//!   handler ── submit(op, keys, deadline) ──► satisfied already? ──yes──► complete(Satisfied)
//!                                                  │ no
//!                              watch lists by key ◄─┴─► timer wheel
//!   append, fetch, election ── check(key) ──► satisfied? complete(Satisfied)      reaper ──► complete(Expired)
//! ```
//!
//! An operation completes exactly once, whichever of these comes first, and always outside the locks of the purgatory.
//! The wheel ([`TimerWheel`]) is pure: it is told the time and knows no clock. Start reading at [`Purgatory`].

mod operation;
mod reaper;
mod timer_wheel;
mod watch_list;

pub use operation::{Completion, DelayedOperation, Purgatory, PurgatoryOptions, WatchKey};
pub use timer_wheel::{TimerKey, TimerWheel};
