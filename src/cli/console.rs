//! `ottla`: the cluster on the screen.
//!
//! ```text
//!  sources ──┐                          ┌──► performer ──► supervisor, controller, demo load
//!            ├──► feed ──► the loop ────┘                        │
//!  performer ┴◄──────────────────────────────── updates ◄────────┘
//! ```
//! The screen comes first: the cluster is started while it is already shown.

use std::process::ExitCode;

use tokio::sync::mpsc;

use super::arguments::{ClusterArguments, ColorWhen, ConsoleArguments};
use super::failure::Failure;
use super::{output, role, up};
use crate::effect::{COMMANDS_MAX, Performer};
use crate::model::Model;
use crate::recording::Recorder;
use crate::source::{Feed, Sources, Whereabouts};
use crate::supervisor::{Ask, Driver};
use crate::tui::{self, ColorChoice, Wiring};
use crate::view::Leave;
use crate::widget::Tier;

pub(super) fn run(cluster: &ClusterArguments, look: &ConsoleArguments) -> Result<ExitCode, Failure> {
    let options = options(look)?;
    let opened = up::open(cluster)?;
    let recorder = match &look.record {
        None => None,
        Some(path) => Some(
            Recorder::create(path)
                .map_err(|error| Failure::because(format!("record to {}", path.display()), &error))?,
        ),
    };
    let layout = opened.layout.clone();
    let sources = Sources { zookeeper: Whereabouts::OfCluster(layout.clone()), layout: Some(layout) };
    role::runtime()?.block_on(async {
        let driver = Driver::new(opened, up::options(!look.slow_death)?);
        let (feed, updates) = Feed::new();
        let (commands, taken) = mpsc::channel(COMMANDS_MAX);
        let (tasks, map) = sources.start(&feed);
        let performer = Performer::new(driver, feed, map);
        let performer = tokio::spawn(Box::pin(performer.run(taken)));
        let wiring = Wiring { updates, commands, recorder };
        let leave = Box::pin(tui::run(Model::default(), wiring, options)).await;
        drop(tasks);
        let driver = performer.await.map_err(|error| Failure::because("end the console's work", &error))?;
        match leave.map_err(|error| Failure::because("show the console", &error))? {
            Leave::LeaveRunning => {
                output::cluster_line(driver.spec(), driver.layout(), driver.machine());
                output::line("left running; `ottla` shows it again, `ottla down` stops it");
                Ok(ExitCode::SUCCESS)
            }
            Leave::StopAll => stop(driver).await,
        }
    })
}

async fn stop(mut driver: Driver) -> Result<ExitCode, Failure> {
    driver.ask(Ask::Down);
    driver.settle(|driver, said| output::said(driver.spec(), &said)).await;
    Ok(if driver.machine().is_down() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(look: &ConsoleArguments) -> Result<tui::Options, Failure> {
    let mut options = tui::Options {
        color: match look.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        },
        tier: look.ascii.then_some(Tier::Ascii),
        mouse: !look.no_mouse,
        ..tui::Options::default()
    };
    if let Some(theme) = &look.theme {
        options.use_theme(theme).map_err(Failure::usage)?;
    }
    if let Some(path) = &look.keys {
        options.use_keymap(path).map_err(Failure::usage)?;
    }
    Ok(options)
}
