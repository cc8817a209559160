//! A line of a recording.

use ottla_broker::types::Millis;
use serde::{Deserialize, Serialize};

use crate::model::Update;

/// The number of the format.
pub const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The number of the format.
    pub ottla_recording: u32,
}

/// An update and when it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// When.
    pub at: Millis,
    /// What became known.
    pub update: Update,
}
