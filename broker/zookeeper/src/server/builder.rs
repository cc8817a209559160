//! Collects and checks the settings of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::error::Error;
use super::handle::Server;
use crate::config::{Config, Storage};
use crate::types::Millis;

/// Collects the settings of a server and starts it.
///
/// ```
/// use std::time::Duration;
/// let directory = std::env::temp_dir().join(format!("ottla-zookeeper-doc-{}", std::process::id()));
/// let server = ottla_zookeeper::Server::builder()
///     .data_dir(&directory)
///     .ephemeral_port()
///     .tick_time(Duration::from_millis(500))
///     .start()?;
/// server.stop()?;
/// # std::fs::remove_dir_all(directory).ok();
/// # Ok::<(), ottla_zookeeper::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    storage: Option<Storage>,
    min_session_timeout_ms: Option<Millis>,
    max_session_timeout_ms: Option<Millis>,
    config: Config,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            storage: None,
            min_session_timeout_ms: None,
            max_session_timeout_ms: None,
            config: Config {
                storage: Storage::Memory,
                address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2181),
                tick_time_ms: 2_000,
                min_session_timeout_ms: 4_000,
                max_session_timeout_ms: 40_000,
                max_connections: 4_096,
                max_connections_per_address: 1_024,
                max_frame_bytes: 0xf_ffff,
                max_outstanding_requests: 1_000,
                max_unsent_bytes: 64 << 20,
                max_buffered_bytes: 512 << 20,
                snapshot_count: 100_000,
                force_sync: true,
                super_digest: None,
                four_letter_words: vec!["*".to_owned()],
                container_check_interval_ms: 60_000,
            },
        }
    }
}

impl Builder {
    /// Keeps the state in `directory`, which is created with mode 0700 when absent.
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.storage = Some(Storage::Directory(directory.into()));
        self
    }

    /// Keeps the state in memory only.
    pub fn in_memory(mut self) -> Self {
        self.storage = Some(Storage::Memory);
        self
    }

    /// Listens on `address` instead of `127.0.0.1:2181`.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.config.address = address;
        self
    }

    /// Listens on `port` of the address set so far.
    pub fn port(mut self, port: u16) -> Self {
        self.config.address.set_port(port);
        self
    }

    /// Listens on a free port that the system chooses; [`Server::local_addr`] tells it.
    pub fn ephemeral_port(self) -> Self {
        self.port(0)
    }

    /// Sets the unit of session expiry. Session timeouts lie between 2 and 20 ticks unless set otherwise.
    pub fn tick_time(mut self, tick_time: Duration) -> Self {
        self.config.tick_time_ms = millis(tick_time);
        self
    }

    /// Sets the shortest session timeout a client gets, two ticks by default.
    pub fn min_session_timeout(mut self, timeout: Duration) -> Self {
        self.min_session_timeout_ms = Some(millis(timeout));
        self
    }

    /// Sets the longest session timeout a client gets, twenty ticks by default.
    pub fn max_session_timeout(mut self, timeout: Duration) -> Self {
        self.max_session_timeout_ms = Some(millis(timeout));
        self
    }

    /// Limits the connections in all; one more is closed as soon as it is accepted.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.config.max_connections = connections;
        self
    }

    /// Limits the connections from one address.
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.config.max_connections_per_address = connections;
        self
    }

    /// Limits the bytes of one request, as `jute.maxbuffer` does.
    pub fn max_frame_bytes(mut self, bytes: usize) -> Self {
        self.config.max_frame_bytes = bytes;
        self
    }

    /// Limits the requests that wait for their reply, over all connections.
    pub fn max_outstanding_requests(mut self, requests: usize) -> Self {
        self.config.max_outstanding_requests = requests;
        self
    }

    /// Limits the bytes that may wait for a client that does not read; beyond it the connection is closed.
    pub fn max_unsent_bytes(mut self, bytes: usize) -> Self {
        self.config.max_unsent_bytes = bytes;
        self
    }

    /// Limits the bytes of half requests and unsent replies over all connections; the connection that goes beyond it
    /// is closed.
    pub fn max_buffered_bytes(mut self, bytes: usize) -> Self {
        self.config.max_buffered_bytes = bytes;
        self
    }

    /// Sets after how many transactions the log is compacted into a snapshot.
    pub fn snapshot_count(mut self, transactions: u64) -> Self {
        self.config.snapshot_count = transactions;
        self
    }

    /// Sets whether a write is acknowledged only when the disk has it. Without it a write survives the end of the
    /// process but not the loss of power.
    pub fn force_sync(mut self, force_sync: bool) -> Self {
        self.config.force_sync = force_sync;
        self
    }

    /// Names the super user, who passes every ACL: `super:<base64 of the SHA-1 of "super:password">`.
    pub fn super_digest(mut self, digest: impl Into<String>) -> Self {
        self.config.super_digest = Some(digest.into());
        self
    }

    /// Answers only these four-letter words; `*` stands for all.
    pub fn four_letter_words<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.config.four_letter_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how often empty containers and expired TTL nodes are looked for.
    pub fn container_check_interval(mut self, interval: Duration) -> Self {
        self.config.container_check_interval_ms = millis(interval);
        self
    }

    /// Returns the settings, checked and complete.
    ///
    /// # Errors
    /// [`Error::Setting`] names the setting that cannot work.
    pub fn config(self) -> Result<Config, Error> {
        let mut config = self.config;
        config.storage = self.storage.ok_or_else(|| {
            setting("data_dir", "choose a directory, or in_memory() to keep nothing".to_owned())
        })?;
        if config.tick_time_ms < 1 {
            return Err(setting("tick_time", "must be at least one millisecond".to_owned()));
        }
        config.min_session_timeout_ms =
            self.min_session_timeout_ms.unwrap_or(config.tick_time_ms.saturating_mul(2));
        config.max_session_timeout_ms =
            self.max_session_timeout_ms.unwrap_or(config.tick_time_ms.saturating_mul(20));
        check(&config)?;
        Ok(config)
    }

    /// Starts the server: recovers its state, listens, and serves on a thread of its own.
    ///
    /// # Errors
    /// When a setting cannot work, the address cannot be listened on, or the data directory cannot be used.
    pub fn start(self) -> Result<Server, Error> {
        Server::start(self.config()?)
    }
}

fn check(config: &Config) -> Result<(), Error> {
    if config.min_session_timeout_ms < 1 || config.min_session_timeout_ms > config.max_session_timeout_ms {
        let (min, max) = (config.min_session_timeout_ms, config.max_session_timeout_ms);
        return Err(setting(
            "min_session_timeout",
            format!("{min} ms must be at least 1 and at most max_session_timeout, {max} ms"),
        ));
    }
    if i32::try_from(config.max_session_timeout_ms).is_err() {
        return Err(setting("max_session_timeout", "must be below 24 days".to_owned()));
    }
    if config.max_frame_bytes < 1_024 || i32::try_from(config.max_frame_bytes).is_err() {
        return Err(setting("max_frame_bytes", "must be between 1024 and 2147483647".to_owned()));
    }
    let counts = [
        ("max_connections", config.max_connections),
        ("max_connections_per_address", config.max_connections_per_address),
        ("max_outstanding_requests", config.max_outstanding_requests),
        ("max_unsent_bytes", config.max_unsent_bytes),
        ("max_buffered_bytes", config.max_buffered_bytes),
    ];
    for (name, count) in counts {
        if count == 0 {
            return Err(setting(name, "must be at least 1".to_owned()));
        }
    }
    if config.snapshot_count < 2 {
        return Err(setting("snapshot_count", "must be at least 2".to_owned()));
    }
    if config.container_check_interval_ms < 1 {
        return Err(setting("container_check_interval", "must be at least one millisecond".to_owned()));
    }
    Ok(())
}

fn setting(name: &'static str, problem: String) -> Error {
    Error::Setting { name, problem }
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_timeouts_follow_the_tick_unless_set() {
        let config = Builder::default().in_memory().tick_time(Duration::from_millis(100)).config().unwrap();
        assert_eq!((config.min_session_timeout_ms, config.max_session_timeout_ms), (200, 2_000));
        let config = Builder::default()
            .in_memory()
            .min_session_timeout(Duration::from_millis(50))
            .max_session_timeout(Duration::from_secs(60))
            .config()
            .unwrap();
        assert_eq!((config.min_session_timeout_ms, config.max_session_timeout_ms), (50, 60_000));
    }

    #[test]
    fn a_setting_that_cannot_work_is_named() {
        let cases: [(Builder, &str); 5] = [
            (Builder::default(), "data_dir"),
            (Builder::default().in_memory().tick_time(Duration::ZERO), "tick_time"),
            (
                Builder::default().in_memory().min_session_timeout(Duration::from_secs(90)),
                "min_session_timeout",
            ),
            (Builder::default().in_memory().max_frame_bytes(10), "max_frame_bytes"),
            (Builder::default().in_memory().max_connections(0), "max_connections"),
        ];
        for (builder, expected) in cases {
            match builder.config() {
                Err(Error::Setting { name, .. }) => assert_eq!(name, expected),
                other => panic!("{expected}: {other:?}"),
            }
        }
    }
}
