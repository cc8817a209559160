//! `wchs`, `wchc` and `wchp`. Unlike the real server these count child watches too, which is what `zk_watch_count`
//! has always done.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use super::figures::Figures;
use crate::types::ConnectionId;

pub(super) fn summary(figures: &Figures<'_>) -> String {
    let watches = figures.machine.watches();
    format!(
        "{} connections watching {} paths\nTotal watches:{}\n",
        watches.by_connection().len(),
        watches.by_path().len(),
        watches.count()
    )
}

pub(super) fn by_session(figures: &Figures<'_>) -> String {
    let mut text = String::new();
    for (connection, paths) in figures.machine.watches().by_connection() {
        write_group(&mut text, &session(figures, connection), paths.iter().map(Arc::to_string));
    }
    text.push('\n');
    text
}

pub(super) fn by_path(figures: &Figures<'_>) -> String {
    let mut text = String::new();
    for (path, connections) in figures.machine.watches().by_path() {
        let sessions: BTreeSet<String> = connections.into_iter().map(|id| session(figures, id)).collect();
        write_group(&mut text, &path, sessions.into_iter());
    }
    text.push('\n');
    text
}

fn session(figures: &Figures<'_>, connection: ConnectionId) -> String {
    let session = figures.machine.connection(connection).and_then(|connection| connection.session());
    session.map_or_else(|| "0x0".to_owned(), |session| session.to_string())
}

fn write_group(text: &mut String, head: &str, items: impl Iterator<Item = String>) {
    writeln!(text, "{head}").expect("a string takes everything");
    for item in items {
        writeln!(text, "\t{item}").expect("a string takes everything");
    }
}
