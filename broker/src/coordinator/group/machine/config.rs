//! What an operator can set about groups.

use crate::types::Millis;

/// Limits and delays of groups, under Kafka's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `group.min.session.timeout.ms`.
    pub min_session_timeout: Millis,
    /// `group.max.session.timeout.ms`.
    pub max_session_timeout: Millis,
    /// `group.max.size`.
    pub max_size: usize,
    /// `group.initial.rebalance.delay.ms`: how long the first members of an empty group wait for more.
    pub initial_rebalance_delay: Millis,
    /// `offset.metadata.max.bytes`.
    pub offset_metadata_max_bytes: usize,
    /// `offsets.retention.minutes`, as milliseconds.
    pub offsets_retention: Millis,
    /// `offsets.retention.check.interval.ms`.
    pub offsets_retention_check_interval: Millis,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            min_session_timeout: Millis(6_000),
            max_session_timeout: Millis(1_800_000),
            max_size: 2_147_483_647,
            initial_rebalance_delay: Millis(3_000),
            offset_metadata_max_bytes: 4_096,
            offsets_retention: Millis(10_080 * 60_000),
            offsets_retention_check_interval: Millis(600_000),
        }
    }
}

/// How long a member that has never been in a generation may wait in its first join: it does not know its id yet and
/// cannot send heartbeats (Kafka: `GroupCoordinator.NewMemberJoinTimeoutMs`).
pub(super) const NEW_MEMBER_JOIN_TIMEOUT: Millis = Millis(300_000);

/// How many ids of one group may be handed out and not yet used; a request beyond is told to retry.
pub(super) const PENDING_MEMBERS_MAX: usize = 10_000;

/// How many offsets one append removes, so that a batch stays far below the size limit of the topic.
pub(super) const TOMBSTONES_PER_APPEND_MAX: usize = 2_000;
