//! `mntr`: the figures for monitors, one a line, under the real server's names. What it has no counterpart for here is
//! left out rather than made up.

use super::figures::Figures;
use super::statistics::Latency;
use super::status::{decimal, node_count, version};

pub(super) fn metrics(figures: &Figures<'_>) -> String {
    let mut text = String::new();
    for (name, value) in named_values(figures) {
        text.push_str(&format!("zk_{name}\t{value}\n"));
    }
    text
}

fn named_values(figures: &Figures<'_>) -> Vec<(String, String)> {
    let machine = &figures.machine;
    let state = machine.state();
    let statistics = &figures.statistics;
    let ephemerals: usize = state.tree.ephemerals().map(|(_, paths)| paths.len()).sum();
    let latency = &statistics.latency;
    let mut values = vec![
        ("version".to_owned(), version()),
        ("server_state".to_owned(), "standalone".to_owned()),
        ("avg_latency".to_owned(), decimal(latency.average_ms())),
        ("open_file_descriptor_count".to_owned(), open_files().to_string()),
        ("max_file_descriptor_count".to_owned(), open_files_max().to_string()),
    ];
    let numbers: [(&str, u64); 24] = [
        ("max_latency", latency.max_ms),
        ("min_latency", latency.min_ms),
        ("packets_received", statistics.packets_received),
        ("packets_sent", statistics.packets_sent),
        ("num_alive_connections", figures.connections.len() as u64),
        ("outstanding_requests", figures.outstanding as u64),
        ("znode_count", node_count(figures) as u64),
        ("watch_count", machine.watches().count() as u64),
        ("ephemerals_count", ephemerals as u64),
        ("approximate_data_size", state.tree.data_bytes()),
        ("global_sessions", state.sessions.iter().len() as u64),
        ("local_sessions", 0),
        ("uptime", figures.now.monotonic_ms.unsigned_abs()),
        ("bytes_received_count", statistics.bytes_received),
        ("response_bytes", statistics.bytes_sent),
        ("connection_request_count", statistics.connections_accepted),
        ("connection_rejected", statistics.connections_rejected),
        ("connection_drop_count", statistics.connections_dropped),
        ("large_requests_rejected", statistics.large_requests_rejected),
        ("sessionless_connections_expired", statistics.sessionless_connections_expired),
        ("request_throttle_wait_count", statistics.request_throttle_wait_count),
        ("commit_count", statistics.commit_count),
        ("commit_failures", statistics.commit_failures),
        ("slow_connections_closed", statistics.slow_connections_closed),
    ];
    values.extend(numbers.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())));
    push_latency("fsynctime", &statistics.sync_latency, &mut values);
    values
}

fn push_latency(name: &str, latency: &Latency, values: &mut Vec<(String, String)>) {
    values.push((format!("avg_{name}"), decimal(latency.average_ms())));
    let numbers =
        [("min", latency.min_ms), ("max", latency.max_ms), ("cnt", latency.count), ("sum", latency.total_ms)];
    values.extend(numbers.map(|(prefix, value)| (format!("{prefix}_{name}"), value.to_string())));
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn open_files_max() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX)
}
