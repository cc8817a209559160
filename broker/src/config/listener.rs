//! Listeners: `NAME://host:port`.

use std::fmt;

/// How bytes travel on a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecurityProtocol {
    /// Neither encrypted nor authenticated.
    Plaintext,
    /// TLS.
    Ssl,
    /// SASL without TLS.
    SaslPlaintext,
    /// SASL over TLS.
    SaslSsl,
}

impl SecurityProtocol {
    /// Returns the name used in configuration and in broker registrations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Ssl => "SSL",
            Self::SaslPlaintext => "SASL_PLAINTEXT",
            Self::SaslSsl => "SASL_SSL",
        }
    }

    /// Returns the number used in UpdateMetadata.
    #[must_use]
    pub fn code(self) -> i16 {
        match self {
            Self::Plaintext => 0,
            Self::Ssl => 1,
            Self::SaslPlaintext => 2,
            Self::SaslSsl => 3,
        }
    }

    /// Returns the protocol of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Plaintext, Self::Ssl, Self::SaslPlaintext, Self::SaslSsl]
            .into_iter()
            .find(|protocol| protocol.name() == name)
    }
}

/// Where a broker listens, or where it says it can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The listener's name, in capital letters.
    pub name: String,
    /// A host name or address, an IPv6 address without its brackets; empty means all interfaces.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
}

impl Listener {
    /// Reads `NAME://host:port`.
    ///
    /// # Errors
    /// A fragment saying what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || "NAME://host:port, as in PLAINTEXT://127.0.0.1:9092".to_owned();
        let (name, address) = text.split_once("://").ok_or_else(expected)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(expected)?;
        let named =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if !named {
            return Err(expected());
        }
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(expected)?,
            None if host.contains(':') => return Err("an IPv6 address in brackets".to_owned()),
            None => host,
        };
        let port =
            port.parse().map_err(|_bad: std::num::ParseIntError| "a port from 0 to 65535".to_owned())?;
        Ok(Self { name: name.to_ascii_uppercase(), host: host.to_owned(), port })
    }

    /// Returns whether the host stands for every interface of the machine.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        matches!(self.host.as_str(), "" | "0.0.0.0" | "::")
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "{}://[{}]:{}", self.name, self.host, self.port)
        } else {
            write!(f, "{}://{}:{}", self.name, self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hosts_and_ports_are_told_apart() {
        let cases = [
            ("PLAINTEXT://127.0.0.1:9092", "PLAINTEXT://127.0.0.1:9092"),
            ("plaintext://:0", "PLAINTEXT://:0"),
            ("REPL://[::1]:9094", "REPL://[::1]:9094"),
        ];
        for (text, printed) in cases {
            assert_eq!(Listener::parse(text).unwrap().to_string(), printed);
        }
        for text in
            ["", "127.0.0.1:9092", "A://h", "A://h:70000", "A B://h:1", "A://::1:9092", "A://[::1:9092"]
        {
            assert!(Listener::parse(text).is_err(), "{text}");
        }
    }
}
