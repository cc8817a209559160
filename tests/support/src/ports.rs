//! Ports that no other test uses at the same time, in this process or another.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::fs::{FlockOperation, flock};

/// How many neighbouring ports a block has.
pub const PORTS_PER_BLOCK: u16 = 16;
/// Below what the kernel gives to outgoing connections.
const FIRST: u16 = 18_000;
const BLOCKS: u16 = 800;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A block of neighbouring ports, held until dropped.
#[derive(Debug)]
pub struct PortBlock {
    first: u16,
    _lock: File,
}

impl PortBlock {
    /// Takes a block that nobody else holds or listens in.
    ///
    /// # Panics
    /// When every block is taken.
    pub fn take() -> Self {
        let folder = std::env::temp_dir().join("ottla-test-ports");
        fs::create_dir_all(&folder).unwrap();
        let start = u16::try_from(std::process::id() % u32::from(BLOCKS)).unwrap();
        for _ in 0..BLOCKS {
            let block = (start + NEXT.fetch_add(1, Ordering::Relaxed) % BLOCKS) % BLOCKS;
            let path = folder.join(block.to_string());
            let lock =
                File::options().write(true).create(true).truncate(false).mode(0o600).open(path).unwrap();
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let first = FIRST + block * PORTS_PER_BLOCK;
            let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
            if (first..first + PORTS_PER_BLOCK).all(free) {
                return Self { first, _lock: lock };
            }
        }
        panic!("no {PORTS_PER_BLOCK} neighbouring ports are free");
    }

    /// Returns the first port of the block.
    pub fn first(&self) -> u16 {
        self.first
    }
}
