//! Addresses in ACLs: `10.0.0.0/8`, `127.0.0.1`, and the same for IPv6.

use std::net::IpAddr;

/// A network, or one address when all bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IpRange {
    address: IpAddr,
    bits: u32,
}

impl IpRange {
    pub(super) fn parse(text: &str) -> Option<IpRange> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= bits_max)?,
            None => bits_max,
        };
        Some(IpRange { address, bits })
    }

    pub(super) fn contains(&self, candidate: &str) -> bool {
        match (self.address, candidate.parse()) {
            (IpAddr::V4(network), Ok(IpAddr::V4(address))) => {
                let differing = u32::from(network) ^ u32::from(address);
                differing.checked_shr(32u32.saturating_sub(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), Ok(IpAddr::V6(address))) => {
                let differing = u128::from(network) ^ u128::from(address);
                differing.checked_shr(128u32.saturating_sub(self.bits)).unwrap_or(0) == 0
            }
            (_, Ok(_) | Err(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IpRange;

    #[test]
    fn networks_contain_what_their_bits_say() {
        let cases = [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.0/8", "127.9.9.9", true),
            ("127.0.0.0/8", "128.0.0.1", false),
            ("1.2.3.4/0", "9.9.9.9", true),
            ("::1", "::1", true),
            ("fe80::/10", "fe80::1234", true),
            ("fe80::/10", "127.0.0.1", false),
            ("1.2.3.4", "nonsense", false),
        ];
        for (range, candidate, expected) in cases {
            assert_eq!(
                IpRange::parse(range).unwrap().contains(candidate),
                expected,
                "{candidate} in {range}"
            );
        }
    }

    #[test]
    fn malformed_networks_are_refused() {
        for text in ["", "1.2.3/8", "1.2.3.4/33", "1.2.3.4/", "256.1.1.1", "::1/129", "1.2.3.4/x"] {
            assert_eq!(IpRange::parse(text), None, "{text}");
        }
    }
}
