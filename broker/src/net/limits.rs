//! How many connections there may be, in all and from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::config::BrokerConfig;

/// Counts the open connections.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLimits {
    counts: Mutex<Counts>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    total: i32,
    by_address: HashMap<IpAddr, i32>,
}

/// What is to be done with a new connection.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may stay as long as the place is held.
    Admitted(Place),
    /// Its address has too many.
    AddressFull,
    /// The broker has too many: it waits until one ends.
    BrokerFull,
}

/// The place of one connection; given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    limits: Arc<ConnectionLimits>,
    address: IpAddr,
}

impl ConnectionLimits {
    /// Asks for a place for a connection from `address`.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, config: &BrokerConfig) -> Admission {
        let mut counts = self.lock();
        if counts.total >= config.max_connections {
            return Admission::BrokerFull;
        }
        let of_address = counts.by_address.get(&address).copied().unwrap_or(0);
        if of_address >= config.connections_limit_of(address) {
            return Admission::AddressFull;
        }
        counts.total += 1;
        counts.by_address.insert(address, of_address + 1);
        Admission::Admitted(Place { limits: Arc::clone(self), address })
    }

    /// Waits until a connection ends.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn give_back(&self, address: IpAddr) {
        let mut counts = self.lock();
        counts.total -= 1;
        if let Some(count) = counts.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.by_address.remove(&address);
            }
        }
        drop(counts);
        self.freed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.limits.give_back(self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn places_are_counted_in_all_and_for_each_address() {
        let config =
            BrokerConfig { max_connections: 3, max_connections_per_ip: 2, ..BrokerConfig::default() };
        let limits = Arc::new(ConnectionLimits::default());
        let first = limits.admit(address(1), &config);
        let second = limits.admit(address(1), &config);
        assert!(matches!((&first, &second), (Admission::Admitted(_), Admission::Admitted(_))));
        assert!(matches!(limits.admit(address(1), &config), Admission::AddressFull));
        let third = limits.admit(address(2), &config);
        assert!(matches!(limits.admit(address(3), &config), Admission::BrokerFull));
        drop((first, third));
        assert!(matches!(limits.admit(address(1), &config), Admission::Admitted(_)));
        drop(second);
        assert!(limits.lock().by_address.is_empty());
    }
}
