//! A hop on loopback between the ZooKeeper client and the servers, one listener per server.
//!
//! It exists because the client crate keeps two things to itself. The session's password: the broker's runtime file
//! needs it, so that whoever knows that the process has ended can close the session for it. And the socket: the client
//! leaves Nagle's algorithm on, which holds back a pipelined request until the one before it is acknowledged; the relay
//! acknowledges at once, and sends on without delay. It changes no byte.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use zookeeper_client::SessionId;

/// The first answer of a server: length, protocol version, timeout, session id, password length, password.
const CONNECT_RESPONSE_HEAD: usize = 4 + 4 + 4 + 8 + 4;
/// What ZooKeeper servers use; a longer one is not a ZooKeeper answer.
const PASSWORD_LENGTH_MAX: usize = 64;
const CHUNK: usize = 64 * 1024;

/// The id and password of the session that was last granted.
#[derive(Clone, Default)]
pub(super) struct Granted {
    pub(super) session_id: i64,
    pub(super) password: Vec<u8>,
}

#[derive(Default)]
struct Learnt {
    granted: Mutex<Granted>,
    last_error: Mutex<Option<String>>,
}

/// The listeners; they stop when this is dropped.
pub(super) struct Relay {
    ports: Vec<u16>,
    learnt: Arc<Learnt>,
    listeners: Vec<AbortHandle>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.listeners.iter().for_each(AbortHandle::abort);
    }
}

impl Relay {
    /// Opens a listener for each of `servers`; a server that takes longer than `connect_timeout` is given up.
    pub(super) async fn start(servers: &[(String, u16)], connect_timeout: Duration) -> io::Result<Self> {
        let learnt = Arc::new(Learnt::default());
        let mut ports = Vec::with_capacity(servers.len());
        let mut listeners = Vec::with_capacity(servers.len());
        for server in servers {
            let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
            ports.push(listener.local_addr()?.port());
            let task = accept(listener, server.clone(), connect_timeout, Arc::clone(&learnt));
            listeners.push(tokio::spawn(task).abort_handle());
        }
        Ok(Self { ports, learnt, listeners })
    }

    /// Returns the addresses to give to the client, without a chroot.
    pub(super) fn connect_string(&self) -> String {
        let servers: Vec<String> = self.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        servers.join(",")
    }

    /// Returns the password of `session`, once its server has granted it.
    pub(super) fn password(&self, session: SessionId) -> Option<Vec<u8>> {
        let granted = self.learnt.granted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (granted.session_id == session.0).then(|| granted.password.clone())
    }

    /// Returns why the last attempt to reach a server failed.
    pub(super) fn last_error(&self) -> Option<String> {
        self.learnt.last_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

impl Learnt {
    fn failed(&self, reason: Option<String>) {
        *self.last_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = reason;
    }
}

async fn accept(
    listener: TcpListener,
    server: (String, u16),
    connect_timeout: Duration,
    learnt: Arc<Learnt>,
) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            // Out of descriptors, most likely; the client tries again by itself.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (host, port) = server.clone();
        let learnt = Arc::clone(&learnt);
        tokio::spawn(async move {
            let connect = TcpStream::connect((host.as_str(), port));
            match tokio::time::timeout(connect_timeout, connect).await {
                Ok(Ok(upstream)) => {
                    learnt.failed(Some(format!("{host}:{port} closed the connection")));
                    relay(client, upstream, &learnt).await;
                }
                Ok(Err(error)) => learnt.failed(Some(format!("{host}:{port}: {error}"))),
                Err(_elapsed) => learnt.failed(Some(format!("{host}:{port}: no answer"))),
            }
        });
    }
}

/// Carries bytes both ways until one side ends; then both connections are closed.
async fn relay(client: TcpStream, upstream: TcpStream, learnt: &Learnt) {
    // A socket that refuses the option still carries bytes, only later.
    let _ignored = (client.set_nodelay(true), upstream.set_nodelay(true));
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_upstream, mut to_upstream) = upstream.into_split();
    let requests = async {
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = from_client.read(&mut buffer).await?;
            let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
                return io::Result::Ok(());
            };
            let _ignored = rustix::net::sockopt::set_tcp_quickack(from_client.as_ref().as_fd(), true);
            to_upstream.write_all(bytes).await?;
        }
    };
    let answers = async {
        let mut buffer = vec![0; CHUNK];
        let mut first = Vec::new();
        let mut greeted = false;
        loop {
            let count = from_upstream.read(&mut buffer).await?;
            let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
                return io::Result::Ok(());
            };
            if !greeted {
                first.extend_from_slice(bytes);
                if let Some(granted) = parse_connect_response(&first) {
                    learnt.failed(None);
                    *learnt.granted.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = granted;
                    greeted = true;
                    first = Vec::new();
                } else if first.len() > CONNECT_RESPONSE_HEAD + PASSWORD_LENGTH_MAX {
                    learnt.failed(Some("the server does not speak ZooKeeper's protocol".to_owned()));
                    return Ok(());
                }
            }
            to_client.write_all(bytes).await?;
        }
    };
    tokio::select! {
        _ = requests => {}
        _ = answers => {}
    }
}

/// Reads a server's first answer; nothing while it is incomplete.
fn parse_connect_response(bytes: &[u8]) -> Option<Granted> {
    let session_id = i64::from_be_bytes(bytes.get(12..20)?.try_into().ok()?);
    let length = i32::from_be_bytes(bytes.get(20..24)?.try_into().ok()?);
    let length = usize::try_from(length).ok().filter(|length| *length <= PASSWORD_LENGTH_MAX)?;
    let password = bytes.get(CONNECT_RESPONSE_HEAD..CONNECT_RESPONSE_HEAD + length)?.to_vec();
    Some(Granted { session_id, password })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(password: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&i32::try_from(20 + password.len() + 1).unwrap().to_be_bytes());
        bytes.extend_from_slice(&0_i32.to_be_bytes());
        bytes.extend_from_slice(&18_000_i32.to_be_bytes());
        bytes.extend_from_slice(&0x1234_5678_9abc_i64.to_be_bytes());
        bytes.extend_from_slice(&i32::try_from(password.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(password);
        bytes.push(0);
        bytes
    }

    #[test]
    fn the_password_is_read_once_it_is_whole() {
        let bytes = response(b"0123456789abcdef");
        for end in 0..CONNECT_RESPONSE_HEAD + 16 {
            assert!(parse_connect_response(&bytes[..end]).is_none(), "{end}");
        }
        let granted = parse_connect_response(&bytes).unwrap();
        assert_eq!(granted.session_id, 0x1234_5678_9abc);
        assert_eq!(granted.password, b"0123456789abcdef");
    }

    #[test]
    fn a_claim_of_a_huge_password_is_not_believed() {
        let mut bytes = response(b"0123456789abcdef");
        bytes[20..24].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(parse_connect_response(&bytes).is_none());
        bytes[20..24].copy_from_slice(&(-1_i32).to_be_bytes());
        assert!(parse_connect_response(&bytes).is_none());
    }
}
