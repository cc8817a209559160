//! The nodes that every broker makes sure of when it starts.

/// The paths that exist in every cluster, each persistent and empty; parents come before children.
pub const TOP_PATHS: [&str; 18] = [
    "/consumers",
    "/brokers",
    "/brokers/ids",
    "/brokers/topics",
    "/brokers/seqid",
    "/config",
    "/config/changes",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    "/admin",
    "/admin/delete_topics",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/cluster",
];
