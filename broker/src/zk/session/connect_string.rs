//! `host:port,host:port/chroot`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

const DEFAULT_PORT: u16 = 2181;

/// Where ZooKeeper is, and below which node the cluster lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectString {
    /// The servers: host without brackets, and port.
    pub servers: Vec<(String, u16)>,
    /// The node that everything lies below, empty for the root, else `/a/b`.
    pub chroot: String,
}

/// Why a text is not a connect string.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a ZooKeeper address: {reason}; write host:port,host:port/chroot")]
pub struct ConnectStringError {
    text: String,
    reason: String,
}

impl FromStr for ConnectString {
    type Err = ConnectStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason: String| ConnectStringError { text: text.to_owned(), reason };
        let (servers, chroot) = match text.find('/') {
            Some(slash) => text.split_at(slash),
            None => (text, ""),
        };
        let servers = servers.split(',').map(|server| parse_server(server.trim())).collect::<Result<_, _>>();
        let chroot = chroot.trim_end_matches('/');
        if chroot.contains("//") || chroot.split('/').any(|part| part == "." || part == "..") {
            return Err(fail(format!("{chroot:?} is not a path")));
        }
        if chroot.contains(',') {
            return Err(fail("the chroot comes once, after the last server".to_owned()));
        }
        Ok(Self { servers: servers.map_err(fail)?, chroot: chroot.to_owned() })
    }
}

fn parse_server(server: &str) -> Result<(String, u16), String> {
    let (host, port) = match server.rsplit_once(':') {
        // A bare IPv6 address has colons and no brackets around it.
        Some((host, _)) if host.contains(':') && !host.ends_with(']') => (server, None),
        Some((host, port)) => (host, Some(port)),
        None => (server, None),
    };
    let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() {
        return Err("a server has no host".to_owned());
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => match port.parse() {
            Ok(0) | Err(_) => return Err(format!("{port:?} is not a port")),
            Ok(port) => port,
        },
    };
    Ok((host.to_owned(), port))
}

impl fmt::Display for ConnectString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (host, port)) in self.servers.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if host.contains(':') {
                write!(f, "{comma}[{host}]:{port}")?;
            } else {
                write!(f, "{comma}{host}:{port}")?;
            }
        }
        f.write_str(&self.chroot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted() {
        let cases = [
            ("h", "h:2181"),
            ("h:1", "h:1"),
            ("a:1,b:2/kafka/dev", "a:1,b:2/kafka/dev"),
            ("a:1, b:2/", "a:1,b:2"),
            ("[::1]:2181/c", "[::1]:2181/c"),
            ("::1", "[::1]:2181"),
        ];
        for (text, shown) in cases {
            assert_eq!(text.parse::<ConnectString>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn refused() {
        for text in ["", ":2181", "h:x", "h:0", "h:70000", "a:1,,b:2", "h:1/a//b", "h:1/../x", "a:1/c,b:2/d"]
        {
            assert!(text.parse::<ConnectString>().is_err(), "{text}");
        }
    }
}
