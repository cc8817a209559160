//! The names of the files.

use crate::types::Zxid;

/// The file whose lock says that the directory is in use.
pub(super) const LOCK: &str = "lock";
/// The end of the name of a file that is not complete.
const UNFINISHED: &str = ".tmp";

/// Returns the name of the log whose first transaction is `first`.
pub(super) fn log(first: Zxid) -> String {
    format!("log.{:016x}", first.0)
}

/// Returns the name of the snapshot that ends with transaction `last`.
pub(super) fn snapshot(last: Zxid) -> String {
    format!("snapshot.{:016x}", last.0)
}

/// Returns the name under which a file is written until it is complete.
pub(super) fn unfinished(name: &str) -> String {
    format!("{name}{UNFINISHED}")
}

/// The files of a store, by what they are, each in the order of zxids.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) logs: Vec<Zxid>,
    pub(super) snapshots: Vec<Zxid>,
    pub(super) unfinished: Vec<String>,
}

impl Files {
    /// Sorts names; those that are none of the store's are left alone.
    pub(super) fn sort(names: &[String]) -> Files {
        let mut files = Files::default();
        for name in names {
            if name.ends_with(UNFINISHED) && (name.starts_with("log.") || name.starts_with("snapshot.")) {
                files.unfinished.push(name.clone());
            } else if let Some(zxid) = name.strip_prefix("log.").and_then(parse) {
                files.logs.push(zxid);
            } else if let Some(zxid) = name.strip_prefix("snapshot.").and_then(parse) {
                files.snapshots.push(zxid);
            }
        }
        files.logs.sort();
        files.snapshots.sort();
        files
    }
}

fn parse(text: &str) -> Option<Zxid> {
    if text.len() == 16 { i64::from_str_radix(text, 16).ok().map(Zxid) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_strangers_left_alone() {
        let names: Vec<String> = [
            &*snapshot(Zxid(255)),
            &*log(Zxid(16)),
            &*log(Zxid(1)),
            "lock",
            "log.1",
            "notes.tmp",
            &*unfinished(&snapshot(Zxid(9))),
        ]
        .map(str::to_owned)
        .into();
        let files = Files::sort(&names);
        assert_eq!((files.logs, files.snapshots), (vec![Zxid(1), Zxid(16)], vec![Zxid(255)]));
        assert_eq!(files.unfinished, ["snapshot.0000000000000009.tmp"]);
    }
}
