//! The only door to standard output and standard error. What is printed may come from files of
//! anyone, so a terminal never gets their control characters: see [`abi::shown`]. Other readers
//! get all bytes as they are.
//!
//! `out!` and `outln!` are `print!` and `println!`, which would panic where the reader has gone
//! away (`iree-dbg run … | head`); these end the process, as output without a reader need not be
//! computed. `err!` and `errln!` are the same for standard error, where nothing is lost then.

use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Stderr, Stdout, Write};

use abi::shown;

/// Writes to standard output.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let Err(error) = output().write_fmt(text) else { return };
    if error.kind() != ErrorKind::BrokenPipe {
        print_error(format_args!("error: standard output: {error}\n"));
    }
    std::process::exit(1);
}

/// Writes to standard error.
pub(crate) fn print_error(text: fmt::Arguments<'_>) {
    // The exit status says what matters.
    let _ = errors().write_fmt(text);
}

/// Writes to standard output.
macro_rules! out {
    ($($text:tt)*) => { $crate::printing::print(format_args!($($text)*)) };
}

/// Writes a line to standard output.
macro_rules! outln {
    () => { $crate::printing::print(format_args!("\n")) };
    ($($text:tt)*) => {{
        $crate::printing::print(format_args!($($text)*));
        $crate::printing::print(format_args!("\n"));
    }};
}

/// Writes to standard error.
macro_rules! err {
    ($($text:tt)*) => { $crate::printing::print_error(format_args!($($text)*)) };
}

/// Writes a line to standard error.
macro_rules! errln {
    () => { $crate::printing::print_error(format_args!("\n")) };
    ($($text:tt)*) => {
        $crate::printing::print_error(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Ends a prompt that a signal has interrupted: what is pasted is not marked any more, and a line
/// begins.
///
/// Not through the lock of standard output: another thread may hold it while it waits for a
/// terminal that is stopped (Ctrl-S), and the process has to end all the same.
#[cfg(unix)]
pub(crate) fn end_prompt() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let output = rustix::stdio::stdout();
    let mut polled = [PollFd::from_borrowed_fd(output, PollFlags::OUT)];
    if poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
        let _ = rustix::io::write(output, b"\x1b[?2004l\r\n");
    }
}

/// Standard output.
pub(crate) fn output() -> Door<Stdout> {
    let output = io::stdout();
    let is_terminal = output.is_terminal();
    Door { to: output, is_terminal, pending: Vec::new() }
}

/// Standard error.
pub(crate) fn errors() -> Door<Stderr> {
    let errors = io::stderr();
    let is_terminal = errors.is_terminal();
    Door { to: errors, is_terminal, pending: Vec::new() }
}

/// The begin of a character is at most this long.
const LONGEST_BEGIN: usize = 3;

/// A writer whose reader may be a terminal.
#[derive(Debug)]
pub(crate) struct Door<W> {
    to: W,
    is_terminal: bool,
    /// The begin of a character whose end comes with the next write.
    pending: Vec<u8>,
}

impl<W: Write> Door<W> {
    /// Whether a terminal reads it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The same for text of our own alone, in which parts of files are shown already.
    pub(crate) fn own(self) -> Self {
        Self { is_terminal: false, ..self }
    }

    /// Writes text of our own, in which parts of files are shown already. It may have colours, and
    /// move on its line.
    pub(crate) fn write_own(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())
    }
}

/// Where a session of the terminal debugger is shown.
pub(crate) trait Screen: Write {
    /// See [`Door::write_own`].
    fn write_coloured(&mut self, text: &str) -> io::Result<()>;
}

impl<W: Write> Screen for Door<W> {
    fn write_coloured(&mut self, text: &str) -> io::Result<()> {
        self.write_own(text)
    }
}

impl<W: Write> Write for Door<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.to.write(bytes);
        }
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let end = match std::str::from_utf8(&all) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => all.len(),
        };
        let rest = all.split_off(end);
        debug_assert!(rest.len() <= LONGEST_BEGIN, "it is no begin of a character");
        self.pending = rest;
        self.to.write_all(shown(&String::from_utf8_lossy(&all)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader gets of pieces of a text.
    fn written(is_terminal: bool, pieces: &[&[u8]]) -> Vec<u8> {
        let mut door = Door { to: Vec::new(), is_terminal, pending: Vec::new() };
        for piece in pieces {
            door.write_all(piece).expect("memory");
        }
        door.to
    }

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let text = "é\x1b]0;t\x07\u{9b}x\n".as_bytes();
        assert_eq!(written(false, &[text]), text);
        let expected = "é\\u{1b}]0;t\\u{7}\\u{9b}x\n".as_bytes();
        for cut in 0..text.len() {
            assert_eq!(written(true, &[&text[..cut], &text[cut..]]), expected, "{cut}");
        }
        assert_eq!(written(true, &[b"a\xffb"]), "a\u{fffd}b".as_bytes());
    }
}
