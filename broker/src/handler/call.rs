//! A request with its body read, and the typed way back.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use ottla_protocol::message::{ApiKey, Message, Request, encode_response};
use ottla_protocol::wire::{DecodeError, Part, Reader};

use crate::net::{ConnectionInfo, KindMetrics, Rejected, Responder, Response, Work};

/// One request, read.
#[derive(Debug)]
pub struct Call<R> {
    /// What is asked.
    pub body: R,
    /// The version it is asked in.
    pub version: i16,
    /// What the client calls itself; empty when it does not say.
    pub client_id: Arc<str>,
    /// Where it came in.
    pub connection: Arc<ConnectionInfo>,
    /// The way back.
    pub reply: Reply<R>,
}

/// Answers a request of type `R`. Dropping it unsent closes the connection.
#[derive(Debug)]
pub struct Reply<R> {
    responder: Responder,
    version: i16,
    correlation_id: i32,
    request: PhantomData<fn(R)>,
}

impl<R: Request> Call<R> {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// When it cannot be read; the responder comes back with what is wrong.
    pub fn read(work: Work) -> Result<Self, (Responder, DecodeError)> {
        let Work { request, responder } = work;
        debug_assert_eq!(request.api, R::KEY, "the router pairs a key with its request");
        match decode(request.body, request.version) {
            Ok(body) => Ok(Self {
                body,
                version: request.version,
                client_id: request.client_id,
                connection: request.connection,
                reply: Reply {
                    responder,
                    version: request.version,
                    correlation_id: request.correlation_id,
                    request: PhantomData,
                },
            }),
            Err(error) => Err((responder, error)),
        }
    }
}

fn decode<R: Request>(body: Bytes, version: i16) -> Result<R, DecodeError> {
    let mut reader = Reader::new(R::NAME, body);
    let request = R::decode(&mut reader, version)?;
    reader.finish()?;
    Ok(request)
}

impl<R: Request> Reply<R> {
    /// Sends the answer.
    pub fn send(self, response: &R::Response) {
        respond_in(self.responder, R::KEY, self.version, self.correlation_id, response);
    }

    /// Sends nothing; the client expects no answer.
    pub fn nothing(self) {
        self.responder.send(Response::NoResponse);
    }

    /// Closes the connection.
    pub fn close(self) {
        self.responder.send(Response::Close);
    }

    /// Counts this request under another kind than its API's name.
    pub fn count_as(&mut self, kind: Arc<KindMetrics>) {
        self.responder.count_as(kind);
    }
}

/// Sends an answer to a request of `api` in `version`; one that cannot be encoded closes the connection.
pub(super) fn respond_in<M: Message>(
    responder: Responder,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    response: &M,
) {
    match frame(response, api, version, correlation_id) {
        Ok(parts) => responder.send(Response::Message(parts)),
        Err(error) => {
            tracing::error!(%api, version, %error, "an answer cannot be encoded; its connection is closed");
            responder.send(Response::Close);
        }
    }
}

/// Encodes a whole frame: its length, header and body.
fn frame<M: Message>(
    response: &M,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
) -> Result<Vec<Part>, Box<dyn std::error::Error>> {
    let body = encode_response(response, api, version, correlation_id)?;
    let size = i32::try_from(body.iter().map(Part::size).sum::<usize>())?;
    let mut parts = Vec::with_capacity(body.len() + 1);
    parts.push(Part::Bytes(Bytes::copy_from_slice(&size.to_be_bytes())));
    parts.extend(body);
    Ok(parts)
}

/// Reads a request and runs it, or closes its connection when it cannot be read.
pub(super) fn run<R: Request>(api: &Arc<super::Api>, work: Work, handle: fn(&Arc<super::Api>, Call<R>)) {
    let (peer, version) = (work.request.connection.peer, work.request.version);
    match Call::read(work) {
        Ok(call) => handle(api, call),
        Err((responder, error)) => {
            api.net.reject(Rejected::Body);
            tracing::warn!(%peer, api = %R::KEY, version, %error, "closed a connection: a request cannot be read");
            responder.send(Response::Close);
        }
    }
}
