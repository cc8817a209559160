//! Old logs into a snapshot.

use super::disk::Disk;
use super::error::Error;
use super::layout::{self, Files};
use super::recovery::{Until, recover};
use super::snapshot;
use crate::types::Zxid;

/// Snapshots that are kept: the newest, and one to fall back on should the newest not be readable.
const SNAPSHOTS_KEPT: usize = 2;

/// Rebuilds the state after transaction `last`, the last of the closed logs, writes it as a snapshot, and deletes what
/// is older than the snapshots that are kept need.
pub(super) fn compact(disk: &dyn Disk, last: Zxid) -> Result<(), Error> {
    let state = recover(disk, Until::Sealed(last))?.state;
    if state.last_zxid != last {
        let problem = format!("the closed logs end with transaction {}, not {last}", state.last_zxid);
        return Err(Error::Damaged { path: disk.name(), position: 0, problem });
    }
    let path = disk.name().join(layout::snapshot(last));
    snapshot::write(disk, &state).map_err(|source| Error::io("write", &path, source))?;
    purge(disk)
}

/// Deletes old snapshots, then logs that no kept snapshot needs; in this order, so that a crash in between leaves
/// nothing that cannot be recovered from.
fn purge(disk: &dyn Disk) -> Result<(), Error> {
    let names = disk.list().map_err(|source| Error::io("list", &disk.name(), source))?;
    let files = Files::sort(&names);
    let surplus = files.snapshots.len().saturating_sub(SNAPSHOTS_KEPT);
    let (old, kept) = files.snapshots.split_at_checked(surplus).unwrap_or_default();
    let Some(oldest_kept) = kept.first() else { return Ok(()) };
    for zxid in old {
        remove(disk, &layout::snapshot(*zxid))?;
    }
    for pair in files.logs.windows(2) {
        if let [first, next] = pair
            && *next <= oldest_kept.next()
        {
            remove(disk, &layout::log(*first))?;
        }
    }
    Ok(())
}

fn remove(disk: &dyn Disk, name: &str) -> Result<(), Error> {
    disk.remove(name).map_err(|source| Error::io("delete", &disk.name().join(name), source))
}
