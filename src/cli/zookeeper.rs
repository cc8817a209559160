//! `ottla zookeeper`: the embedded server in the foreground.

use std::process::ExitCode;

use ottla_zookeeper::Server;

use super::arguments::ZookeeperArguments;
use super::failure::Failure;
use super::role::{self, Presence};
use crate::supervisor::ZookeeperRecord;

pub(super) fn run(arguments: &ZookeeperArguments) -> Result<ExitCode, Failure> {
    let presence = Presence::announce(&arguments.process)?;
    let server = Server::builder()
        .data_dir(&arguments.dir)
        .port(arguments.port)
        .start()
        .map_err(|error| Failure::because("start the embedded ZooKeeper server", &error))?;
    let address = server.local_addr().to_string();
    tracing::info!("zookeeper started at {address}, data in {}", arguments.dir.display());
    if let Some(path) = &arguments.process.runtime_file {
        role::write(path, &ZookeeperRecord { identity: presence.identity, address })?;
    }
    let asked = async {
        if let Err(failure) = role::asked_to_end().await {
            tracing::error!("{failure}");
        }
    };
    server.run_until(asked).map_err(|error| Failure::because("run the embedded ZooKeeper server", &error))?;
    tracing::info!("zookeeper stopped");
    presence.withdraw();
    Ok(ExitCode::SUCCESS)
}
