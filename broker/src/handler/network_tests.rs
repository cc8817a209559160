//! The network as a whole, with handlers that echo, and clients that misbehave.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use bytes::Bytes;
use ottla_protocol::wire::Part;

use crate::config::BrokerConfig;
use crate::disk::{Disk as _, FileRegion, OpenMode, RealDisk};
use crate::handler::HandlerPool;
use crate::metrics::Metrics;
use crate::net::{NetMetrics, Rejected, Response, Server, Work};

struct Network {
    server: Arc<Server>,
    pool: Arc<HandlerPool>,
    metrics: Arc<NetMetrics>,
}

impl Network {
    fn start(settings: &[(&str, &str)], run: impl Fn(Work) + Send + Sync + 'static) -> Self {
        let mut config = BrokerConfig::default();
        config.set("listeners", "PLAINTEXT://127.0.0.1:0").unwrap();
        for (key, value) in settings {
            config.set(key, value).unwrap();
        }
        let handlers = usize::try_from(config.num_io_threads).unwrap();
        let metrics = NetMetrics::new(Metrics::new());
        let server =
            Arc::new(Server::bind(Arc::new(ArcSwap::from_pointee(config)), Arc::clone(&metrics)).unwrap());
        let pool =
            HandlerPool::start(Arc::clone(server.channel()), handlers, metrics.registry(), run).unwrap();
        server.start().unwrap();
        Self { server, pool, metrics }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.bound()[0].address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.server.stop_requests();
        self.pool.join();
        self.server.shutdown();
    }
}

/// An ApiVersions v0 request: the smallest there is.
fn request(correlation: i32) -> Vec<u8> {
    let mut frame = vec![0, 0, 0, 10, 0, 18, 0, 0];
    frame.extend_from_slice(&correlation.to_be_bytes());
    frame.extend_from_slice(&[0xff, 0xff]);
    frame
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(payload);
    bytes
}

fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut payload).unwrap();
    Some(payload)
}

/// Answers with the correlation id.
fn echo(work: Work) {
    let answer = frame(&work.request.correlation_id.to_be_bytes());
    work.responder.send(Response::Message(vec![Part::Bytes(Bytes::from(answer))]));
}

/// Waits for the end of the connection. A reset is as good as an end: bytes the broker did not read were on their way.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let network = Network::start(&[], echo);
    let mut client = network.connect();
    let all: Vec<u8> = (0..100).flat_map(request).collect();
    client.write_all(&all).unwrap();
    for expected in 0..100_i32 {
        assert_eq!(read_frame(&mut client).unwrap(), expected.to_be_bytes());
    }
}

#[test]
fn garbage_and_huge_claims_cost_only_their_own_connection() {
    let network = Network::start(&[], echo);
    let mut good = network.connect();
    for bytes in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &i32::MAX.to_be_bytes(), &[0xff; 64], &[0, 0, 0, 2, 1, 1]]
    {
        let mut bad = network.connect();
        bad.write_all(bytes).unwrap();
        assert!(is_closed(&mut bad), "{bytes:?}");
        good.write_all(&request(7)).unwrap();
        assert_eq!(read_frame(&mut good).unwrap(), 7_i32.to_be_bytes());
    }
    assert_eq!(network.metrics.rejected(Rejected::FrameLength), 3);
    assert_eq!(network.metrics.rejected(Rejected::Header), 1);
}

#[test]
fn half_a_frame_and_then_silence_ends() {
    let network = Network::start(&[("connections.max.idle.ms", "50")], echo);
    let mut client = network.connect();
    client.write_all(&request(1)[..9]).unwrap();
    assert!(is_closed(&mut client));
    wait_until("the count", || network.metrics.rejected(Rejected::HalfFrame) == 1);
}

#[test]
fn a_full_channel_stops_reading_and_loses_nothing() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let settings = [("queued.max.requests", "2"), ("num.io.threads", "1")];
    let network = Network::start(&settings, move |work| {
        gate.lock().unwrap().recv().unwrap();
        echo(work);
    });
    let mut clients: Vec<_> = (0..6).map(|_| network.connect()).collect();
    for (client, number) in clients.iter_mut().zip(0..) {
        client.write_all(&request(number)).unwrap();
    }
    wait_until("a full channel", || network.server.channel().depth() == 2);
    for _ in 0..6 {
        open.send(()).unwrap();
    }
    for (client, number) in clients.iter_mut().zip(0_i32..) {
        assert_eq!(read_frame(client).unwrap(), number.to_be_bytes());
    }
    assert_eq!(network.server.channel().deepest(), 2);
}

#[test]
fn a_panic_or_a_forgotten_answer_closes_one_connection() {
    let network = Network::start(&[("num.io.threads", "1")], |work| match work.request.correlation_id {
        1 => panic!("planted"),
        2 => drop(work),
        3 => work.responder.send(Response::NoResponse),
        _ => echo(work),
    });
    for correlation in [1, 2] {
        let mut client = network.connect();
        client.write_all(&request(correlation)).unwrap();
        assert!(is_closed(&mut client));
    }
    let mut client = network.connect();
    client.write_all(&[request(3), request(4)].concat()).unwrap();
    assert_eq!(read_frame(&mut client).unwrap(), 4_i32.to_be_bytes());
    assert!(network.metrics.registry().render().contains("ottla_handler_panics_total 1\n"));
}

#[test]
fn an_address_with_too_many_connections_is_refused() {
    let network = Network::start(&[("max.connections.per.ip", "1")], echo);
    let mut first = network.connect();
    first.write_all(&request(1)).unwrap();
    assert!(read_frame(&mut first).is_some());
    assert!(is_closed(&mut network.connect()));
    assert_eq!(network.metrics.rejected(Rejected::Connection), 1);
    drop(first);
    wait_until("a free place", || {
        let mut again = network.connect();
        again.write_all(&request(2)).is_ok() && read_frame(&mut again).is_some()
    });
}

#[test]
fn thread_counts_change_while_running() {
    let network = Network::start(&[], echo);
    for (processors, handlers) in [(1, 1), (4, 12), (2, 3)] {
        network.server.set_processors(processors).unwrap();
        network.pool.set_size(handlers).unwrap();
        for number in 0..8 {
            let mut client = network.connect();
            client.write_all(&request(number)).unwrap();
            assert_eq!(read_frame(&mut client).unwrap(), number.to_be_bytes());
        }
    }
}

/// Serves a frame that claims `claimed` bytes of a file after its correlation id.
fn serving(content: &[u8], position: u64, claimed: usize) -> Network {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("content");
    std::fs::write(&path, content).unwrap();
    let file = RealDisk.open(&path, OpenMode::Read).unwrap();
    Network::start(&[("socket.send.buffer.bytes", "8192")], move |work| {
        let length = u32::try_from(claimed + 8).unwrap();
        let head = [length.to_be_bytes(), work.request.correlation_id.to_be_bytes()].concat();
        let piece = FileRegion::new(Arc::clone(&file), position, u32::try_from(claimed).unwrap());
        let parts = vec![
            Part::Bytes(Bytes::from(head)),
            Part::Region(Arc::new(piece)),
            Part::Bytes(Bytes::from_static(b"tail")),
        ];
        work.responder.send(Response::Message(parts));
    })
}

#[test]
fn a_region_arrives_whole_in_many_small_writes() {
    let content: Vec<u8> = (0..2_000_000_u32).map(|number| (number % 251) as u8).collect();
    let network = serving(&content, 11, content.len() - 11);
    let mut client = network.connect();
    for correlation in 1..3_i32 {
        client.write_all(&request(correlation)).unwrap();
        let answer = read_frame(&mut client).unwrap();
        assert_eq!(answer[..4], correlation.to_be_bytes());
        assert!(answer[4..answer.len() - 4] == content[11..]);
        assert_eq!(&answer[answer.len() - 4..], b"tail");
    }
}

#[test]
fn a_file_that_is_too_short_is_never_padded() {
    let network = serving(b"0123456789", 4, 100);
    let mut client = network.connect();
    client.write_all(&request(5)).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer[8..], *b"456789");
    assert_eq!(network.metrics.short_files.value(), 1);
}
