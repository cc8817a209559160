//! A real Apache ZooKeeper from Debian's package, in a directory of its own.
#![allow(unreachable_pub, missing_docs, dead_code, reason = "a module of a test")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::wire;

const JARS: [&str; 7] =
    ["zookeeper", "zookeeper-jute", "slf4j-api", "netty-all", "metrics-core", "snappy-java", "slf4j-nop"];
const JAR_DIRECTORY: &str = "/usr/share/java";

/// A running server; it is killed when dropped.
#[derive(Debug)]
pub struct Real {
    child: Child,
    pub address: SocketAddr,
    _directory: tempfile::TempDir,
}

impl Real {
    /// Starts a server, or says on standard error why there is none.
    pub fn start(super_digest: &str) -> Option<Real> {
        let jars: Vec<String> = JARS.iter().map(|jar| format!("{JAR_DIRECTORY}/{jar}.jar")).collect();
        let java = Command::new("java").arg("-version").stderr(Stdio::null()).stdout(Stdio::null()).status();
        if !java.is_ok_and(|status| status.success()) || !Path::new(&jars[0]).exists() {
            eprintln!("SKIPPED: Apache ZooKeeper is not installed; `apt-get install zookeeper` (Debian)");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let configuration = format!(
            "tickTime=2000\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
             4lw.commands.whitelist=*\nmaxClientCnxns=0\nforceSync=no\n",
            directory.path().join("data").display()
        );
        let file = directory.path().join("zoo.cfg");
        std::fs::write(&file, configuration).unwrap();
        let child = Command::new("java")
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg("-Dzookeeper.extendedTypesEnabled=true")
            .arg(format!("-Dzookeeper.DigestAuthenticationProvider.superDigest={super_digest}"))
            .args(["-cp", &jars.join(":"), "org.apache.zookeeper.server.quorum.QuorumPeerMain"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut real = Real { child, address, _directory: directory };
        real.wait();
        Some(real)
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        // A server that has only just begun to listen takes a connection and never answers it.
        let answers = |word| wire::try_word(self.address, word, Duration::from_millis(500));
        while !answers("srvr").is_ok_and(|answer| answer.contains("Mode: standalone")) {
            assert!(self.child.try_wait().unwrap().is_none(), "the real server ended at once");
            assert!(Instant::now() < deadline, "the real server does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
