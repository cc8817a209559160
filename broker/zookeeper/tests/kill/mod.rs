//! A real process, really killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ottla_zookeeper::Server;

use crate::wire::Wire;

const DIRECTORY: &str = "OTTLA_ZOOKEEPER_TEST_DIRECTORY";
const WRITERS: usize = 4;
const ROUNDS: usize = 6;

/// Serves until it is killed; run by the test below as a process of its own.
#[test]
#[ignore = "the other half of `kill_nine_loses_nothing_acknowledged`"]
fn serve_until_killed() {
    let directory = std::env::var(DIRECTORY).unwrap();
    let server = Server::builder().data_dir(directory).ephemeral_port().snapshot_count(300).start().unwrap();
    println!("address {}", server.local_addr());
    server.run_until(std::future::pending()).unwrap();
}

struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(directory: &Path) -> Process {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::serve_until_killed", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| line.split("address ").nth(1).map(|address| address.parse().unwrap()))
            .expect("the process says where it listens");
        Process { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// What the writers know: acknowledged values, and the one that each may or may not have brought through.
#[derive(Debug, Default)]
struct Known {
    acknowledged: BTreeMap<String, u64>,
    attempted: BTreeMap<String, u64>,
}

fn write(
    address: SocketAddr,
    writer: usize,
    known: &Mutex<Known>,
    count: &AtomicUsize,
) -> std::io::Result<()> {
    let mut client = Wire::connect(address, 30_000)?;
    let path = format!("/writer-{writer}");
    if !client.exists(&path)? {
        client.create(&path, b"0", 0)?;
    }
    let mut value = known.lock().unwrap().attempted.get(&path).copied().unwrap_or(0);
    loop {
        value += 1;
        known.lock().unwrap().attempted.insert(path.clone(), value);
        client.set_data(&path, value.to_string().as_bytes())?;
        known.lock().unwrap().acknowledged.insert(path.clone(), value);
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn check(address: SocketAddr, known: &Known) {
    let mut client = Wire::connect(address, 30_000).unwrap();
    for (path, acknowledged) in &known.acknowledged {
        let data = client.get_data(path).unwrap().unwrap_or_else(|| panic!("{path} is lost"));
        let found: u64 = String::from_utf8(data).unwrap().parse().unwrap();
        let attempted = known.attempted[path];
        assert!(
            (*acknowledged..=attempted).contains(&found),
            "{path}: {acknowledged} acknowledged, {found} found"
        );
    }
}

#[test]
fn kill_nine_loses_nothing_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let known: Arc<Mutex<Known>> = Arc::default();
    for round in 0..ROUNDS {
        let process = Process::start(directory.path());
        check(process.address, &known.lock().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (address, known, count) = (process.address, Arc::clone(&known), Arc::clone(&count));
                thread::spawn(move || write(address, writer, &known, &count))
            })
            .collect();
        // The moment differs from round to round and lies in the middle of writing.
        let enough = 200 + 137 * round;
        let deadline = Instant::now() + Duration::from_secs(30);
        while count.load(Ordering::Relaxed) < enough {
            assert!(Instant::now() < deadline, "the writers are stuck");
            thread::sleep(Duration::from_millis(1));
        }
        process.kill();
        for writer in writers {
            writer.join().unwrap().expect_err("the server is gone");
        }
    }
    let process = Process::start(directory.path());
    check(process.address, &known.lock().unwrap());
    process.kill();
}
