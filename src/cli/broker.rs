//! `ottla broker`: one broker in the foreground.

use std::fs;
use std::process::ExitCode;
use std::thread;

use ottla_broker::config;
use ottla_broker::{Broker, BrokerOptions};
use tokio::sync::oneshot;

use super::arguments::{BrokerArguments, settings};
use super::failure::Failure;
use super::role::{self, Presence};

pub(super) fn run(arguments: &BrokerArguments) -> Result<ExitCode, Failure> {
    let presence = Presence::announce(&arguments.process)?;
    let pairs = settings(&arguments.set)?;
    let text = match &arguments.properties {
        None => None,
        Some(path) => Some(
            fs::read_to_string(path)
                .map_err(|error| Failure::because(format!("read {}", path.display()), &error))?,
        ),
    };
    let file = arguments.properties.as_deref().zip(text.as_deref());
    let loaded = config::load(file, &pairs).map_err(Failure::usage)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let options =
        BrokerOptions { runtime_file: arguments.process.runtime_file.clone(), origin: loaded.origin.clone() };
    let broker = Broker::start(loaded.config, options)
        .map_err(|error| Failure::because("start the broker", &error))?;
    tracing::info!("broker {} started", broker.id());
    let ending = broker.ending();
    let (tell, told) = oneshot::channel();
    // It ends with the process: a broker that is well never gives a reason.
    thread::Builder::new()
        .name("ending".to_owned())
        .spawn(move || tell.send(ending.wait()))
        .map_err(|error| Failure::because("start a thread", &error))?;
    let reason = role::runtime()?.block_on(async {
        tokio::select! {
            asked = role::asked_to_end() => asked.map(|()| None),
            Ok(reason) = told => Ok(Some(reason)),
        }
    })?;
    match reason {
        None => {
            broker.shutdown();
            presence.withdraw();
            Ok(ExitCode::SUCCESS)
        }
        Some(reason) => Err(Failure::failed(format!("broker {} cannot go on: {reason}", broker.id()))),
    }
}
