//! The demo's progress as a line of text.
#![expect(clippy::print_stdout, reason = "this is the place that prints")]

use crate::load::DemoStatus;

/// Prints what the demo has done so far.
pub(in crate::cli) fn demo(status: &DemoStatus) {
    let groups = status
        .groups
        .iter()
        .map(|group| format!("{}: {} read by {}", group.name, group.consumed, group.members));
    let groups: Vec<_> = groups.collect();
    let trouble = status.trouble.as_ref().map(|what| format!("  ({what})")).unwrap_or_default();
    println!("produced {} (failed {})  {}{trouble}", status.produced, status.failed, groups.join("  "));
}
