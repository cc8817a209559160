//! The stream of updates to and from a file.
//!
//! One JSON object per line: the moment in milliseconds since the Unix epoch and the update,
//! `{"at":1700000000000,"update":{…}}`. The first line names the format. A recording goes through the same reducers as
//! live updates, so that time travel, pictures, demos and bug reports are one thing.

mod line;
mod read;
mod record;

pub use line::{FORMAT, Stamped};
pub use read::{Recording, RecordingError, replay};
pub use record::Recorder;
