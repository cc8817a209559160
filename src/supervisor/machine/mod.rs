//! What should run and what does, as one state machine: events in, effects out.
//!
//! ```text
//!            Ask(Up/Start)          Spawned           Ready
//!   Absent ───────────────► Queued ────────► Starting ─────► Running ◄──► Frozen
//!     ▲        (a broker waits for ZooKeeper)   │              │            │
//!     └──────────────── Exited ─────────────────┴── Stopping ◄─┴────────────┘
//! ```
//! Brokers start once ZooKeeper is ready and ZooKeeper stops once the brokers are gone. Nothing is started again by
//! itself: a broker that dies stays dead until somebody asks, for this is where one looks at what a death does.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type)]

mod ask;
mod event;
mod life;
mod step;
#[cfg(test)]
mod tests;

pub use event::{Ask, Effect, Ending, Event, Notice, Role, Tell};
pub use life::Life;
pub use step::{Machine, Timing};
