//! Producer ids: handed out one by one from blocks of a thousand that the cluster gives to brokers.
//!
//! A block is taken by writing it into `/latest_producer_id_block` against the node's version, as Kafka's brokers and
//! controllers do; ids of a block that a broker did not use up before it stopped are lost.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::types::BrokerId;
use crate::zk::Zk;
use crate::zk::layout::producer_ids::{BLOCK_SIZE, PATH, ProducerIdBlock};
use crate::zk::session::{Error, Handle};

/// The next block is taken once this many ids are left of the one at hand.
const LOW_MARK: i64 = BLOCK_SIZE / 10;

/// Why there is no id.
#[derive(Debug, thiserror::Error)]
pub enum ProducerIdError {
    /// ZooKeeper did not give a block.
    #[error("take a block of producer ids: {0}")]
    Zookeeper(#[from] Error),
    /// The cluster has no ids left.
    #[error("all producer ids of the cluster are used up")]
    UsedUp,
}

/// The ids that this broker may hand out.
#[derive(Debug)]
pub struct ProducerIds {
    broker: BrokerId,
    zk: Zk,
    at_hand: Mutex<AtHand>,
    /// One block is taken at a time; whoever waits finds the block of the one before.
    taking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct AtHand {
    /// The next id, and the last of its block.
    current: Option<(i64, i64)>,
    next: Option<ProducerIdBlock>,
}

impl ProducerIds {
    /// Begins without any.
    #[must_use]
    pub fn new(broker: BrokerId, zk: Zk) -> Self {
        Self { broker, zk, at_hand: Mutex::default(), taking: tokio::sync::Mutex::default() }
    }

    /// Returns an id if one is at hand, and whether it is time to call [`ProducerIds::refill`].
    pub fn take(&self) -> (Option<i64>, bool) {
        let mut at_hand = self.lock();
        let id = at_hand.take();
        (id, at_hand.is_low())
    }

    /// Takes another block when few ids are left.
    ///
    /// # Errors
    /// When ZooKeeper does not give one.
    pub async fn refill(&self) -> Result<(), ProducerIdError> {
        let _one_at_a_time = self.taking.lock().await;
        if !self.lock().is_low() {
            return Ok(());
        }
        let block = take_block(&self.zk.session(), self.broker).await?;
        tracing::debug!(first = block.first, last = block.last, "took a block of producer ids");
        self.lock().next = Some(block);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, AtHand> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AtHand {
    fn take(&mut self) -> Option<i64> {
        if self.current.is_none() {
            self.current = self.next.take().map(|block| (block.first, block.last));
        }
        let (id, last) = self.current?;
        self.current = (id < last).then_some((id + 1, last));
        Some(id)
    }

    fn is_low(&self) -> bool {
        self.next.is_none() && self.current.is_none_or(|(id, last)| last - id < LOW_MARK)
    }
}

/// Takes the next block of the cluster for `broker`.
///
/// # Errors
/// When the session is over or there is none left.
pub async fn take_block(session: &Handle, broker: BrokerId) -> Result<ProducerIdBlock, ProducerIdError> {
    session.ensure(PATH).await?;
    loop {
        let (data, version) = match session.get(PATH).await? {
            Some((data, stat)) => (data, stat.version),
            None => return Err(Error::NoNode { operation: "get", path: PATH.to_owned() }.into()),
        };
        let latest = ProducerIdBlock::decode(&data).map_err(Error::from)?;
        let block = ProducerIdBlock::following(latest, broker).ok_or(ProducerIdError::UsedUp)?;
        match session.set(PATH, &block.encode(), Some(version)).await {
            Ok(_) => return Ok(block),
            // Somebody was faster, or an earlier attempt of this one got through without its answer: that block then
            // counts as used, which loses ids and never doubles one.
            Err(Error::BadVersion { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: i64, last: i64) -> Option<ProducerIdBlock> {
        Some(ProducerIdBlock { broker: BrokerId(1), first, last })
    }

    #[test]
    fn ids_rise_over_blocks_and_end() {
        let mut at_hand = AtHand { current: None, next: block(5, 6) };
        assert_eq!([at_hand.take(), at_hand.take(), at_hand.take()], [Some(5), Some(6), None]);
        at_hand.next = block(2000, 2999);
        assert_eq!(at_hand.take(), Some(2000));
    }

    #[test]
    fn the_next_block_is_taken_before_the_last_id() {
        let mut at_hand = AtHand { current: Some((0, 999)), next: None };
        assert!(!at_hand.is_low());
        at_hand.current = Some((901, 999));
        assert!(at_hand.is_low());
        at_hand.next = block(1000, 1999);
        assert!(!at_hand.is_low());
        assert!(AtHand::default().is_low());
    }
}
