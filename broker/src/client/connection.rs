//! A connection and the requests under way on it.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use ottla_protocol::message::{
    ApiKey, ApiVersionsRequest, ErrorCode, Request, decode_response, encode_request,
};
use ottla_protocol::wire::Part;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::Error;
use super::versions::{ASK_IN, Versions};

/// The least that an answer's buffer grows by; it grows with what arrived, not with what was announced.
const LEAST_GROWTH_BYTES: usize = 64 * 1024;

/// How a connection behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// What this side calls itself.
    pub client_id: String,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long an answer may take, from the first byte of the request.
    pub request_timeout: Duration,
    /// The largest answer that is taken.
    pub max_response_bytes: usize,
    /// The socket's receive buffer; none leaves it to the system.
    pub receive_buffer_bytes: Option<usize>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            client_id: "ottla".to_owned(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            max_response_bytes: 100 * 1024 * 1024,
            receive_buffer_bytes: None,
        }
    }
}

/// A connection to a broker.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    address: String,
    options: ConnectOptions,
    versions: Option<Versions>,
    next_correlation: i32,
    under_way: VecDeque<UnderWay>,
    broken: bool,
}

/// A request that was sent and is not yet answered.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    correlation: i32,
    api: ApiKey,
    version: i16,
}

impl Connection {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// When nobody answers there in time.
    pub async fn connect(address: &str, options: ConnectOptions) -> Result<Self, Error> {
        let connecting = timeout(options.connect_timeout, TcpStream::connect(address)).await;
        let failed = |source| Error::Connect { address: address.to_owned(), source };
        let stream = connecting
            .map_err(|_elapsed| Error::Timeout {
                operation: "connect to",
                address: address.to_owned(),
                after: options.connect_timeout,
            })?
            .map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        if let Some(bytes) = options.receive_buffer_bytes {
            let set = rustix::net::sockopt::set_socket_recv_buffer_size(&stream, bytes);
            set.map_err(|error| failed(error.into()))?;
        }
        Ok(Self {
            stream,
            address: address.to_owned(),
            options,
            versions: None,
            next_correlation: 0,
            under_way: VecDeque::new(),
            broken: false,
        })
    }

    /// Asks the broker which versions it understands; a broker that does not know the newest way to ask is asked in
    /// the oldest.
    ///
    /// # Errors
    /// When it does not answer, or with an error.
    pub async fn negotiate(&mut self) -> Result<&Versions, Error> {
        let request = ApiVersionsRequest {
            client_software_name: "ottla".to_owned(),
            client_software_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..ApiVersionsRequest::default()
        };
        let mut response = self.call(&request, ASK_IN).await?;
        if response.error_code == ErrorCode::UnsupportedVersion.code() {
            // What came with the refusal may be one row only: the broker's range of this very request.
            response = self.call(&ApiVersionsRequest::default(), 0).await?;
        }
        if response.error_code != ErrorCode::None.code() {
            return Err(Error::Refused { address: self.address.clone(), code: response.error_code });
        }
        Ok(self.versions.insert(Versions::of(&response)))
    }

    /// Returns what the broker understands, once it was asked.
    #[must_use]
    pub fn versions(&self) -> Option<&Versions> {
        self.versions.as_ref()
    }

    /// Returns the highest version of a request that both sides know; the broker must have been asked.
    ///
    /// # Errors
    /// When there is none.
    pub fn highest_version(&self, api: ApiKey) -> Result<i16, Error> {
        let known = self.versions.as_ref().and_then(|versions| versions.highest(api));
        known.ok_or_else(|| Error::Unsupported { address: self.address.clone(), api })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// When there is none.
    pub async fn call<R: Request>(&mut self, request: &R, version: i16) -> Result<R::Response, Error> {
        self.submit(request, version).await?;
        self.receive::<R>().await
    }

    /// Sends a request in the highest version that both sides know; the broker must have been asked for its versions.
    ///
    /// # Errors
    /// When there is no answer, or no such version.
    pub async fn call_highest<R: Request>(&mut self, request: &R) -> Result<R::Response, Error> {
        let version = self.highest_version(R::KEY)?;
        self.call(request, version).await
    }

    /// Sends a request without waiting for its answer.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub async fn submit<R: Request>(&mut self, request: &R, version: i16) -> Result<(), Error> {
        self.check_usable()?;
        let correlation = self.next_correlation;
        let encoded = encode_request(request, version, correlation, Some(&self.options.client_id));
        let parts = encoded.map_err(|source| Error::Encode { api: R::KEY, version, source })?;
        self.next_correlation = self.next_correlation.wrapping_add(1);
        // In doubt until everything was sent: this future may be dropped in between.
        self.broken = true;
        let sent = timeout(self.options.request_timeout, send(&mut self.stream, &parts)).await;
        sent.map_err(|_elapsed| self.too_slow("send to"))?.map_err(|source| self.io("send to", source))?;
        self.broken = false;
        self.under_way.push_back(UnderWay { correlation, api: R::KEY, version });
        Ok(())
    }

    /// Waits for the answer to the oldest request that was not yet answered, which must be an `R`.
    ///
    /// # Errors
    /// When there is none.
    pub async fn receive<R: Request>(&mut self) -> Result<R::Response, Error> {
        self.check_usable()?;
        let Some(expected) = self.under_way.pop_front().filter(|under_way| under_way.api == R::KEY) else {
            self.broken = true;
            return Err(Error::Broken { address: self.address.clone() });
        };
        self.broken = true;
        let limit = self.options.max_response_bytes;
        let read = timeout(self.options.request_timeout, read_frame(&mut self.stream, limit)).await;
        let frame = match read.map_err(|_elapsed| self.too_slow("ask"))? {
            Ok(frame) => frame,
            Err(ReadError::Closed) => return Err(Error::Closed { address: self.address.clone() }),
            Err(ReadError::Length(length)) => {
                return Err(Error::FrameLength { address: self.address.clone(), length, limit });
            }
            Err(ReadError::Io(source)) => return Err(self.io("read from", source)),
        };
        let decoded = decode_response::<R>(frame, expected.version);
        let (header, response) = decoded.map_err(|source| Error::Decode {
            address: self.address.clone(),
            api: expected.api,
            source,
        })?;
        if header.correlation_id != expected.correlation {
            return Err(Error::Correlation {
                address: self.address.clone(),
                expected: expected.correlation,
                received: header.correlation_id,
            });
        }
        self.broken = false;
        Ok(response)
    }

    /// Returns how many requests wait for their answers.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Returns whether an error left the connection in doubt, so that a new one is needed.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns the broker's address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    fn check_usable(&self) -> Result<(), Error> {
        if self.broken { Err(Error::Broken { address: self.address.clone() }) } else { Ok(()) }
    }

    fn too_slow(&self, operation: &'static str) -> Error {
        Error::Timeout { operation, address: self.address.clone(), after: self.options.request_timeout }
    }

    fn io(&self, operation: &'static str, source: io::Error) -> Error {
        Error::Io { operation, address: self.address.clone(), source }
    }
}

enum ReadError {
    Closed,
    Length(i32),
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

async fn send(stream: &mut TcpStream, parts: &[Part]) -> io::Result<()> {
    let size: usize = parts.iter().map(Part::size).sum();
    let length = i32::try_from(size).map_err(|_too_large| io::Error::other("a request is above 2 GiB"))?;
    let length = length.to_be_bytes();
    let mut pieces: Vec<&[u8]> = vec![&length];
    for part in parts {
        match part {
            Part::Bytes(bytes) => pieces.push(bytes),
            Part::Region(_) => return Err(io::Error::other("a request holds no file regions")),
        }
    }
    let mut sent = 0;
    while sent < size + length.len() {
        let wrote = stream.write_vectored(&remaining(&pieces, sent)).await?;
        if wrote == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        sent += wrote;
    }
    Ok(())
}

fn remaining<'a>(pieces: &[&'a [u8]], mut sent: usize) -> Vec<IoSlice<'a>> {
    let mut slices = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let skip = sent.min(piece.len());
        sent -= skip;
        if let Some(rest) = piece.get(skip..).filter(|rest| !rest.is_empty()) {
            slices.push(IoSlice::new(rest));
        }
    }
    slices
}

async fn read_frame(stream: &mut TcpStream, limit: usize) -> Result<Bytes, ReadError> {
    let length = stream.read_i32().await?;
    let size = usize::try_from(length).ok().filter(|size| *size <= limit).ok_or(ReadError::Length(length))?;
    let mut frame = BytesMut::new();
    while frame.len() < size {
        let missing = size - frame.len();
        frame.reserve(missing.min(frame.len().max(LEAST_GROWTH_BYTES)));
        let mut taken = (&mut *stream).take(u64::try_from(missing).unwrap_or(u64::MAX));
        if taken.read_buf(&mut frame).await? == 0 {
            return Err(ReadError::Closed);
        }
    }
    Ok(frame.freeze())
}

#[cfg(test)]
mod tests {
    use ottla_protocol::message::{ApiVersionsResponse, HeartbeatRequest, encode_response};
    use ottla_protocol::wire::Writer;
    use tokio::net::TcpListener;

    use super::*;

    fn options() -> ConnectOptions {
        ConnectOptions { request_timeout: Duration::from_millis(200), ..ConnectOptions::default() }
    }

    /// A broker that reads requests and answers each with the next of `answers`; then it stays silent.
    async fn broker(answers: Vec<Vec<u8>>) -> Connection {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in answers {
                assert!(read_frame(&mut stream, 1 << 20).await.is_ok());
                stream.write_all(&answer).await.unwrap();
            }
            // Holds the connection open until the client goes.
            let mut rest = Vec::new();
            drop(stream.read_to_end(&mut rest).await);
        });
        Connection::connect(&address, options()).await.unwrap()
    }

    fn framed(parts: Vec<Part>) -> Vec<u8> {
        let size: usize = parts.iter().map(Part::size).sum();
        let mut bytes = i32::try_from(size).unwrap().to_be_bytes().to_vec();
        for part in parts {
            if let Part::Bytes(part) = part {
                bytes.extend_from_slice(&part);
            }
        }
        bytes
    }

    fn versions(version: i16, correlation: i32, error: ErrorCode) -> Vec<u8> {
        let response = ApiVersionsResponse { error_code: error.code(), ..ApiVersionsResponse::default() };
        framed(encode_response(&response, ApiKey::ApiVersions, version, correlation).unwrap())
    }

    #[tokio::test]
    async fn an_older_broker_is_asked_again_in_the_oldest_way() {
        let refusal = versions(0, 0, ErrorCode::UnsupportedVersion);
        let mut connection = broker(vec![refusal, versions(0, 1, ErrorCode::None)]).await;
        assert_eq!(*connection.negotiate().await.unwrap(), Versions::default());
        assert!(matches!(connection.highest_version(ApiKey::Fetch), Err(Error::Unsupported { .. })));
    }

    #[tokio::test]
    async fn silence_ends_in_a_timeout_and_the_connection_is_done() {
        let mut connection = broker(Vec::new()).await;
        let request = HeartbeatRequest::default();
        assert!(matches!(connection.call(&request, 0).await, Err(Error::Timeout { .. })));
        assert!(matches!(connection.call(&request, 0).await, Err(Error::Broken { .. })));
    }

    #[tokio::test]
    async fn answers_that_cannot_be_are_refused() {
        let cases = [
            (vec![0x7f, 0xff, 0xff, 0xff], "announced"),
            (vec![0xff, 0xff, 0xff, 0xff], "announced"),
            (versions(0, 9, ErrorCode::None), "instead of"),
            (vec![0, 0, 0, 5, 0, 0, 0, 0, 0], "answer of"),
        ];
        for (answer, expected) in cases {
            let mut connection = broker(vec![answer]).await;
            let told = connection.call(&ApiVersionsRequest::default(), 0).await.unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
            assert!(connection.is_broken());
        }
    }

    #[tokio::test]
    async fn pipelined_answers_come_in_order() {
        let answers = (0..3).map(|correlation| versions(0, correlation, ErrorCode::None)).collect();
        let mut connection = broker(answers).await;
        for _ in 0..3 {
            connection.submit(&ApiVersionsRequest::default(), 0).await.unwrap();
        }
        for left in [2, 1, 0] {
            connection.receive::<ApiVersionsRequest>().await.unwrap();
            assert_eq!(connection.under_way(), left);
        }
    }

    #[tokio::test]
    async fn nobody_at_the_address_is_an_error_that_names_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let told = Connection::connect(&address, options()).await.unwrap_err().to_string();
        assert!(told.starts_with(&format!("connect to {address}")), "{told}");
    }

    #[test]
    fn a_request_may_be_written_in_pieces() {
        let mut writer = Writer::new();
        writer.raw(b"abc");
        let pieces: [&[u8]; 2] = [b"1234", b"abc"];
        let left: Vec<u8> = remaining(&pieces, 3).iter().flat_map(|slice| slice.to_vec()).collect();
        assert_eq!(left, b"4abc");
    }
}
