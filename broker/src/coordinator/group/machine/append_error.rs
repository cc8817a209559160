//! What clients are told when the log does not take a record.

use ottla_protocol::message::ErrorCode;

/// Maps an error of the log to the answer of a commit (Kafka: `GroupMetadataManager.createPutCacheCallback`).
pub(super) fn commit_error(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotEnoughReplicasAfterAppend => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotLeaderOrFollower | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge | ErrorCode::InvalidFetchSize => {
            ErrorCode::InvalidCommitOffsetSize
        }
        ErrorCode::NetworkException => ErrorCode::CoordinatorLoadInProgress,
        other => other,
    }
}

/// Maps an error of the log to the answer of a join or sync (Kafka: `GroupMetadataManager.storeGroup`).
pub(super) fn store_error(error: ErrorCode) -> ErrorCode {
    match error {
        ErrorCode::UnknownTopicOrPartition
        | ErrorCode::NotEnoughReplicas
        | ErrorCode::NotEnoughReplicasAfterAppend => ErrorCode::CoordinatorNotAvailable,
        ErrorCode::NotLeaderOrFollower | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
        ErrorCode::RequestTimedOut => ErrorCode::RebalanceInProgress,
        ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge | ErrorCode::InvalidFetchSize => {
            ErrorCode::UnknownServerError
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_errors_become_what_clients_understand() {
        use ErrorCode as E;
        let rows = [
            (E::UnknownTopicOrPartition, E::CoordinatorNotAvailable, E::CoordinatorNotAvailable),
            (E::NotEnoughReplicas, E::CoordinatorNotAvailable, E::CoordinatorNotAvailable),
            (E::NotEnoughReplicasAfterAppend, E::CoordinatorNotAvailable, E::CoordinatorNotAvailable),
            (E::NotLeaderOrFollower, E::NotCoordinator, E::NotCoordinator),
            (E::KafkaStorageError, E::NotCoordinator, E::NotCoordinator),
            (E::MessageTooLarge, E::InvalidCommitOffsetSize, E::UnknownServerError),
            (E::RecordListTooLarge, E::InvalidCommitOffsetSize, E::UnknownServerError),
            (E::InvalidFetchSize, E::InvalidCommitOffsetSize, E::UnknownServerError),
            (E::RequestTimedOut, E::RequestTimedOut, E::RebalanceInProgress),
            (E::NetworkException, E::CoordinatorLoadInProgress, E::NetworkException),
        ];
        for (log, commit, store) in rows {
            assert_eq!(commit_error(log), commit, "commit: {log:?}");
            assert_eq!(store_error(log), store, "store: {log:?}");
        }
    }
}
