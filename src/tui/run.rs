//! The one loop.

use std::env;
use std::io;

use crossterm::event::EventStream;
use futures::StreamExt as _;
use ottla_broker::types::Millis;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;

use super::clock::Clock;
use super::color::{Depth, Mapper};
use super::input::{Input, read};
use super::options::{Options, Wiring};
use super::terminal::Screen;
use crate::action::Issued;
use crate::config::{BUILTIN_THEMES, Theme};
use crate::model::{ActionUpdate, Model, Progress, Severity, Update};
use crate::view::{Console, Leave, Wish};
use crate::widget::{Glyphs, Tier};

/// The least time between two frames.
const FRAME_MS: i64 = 33;
/// How many updates are taken before input is looked at again.
const BATCH: usize = 1_024;

/// Why the console cannot go on.
#[derive(Debug, Error)]
pub enum Error {
    /// There is nothing to draw on.
    #[error("standard input and output are no terminal; `ottla up` and `ottla status` need none")]
    NoTerminal,
    /// The terminal cannot be used.
    #[error("{operation}: {source}")]
    Terminal {
        /// What was tried.
        operation: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// Shows a model and what becomes known of it until the operator leaves.
///
/// Must run on a tokio runtime with time and I/O. Commands go out as they are agreed to; what becomes of them comes back
/// as updates. Returns how the operator wants to leave; stopping the cluster is the caller's to do, with the terminal
/// given back. A hang-up or a termination signal leaves the cluster running.
///
/// # Errors
/// When there is no terminal, or it fails.
pub async fn run(model: Model, wiring: Wiring, options: Options) -> Result<Leave, Error> {
    if !Screen::is_there() {
        return Err(Error::NoTerminal);
    }
    let depth = Depth::detect(options.color, &|name| env::var(name).ok());
    let screen = Screen::take(options.mouse).map_err(failed("take the terminal"))?;
    let console = Console::new(themes(&options, depth), Glyphs::new(tier(&options)), &options.keymap);
    let clock = Clock::start();
    Loop { model, wiring, console, screen, mapper: Mapper::new(depth), clock, drawn_at: None, dirty: true }
        .run()
        .await
}

/// Returns the themes, the one to begin with first. Without colours there is only the one that needs none.
fn themes(options: &Options, depth: Depth) -> Vec<Theme> {
    let builtin = |name: &str| Theme::builtin(name).ok();
    if depth == Depth::None {
        return builtin("mono").into_iter().collect();
    }
    let mut list: Vec<Theme> = options.theme.clone().into_iter().collect();
    for theme in BUILTIN_THEMES.iter().filter_map(|(name, _)| builtin(name)) {
        if list.iter().all(|known| known.name != theme.name) {
            list.push(theme);
        }
    }
    list
}

/// Returns what to draw with: what was asked for, or what the terminal's name promises.
fn tier(options: &Options) -> Tier {
    options.tier.unwrap_or_else(|| {
        let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()))
            .is_none_or(|locale| {
                let locale = locale.to_ascii_lowercase();
                locale.contains("utf-8") || locale.contains("utf8")
            });
        match env::var("TERM").as_deref() {
            Ok("dumb") => Tier::Ascii,
            Ok("linux") if utf8 => Tier::Block,
            _ if utf8 => Tier::Braille,
            _ => Tier::Ascii,
        }
    })
}

fn failed(operation: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::Terminal { operation, source }
}

struct Loop {
    model: Model,
    wiring: Wiring,
    console: Console,
    screen: Screen,
    mapper: Mapper,
    clock: Clock,
    drawn_at: Option<Millis>,
    dirty: bool,
}

impl Loop {
    async fn run(mut self) -> Result<Leave, Error> {
        let mut input = EventStream::new();
        let mut hang_up = signal(SignalKind::hangup()).map_err(failed("watch for SIGHUP"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed("watch for SIGTERM"))?;
        let mut open = true;
        loop {
            self.draw_if_due()?;
            let deadline = self.deadline();
            tokio::select! {
                biased;
                event = input.next() => match event {
                    Some(Ok(event)) => {
                        if let Some(leave) = self.on_input(event)? {
                            return Ok(leave);
                        }
                    }
                    Some(Err(source)) => return Err(failed("read the terminal")(source)),
                    None => return Ok(Leave::LeaveRunning),
                },
                () = ended(&mut hang_up) => return Ok(Leave::LeaveRunning),
                () = ended(&mut terminate) => return Ok(Leave::LeaveRunning),
                update = self.wiring.updates.recv(), if open => match update {
                    Some(update) => self.on_updates(update),
                    None => open = false,
                },
                () = sleep(deadline) => self.dirty = true,
            }
        }
    }

    /// Draws when something changed and the last frame is old enough.
    fn draw_if_due(&mut self) -> Result<(), Error> {
        let now = self.clock.now();
        let due = self.drawn_at.is_none_or(|at| now.since(at).0 >= FRAME_MS);
        if !self.dirty || !due {
            return Ok(());
        }
        self.console.settle(&self.model, now);
        let (console, model) = (&self.console, &self.model);
        self.screen
            .draw(&mut self.mapper, |area, buffer| console.draw(model, now, area, buffer))
            .map_err(failed("write to the terminal"))?;
        self.drawn_at = Some(now);
        self.dirty = false;
        Ok(())
    }

    /// Returns when the loop must wake though nothing comes in.
    fn deadline(&self) -> Option<Instant> {
        let at = if self.dirty {
            self.drawn_at.map(|at| at.plus(Millis(FRAME_MS)))
        } else {
            self.console.next_deadline(&self.model, self.clock.now())
        };
        at.map(|at| Instant::from_std(self.clock.instant(at)))
    }

    fn on_updates(&mut self, first: Update) {
        let now = self.clock.now();
        self.apply(now, first);
        for _ in 1..BATCH {
            let Ok(update) = self.wiring.updates.try_recv() else { break };
            self.apply(now, update);
        }
        self.dirty = true;
    }

    fn apply(&mut self, now: Millis, update: Update) {
        if let Some(recorder) = &mut self.wiring.recorder
            && let Err(error) = recorder.write(now, &update)
        {
            self.wiring.recorder = None;
            let text = format!("recording ended: {error}");
            self.model.apply(now, Update::Notice { severity: Severity::Warning, text });
        }
        self.model.apply(now, update);
    }

    fn on_input(&mut self, event: crossterm::event::Event) -> Result<Option<Leave>, Error> {
        let Some(input) = read(event) else { return Ok(None) };
        let now = self.clock.now();
        self.dirty = true;
        let wish = match input {
            Input::Key(key) => self.console.on_key(&self.model, now, key),
            Input::Mouse(mouse) => self.console.on_mouse(&self.model, now, self.screen.area(), mouse),
            Input::Paste(text) => {
                self.console.on_paste(&self.model, now, &text);
                None
            }
            Input::Redraw => None,
        };
        match wish {
            None => Ok(None),
            Some(Wish::Leave(leave)) => Ok(Some(leave)),
            Some(Wish::Suspend) => {
                self.screen.suspend().map_err(failed("take the terminal again"))?;
                Ok(None)
            }
            Some(Wish::Command(issued)) => {
                self.issue(now, issued);
                Ok(None)
            }
        }
    }

    /// Sends a command on its way, or says why it cannot be.
    fn issue(&mut self, now: Millis, issued: Issued) {
        let (id, what) = (issued.id, issued.command.to_string());
        let why = match self.wiring.commands.try_send(issued) {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => "too much is under way; try again in a moment",
            Err(TrySendError::Closed(_)) => "this console can do nothing: its effects have ended",
        };
        for progress in [Progress::Started(what), Progress::Failed(why.to_owned())] {
            self.apply(now, Update::Action(ActionUpdate { id, progress }));
        }
    }
}

/// Waits for a signal.
async fn ended(signal: &mut Signal) {
    signal.recv().await;
}

/// Waits until a moment, or for ever when there is none.
async fn sleep(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
