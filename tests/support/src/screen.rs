//! A terminal that a test can type into and read.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use crate::wait::wait_until;

/// The program under test on a pseudo-terminal, killed when dropped.
pub struct Screen {
    terminal: Arc<Mutex<avt::Terminal>>,
    /// Every screen that was ever shown differs from the one before in one of these lines.
    history: Arc<Mutex<Vec<String>>>,
    keyboard: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Screen {
    /// Starts a program on a terminal of this size.
    ///
    /// # Panics
    /// When there is no terminal to be had or the program cannot be started.
    pub fn start(
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
        columns: u16,
        rows: u16,
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        for (key, value) in environment {
            command.env(key, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let terminal =
            Arc::new(Mutex::new(avt::Terminal::new(usize::from(columns), usize::from(rows)).unwrap()));
        let history = Arc::new(Mutex::new(Vec::new()));
        let mut output = pair.master.try_clone_reader().unwrap();
        let (written, remembered) = (Arc::clone(&terminal), Arc::clone(&history));
        thread::spawn(move || {
            let mut bytes = [0; 16 * 1024];
            let mut pending = Vec::new();
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                pending.extend_from_slice(&bytes[..count]);
                // A character may be cut in two by the read.
                let whole = match std::str::from_utf8(&pending) {
                    Ok(text) => text.len(),
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    Err(_) => pending.len(),
                };
                let text = String::from_utf8_lossy(&pending[..whole]).into_owned();
                pending.drain(..whole);
                let mut terminal = written.lock().unwrap();
                terminal.feed([text.as_str()]);
                let mut lines = remembered.lock().unwrap();
                for line in terminal.screen().visible_lines() {
                    let line = line.text().trim_end().to_owned();
                    if !line.is_empty() && !lines.iter().rev().take(400).any(|seen| *seen == line) {
                        lines.push(line);
                    }
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { terminal, history, keyboard, master: pair.master, child }
    }

    /// Types.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Returns what the screen shows, a line each.
    ///
    /// # Panics
    /// When the reader of the terminal has panicked.
    pub fn text(&self) -> String {
        let terminal = self.terminal.lock().unwrap();
        let lines: Vec<_> =
            terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect();
        lines.join("\n")
    }

    /// Returns every line that was ever on the screen, in the order it first appeared.
    ///
    /// # Panics
    /// When the reader of the terminal has panicked.
    pub fn history(&self) -> Vec<String> {
        self.history.lock().unwrap().clone()
    }

    /// Waits until the screen shows something.
    ///
    /// # Panics
    /// When the deadline passes first; the message holds the screen.
    pub fn wait_for(&self, what: &str, deadline: Duration, test: impl Fn(&str) -> bool) -> String {
        let started = std::time::Instant::now();
        loop {
            let text = self.text();
            if test(&text) {
                return text;
            }
            assert!(
                started.elapsed() < deadline,
                "waited {deadline:?} in vain for {what}; the screen shows:\n{text}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Changes the size of the terminal.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.terminal.lock().unwrap().resize(usize::from(columns), usize::from(rows));
    }

    /// Waits until the program has ended.
    ///
    /// # Panics
    /// When it goes on past the deadline.
    pub fn wait_for_end(&mut self, deadline: Duration) -> ExitStatus {
        let child = &mut self.child;
        wait_until("the program on the screen to end", deadline, || child.try_wait().unwrap())
    }

    /// Kills the program where it stands.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns the program's process id.
    ///
    /// # Panics
    /// When it has ended.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
