//! The way back: a responder that answers once, or closes the connection when it is dropped without an answer.

use std::sync::Arc;
use std::time::Duration;

use ottla_protocol::wire::Part;

use super::mailbox::Mailbox;
use super::metrics::KindMetrics;
use super::request::Timing;

/// What is done with the connection after a request was run.
#[derive(Debug)]
pub enum Response {
    /// These parts are sent, one after the other: the whole frame, its length included.
    Message(Vec<Part>),
    /// Nothing is sent (a produce with acks=0); the next request is read.
    NoResponse,
    /// The connection is closed: the protocol has no other way to say what is wrong.
    Close,
}

/// Answers one request, from any thread, at any later time.
///
/// Dropping it without an answer closes the connection, so that a client never waits for an answer that will not come.
#[derive(Debug)]
pub struct Responder {
    route: Option<Route>,
    timing: Arc<Timing>,
}

#[derive(Debug)]
struct Route {
    mailbox: Arc<Mailbox>,
    connection: u64,
    kind: Arc<KindMetrics>,
}

/// A response in the response queue of a processor.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) connection: u64,
    pub(crate) response: Response,
    pub(crate) kind: Arc<KindMetrics>,
    pub(crate) timing: Arc<Timing>,
    /// When the response was queued, from the moment the request had arrived.
    pub(crate) ready: Duration,
}

impl Responder {
    pub(crate) fn new(mailbox: Arc<Mailbox>, connection: u64, kind: Arc<KindMetrics>) -> Self {
        Self { route: Some(Route { mailbox, connection, kind }), timing: Arc::new(Timing::begin()) }
    }

    /// Puts the response on the queue of the processor that owns the connection.
    pub fn send(mut self, response: Response) {
        self.queue(response);
    }

    /// Returns the clock of the request.
    #[must_use]
    pub fn timing(&self) -> &Arc<Timing> {
        &self.timing
    }

    /// Counts this request under another kind than its API: a follower's fetch is told from a consumer's.
    pub fn count_as(&mut self, kind: Arc<KindMetrics>) {
        if let Some(route) = &mut self.route {
            route.kind = kind;
        }
    }

    fn queue(&mut self, response: Response) {
        if let Some(Route { mailbox, connection, kind }) = self.route.take() {
            let timing = Arc::clone(&self.timing);
            let ready = timing.elapsed();
            mailbox.respond(Outgoing { connection, response, kind, timing, ready });
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.queue(Response::Close);
    }
}
