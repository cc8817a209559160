//! `/controller`, the ephemeral node of the broker that decides, and `/controller_epoch`, the fence around its writes.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::{BrokerId, ControllerEpoch, Millis};

/// The path of the node that exists while there is a controller.
pub const PATH: &str = "/controller";
/// The path of the node whose data version every write of the controller checks.
pub const EPOCH_PATH: &str = "/controller_epoch";

#[derive(Serialize)]
struct Written {
    version: i32,
    brokerid: BrokerId,
    timestamp: String,
    #[serde(rename = "kraftControllerEpoch")]
    kraft_controller_epoch: i32,
}

#[derive(Deserialize)]
struct Read {
    brokerid: BrokerId,
}

/// Returns the data of `/controller` for `broker`, elected at `now` (since the Unix epoch).
#[must_use]
pub fn encode(broker: BrokerId, now: Millis) -> Vec<u8> {
    render(&Written {
        version: 2,
        brokerid: broker,
        timestamp: now.0.to_string(),
        kraft_controller_epoch: -1,
    })
}

/// Returns the broker that `/controller` names.
///
/// # Errors
/// When the data is neither the node's JSON nor the bare number that the first 0.8 builds wrote.
pub fn decode(data: &[u8]) -> Result<BrokerId, LayoutError> {
    match parse::<Read>(PATH, data) {
        Ok(read) => Ok(read.brokerid),
        Err(error) => decimal(data).map(BrokerId).ok_or(error),
    }
}

/// Returns the data of `/controller_epoch`: decimal text, not JSON.
#[must_use]
pub fn encode_epoch(epoch: ControllerEpoch) -> Vec<u8> {
    epoch.to_string().into_bytes()
}

/// Returns the epoch that `/controller_epoch` holds.
///
/// # Errors
/// When the data is not a decimal number.
pub fn decode_epoch(data: &[u8]) -> Result<ControllerEpoch, LayoutError> {
    decimal(data)
        .map(ControllerEpoch)
        .ok_or_else(|| LayoutError::invalid(EPOCH_PATH, "the data is not a decimal number"))
}

fn decimal(data: &[u8]) -> Option<i32> {
    std::str::from_utf8(data).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_version_2() {
        assert_eq!(
            encode(BrokerId(3), Millis(1_712_345_678_901)),
            br#"{"version":2,"brokerid":3,"timestamp":"1712345678901","kraftControllerEpoch":-1}"#
        );
    }

    #[test]
    fn reads_every_version() {
        for data in [
            br#"{"version":2,"brokerid":3,"timestamp":"1712345678901","kraftControllerEpoch":-1}"#.as_slice(),
            br#"{"version":1,"brokerid":3,"timestamp":"1712345678901"}"#,
            b"3",
        ] {
            assert_eq!(decode(data).unwrap(), BrokerId(3));
        }
        assert!(decode(b"").is_err());
        assert!(decode(b"{}").is_err());
    }

    #[test]
    fn the_epoch_is_decimal_text() {
        assert_eq!(encode_epoch(ControllerEpoch(17)), b"17");
        assert_eq!(decode_epoch(b"17").unwrap(), ControllerEpoch(17));
        assert!(decode_epoch(b"").is_err());
        assert!(decode_epoch(b"x").is_err());
    }
}
