//! Servers to test against, and what only a test does to them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use ottla_broker::zk::session::SessionIdentity;
use ottla_broker::zk::{Zk, ZkOptions};

const APACHE_JAR: &str = "/usr/share/java/zookeeper.jar";

/// The Apache server; it ends when this program does.
struct Apache {
    port: u16,
    _shell: Child,
}

/// Runs `test` against every server there is, each time in a chroot of its own.
pub(crate) fn on_every_server<F: Future<Output = ()>>(name: &str, test: impl Fn(String) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let embedded = ottla_zookeeper::Server::builder().in_memory().ephemeral_port().start().expect("starts");
    eprintln!("{name}: embedded server");
    if std::env::var_os("OTTLA_TEST_APACHE_ONLY").is_none() {
        runtime.block_on(test(format!("{}/{name}", embedded.local_addr())));
    }
    embedded.stop().expect("stops");
    match apache() {
        Some(port) => {
            eprintln!("{name}: Apache ZooKeeper");
            runtime.block_on(test(format!("127.0.0.1:{port}/{name}")));
        }
        None => eprintln!("{name}: SKIPPED against Apache ZooKeeper: {APACHE_JAR} is not installed"),
    }
}

/// Opens a session with the server at `connect`.
pub(crate) async fn connect(connect: &str) -> Zk {
    let mut options = ZkOptions::new(connect.parse().expect("an address"));
    options.session_timeout = Duration::from_secs(6);
    Zk::connect(options).await.expect("connects")
}

/// Closes a session from outside, as the supervisor does for a process that ended.
///
/// The owner lives here and takes its session back as soon as it notices that it lost it, so this is repeated until the
/// server does not know the session any more.
pub(crate) fn close_session(connect: &str, session: &SessionIdentity) {
    let server = connect.split('/').next().expect("an address");
    let mut body = Vec::new();
    body.extend_from_slice(&0_i32.to_be_bytes());
    body.extend_from_slice(&0_i64.to_be_bytes());
    body.extend_from_slice(&6000_i32.to_be_bytes());
    body.extend_from_slice(&session.session_id.to_be_bytes());
    body.extend_from_slice(&i32::try_from(session.password.len()).expect("16").to_be_bytes());
    body.extend_from_slice(&session.password);
    body.push(0);
    let close = [1_i32.to_be_bytes(), (-11_i32).to_be_bytes()].concat();
    let requests = [framed(&body), framed(&close)].concat();
    let started = Instant::now();
    while attach(server, &requests).is_none_or(|granted| granted != 0) {
        assert!(started.elapsed() < Duration::from_secs(20), "the session does not close");
    }
}

/// Returns the session that the server grants, 0 when it does not know it; nothing when the owner was faster.
fn attach(server: &str, requests: &[u8]) -> Option<i64> {
    let mut stream = TcpStream::connect(server).expect("the server is there");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a socket");
    stream.write_all(requests).ok()?;
    let mut head = [0; 20];
    stream.read_exact(&mut head).ok()?;
    let _rest = stream.read_to_end(&mut Vec::new());
    Some(i64::from_be_bytes(head[12..20].try_into().expect("eight bytes")))
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = i32::try_from(body.len()).expect("short").to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

/// Returns the port of the Apache server, which all tests of this program share.
fn apache() -> Option<u16> {
    static SERVER: OnceLock<Option<Mutex<Apache>>> = OnceLock::new();
    SERVER
        .get_or_init(|| Path::new(APACHE_JAR).exists().then(|| Mutex::new(start_apache())))
        .as_ref()
        .map(|server| server.lock().expect("unpoisoned").port)
}

fn start_apache() -> Apache {
    let data = tempfile::tempdir().expect("a folder").keep();
    let port =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port").local_addr().expect("bound").port();
    let config = data.join("zoo.cfg");
    let text = format!(
        "tickTime=500\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
         4lw.commands.whitelist=*\nforceSync=no\n",
        data.display()
    );
    std::fs::write(&config, text).expect("written");
    // The shell ends the server when its input ends, and that happens however this program ends.
    let script = "java -Xmx256m -cp \"$0\" org.apache.zookeeper.server.quorum.QuorumPeerMain \"$1\" & \
                  read _; kill $!; wait; rm -rf \"$2\"";
    let child = Command::new("sh")
        .args(["-c", script, APACHE_JAR])
        .arg(&config)
        .arg(&data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("java runs");
    let server = Apache { port, _shell: child };
    let started = Instant::now();
    while !answers(port) {
        assert!(started.elapsed() < Duration::from_secs(60), "Apache ZooKeeper does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let _ignored = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut answer = String::new();
    stream.write_all(b"ruok").is_ok() && stream.read_to_string(&mut answer).is_ok() && answer == "imok"
}
