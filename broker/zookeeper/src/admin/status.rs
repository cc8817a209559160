//! `srvr` and `stat`.

use std::fmt::Write;

use super::connections;
use super::figures::Figures;

/// What the server calls itself. Monitors take the number in front for the version of the protocol that they know.
pub(super) fn version() -> String {
    format!("3.8.0-ottla-{}, built on 2026-01-01 00:00 UTC", env!("CARGO_PKG_VERSION"))
}

pub(super) fn server(figures: &Figures<'_>) -> String {
    let mut text = format!("Zookeeper version: {}\n", version());
    write_figures(figures, &mut text);
    text
}

pub(super) fn server_and_clients(figures: &Figures<'_>) -> String {
    let mut text = format!("Zookeeper version: {}\nClients:\n", version());
    for (id, peer) in &figures.connections {
        connections::write_brief(figures, *id, peer, &mut text);
    }
    text.push('\n');
    write_figures(figures, &mut text);
    text
}

fn write_figures(figures: &Figures<'_>, text: &mut String) {
    let statistics = &figures.statistics;
    let state = figures.machine.state();
    let latency = &statistics.latency;
    let lines = [
        format!(
            "Latency min/avg/max: {}/{}/{}",
            latency.min_ms,
            decimal(latency.average_ms()),
            latency.max_ms
        ),
        format!("Received: {}", statistics.packets_received),
        format!("Sent: {}", statistics.packets_sent),
        format!("Connections: {}", figures.connections.len()),
        format!("Outstanding: {}", figures.outstanding),
        format!("Zxid: {}", state.last_zxid),
        "Mode: standalone".to_owned(),
        format!("Node count: {}", node_count(figures)),
    ];
    for line in lines {
        writeln!(text, "{line}").expect("a string takes everything");
    }
}

/// The real server counts its root twice, once under an empty path.
pub(super) fn node_count(figures: &Figures<'_>) -> usize {
    figures.machine.state().tree.node_count().saturating_add(1)
}

/// A mean as Java prints it: at most four decimals, at least one.
pub(super) fn decimal(value: f64) -> String {
    let text = format!("{value:.4}");
    let trimmed = text.trim_end_matches('0');
    if trimmed.ends_with('.') { format!("{trimmed}0") } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn means_look_like_those_of_java() {
        for (value, expected) in [(0.0, "0.0"), (2.125, "2.125"), (1.0 / 3.0, "0.3333"), (10.0, "10.0")] {
            assert_eq!(decimal(value), expected);
        }
    }
}
