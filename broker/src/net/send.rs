//! Sending a response: bytes gathered, file regions by `sendfile(2)`.
//!
//! Records go from the page cache to the socket without passing through this process. A file that turns out shorter
//! than its region ends the connection: padding would hand the client records that never were.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use bytes::Bytes;
use ottla_protocol::wire::{Part, Region};
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::disk::FileRegion;

/// Bytes handed to one `sendfile`: larger ones were measured to cost more processor time per byte, smaller ones too.
const CHUNK_BYTES: usize = 256 * 1024;
/// Bytes sent without giving other connections of the processor their turn.
const TURN_BYTES: usize = 1024 * 1024;
/// Slices handed to one `sendmsg`.
const MAX_SLICES: usize = 64;

/// Why a response was not sent whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("send: {0}")]
    Io(#[from] io::Error),
    #[error("a log file ends {missing} bytes before the records it should hold")]
    ShortFile { missing: usize },
    #[error("a response holds a region that is no file")]
    UnknownRegion,
    #[error("the client did not read for {0:?}")]
    Stalled(Duration),
}

/// Sends all parts and returns how many bytes they had. Gives up when the client takes nothing for `patience`.
pub(crate) async fn send_parts(
    stream: &TcpStream,
    parts: &[Part],
    patience: Duration,
) -> Result<usize, SendError> {
    let mut sender = Sender { stream, patience, turn: 0 };
    let mut sent = 0;
    let mut rest = parts;
    while let Some(first) = rest.first() {
        match first {
            Part::Bytes(_) => {
                let run =
                    rest.iter().take(MAX_SLICES).take_while(|part| matches!(part, Part::Bytes(_))).count();
                let (bytes, after) = rest.split_at(run);
                sent += sender.bytes(bytes, !after.is_empty()).await?;
                rest = after;
            }
            Part::Region(region) => {
                sent += sender.region(region.as_ref()).await?;
                rest = rest.split_first().map_or(&[], |(_, after)| after);
            }
        }
    }
    Ok(sent)
}

struct Sender<'a> {
    stream: &'a TcpStream,
    patience: Duration,
    /// Bytes sent since others had their turn.
    turn: usize,
}

impl Sender<'_> {
    /// Sends parts that are all bytes. `more` says that something follows: the system then fills its packets.
    async fn bytes(&mut self, parts: &[Part], more: bool) -> Result<usize, SendError> {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        let all: Vec<&Bytes> =
            parts.iter().filter_map(|part| if let Part::Bytes(b) = part { Some(b) } else { None }).collect();
        let total = all.iter().map(|bytes| bytes.len()).sum();
        let mut sent = 0;
        while sent < total {
            let slices = remaining(&all, sent);
            let wrote = self.when_writable(|socket| {
                Ok(sendmsg(socket, &slices, &mut SendAncillaryBuffer::default(), flags)?)
            });
            sent += wrote.await?;
        }
        Ok(total)
    }

    async fn region(&mut self, region: &dyn Region) -> Result<usize, SendError> {
        let region = region.as_any().downcast_ref::<FileRegion>().ok_or(SendError::UnknownRegion)?;
        let file = region.descriptor();
        let mut position = region.position();
        let mut missing = region.size();
        while missing > 0 {
            let chunk = missing.min(CHUNK_BYTES);
            let sent = self
                .when_writable(|socket| Ok(rustix::fs::sendfile(socket, file, Some(&mut position), chunk)?))
                .await?;
            if sent == 0 {
                return Err(SendError::ShortFile { missing });
            }
            missing = missing.saturating_sub(sent);
        }
        Ok(region.size())
    }

    /// Runs `operation` as soon as the socket takes something, and returns the bytes it took.
    async fn when_writable(
        &mut self,
        mut operation: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Result<usize, SendError> {
        loop {
            match self.stream.try_io(Interest::WRITABLE, || operation(self.stream.as_fd())) {
                Ok(sent) => {
                    self.turn += sent;
                    if self.turn >= TURN_BYTES {
                        self.turn = 0;
                        tokio::task::yield_now().await;
                    }
                    return Ok(sent);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let writable = timeout(self.patience, self.stream.writable()).await;
                    writable.map_err(|_elapsed| SendError::Stalled(self.patience))??;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The slices that are left after `sent` bytes.
fn remaining<'a>(all: &[&'a Bytes], mut sent: usize) -> Vec<IoSlice<'a>> {
    let mut slices = Vec::with_capacity(all.len());
    for bytes in all {
        let skip = sent.min(bytes.len());
        sent -= skip;
        if let Some(rest) = bytes.get(skip..).filter(|rest| !rest.is_empty()) {
            slices.push(IoSlice::new(rest));
        }
    }
    slices
}
