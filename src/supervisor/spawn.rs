//! Starting one process so that it outlives whoever starts it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::layout::Layout;
use super::machine::Role;
use super::ports;
use super::spec::{ClusterSpec, ZookeeperSpec};

/// A log that has grown past this is put aside at the next start, so that two starts' worth is kept and no more.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Finds a free port for a process, steps over ports that others have, and notes the choice in the spec.
///
/// Returns the ports that were stepped over.
pub(super) fn settle_port(spec: &mut ClusterSpec, role: Role) -> io::Result<Vec<u16>> {
    let mut reserved: BTreeSet<u16> = spec.brokers.iter().map(|broker| broker.port).collect();
    if let ZookeeperSpec::Embedded { port } = spec.zookeeper {
        reserved.insert(port);
    }
    let own = match role {
        Role::Zookeeper => match &mut spec.zookeeper {
            ZookeeperSpec::Embedded { port } => port,
            ZookeeperSpec::External { .. } => return Ok(Vec::new()),
        },
        Role::Broker(id) => match spec.brokers.iter_mut().find(|broker| broker.id == id) {
            Some(broker) => &mut broker.port,
            None => return Err(io::ErrorKind::NotFound.into()),
        },
    };
    reserved.remove(own);
    let choice = ports::choose(*own, &reserved)?;
    *own = choice.port;
    Ok(choice.stepped_over)
}

/// Starts the process in its own folder, detached from the terminal, with its output in its log file.
pub(super) fn spawn(program: &Path, layout: &Layout, spec: &ClusterSpec, role: Role) -> io::Result<Child> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(layout.data(role))?;
    let log = open_log(&layout.log(role))?;
    let mut command = Command::new(program);
    match role {
        Role::Zookeeper => {
            let ZookeeperSpec::Embedded { port } = spec.zookeeper else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            command.arg("zookeeper").arg("--dir").arg(layout.data(role)).arg("--port").arg(port.to_string());
        }
        Role::Broker(id) => {
            let properties = layout.properties(role);
            write_private(&properties, &render_properties(layout, spec, id)?)?;
            command.arg("broker").arg(&properties);
        }
    }
    command
        .arg("--detached")
        .arg("--pid-file")
        .arg(layout.pid(role))
        .arg("--runtime-file")
        .arg(layout.runtime(role))
        .current_dir(layout.root())
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    command.spawn()
}

/// The broker's `server.properties`: what only this broker has, then what suits the cluster, the operator's word last.
fn render_properties(layout: &Layout, spec: &ClusterSpec, id: i32) -> io::Result<String> {
    let broker = spec.brokers.iter().find(|broker| broker.id == id).ok_or(io::ErrorKind::NotFound)?;
    let data = layout.data(Role::Broker(id));
    let data = data.to_str().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the data directory's name is not UTF-8, which Kafka's settings must be",
        )
    })?;
    let mut settings = BTreeMap::from([
        ("broker.id".to_owned(), id.to_string()),
        ("listeners".to_owned(), format!("PLAINTEXT://127.0.0.1:{}", broker.port)),
        ("log.dirs".to_owned(), data.to_owned()),
        ("zookeeper.connect".to_owned(), spec.zookeeper_connect()),
    ]);
    settings.extend(spec.broker_settings());
    let mut text = format!(
        "# Broker {id} of the cluster '{}', written at its start. Change settings with `ottla up --set key=value`.\n",
        spec.name
    );
    for (key, value) in settings {
        // A backslash escapes in Java's property files.
        let _ = writeln!(text, "{key}={}", value.replace('\\', "\\\\"));
    }
    Ok(text)
}

fn open_log(path: &Path) -> io::Result<fs::File> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
        let mut aside = PathBuf::from(path).into_os_string();
        aside.push(".old");
        fs::rename(path, aside)?;
    }
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;
    use crate::supervisor::spec::Wishes;

    #[test]
    fn a_broker_steps_over_a_foreign_port_and_keeps_off_its_siblings() {
        let mut spec = ClusterSpec::new(&Wishes::default()).unwrap();
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        spec.brokers[0].port = port;
        spec.brokers[1].port = port + 1;
        let stepped_over = settle_port(&mut spec, Role::Broker(1)).unwrap();
        assert!(stepped_over.contains(&port));
        assert!(spec.brokers[0].port > port + 1);
    }

    #[test]
    fn the_properties_name_the_broker_and_let_the_operator_win() {
        let settings = vec![("log.segment.bytes".to_owned(), "1048576".to_owned())];
        let spec = ClusterSpec::new(&Wishes { settings, ..Wishes::default() }).unwrap();
        let text = render_properties(&Layout::new("/x"), &spec, 2).unwrap();
        assert!(text.contains("broker.id=2\n") && text.contains("log.segment.bytes=1048576\n"), "{text}");
        assert!(text.contains("listeners=PLAINTEXT://127.0.0.1:9093\n"), "{text}");
        assert!(render_properties(&Layout::new("/x"), &spec, 9).is_err());
    }
}
