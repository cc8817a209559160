//! What an operator can set about groups.

use crate::config::BrokerConfig;
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

impl Config {
    /// Takes the settings out of the broker's.
    #[must_use]
    pub fn of_broker(broker: &BrokerConfig) -> Self {
        Self {
            min_session_timeout: Millis(broker.group_min_session_timeout_ms.into()),
            max_session_timeout: Millis(broker.group_max_session_timeout_ms.into()),
            max_size: usize::try_from(broker.group_max_size).unwrap_or(usize::MAX),
            initial_rebalance_delay: Millis(broker.group_initial_rebalance_delay_ms.into()),
            offset_metadata_max_bytes: usize::try_from(broker.offset_metadata_max_bytes).unwrap_or(0),
            offsets_retention: Millis(i64::from(broker.offsets_retention_minutes).saturating_mul(60_000)),
            offsets_retention_check_interval: Millis(broker.offsets_retention_check_interval_ms),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_brokers() {
        assert_eq!(Config::of_broker(&BrokerConfig::default()), Config::default());
    }
}
