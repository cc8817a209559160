//! What the machine itself can do: a loop of `write` to a file, and a loop of `sendfile` to a socket.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How large the writes are: a producer's batch.
const WRITE_BYTES: usize = 64 * 1024;
/// How large the pieces sent are, as in the broker.
const SEND_BYTES: usize = 256 * 1024;

/// Returns how long it takes to write `bytes` to a new file and not sync it.
pub(crate) fn write(bytes: u64) -> Duration {
    let mut file = tempfile::tempfile().unwrap();
    let piece = vec![b'x'; WRITE_BYTES];
    let started = Instant::now();
    let mut left = bytes;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(WRITE_BYTES);
        file.write_all(&piece[..count]).unwrap();
        left -= count as u64;
    }
    started.elapsed()
}

/// Returns how long it takes to send `bytes` of a warm file to a reader that copies them to its memory.
pub(crate) fn sendfile(bytes: u64) -> Duration {
    let mut file = tempfile::tempfile().unwrap();
    let piece = vec![b'x'; SEND_BYTES];
    for _ in 0..bytes.div_ceil(SEND_BYTES as u64) {
        file.write_all(&piece).unwrap();
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let reader = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = vec![0; 1024 * 1024];
        while stream.read(&mut buffer).unwrap() > 0 {}
    });
    let stream = TcpStream::connect(address).unwrap();
    let started = Instant::now();
    send_all(&file, &stream, bytes);
    drop(stream);
    reader.join().unwrap();
    started.elapsed()
}

fn send_all(file: &File, stream: &TcpStream, bytes: u64) {
    let mut position = 0;
    while position < bytes {
        let count = usize::try_from(bytes - position).unwrap_or(usize::MAX).min(SEND_BYTES);
        let sent = rustix::fs::sendfile(stream, file, Some(&mut position), count).unwrap();
        assert!(sent > 0, "the file is as long as it was written");
    }
}
