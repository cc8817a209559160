//! Finding a port on loopback that nobody has.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// How many ports are tried before giving up.
const ATTEMPTS_MAX: u16 = 1_000;

/// A free port and the ones that were stepped over to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// Nobody listened here a moment ago.
    pub port: u16,
    /// Taken by others, in the order they were tried.
    pub stepped_over: Vec<u16>,
}

/// Returns the first port from `first` on that is free and not in `reserved`.
///
/// The answer can be outdated at once: whoever binds it later must still be ready to fail.
///
/// # Errors
/// `AddrInUse` when none of the next thousand is free.
pub(super) fn choose(first: u16, reserved: &BTreeSet<u16>) -> io::Result<Choice> {
    let mut stepped_over = Vec::new();
    for port in (first..=u16::MAX).take(usize::from(ATTEMPTS_MAX)) {
        if reserved.contains(&port) {
            continue;
        }
        if is_free(port) {
            return Ok(Choice { port, stepped_over });
        }
        stepped_over.push(port);
    }
    Err(io::ErrorKind::AddrInUse.into())
}

/// Returns whether loopback's `port` can be bound now.
pub(super) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_stepped_over_and_named() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let first = taken.local_addr().unwrap().port();
        let choice = choose(first, &BTreeSet::new()).unwrap();
        assert!(choice.port > first);
        assert_eq!(choice.stepped_over.first(), Some(&first));
    }

    #[test]
    fn a_port_of_our_own_is_passed_without_a_word() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let choice = choose(free, &BTreeSet::from([free])).unwrap();
        assert_ne!(choice.port, free);
        assert!(!choice.stepped_over.contains(&free));
    }
}
