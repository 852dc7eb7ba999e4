//! The prompt in a real terminal: TAB, the history, and Ctrl-C at the prompt and while the program
//! runs.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program::IREE_DBG;

/// A terminal: the end of its user, and what opens the end of a program.
pub(crate) fn terminal() -> (OwnedFd, impl Fn() -> OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("it is ours");
    unlockpt(&master).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let open = move || -> OwnedFd {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
        let mode = rustix::fs::Mode::empty();
        rustix::fs::open(name.as_c_str(), flags, mode).expect("the other end")
    };
    (master, open)
}

/// A debugger in a terminal.
struct Session {
    keyboard: std::fs::File,
    debugger: Child,
    printed: Receiver<Vec<u8>>,
    screen: String,
}

impl Session {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let (master, open) = terminal();
        // A session of its own, so that this is the terminal whose Ctrl-C it hears. What a shell
        // starts in the background ignores SIGINT.
        let debugger = Command::new("setsid")
            .args(["--ctty", "env", "--default-signal=INT", IREE_DBG.path()])
            .arg("debug")
            .args(arguments)
            .current_dir(directory)
            .env("XDG_STATE_HOME", directory)
            .env("TERM", "xterm")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .expect("it starts");
        let (sender, printed) = channel();
        let copy = |fd: &OwnedFd| fd.as_fd().try_clone_to_owned().expect("a second handle");
        let mut screen = std::fs::File::from(copy(&master));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keyboard = std::fs::File::from(master);
        Self { keyboard, debugger, printed, screen: String::new() }
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the debugger reads");
    }

    /// Waits for a text; returns all that was printed up to its end.
    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.screen.find(text) {
                let rest = self.screen.split_off(at + text.len());
                return std::mem::replace(&mut self.screen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.printed.recv_timeout(left) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{text:?} was not printed:\n{}", self.screen),
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.debugger.kill();
        let _ = self.debugger.wait();
    }
}

const PROMPT: &str = "(iree-dbg) ";
/// The prompt gives the terminal back when it has a line.
const RUNNING: &str = "\u{1b}[?2004l";
const CONTROL_C: &str = "\u{3}";
const CONTROL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";

#[test]
fn the_prompt_completes_and_remembers() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let mut session = Session::start(directory.path(), &[]);
    session.sees(PROMPT);
    session.types("brea\t im\t\r");
    session.sees("Breakpoint 1: improve");
    session.sees(PROMPT);
    session.types("run\r");
    session.sees("Breakpoint 1\r\n");
    session.sees(PROMPT);
    session.types("print %gue\t\r");
    session.sees("$1 = %guess = ");
    session.sees(PROMPT);
    // Ctrl-C at the prompt drops the line, and nothing else.
    session.types("quit");
    session.sees("quit");
    session.types(CONTROL_C);
    session.sees(PROMPT);
    session.types(&format!("{UP}\r"));
    session.sees("$2 = %guess = ");
    session.sees(PROMPT);
    session.types(CONTROL_D);
    assert!(session.debugger.wait().expect("it is ours").success());
    // The next session knows the lines of this one.
    let mut session = Session::start(directory.path(), &[]);
    session.sees(PROMPT);
    session.types(&format!("{UP}{UP}{UP}\r"));
    session.sees("Breakpoint 1: improve");
    // Without a history it knows none, and writes none.
    drop(session);
    let mut session = Session::start(directory.path(), &["--no-history"]);
    session.sees(PROMPT);
    session.types(UP);
    session.types("where\r");
    session.sees("nothing runs");
}

#[test]
fn control_c_stops_a_program_that_runs() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let listing = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/count.vmasm");
    let text = std::fs::read_to_string(listing).expect("the example");
    // It counts by zero, so it never ends.
    let endless = text.replace("vm.add.i32 %i2, %i1", "vm.add.i32 %i2, %i2");
    assert_ne!(text, endless);
    let listing = directory.path().join("endless.vmasm");
    std::fs::write(&listing, endless).expect("it is ours");
    let module = directory.path().join("count.vmfb");
    let made = IREE_DBG
        .command()
        .args(["asm", "-o"])
        .args([&module, &listing])
        .status()
        .expect("it starts");
    assert!(made.success());
    let mut session = Session::start(directory.path(), &["count.vmfb", "--input=5"]);
    session.sees(PROMPT);
    session.types("run\r");
    for number in 1..3 {
        session.sees(RUNNING);
        std::thread::sleep(Duration::from_millis(300));
        session.types(CONTROL_C);
        session.sees("Interrupted");
        session.sees(PROMPT);
        session.types("print i0 + 1\r");
        session.sees(&format!("${number} = i0 + 1 = 6 : integer"));
        session.sees(PROMPT);
        session.types("continue");
        session.sees("continue");
        session.types("\r");
    }
    session.sees(RUNNING);
    session.types(CONTROL_C);
    session.sees("Interrupted");
    session.sees(PROMPT);
    session.types("quit\r");
    assert!(session.debugger.wait().expect("it is ours").success());
}

/// What the terminal does with keys.
fn modes(session: &Session) -> String {
    let modes = rustix::termios::tcgetattr(&session.keyboard).expect("a terminal");
    format!("{:?} {:?} {:?}", modes.input_modes, modes.output_modes, modes.local_modes)
}

/// A shell that goes on in the same terminal can be used.
#[test]
fn a_signal_that_ends_the_debugger_leaves_the_terminal_as_it_was() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    for (name, number) in [("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let (_master, plain) = terminal();
        let before = rustix::termios::tcgetattr(plain()).expect("a terminal");
        let mut session = Session::start(directory.path(), &["--no-history"]);
        session.sees(PROMPT);
        let at_the_prompt = modes(&session);
        let sent = Command::new("kill")
            .args(["-s", name, &session.debugger.id().to_string()])
            .status()
            .expect("there is a kill");
        assert!(sent.success());
        let status = session.debugger.wait().expect("it is ours");
        assert_eq!(status.signal(), Some(number), "{name}");
        session.sees(RUNNING);
        let after = modes(&session);
        assert_ne!(after, at_the_prompt, "{name}");
        let before =
            format!("{:?} {:?} {:?}", before.input_modes, before.output_modes, before.local_modes);
        assert_eq!(after, before, "{name}");
    }
}
