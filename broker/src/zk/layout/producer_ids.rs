//! `/latest_producer_id_block`: the last thousand producer ids that were given to a broker.

use serde::{Deserialize, Serialize};

use super::LayoutError;
use super::error::{parse, render};
use crate::types::BrokerId;

/// The node's path.
pub const PATH: &str = "/latest_producer_id_block";
/// How many ids a block has.
pub const BLOCK_SIZE: i64 = 1000;

/// A block of producer ids and the broker that it was given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerIdBlock {
    /// The broker that may hand the ids out.
    pub broker: BrokerId,
    /// The first id.
    pub first: i64,
    /// The last id, inclusive.
    pub last: i64,
}

#[derive(Serialize, Deserialize)]
struct Node {
    version: i32,
    broker: BrokerId,
    block_start: String,
    block_end: String,
}

impl ProducerIdBlock {
    /// Returns the block for `broker` that follows `latest`, or nothing when the ids are used up.
    #[must_use]
    pub fn following(latest: Option<Self>, broker: BrokerId) -> Option<Self> {
        let first = match latest {
            None => 0,
            Some(block) if block.last > i64::MAX - 1 - BLOCK_SIZE => return None,
            Some(block) => block.last + 1,
        };
        Some(Self { broker, first, last: first + BLOCK_SIZE - 1 })
    }

    /// Returns the node's data.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        render(&Node {
            version: 1,
            broker: self.broker,
            block_start: self.first.to_string(),
            block_end: self.last.to_string(),
        })
    }

    /// Reads the node; no data means that no block was given out yet.
    ///
    /// # Errors
    /// When the data is not the node's JSON or the ids are no numbers.
    pub fn decode(data: &[u8]) -> Result<Option<Self>, LayoutError> {
        if data.is_empty() {
            return Ok(None);
        }
        let node: Node = parse(PATH, data)?;
        let number = |text: &str| {
            let number = text.parse::<i64>().ok().filter(|number| *number >= 0);
            number.ok_or_else(|| LayoutError::invalid(PATH, format!("{text:?} is not a producer id")))
        };
        Ok(Some(Self {
            broker: node.broker,
            first: number(&node.block_start)?,
            last: number(&node.block_end)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let data = br#"{"version":1,"broker":2,"block_start":"5000","block_end":"5999"}"#;
        let block = ProducerIdBlock { broker: BrokerId(2), first: 5000, last: 5999 };
        assert_eq!(block.encode(), data);
        assert_eq!(ProducerIdBlock::decode(data).unwrap(), Some(block));
        assert_eq!(ProducerIdBlock::decode(b"").unwrap(), None);
        assert!(
            ProducerIdBlock::decode(br#"{"version":1,"broker":2,"block_start":"x","block_end":"5999"}"#)
                .is_err()
        );
    }

    #[test]
    fn blocks_follow_each_other_until_the_end() {
        let block = |first, last| ProducerIdBlock { broker: BrokerId(1), first, last };
        assert_eq!(ProducerIdBlock::following(None, BrokerId(1)), Some(block(0, 999)));
        assert_eq!(ProducerIdBlock::following(Some(block(5000, 5999)), BrokerId(1)), Some(block(6000, 6999)));
        assert_eq!(ProducerIdBlock::following(Some(block(0, i64::MAX - 5)), BrokerId(1)), None);
    }
}
