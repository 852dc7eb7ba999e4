//! Standard output, whose reader may go away: `iree-dbg run … | head`.
//!
//! `out!` and `outln!` are `print!` and `println!`, which would panic then; these end the
//! process, as output without a reader need not be computed.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Writes to standard output.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().write_fmt(text) else { return };
    if error.kind() != ErrorKind::BrokenPipe {
        eprintln!("error: standard output: {error}");
    }
    std::process::exit(1);
}

/// Writes to standard output.
macro_rules! out {
    ($($text:tt)*) => { $crate::printing::print(format_args!($($text)*)) };
}

/// Writes a line to standard output.
macro_rules! outln {
    ($($text:tt)*) => {{
        $crate::printing::print(format_args!($($text)*));
        $crate::printing::print(format_args!("\n"));
    }};
}
