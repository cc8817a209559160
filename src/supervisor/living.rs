//! Who is alive, for those that only look.

use super::layout::Layout;
use super::machine::Role;
use super::records::{self, PidRecord};

/// Returns the pid of a process of the cluster that is alive, by its pid file.
pub fn living_pid(layout: &Layout, role: Role) -> Option<u32> {
    let PidRecord { identity } = records::read(&layout.pid(role)).ok()?;
    identity.condition()?;
    u32::try_from(identity.pid).ok()
}
