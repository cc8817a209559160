//! A client that speaks the protocol byte by byte, for what no proper client would do.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use ottla_zookeeper::jute::{Acl, Permissions, Reader, Writer, op};

/// A reply or an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub xid: i32,
    pub zxid: i64,
    pub error: i32,
    pub body: Vec<u8>,
}

/// A connection with a session.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    pub session: i64,
    pub password: [u8; 16],
    pub timeout_ms: i32,
    xid: i32,
    /// Events that came before a reply.
    pub events: Vec<Frame>,
}

impl Wire {
    /// Opens a new session.
    pub fn connect(address: SocketAddr, timeout_ms: i32) -> io::Result<Wire> {
        Wire::attach(address, timeout_ms, 0, &[0; 16])?
            .ok_or_else(|| io::Error::new(io::ErrorKind::PermissionDenied, "no session"))
    }

    /// Continues a session; `None` when it is refused.
    pub fn attach(
        address: SocketAddr,
        timeout_ms: i32,
        session: i64,
        password: &[u8],
    ) -> io::Result<Option<Wire>> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_nodelay(true)?;
        let mut writer = Writer::frame();
        writer.i32(0);
        writer.i64(0);
        writer.i32(timeout_ms);
        writer.i64(session);
        writer.buffer(Some(password));
        writer.bool(false);
        let mut wire =
            Wire { stream, session: 0, password: [0; 16], timeout_ms: 0, xid: 0, events: Vec::new() };
        wire.stream.write_all(&writer.into_frame())?;
        let answer = wire.read_frame()?;
        let mut reader = Reader::new(&answer);
        reader.i32("protocolVersion").unwrap();
        wire.timeout_ms = reader.i32("timeOut").unwrap();
        wire.session = reader.i64("sessionId").unwrap();
        wire.password.copy_from_slice(reader.buffer("passwd").unwrap().unwrap());
        Ok((wire.session != 0).then_some(wire))
    }

    fn read_frame(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame)?;
        Ok(frame)
    }

    /// Reads the next reply or event.
    pub fn receive(&mut self) -> io::Result<Frame> {
        let frame = self.read_frame()?;
        let mut reader = Reader::new(&frame);
        let (xid, zxid, error) =
            (reader.i32("xid").unwrap(), reader.i64("zxid").unwrap(), reader.i32("err").unwrap());
        Ok(Frame { xid, zxid, error, body: frame[reader.offset()..].to_vec() })
    }

    /// Sends a request and returns its number.
    pub fn send(&mut self, operation: i32, body: &[u8]) -> io::Result<i32> {
        self.xid += 1;
        self.send_with_xid(self.xid, operation, body)?;
        Ok(self.xid)
    }

    pub fn send_with_xid(&mut self, xid: i32, operation: i32, body: &[u8]) -> io::Result<()> {
        let mut writer = Writer::frame();
        writer.i32(xid);
        writer.i32(operation);
        writer.raw(body);
        self.stream.write_all(&writer.into_frame())
    }

    /// Sends a request and waits for its reply; events that come before it are kept.
    pub fn call(&mut self, operation: i32, body: &[u8]) -> io::Result<Frame> {
        let xid = self.send(operation, body)?;
        self.reply_to(if operation == op::PING { -2 } else { xid })
    }

    pub fn reply_to(&mut self, xid: i32) -> io::Result<Frame> {
        loop {
            let frame = self.receive()?;
            if frame.xid == xid {
                return Ok(frame);
            }
            assert_eq!(frame.xid, -1, "a reply to another request came first: {frame:?}");
            self.events.push(frame);
        }
    }

    pub fn create(&mut self, path: &str, data: &[u8], flags: i32) -> io::Result<Frame> {
        let reply = self.call(op::CREATE, &create_body(path, data, flags))?;
        assert_eq!(reply.error, 0, "create {path}");
        Ok(reply)
    }

    pub fn set_data(&mut self, path: &str, data: &[u8]) -> io::Result<Frame> {
        let mut writer = Writer::new();
        writer.string(path);
        writer.buffer(Some(data));
        writer.i32(-1);
        self.call(op::SET_DATA, writer.as_bytes())
    }

    pub fn get_data(&mut self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let reply = self.call(op::GET_DATA, &path_and_flag(path, false))?;
        Ok((reply.error == 0)
            .then(|| Reader::new(&reply.body).buffer("data").unwrap().unwrap_or_default().to_vec()))
    }

    pub fn exists(&mut self, path: &str) -> io::Result<bool> {
        Ok(self.call(op::EXISTS, &path_and_flag(path, false))?.error == 0)
    }

    pub fn close_session(&mut self) -> io::Result<Frame> {
        self.call(op::CLOSE_SESSION, &[])
    }

    /// Waits until the server has closed the connection; what still comes is skipped.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

pub fn create_body(path: &str, data: &[u8], flags: i32) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.string(path);
    writer.buffer(Some(data));
    Acl::encode_list(&[Acl::new(Permissions::ALL, "world", "anyone")], &mut writer);
    writer.i32(flags);
    writer.into_bytes()
}

pub fn path_and_flag(path: &str, flag: bool) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.string(path);
    writer.bool(flag);
    writer.into_bytes()
}

/// Asks a four-letter word.
pub fn word(address: SocketAddr, word: &str) -> String {
    try_word(address, word, Duration::from_secs(20)).unwrap()
}

pub fn try_word(address: SocketAddr, word: &str, patience: Duration) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience))?;
    stream.write_all(word.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Sends bytes on a new connection and tells whether the server closes it without a word.
pub fn is_refused(address: SocketAddr, bytes: &[u8]) -> bool {
    let mut stream = half_open(address, bytes);
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => answer.is_empty(),
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

/// Tells whether the server ends a connection within some time.
pub fn ends(mut stream: &TcpStream, within: Duration) -> bool {
    stream.set_read_timeout(Some(within)).unwrap();
    match stream.read(&mut [0; 1]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

/// Sends bytes on a new connection and leaves it open.
pub fn half_open(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}
