//! A signal that ends the debugger at its prompt leaves the terminal as it was.
//!
//! While the prompt reads a line, the terminal passes on single keys and marks what is pasted. Who
//! ends the process from outside (`kill`, a closed window, a system that shuts down) would leave
//! it so, and the shell that comes next could not be used. So these signals give the terminal back
//! first; then the process ends by them, as its parent expects.

use std::io;

/// From now on, signals that end the process put the terminal back to what it is now.
#[cfg(unix)]
pub(crate) fn keep_from_signals() -> io::Result<()> {
    unix::keep_from_signals()
}

/// There are no such signals.
#[cfg(not(unix))]
pub(crate) fn keep_from_signals() -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::io;

    use rustix::process::getpgrp;
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::printing;

    /// What asks a process to end. SIGINT stops the program that is debugged.
    const ENDS: [i32; 3] = [SIGTERM, SIGHUP, SIGQUIT];

    pub(super) fn keep_from_signals() -> io::Result<()> {
        let before = tcgetattr(io::stdin())?;
        let mut signals = Signals::new(ENDS)?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                give_back(&before);
                // It does not return: the process ends as if nothing had been caught.
                let _ = emulate_default_handler(signal);
            }
        })?;
        Ok(())
    }

    fn give_back(before: &Termios) {
        // A terminal that another program is using is that program's.
        let is_ours = tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp());
        let is_changed =
            tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes != before.local_modes);
        if is_ours && is_changed {
            // A terminal that has gone needs nothing.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            printing::end_prompt();
        }
    }
}
