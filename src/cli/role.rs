//! What the processes of a cluster have in common: leaving the terminal, saying who they are, logging, ending well.

use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::arguments::ProcessArguments;
use super::failure::Failure;
use crate::supervisor::process::Identity;
use crate::supervisor::{PidRecord, write_record};

/// The files by which a process is found again; removed when it ends in an orderly way.
#[derive(Debug)]
pub(super) struct Presence<'a> {
    arguments: &'a ProcessArguments,
    /// Who this process is.
    pub(super) identity: Identity,
}

impl<'a> Presence<'a> {
    /// Leaves the terminal if asked, starts logging to standard error, and says who this process is.
    pub(super) fn announce(arguments: &'a ProcessArguments) -> Result<Self, Failure> {
        if arguments.detached {
            // Fails only for the leader of a process group, which has no need of it.
            rustix::process::setsid().ok();
        }
        let filter = EnvFilter::try_from_env("OTTLA_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
        let identity =
            Identity::of_self().map_err(|error| Failure::because("read this process's own state", &error))?;
        if let Some(path) = &arguments.pid_file {
            write(path, &PidRecord { identity })?;
        }
        Ok(Self { arguments, identity })
    }

    /// Takes the files back: this process ends because it was asked to.
    pub(super) fn withdraw(self) {
        for path in [&self.arguments.runtime_file, &self.arguments.pid_file].into_iter().flatten() {
            if let Err(error) = std::fs::remove_file(path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!("remove {}: {error}", path.display());
            }
        }
    }
}

/// Writes a record of this process.
pub(super) fn write<T: serde::Serialize>(path: &Path, record: &T) -> Result<(), Failure> {
    write_record(path, record).map_err(|error| Failure::because(format!("write {}", path.display()), &error))
}

/// Returns the runtime on which a command waits.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::because("start the runtime", &error))
}

/// Waits until somebody asks this process to end.
pub(super) async fn asked_to_end() -> Result<(), Failure> {
    let failed = |error| Failure::because("listen for signals", &error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
