//! The terminal: the one loop, colours, and pictures of the screen.
//!
//! ```text
//!  input ──┐
//!  updates ─┼─► select ─► drain what is there ─► settle ─► draw once ─► sleep until input, update or deadline
//!  deadline ┘
//! ```
//! There is no tick: when nothing is visible that changes by itself, the loop sleeps. At most thirty frames are drawn
//! per second. What a view looks like is decided in `view`; here a finished buffer is mapped to the colours that the
//! terminal has, and written.

mod clock;
mod color;
mod input;
mod options;
pub mod picture;
mod run;
mod terminal;

pub use clock::Clock;
pub use color::{ColorChoice, Depth, Mapper};
pub use options::{Options, OptionsError, Wiring};
pub use run::{Error, run};
