//! What each request means: a pool of threads, one router, one file per API.
//!
//! A handler never waits: it answers at once, or hands its [`Reply`] to whoever will know the answer (a purgatory, the
//! controller, a task in the background). To add an API: a file with `handle(api: &Arc<Api>, call: Call<XRequest>)`, and
//! its line in `router.rs`; from there it is advertised too.

mod allocate_producer_ids;
mod alter_configs;
mod alter_partition;
mod alter_partition_reassignments;
mod api;
mod api_versions;
mod call;
mod config_resource;
mod controlled_shutdown;
mod create_partitions;
mod create_topics;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod elect_leaders;
mod fetch;
mod fetch_answer;
mod fetch_legacy;
mod find_coordinator;
mod group_topics;
mod heartbeat;
mod init_producer_id;
mod join_group;
mod leader_and_isr;
mod leaders;
mod leave_group;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod metadata;
#[cfg(test)]
mod network_tests;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod partitions_by_topic;
mod pool;
mod produce;
mod router;
mod sasl;
mod stop_replica;
mod sync_group;
mod topic_starter;
mod update_metadata;
mod zookeeper_offsets;

pub use api::Api;
pub use call::{Call, Reply};
pub use pool::HandlerPool;
pub use router::{advertised, dispatch};
pub use topic_starter::TopicStarter;
