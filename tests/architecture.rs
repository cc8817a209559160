//! Reads the sources and holds them to the plan of the house: who may use whom, which rooms are pure, how long a file
//! may grow, and that no test file is forgotten. Fails with file, line and rule.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room of a crate: its name, whether it must stay pure, and the rooms it may use directly.
type Room = (&'static str, Purity, &'static [&'static str]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purity {
    Pure,
    Driver,
}
use Purity::{Driver, Pure};

/// Arrows only point down. What a room may use, its users may use too.
const CONSOLE: &[Room] = &[
    (
        "cli",
        Driver,
        &[
            "tui",
            "view",
            "effect",
            "source",
            "recording",
            "action",
            "model",
            "supervisor",
            "load",
            "config",
            "widget",
        ],
    ),
    ("tui", Driver, &["view", "source", "effect", "recording", "config"]),
    ("view", Pure, &["model", "action", "widget", "config"]),
    ("widget", Pure, &["config"]),
    ("action", Pure, &["model"]),
    ("effect", Driver, &["action", "supervisor", "load", "source"]),
    ("source", Driver, &["model", "supervisor"]),
    ("recording", Driver, &["model"]),
    ("model", Pure, &[]),
    ("supervisor", Driver, &[]),
    ("load", Driver, &["model"]),
    ("config", Driver, &[]),
];

const BROKER: &[Room] = &[
    ("broker", Driver, &["node", "handler", "net", "registry", "runtime_file"]),
    ("node", Driver, &["dynamic_config", "handler", "net", "runtime_file"]),
    ("dynamic_config", Driver, &["zk"]),
    (
        "handler",
        Driver,
        &["net", "coordinator", "controller", "replica", "metadata", "registry", "zk", "client"],
    ),
    ("net", Driver, &["security", "disk"]),
    ("coordinator", Driver, &["replica", "zk"]),
    ("controller", Driver, &["zk", "client", "metadata", "dynamic_config"]),
    ("replica", Driver, &["log", "client", "metadata", "purgatory"]),
    ("registry", Driver, &["zk"]),
    ("purgatory", Driver, &[]),
    ("metadata", Driver, &["purgatory"]),
    ("quota", Driver, &[]),
    ("security", Driver, &[]),
    ("log", Driver, &["disk"]),
    ("client", Driver, &[]),
    ("zk", Driver, &[]),
    ("disk", Driver, &[]),
    ("config", Driver, &[]),
    ("metrics", Driver, &[]),
    ("runtime_file", Driver, &[]),
    ("types", Pure, &[]),
];

const PROTOCOL: &[Room] = &[
    ("message", Pure, &["wire", "record"]),
    ("record", Pure, &["wire"]),
    ("internal_topic", Pure, &["wire"]),
    ("wire", Pure, &[]),
];

const ZOOKEEPER: &[Room] = &[
    ("server", Driver, &["machine", "store", "admin"]),
    ("admin", Driver, &["machine"]),
    ("machine", Pure, &["state", "watch", "session", "tree", "jute"]),
    ("watch", Pure, &["tree", "jute"]),
    ("store", Driver, &["state", "session", "tree", "jute"]),
    ("state", Pure, &["session", "tree", "jute"]),
    ("session", Pure, &["digest", "jute"]),
    ("tree", Pure, &["digest", "jute"]),
    ("digest", Pure, &[]),
    ("jute", Pure, &[]),
    ("config", Pure, &[]),
    ("types", Pure, &[]),
];

/// Each crate's sources, its rooms, and the rooms that every other room of it may use.
const CRATES: &[(&str, &[Room], &[&str])] = &[
    ("src", CONSOLE, &["config"]),
    ("broker/src", BROKER, &["types", "config", "metrics"]),
    ("broker/protocol/src", PROTOCOL, &[]),
    ("broker/zookeeper/src", ZOOKEEPER, &["types", "config"]),
];

/// Folders inside driver rooms that are pure themselves.
const PURE_INSIDE: &[&str] = &[
    "src/supervisor/machine",
    "broker/src/controller/machine",
    "broker/src/replica/machine",
    "broker/src/coordinator/group/machine",
    "broker/src/zk/layout",
];

/// A file beyond this many lines, its tests not counted, is asked what its second subject is.
const LINES_MAX: usize = 500;

/// The files that may be longer, how long, and why. The list only shrinks.
const RATCHET: &[(&str, usize, &str)] = &[];

#[test]
fn arrows_only_point_down() {
    let mut wrong = Vec::new();
    for (root, rooms, shared) in CRATES {
        let reach = closure(rooms, shared);
        for file in sources(root) {
            let Some(room) = room_of(&file, root) else { continue };
            let Some(allowed) = reach.get(room.as_str()) else {
                wrong.push(format!("{}: the room '{room}' is not in the plan", file.display()));
                continue;
            };
            for (line, used) in uses(&file) {
                let known = reach.contains_key(used.as_str());
                if known && used != room && !allowed.contains(used.as_str()) {
                    wrong.push(format!("{}:{line}: '{room}' may not use '{used}'", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that point up or sideways:\n{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_carry_the_lints_that_keep_them_pure() {
    let mut folders: Vec<PathBuf> = PURE_INSIDE.iter().map(PathBuf::from).collect();
    for (root, rooms, _) in CRATES {
        folders.extend(rooms.iter().filter(|room| room.1 == Pure).map(|room| Path::new(root).join(room.0)));
    }
    let mut wrong = Vec::new();
    for folder in folders {
        let path = folder.join("mod.rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for lint in ["disallowed_methods", "disallowed_types", "iter_over_hash_type"] {
            let denied = text.lines().any(|line| line.starts_with("#![deny(") && line.contains(lint));
            let denied = denied || text.replace('\n', " ").contains(&format!("clippy::{lint}"));
            if !denied {
                wrong.push(format!("{}: does not deny clippy::{lint}", path.display()));
            }
        }
        for file in sources(folder.to_str().unwrap()) {
            for (number, line) in code_lines(&file) {
                if line.contains("async fn") || line.contains("tokio::") {
                    wrong.push(format!("{}:{number}: a pure room has no async", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_is_something_one_person_can_hold_in_mind() {
    let mut wrong = Vec::new();
    for (root, ..) in CRATES {
        for file in sources(root) {
            let lines = code_lines(&file).len();
            let name = file.to_str().unwrap();
            let max = RATCHET.iter().find(|(path, ..)| *path == name).map_or(LINES_MAX, |(_, max, _)| *max);
            if lines > max {
                wrong.push(format!("{name}: {lines} lines without tests, {max} at most"));
            }
        }
    }
    for (path, max, why) in RATCHET {
        assert!(!why.is_empty(), "{path} is long without a reason");
        let lines = code_lines(Path::new(path)).len();
        if lines <= LINES_MAX || lines + 50 < *max {
            wrong.push(format!("{path}: has shrunk to {lines} lines; tighten the ratchet"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_test_file_is_forgotten() {
    let mut wrong = Vec::new();
    for folder in ["tests", "broker/tests", "broker/protocol/tests", "broker/zookeeper/tests"] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("main.rs").exists()) {
            let named = fs::read_to_string(entry.join("main.rs")).unwrap();
            for file in sources(entry.to_str().unwrap()) {
                let stem = file.file_stem().unwrap().to_str().unwrap();
                let direct = file.parent() == Some(entry.as_path());
                if direct && stem != "main" && !named.contains(&format!("mod {stem};")) {
                    wrong.push(format!("{}: is not part of {}/main.rs", file.display(), entry.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What each room may use, directly or through others.
fn closure(rooms: &[Room], shared: &[&'static str]) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let direct: BTreeMap<_, _> = rooms.iter().map(|(name, _, uses)| (*name, *uses)).collect();
    let mut reach = BTreeMap::new();
    for (name, ..) in rooms {
        let mut seen: BTreeSet<_> = shared.iter().copied().collect();
        let mut open = vec![*name];
        while let Some(next) = open.pop() {
            for used in direct.get(next).copied().unwrap_or_default() {
                if seen.insert(used) {
                    open.push(used);
                }
            }
        }
        reach.insert(*name, seen);
    }
    for (name, uses) in &reach {
        assert!(
            !uses.contains(name) || shared.contains(name),
            "the plan itself has a circle through '{name}'"
        );
    }
    reach
}

/// The rooms named by `crate::…` in a file's code, with their lines.
fn uses(file: &Path) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in code_lines(file) {
        for part in line.split("crate::").skip(1) {
            let inside = part.strip_prefix('{').unwrap_or(part);
            let name: String =
                inside.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            found.push((number, name));
        }
    }
    found
}

/// The lines of a file that are code of the product: comments and everything from the first test on are left out.
fn code_lines(file: &Path) -> Vec<(usize, String)> {
    let name = file.file_name().unwrap().to_str().unwrap();
    if name == "tests.rs" || file.components().any(|part| part.as_os_str() == "tests") {
        return Vec::new();
    }
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines: Vec<&str> = text.lines().collect();
    let end = lines
        .windows(2)
        .position(|pair| {
            pair[0].starts_with("#[cfg(test)]") && pair[1].contains("mod ") && pair[1].ends_with('{')
        })
        .unwrap_or(lines.len());
    let code = lines.iter().take(end).enumerate().map(|(index, line)| (index + 1, (*line).to_owned()));
    code.filter(|(_, line)| !line.trim_start().starts_with("//")).collect()
}

fn room_of(file: &Path, root: &str) -> Option<String> {
    let inside = file.strip_prefix(root).ok()?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    let room = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(room, "lib" | "main")).then(|| room.to_owned())
}

/// All Rust files below a folder, in order.
fn sources(root: &str) -> Vec<PathBuf> {
    let mut open = vec![PathBuf::from(root)];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries.map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                files.push(entry);
            }
        }
    }
    files.sort();
    files
}
