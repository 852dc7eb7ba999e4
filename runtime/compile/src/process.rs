//! A running compiler: its lines as they arrive, its end, and how it is stopped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::process_group::ProcessGroup;
use crate::script::without_script;

/// How often a request to stop is checked while the compiler prints nothing.
const PATIENCE: Duration = Duration::from_millis(20);

/// How compilers are started.
pub(crate) struct Starter<'a> {
    pub(crate) compiler: &'a Path,
    pub(crate) directory: Option<&'a Path>,
    pub(crate) environment: &'a [(String, String)],
    /// Ends the compilers and their children. `None` if the system has no process groups.
    pub(crate) group: Option<&'a ProcessGroup>,
    pub(crate) cancellation: &'a Cancellation,
}

/// How a compiler has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The lines that it printed.
    pub(crate) lines: Vec<String>,
}

impl Ended {
    /// Whether it was ended by a signal, itself or under the script that starts it. That is a fault
    /// of the compiler, and one on a busy machine may not come again.
    pub(crate) fn has_crashed(&self) -> bool {
        self.status.code().is_none_or(|code| code >= 128)
    }

    /// The line to report as the cause: the first that tells of an error, or else the last that is
    /// not blank.
    pub(crate) fn first_error(&self) -> Option<String> {
        let marks = ["error:", "Unknown command line argument"];
        let tells = |line: &&String| marks.iter().any(|mark| line.contains(mark));
        let error = self.lines.iter().find(tells);
        error.or_else(|| self.lines.iter().rfind(|line| !line.trim().is_empty())).cloned()
    }
}

/// A running compiler. Dropping it ends it.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // This fails if the compiler has ended by itself, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Starter<'_> {
    /// Starts the compiler with these arguments.
    pub(crate) fn start(
        &self,
        arguments: &[String],
        stdout: Stdio,
    ) -> Result<Running, CompileError> {
        let mut command = Command::new(without_script(self.compiler).as_ref());
        command.args(arguments).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        if let Some(group) = self.group {
            group.add(&mut command);
        }
        let compiler = self.compiler.to_owned();
        command.spawn().map(Running).map_err(|source| CompileError::NotStarted { compiler, source })
    }

    /// Runs the compiler to its end; `on_line` gets each line that it prints.
    pub(crate) fn run(
        &self,
        arguments: &[String],
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Ended, CompileError> {
        self.follow(self.start(arguments, Stdio::null())?, on_line)
    }

    /// Passes lines on until a compiler ends.
    pub(crate) fn follow(
        &self,
        mut running: Running,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Ended, CompileError> {
        let incoming = running.0.stderr.take().map(lines_of);
        let mut lines = Vec::new();
        while let Some(incoming) = &incoming {
            match incoming.recv_timeout(PATIENCE) {
                Ok(line) => {
                    on_line(&line);
                    lines.push(line);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.cancellation.is_cancelled() {
                return Err(CompileError::Cancelled);
            }
        }
        Ok(Ended { status: self.wait(&mut running.0)?, lines })
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, CompileError> {
        loop {
            if self.cancellation.is_cancelled() {
                return Err(CompileError::Cancelled);
            }
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => thread::sleep(PATIENCE / 4),
                Err(source) => {
                    let compiler = self.compiler.to_owned();
                    return Err(CompileError::NotStarted { compiler, source });
                }
            }
        }
    }
}

impl Running {
    /// Its output, if it goes to a pipe.
    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }

    /// Its messages; they are followed no longer.
    pub(crate) fn stderr(&mut self) -> Option<ChildStderr> {
        self.0.stderr.take()
    }
}

/// The lines of a stream, from a thread that reads them.
fn lines_of(stream: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(text).is_err() {
                break;
            }
            line.clear();
        }
    });
    receiver
}
