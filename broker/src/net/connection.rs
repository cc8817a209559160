//! One connection: read a frame, hand the request over, wait for its response, send it, and only then read again.
//!
//! Being mute between a request and its response is what gives a pipelining client its answers in order.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::frame::{FrameBuffer, FrameError};
use super::header::read_request;
use super::mailbox::Mailbox;
use super::metrics::{NetMetrics, Rejected};
use super::request::ConnectionInfo;
use super::request_channel::{RequestChannel, Work};
use super::response::{Outgoing, Responder, Response};
use super::send::{SendError, send_parts};

/// Bytes read of one frame without giving other connections of the processor their turn.
const TURN_BYTES: usize = 1024 * 1024;

/// What all connections of a processor share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) channel: Arc<RequestChannel>,
    pub(crate) metrics: Arc<NetMetrics>,
    pub(crate) max_frame_bytes: usize,
    pub(crate) max_idle: Duration,
}

/// Where the processor lays the response that a connection waits for.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    response: RefCell<Option<Outgoing>>,
    waker: RefCell<Option<Waker>>,
}

impl Pending {
    pub(crate) fn deliver(&self, outgoing: Outgoing) {
        *self.response.borrow_mut() = Some(outgoing);
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn response(&self) -> Outgoing {
        poll_fn(|context| match self.response.borrow_mut().take() {
            Some(outgoing) => Poll::Ready(outgoing),
            None => {
                *self.waker.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}

/// Why a connection ended; only some are worth a line in the log.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("closed by the client")]
    ByClient,
    #[error("idle")]
    Idle,
    #[error("a frame began and did not go on")]
    HalfFrame,
    #[error("closed by a handler")]
    ByHandler,
    #[error("the broker takes no more requests")]
    Stopping,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("{1}")]
    Refused(Rejected, String),
    #[error("read: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Send(#[from] SendError),
}

impl Ended {
    /// Counts what ended a connection, and says so when it is the client's or a disk's fault.
    fn report(&self, info: &ConnectionInfo, metrics: &NetMetrics) {
        match self {
            Self::Frame(_) => metrics.reject(Rejected::FrameLength),
            Self::Refused(reason, _) => metrics.reject(*reason),
            Self::HalfFrame => metrics.reject(Rejected::HalfFrame),
            Self::Idle => metrics.idle_closed.increment(),
            Self::Send(SendError::ShortFile { .. }) => metrics.short_files.increment(),
            Self::ByClient | Self::ByHandler | Self::Stopping | Self::Read(_) | Self::Send(_) => {}
        }
        match self {
            Self::Frame(_)
            | Self::Refused(..)
            | Self::HalfFrame
            | Self::Send(SendError::ShortFile { .. }) => {
                tracing::warn!(peer = %info.peer, reason = %self, "closed a connection");
            }
            _ => tracing::debug!(peer = %info.peer, reason = %self, "connection ended"),
        }
    }
}

/// Serves one connection until it ends. What ended it is counted before the client can see the end.
pub(crate) async fn serve(
    stream: TcpStream,
    info: Arc<ConnectionInfo>,
    shared: &Shared,
    pending: Rc<Pending>,
) {
    let buffer = FrameBuffer::new(shared.max_frame_bytes);
    let mut connection = Connection { stream, info, shared, buffer, last_traffic: Instant::now() };
    let ended = loop {
        if let Err(ended) = connection.exchange(&pending).await {
            break ended;
        }
    };
    ended.report(&connection.info, &shared.metrics);
}

struct Connection<'a> {
    stream: TcpStream,
    info: Arc<ConnectionInfo>,
    shared: &'a Shared,
    buffer: FrameBuffer,
    last_traffic: Instant,
}

impl Connection<'_> {
    /// One request and its response.
    async fn exchange(&mut self, pending: &Pending) -> Result<(), Ended> {
        let frame = self.next_frame().await?;
        let (request, kind) = read_request(frame, &self.info, &self.shared.metrics)
            .map_err(|(reason, text)| Ended::Refused(reason, text))?;
        let responder = Responder::new(Arc::clone(&self.shared.mailbox), self.info.id, kind);
        let pushed = self.shared.channel.push(Work { request, responder }).await;
        pushed.map_err(|_closed| Ended::Stopping)?;
        let outgoing = pending.response().await;
        self.respond(outgoing).await
    }

    async fn respond(&mut self, outgoing: Outgoing) -> Result<(), Ended> {
        let Outgoing { response, kind, timing, ready, .. } = outgoing;
        let begun = timing.elapsed();
        match response {
            Response::Message(parts) => {
                let sent = send_parts(&self.stream, &parts, self.shared.max_idle).await?;
                self.shared.metrics.bytes_out.add(u64::try_from(sent).unwrap_or(u64::MAX));
            }
            Response::NoResponse => {}
            Response::Close => return Err(Ended::ByHandler),
        }
        let done = timing.elapsed();
        kind.observe(timing.stages(ready), begun.saturating_sub(ready), done.saturating_sub(begun), done);
        self.last_traffic = Instant::now();
        Ok(())
    }

    async fn next_frame(&mut self) -> Result<Bytes, Ended> {
        let mut turn = 0;
        loop {
            if let Some(frame) = self.buffer.next_frame()? {
                return Ok(frame);
            }
            self.readable().await?;
            // One poll, so that no memory is held while nothing comes. Tokio's budget must not make it look as if the
            // socket were dry: waiting for it to be readable would then return at once, for ever.
            let read = tokio::task::unconstrained(self.stream.read_buf(self.buffer.room())).now_or_never();
            match read.transpose()? {
                None => self.buffer.release(),
                Some(0) => return Err(Ended::ByClient),
                Some(count) => {
                    self.last_traffic = Instant::now();
                    self.shared.metrics.bytes_in.add(u64::try_from(count).unwrap_or(u64::MAX));
                    turn += count;
                }
            }
            if turn >= TURN_BYTES {
                turn = 0;
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits for bytes, but no longer than a connection may be idle.
    async fn readable(&self) -> Result<(), Ended> {
        let deadline = self.last_traffic + self.shared.max_idle;
        tokio::select! {
            biased;
            readable = self.stream.readable() => Ok(readable?),
            () = tokio::time::sleep_until(deadline) => {
                Err(if self.buffer.is_within_frame() { Ended::HalfFrame } else { Ended::Idle })
            }
        }
    }
}
