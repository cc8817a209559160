//! `/admin/delete_topics/T`: an empty node for every topic that is to go.

/// The parent of all marks.
pub const ROOT: &str = "/admin/delete_topics";

/// Returns the path of `topic`'s mark.
#[must_use]
pub fn path(topic: &str) -> String {
    format!("{ROOT}/{topic}")
}
