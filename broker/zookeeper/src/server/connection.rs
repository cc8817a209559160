//! One connection: bytes to frames, frames to the driver, the outbox to bytes.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use super::driver::Driver;
use super::frames::Frames;
use super::outbox::Outbox;
use crate::admin;
use crate::machine::When;
use crate::types::{ConnectionId, Millis};

/// How long a connection may take until it has a session (`zookeeper.nio.sessionlessCnxnTimeout`).
pub(super) const SESSIONLESS_MAX_MS: Millis = 10_000;
const SESSIONLESS_MAX: Duration = Duration::from_millis(SESSIONLESS_MAX_MS.unsigned_abs());
/// How long the last replies of a connection that is to be closed may take.
const LAST_REPLIES_MAX: Duration = Duration::from_secs(5);
/// How long a client may take to close its side after the last reply.
const LINGER_MAX: Duration = Duration::from_secs(1);
/// Replies that one connection may wait for before its requests are left in the socket.
const OUTSTANDING_MAX: usize = 250;
/// Bytes that one connection may leave unread before its requests are left in the socket.
const UNSENT_BYTES_PAUSE: usize = 1 << 20;
/// Frames in one system call.
const SLICES_MAX: usize = 64;

/// The input of all connections goes through one buffer; what is incomplete moves to the connection's own.
pub(super) type Scratch = Rc<RefCell<Vec<u8>>>;
pub(super) const SCRATCH_BYTES: usize = 64 << 10;

pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) stream: TcpStream,
    pub(super) driver: Rc<RefCell<Driver>>,
    pub(super) outbox: Rc<RefCell<Outbox>>,
    pub(super) scratch: Scratch,
}

/// What ends the loop of a connection.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// Nothing more is to be sent, or can be.
    Drop,
    /// The last replies have been written and must reach the client.
    Linger,
}

/// What was read.
enum Input {
    Frames,
    Nothing,
    Ended,
    Word([u8; 4]),
}

impl Connection {
    pub(super) async fn serve(mut self) {
        let mut frames = Frames::new(self.driver.borrow().config.max_frame_bytes);
        // An error means that the client is gone, or as good as gone; its connection ends like any other.
        if self.run(&mut frames).await.is_ok_and(|end| end == End::Linger) {
            let _client_gone = self.linger().await;
        }
        let mut driver = self.driver.borrow_mut();
        driver.keep(frames.kept_bytes(), 0);
        driver.disconnected(self.id);
    }

    async fn run(&mut self, frames: &mut Frames) -> io::Result<End> {
        let mut start = Some(Vec::new());
        let sessionless_until = Instant::now() + SESSIONLESS_MAX;
        let mut last_replies_until = None;
        let wake = Rc::clone(&self.outbox.borrow().wake);
        loop {
            self.write()?;
            let (closing, is_empty, has_ready) = {
                let outbox = self.outbox.borrow();
                (outbox.closing(), outbox.is_empty(), outbox.ready().next().is_some())
            };
            match closing {
                Some(When::Now) => return Ok(End::Drop),
                Some(When::AfterReplies) if is_empty => return Ok(End::Linger),
                Some(When::AfterReplies) | None => {}
            }
            let may_read = closing.is_none() && self.may_read();
            let deadline = match closing {
                Some(_) => Some(*last_replies_until.get_or_insert_with(|| Instant::now() + LAST_REPLIES_MAX)),
                None if self.has_session() => None,
                None => Some(sessionless_until),
            };
            tokio::select! {
                ready = self.stream.readable(), if may_read => {
                    ready?;
                    match self.read(frames, &mut start)? {
                        Input::Frames | Input::Nothing => {}
                        Input::Ended => return Ok(End::Drop),
                        Input::Word(word) => return self.answer_word(word).await,
                    }
                }
                ready = self.stream.writable(), if has_ready => ready?,
                () = wake.notified() => {}
                () = at(deadline) => {
                    if closing.is_none() {
                        let statistics = &mut self.driver.borrow_mut().statistics;
                        statistics.sessionless_connections_expired =
                            statistics.sessionless_connections_expired.saturating_add(1);
                    }
                    return Ok(End::Drop);
                }
            }
        }
    }

    fn has_session(&self) -> bool {
        self.driver.borrow().machine.connection(self.id).is_some_and(|c| c.session().is_some())
    }

    fn may_read(&self) -> bool {
        let outbox = self.outbox.borrow();
        outbox.outstanding() < OUTSTANDING_MAX
            && outbox.bytes() < UNSENT_BYTES_PAUSE
            && self.driver.borrow_mut().may_read(&outbox.wake)
    }

    /// Reads what is there. `start` gathers the first bytes until it is clear whether they are a word or a frame.
    fn read(&self, frames: &mut Frames, start: &mut Option<Vec<u8>>) -> io::Result<Input> {
        let mut scratch = self.scratch.borrow_mut();
        let count = match self.stream.try_read(&mut scratch) {
            Ok(0) => return Ok(Input::Ended),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Input::Nothing),
            Err(error) => return Err(error),
        };
        let mut bytes = scratch.get(..count).unwrap_or_default();
        let first;
        if let Some(gathered) = start {
            gathered.extend_from_slice(bytes);
            if gathered.len() < 4 {
                return Ok(Input::Nothing);
            }
            if let Some(word) = admin::word_at_start(gathered) {
                return Ok(Input::Word(word));
            }
            first = start.take().unwrap_or_default();
            bytes = &first;
        }
        let mut driver = self.driver.borrow_mut();
        let kept_before = frames.kept_bytes();
        let result = frames.push(bytes, |frame| {
            driver.received(self.id, frame);
            self.outbox.borrow().closing().is_none()
        });
        driver.settle();
        if !driver.keep(kept_before, frames.kept_bytes()) {
            tracing::warn!("too many half requests, closing a connection");
            return Ok(Input::Ended);
        }
        if result.is_err() {
            driver.statistics.large_requests_rejected =
                driver.statistics.large_requests_rejected.saturating_add(1);
            return Ok(Input::Ended);
        }
        Ok(Input::Frames)
    }

    /// Writes what is ready, as far as the socket takes it.
    fn write(&self) -> io::Result<()> {
        loop {
            let mut outbox = self.outbox.borrow_mut();
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let mut count = 0;
            for (slice, frame) in slices.iter_mut().zip(outbox.ready()) {
                *slice = IoSlice::new(frame);
                count += 1;
            }
            let slices = slices.get(..count).unwrap_or_default();
            if slices.is_empty() {
                return Ok(());
            }
            match self.stream.try_write_vectored(slices) {
                Ok(written) => {
                    outbox.advance(written);
                    self.driver.borrow_mut().sent(written);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    async fn answer_word(&self, word: [u8; 4]) -> io::Result<End> {
        let answer = self.driver.borrow_mut().answer(word);
        let mut rest = answer.as_bytes();
        let until = Instant::now() + LAST_REPLIES_MAX;
        while !rest.is_empty() {
            tokio::select! {
                ready = self.stream.writable() => ready?,
                () = sleep_until(until) => return Ok(End::Drop),
            }
            match self.stream.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(End::Linger)
    }

    /// Lets the client read the last replies: closing a socket that has unread input would take them back.
    async fn linger(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let until = Instant::now() + LINGER_MAX;
        loop {
            tokio::select! {
                ready = self.stream.readable() => ready?,
                () = sleep_until(until) => return Ok(()),
            }
            match self.stream.try_read(&mut self.scratch.borrow_mut()) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
