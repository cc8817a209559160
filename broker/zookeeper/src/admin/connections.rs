//! `cons` and `dump`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::figures::{ConnectionFigures, Figures};
use crate::jute::op;
use crate::types::{ConnectionId, Millis};

pub(super) fn write_brief(
    figures: &Figures<'_>,
    id: ConnectionId,
    peer: &ConnectionFigures<'_>,
    text: &mut String,
) {
    let statistics = &peer.statistics;
    writeln!(
        text,
        " /{}[{}](queued={},recved={},sent={})",
        peer.address,
        interest(figures, id),
        peer.outstanding,
        statistics.packets_received,
        statistics.packets_sent
    )
    .expect("a string takes everything");
}

pub(super) fn connections(figures: &Figures<'_>) -> String {
    let mut text = String::new();
    for (id, peer) in &figures.connections {
        write_full(figures, *id, peer, &mut text);
    }
    text.push('\n');
    text
}

fn write_full(figures: &Figures<'_>, id: ConnectionId, peer: &ConnectionFigures<'_>, text: &mut String) {
    let connection = figures.machine.connection(id);
    let Some((session, timeout_ms)) = connection.and_then(|connection| connection.session_and_timeout())
    else {
        return write_brief(figures, id, peer, text);
    };
    let statistics = &peer.statistics;
    let latency = &statistics.latency;
    writeln!(
        text,
        " /{}[{}](queued={},recved={},sent={},sid={session},lop={},est={},to={timeout_ms},lcxid=0x{:x},lzxid=0x{:x},\
         lresp={},llat={},minlat={},avglat={},maxlat={})",
        peer.address,
        interest(figures, id),
        peer.outstanding,
        statistics.packets_received,
        statistics.packets_sent,
        operation_name(statistics.last_op),
        statistics.established_wall_ms,
        statistics.last_xid,
        statistics.last_zxid.0,
        statistics.last_response_ms,
        latency.last_ms,
        latency.min_ms,
        latency.average_ms().round(),
        latency.max_ms
    )
    .expect("a string takes everything");
}

/// The interest of the real server's selector: reading, unless the connection is a word's.
fn interest(figures: &Figures<'_>, id: ConnectionId) -> u8 {
    u8::from(figures.machine.connection(id).is_some_and(|connection| connection.session().is_some()))
}

/// The names of `Request.op2String` that the real server shows in `lop`.
fn operation_name(code: i32) -> &'static str {
    match code {
        op::CREATE | op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => "CREA",
        op::DELETE => "DELE",
        op::EXISTS => "EXIS",
        op::GET_DATA => "GETD",
        op::SET_DATA => "SETD",
        op::GET_ACL => "GETA",
        op::SET_ACL => "SETA",
        op::GET_CHILDREN => "GETC",
        op::GET_CHILDREN2 => "GETC",
        op::SYNC => "SYNC",
        op::PING => "PING",
        op::MULTI => "MULT",
        op::MULTI_READ => "MLTR",
        op::CHECK_WATCHES => "CHKW",
        op::REMOVE_WATCHES => "REMW",
        op::SET_WATCHES => "SETW",
        op::SET_WATCHES2 => "STW2",
        op::ADD_WATCH => "ADDW",
        op::GET_EPHEMERALS => "GETE",
        op::GET_ALL_CHILDREN_NUMBER => "GETACN",
        op::WHO_AM_I => "HOMI",
        op::CLOSE_SESSION => "CLOS",
        0 => "SESS",
        _ => "NA",
    }
}

pub(super) fn sessions(figures: &Figures<'_>) -> String {
    let mut text = "SessionTracker dump:\n".to_owned();
    let expiry = figures.machine.expiry();
    let count: usize = expiry.iter().map(|(_, sessions)| sessions.len()).sum();
    line(&mut text, format_args!("Session Sets ({})/({count}):", expiry.iter().len()));
    for (deadline, sessions) in expiry.iter() {
        line(&mut text, format_args!("{} expire at {}:", sessions.len(), wall_time(figures, deadline)));
        for session in sessions {
            line(&mut text, format_args!("\t{session}"));
        }
    }
    line(&mut text, format_args!("ephemeral nodes dump:"));
    let ephemerals = figures.machine.state().tree.ephemerals();
    line(&mut text, format_args!("Sessions with Ephemerals ({}):", ephemerals.len()));
    for (session, paths) in ephemerals {
        line(&mut text, format_args!("{session}:"));
        for path in paths {
            line(&mut text, format_args!("\t{path}"));
        }
    }
    line(&mut text, format_args!("Connections dump:"));
    let sets = connection_sets(figures);
    line(&mut text, format_args!("Connections Sets ({})/({}):", sets.len(), figures.connections.len()));
    for (deadline, lines) in sets {
        line(&mut text, format_args!("{} expire at {}:", lines.len(), wall_time(figures, deadline)));
        for connection in lines {
            line(&mut text, format_args!("\t{connection}"));
        }
    }
    text
}

/// Connections by the time at which they end unless something is heard from them: with their session, or when they
/// have not asked for one in time.
fn connection_sets(figures: &Figures<'_>) -> BTreeMap<Millis, Vec<String>> {
    let now = figures.now;
    let mut sets: BTreeMap<Millis, Vec<String>> = BTreeMap::new();
    for (id, peer) in &figures.connections {
        let session = figures.machine.connection(*id).and_then(|connection| connection.session());
        let with_session = session.and_then(|session| {
            figures.machine.expiry().iter().find(|(_, sessions)| sessions.contains(&session))
        });
        let age_ms = now.wall_ms.saturating_sub(peer.statistics.established_wall_ms);
        let without = now.monotonic_ms.saturating_sub(age_ms).saturating_add(figures.sessionless_max_ms);
        let deadline = with_session.map_or(without, |(deadline, _)| deadline);
        let session = session.map_or_else(|| "0x0".to_owned(), |session| session.to_string());
        let line = format!("ip: /{} sessionId: {session}", peer.address);
        sets.entry(deadline).or_default().push(line);
    }
    sets
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("a string takes everything");
}

/// The wall time of a deadline of this process, as Java prints a date.
fn wall_time(figures: &Figures<'_>, deadline_ms: Millis) -> String {
    let now = figures.now;
    let wall_ms = now.wall_ms.saturating_add(deadline_ms.saturating_sub(now.monotonic_ms));
    super::environment::java_date(wall_ms)
}
