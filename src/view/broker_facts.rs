//! What is known of a broker, a fact per row.

use ottla_broker::types::Millis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::chrome::old;
use super::pane::top;
use super::scene::Scene;
use super::words::{age, byte_rate, bytes, clock, percent, short, span};
use crate::model::{Broker, Process, ProcessState, Usage};
use crate::widget::put_line;

/// Readings of metrics older than this are marked.
const FRESH: Millis = Millis(5_000);

/// What is known under which name.
pub(super) type Facts = Vec<(&'static str, String)>;

/// Returns what is known of a broker.
pub(super) fn broker_facts(scene: &Scene<'_>, broker: &Broker) -> Facts {
    let mut facts = vec![("registered", registration(broker))];
    if let Some(process) = &broker.process {
        facts.extend(process_facts(scene, process));
    }
    let share = scene.model.summary.share(broker.id);
    facts.push((
        "partitions",
        format!("leads {}, preferred for {}, copies {}", share.leaders, share.preferred, share.replicas),
    ));
    facts.push(("replicas", format!("{} not in sync, {} records behind", share.out_of_sync, share.lag)));
    facts.extend(network_facts(scene, broker));
    if let Some(software) = &broker.software {
        facts.push(("software", software.clone()));
    }
    facts
}

fn registration(broker: &Broker) -> String {
    match &broker.registration {
        Some(registration) if broker.registered => {
            let rack = registration.rack.as_ref().map_or_else(String::new, |rack| format!(", rack {rack}"));
            format!("{}:{}{rack}, epoch {}", registration.host, registration.port, registration.epoch)
        }
        Some(_) => "not any more".to_owned(),
        None => "not yet".to_owned(),
    }
}

/// Returns what is known of a process.
pub(super) fn process_facts(scene: &Scene<'_>, process: &Process) -> Facts {
    let mut facts = Vec::new();
    if let Some(state) = &process.state {
        facts.push(("process", describe(scene, state)));
    }
    if let Some(usage) = process.usage {
        facts.extend(usage_facts(scene, usage));
    }
    facts
}

fn usage_facts(scene: &Scene<'_>, usage: Usage) -> Facts {
    let started = usage
        .started_at
        .map_or_else(String::new, |at| format!(", up {} since {} UTC", age(scene.now.since(at)), clock(at)));
    let memory = bytes(usage.resident_bytes);
    vec![
        ("cpu", format!("{} of a core{started}", percent(usage.cpu_ratio))),
        ("memory", format!("{memory} resident, {} threads, {} files", usage.threads, usage.open_files)),
        ("disk", format!("{} in its logs, {} free", bytes(usage.disk_bytes), bytes(usage.disk_free_bytes))),
    ]
}

fn network_facts(scene: &Scene<'_>, broker: &Broker) -> Facts {
    let Some(network) = scene.model.networks.get(&broker.id) else { return Vec::new() };
    let old = old(scene, network.seen, FRESH).map_or_else(String::new, |old| format!(" ({old})"));
    let rate = short(network.requests_per_second);
    let (size, max) = (network.sample.request_queue_size, network.request_queue_max);
    let (bytes_in, bytes_out) = (network.bytes_in_per_second, network.bytes_out_per_second);
    vec![
        ("requests", format!("{rate}/s, queue {size} now, {max} at most in a minute{old}")),
        ("traffic", format!("{} in, {} out", byte_rate(bytes_in), byte_rate(bytes_out))),
    ]
}

/// Puts where a process is in its life in words, with the key that helps.
fn describe(scene: &Scene<'_>, state: &ProcessState) -> String {
    let arrow = scene.glyphs.arrow;
    match state {
        ProcessState::Absent => format!("none {arrow} R starts it"),
        ProcessState::Queued => "waits for ZooKeeper".to_owned(),
        ProcessState::Starting { pid: Some(pid) } => format!("pid {pid}, starting"),
        ProcessState::Starting { pid: None } => "being started".to_owned(),
        ProcessState::Running { pid, took: Some(took) } => format!("pid {pid}, started in {}", span(*took)),
        ProcessState::Running { pid, took: None } => format!("pid {pid}, found running"),
        ProcessState::Frozen { pid } => format!("pid {pid}, frozen {arrow} Z lets it go on"),
        ProcessState::Stopping { pid } => format!("pid {pid}, stopping"),
        ProcessState::Stopped => format!("stopped {arrow} R starts it"),
        ProcessState::Died { ending } => format!("died: {ending} {arrow} R starts it"),
        ProcessState::Failed { why } => format!("cannot start: {why}"),
    }
}

/// Draws facts, one per row.
pub(super) fn draw_facts(scene: &Scene<'_>, facts: Facts, area: Rect, buffer: &mut Buffer) {
    let theme = scene.theme;
    let mut rest = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(1), ..area };
    for (label, fact) in facts {
        let (row, below) = top(rest, 1);
        if row.height == 0 {
            break;
        }
        put_line(buffer, row, &[(format!("{label:<11}").into(), theme.label), (fact.into(), theme.base)]);
        rest = below;
    }
}
