//! The terminal as the console needs it, and as it was before.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue, style};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::color::Mapper;

/// What is drawn on, buffered so that a frame is one write.
type Terminal = ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// Whether the terminal is the console's: read where a panic must know what to undo.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is the console's. It is given back when this is dropped, and when the program panics.
pub(super) struct Screen {
    terminal: Terminal,
    mouse: bool,
}

impl Screen {
    /// Returns whether there is a terminal to draw on and to read keys from.
    pub(super) fn is_there() -> bool {
        io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// Takes the terminal.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                give_back();
                before(info);
            }));
        });
        // Without colours the theme has none, but bold and reverse must come through: crossterm 0.29 answers NO_COLOR
        // with an empty sequence that resets them (crossterm-rs/crossterm#1069).
        style::force_color_output(true);
        enter(mouse)?;
        Ok(Self { terminal: terminal()?, mouse })
    }

    /// Returns the area of the whole screen.
    pub(super) fn area(&self) -> Rect {
        self.terminal.size().map_or(Rect::ZERO, |size| Rect::new(0, 0, size.width, size.height))
    }

    /// Draws a frame in one go.
    pub(super) fn draw(
        &mut self,
        mapper: &mut Mapper,
        draw: impl FnOnce(Rect, &mut Buffer),
    ) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| {
            let area = frame.area();
            draw(area, frame.buffer_mut());
            mapper.map(frame.buffer_mut());
        })?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Gives the terminal back, stops the process until it is continued, and takes the terminal again.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        enter(self.mouse)?;
        // A new terminal draws everything. Clearing the old one would ask the terminal where its cursor is, and the
        // answer would be taken for input.
        self.terminal = terminal()?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn terminal() -> io::Result<Terminal> {
    ratatui::Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout())))
}

fn enter(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    execute!(
        out,
        EnterAlternateScreen,
        Clear(ClearType::All),
        cursor::Hide,
        EnableBracketedPaste,
        EnableFocusChange
    )?;
    if mouse {
        execute!(out, EnableMouseCapture)?;
    }
    Ok(())
}

/// Puts the terminal as it was. What fails here cannot be told anywhere.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    execute!(
        out,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        style::ResetColor,
        LeaveAlternateScreen,
        cursor::Show
    )
    .ok();
    disable_raw_mode().ok();
    out.flush().ok();
}
