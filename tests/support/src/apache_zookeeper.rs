//! A real Apache ZooKeeper, where the machine has one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::ports::PortBlock;
use crate::wait::{LONG, wait_until};

/// Where Debian's package puts the server.
const JARS: &str = "/usr/share/java";

/// A standalone server in a temporary folder, ended when dropped.
#[derive(Debug)]
pub struct ApacheZookeeper {
    process: Child,
    port: u16,
    _ports: PortBlock,
    _folder: tempfile::TempDir,
}

impl ApacheZookeeper {
    /// Starts a server; `None` when the machine has none.
    ///
    /// # Panics
    /// When there is one and it does not start.
    pub fn start() -> Option<Self> {
        let java = Command::new("java").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !Path::new(JARS).join("zookeeper.jar").exists() || !java.is_ok_and(|status| status.success()) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let ports = PortBlock::take();
        let port = ports.first();
        let settings = folder.path().join("zoo.cfg");
        let text = format!(
            "tickTime=500\ndataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
             4lw.commands.whitelist=*\nmaxClientCnxns=0\nextendedTypesEnabled=true\n",
            folder.path().display()
        );
        fs::write(&settings, text).unwrap();
        let log = fs::File::create(folder.path().join("server.log")).unwrap();
        let process = Command::new("java")
            .arg("-Xmx256m")
            .arg("-XX:+UseSerialGC")
            .arg("-Dzookeeper.jmx.log4j.disable=true")
            .arg("-cp")
            .arg(class_path())
            .arg("org.apache.zookeeper.server.ZooKeeperServerMain")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self { process, port, _ports: ports, _folder: folder };
        wait_until("Apache ZooKeeper to answer", LONG, || server.says_ok().then_some(()));
        Some(server)
    }

    /// Says how to get one.
    pub fn remedy() -> &'static str {
        "`apt-get install zookeeper` brings it"
    }

    /// Returns what clients connect to.
    pub fn connect(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn says_ok(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut answer = String::new();
        stream.write_all(b"ruok").is_ok() && stream.read_to_string(&mut answer).is_ok() && answer == "imok"
    }
}

impl Drop for ApacheZookeeper {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// The jars that Debian's own start script names.
fn class_path() -> String {
    let environment = fs::read_to_string("/etc/zookeeper/conf/environment").unwrap_or_default();
    let named = environment.lines().find_map(|line| line.trim().strip_prefix("CLASSPATH="));
    named.map_or_else(
        || format!("{JARS}/*"),
        |path| path.trim_matches('"').replace("$ZOOCFGDIR", "/etc/zookeeper/conf"),
    )
}
