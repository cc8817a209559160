//! What a log's error is called on the wire.

use ottla_protocol::message::ErrorCode;

use crate::log::Error;

/// The code for a produce that met this error.
pub(super) fn of_append(error: &Error) -> ErrorCode {
    match error {
        Error::CorruptBatch { .. } => ErrorCode::CorruptMessage,
        Error::InvalidRecord { .. } => ErrorCode::InvalidRecord,
        Error::UnknownCompression { .. } => ErrorCode::UnsupportedCompressionType,
        Error::InvalidTimestamp { .. } => ErrorCode::InvalidTimestamp,
        Error::BatchTooLarge { .. } => ErrorCode::MessageTooLarge,
        Error::LargerThanSegment { .. } => ErrorCode::RecordListTooLarge,
        Error::OutOfOrderSequence { .. } => ErrorCode::OutOfOrderSequenceNumber,
        Error::ProducerFenced { .. } => ErrorCode::InvalidProducerEpoch,
        Error::InvalidTransactionState { .. } => ErrorCode::InvalidTxnState,
        Error::CoordinatorFenced { .. } => ErrorCode::TransactionCoordinatorFenced,
        Error::Closed { .. } => ErrorCode::NotLeaderOrFollower,
        other => of_read(other),
    }
}

/// The code for a read that met this error.
pub(super) fn of_read(error: &Error) -> ErrorCode {
    match error {
        Error::OffsetOutOfRange { .. } => ErrorCode::OffsetOutOfRange,
        Error::Damaged { .. } | Error::CorruptBatch { .. } => ErrorCode::CorruptMessage,
        Error::TopicIdMismatch { .. } => ErrorCode::InconsistentTopicId,
        Error::Closed { .. } => ErrorCode::NotLeaderOrFollower,
        Error::Io { .. } | Error::Offline { .. } | Error::Malformed { .. } | Error::Refused { .. } => {
            ErrorCode::KafkaStorageError
        }
        _ => ErrorCode::UnknownServerError,
    }
}
