//! Runs iree-compile three times, in parallel where possible, cancellable, with the messages of the
//! run that makes the module as they arrive.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::elide_constants::copy_without_constants;
use crate::error::CompileError;
use crate::flags::{COMPANION, DISPATCHES, is_listing, outlined};
use crate::process_group::ProcessGroup;

/// How often a request to stop is checked while the compiler prints nothing.
const PATIENCE: Duration = Duration::from_millis(20);

/// Sources of at least this many bytes are compiled by two compilers at a time, not three.
const LARGE: u64 = 32 << 20;

/// The runs of one compilation.
pub(crate) struct Runs<'a> {
    pub(crate) compiler: &'a Path,
    pub(crate) input: &'a Path,
    pub(crate) flags: &'a [String],
    pub(crate) directory: Option<&'a Path>,
    pub(crate) environment: &'a [(String, String)],
    /// Where the module goes.
    pub(crate) module: &'a Path,
    /// Where the companion goes.
    pub(crate) companion: &'a Path,
    /// Where the sources of dispatches go.
    pub(crate) dispatches: &'a Path,
    /// The directory for the text of each call's own dispatch.
    pub(crate) outlined: &'a Path,
    /// Ends the compilers and their children. `None` if the system has no process groups.
    pub(crate) group: Option<&'a ProcessGroup>,
}

/// Which files beside the module were printed.
pub(crate) struct Beside {
    /// `Ok` if the companion is there, else why it is not.
    pub(crate) companion: Result<(), String>,
    /// Whether the sources of dispatches are there.
    pub(crate) has_dispatches: bool,
}

impl Runs<'_> {
    /// Runs all three.
    pub(crate) fn run(
        &self,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Beside, CompileError> {
        let print_dispatches = || self.print_dispatches(&outlined(self.outlined));
        let dispatches = if self.has_room() { Some(print_dispatches()?) } else { None };
        let mut companion = self.print(&COMPANION, self.companion)?;
        if self.flags.iter().any(|flag| is_listing(flag)) {
            // Both runs write the listing, and the module's has to be the one that stays.
            wait(&mut companion.running.0, cancellation)?;
        }
        let mut module = self.start(self.command().arg("-o").arg(self.module))?;

        let status = follow(&mut module, cancellation, on_line)?;
        if !status.success() {
            let message = first_error(&module.1);
            return Err(CompileError::Failed { input: self.input.to_owned(), status, message });
        }
        let companion = companion.finish(cancellation)?;
        let dispatches = match dispatches {
            None if companion.is_ok() && !self.has_executables() => None,
            None => Some(print_dispatches()?),
            started => started,
        };
        // Errors in the source were reported by the module's run.
        let has_dispatches = match dispatches {
            // Older compilers may not know the outlining pass; print again without it.
            Some(dispatches) => {
                dispatches.finish(cancellation)?.is_ok()
                    || self.print_dispatches(&[])?.finish(cancellation)?.is_ok()
            }
            None => false,
        };
        let companion = companion.map_err(|reason| match reason {
            NotPrinted::ByUs(error) => {
                format!("cannot write {}: {error}", self.companion.display())
            }
            NotPrinted::ByCompiler(status, said) => {
                format!("iree-compile printed no companion ({status}): {said}")
            }
        });
        Ok(Beside { companion, has_dispatches })
    }

    fn print_dispatches(&self, more: &[String]) -> Result<Printing, CompileError> {
        let flags: Vec<&str> =
            DISPATCHES.into_iter().chain(more.iter().map(String::as_str)).collect();
        self.print(&flags, self.dispatches)
    }

    /// Whether the companion mentions executables: only programs with dispatches do.
    fn has_executables(&self) -> bool {
        let text = std::fs::read(self.companion).unwrap_or_default();
        memchr::memmem::find(&text, b".executable.").is_some()
    }

    /// Whether a third compiler may run beside two others: there is a processor for it, and the
    /// source, which each compiler holds in memory several times over, is not large.
    fn has_room(&self) -> bool {
        let input = self.directory.map_or_else(|| self.input.into(), |it| it.join(self.input));
        let is_small = std::fs::metadata(input).is_ok_and(|file| file.len() < LARGE);
        is_small && thread::available_parallelism().is_ok_and(|count| count.get() > 2)
    }

    /// Starts a compiler whose output goes to a file, without constants.
    fn print(&self, flags: &[&str], path: &Path) -> Result<Printing, CompileError> {
        let mut running = self.start(self.command().args(flags).stdout(Stdio::piped()))?;
        let said = collect(running.0.stderr.take());
        let copy = copy_text(&mut running, path)?;
        Ok(Printing { running, said, copy })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.compiler);
        command
            .arg(self.input)
            .args(self.flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        command
    }

    fn start(&self, command: &mut Command) -> Result<Running, CompileError> {
        if let Some(group) = self.group {
            group.add(command);
        }
        let spawned = command.spawn();
        spawned.map(|child| Running(child, Vec::new())).map_err(|source| CompileError::NotStarted {
            compiler: self.compiler.to_owned(),
            source,
        })
    }
}

/// A running compiler that prints a text.
struct Printing {
    running: Running,
    said: JoinHandle<Vec<String>>,
    copy: JoinHandle<std::io::Result<()>>,
}

/// Why a text was not printed.
enum NotPrinted {
    ByCompiler(ExitStatus, String),
    ByUs(std::io::Error),
}

impl Printing {
    /// Waits for the text.
    fn finish(
        mut self,
        cancellation: &Cancellation,
    ) -> Result<Result<(), NotPrinted>, CompileError> {
        let status = wait(&mut self.running.0, cancellation)?;
        Ok(match join(self.copy) {
            _ if !status.success() => Err(NotPrinted::ByCompiler(status, join_lines(self.said))),
            copied => copied.map_err(NotPrinted::ByUs),
        })
    }
}

/// Copies a compiler's output to a file, without constants.
fn copy_text(
    running: &mut Running,
    path: &Path,
) -> Result<JoinHandle<std::io::Result<()>>, CompileError> {
    let file = File::create(path)
        .map_err(|source| CompileError::NotWritten { path: path.to_owned(), source })?;
    let text: Box<dyn Read + Send> = match running.0.stdout.take() {
        Some(stdout) => Box::new(stdout),
        None => Box::new(std::io::empty()),
    };
    Ok(thread::spawn(move || copy_without_constants(text, BufWriter::new(file))))
}

/// A running compiler and the lines that it has printed. Dropping it ends the compiler.
struct Running(Child, Vec<String>);

impl Drop for Running {
    fn drop(&mut self) {
        // This fails if the compiler has ended by itself, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Passes lines on until the compiler ends.
fn follow(
    running: &mut Running,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(&str),
) -> Result<ExitStatus, CompileError> {
    let lines = running.0.stderr.take().map(lines_of);
    while let Some(lines) = &lines {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                on_line(&line);
                running.1.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if cancellation.is_cancelled() {
            return Err(CompileError::Cancelled);
        }
    }
    wait(&mut running.0, cancellation)
}

fn wait(child: &mut Child, cancellation: &Cancellation) -> Result<ExitStatus, CompileError> {
    loop {
        if cancellation.is_cancelled() {
            return Err(CompileError::Cancelled);
        }
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => thread::sleep(PATIENCE / 4),
            Err(source) => {
                return Err(CompileError::NotStarted { compiler: "iree-compile".into(), source });
            }
        }
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

/// All lines of a stream, when it ends.
fn collect(stream: Option<ChildStderr>) -> JoinHandle<Vec<String>> {
    thread::spawn(move || {
        stream.map(|stream| lines_of(stream).iter().collect()).unwrap_or_default()
    })
}

fn join_lines(lines: JoinHandle<Vec<String>>) -> String {
    let lines = lines.join().unwrap_or_default();
    first_error(&lines).unwrap_or_else(|| "it printed nothing".to_owned())
}

fn join(copy: JoinHandle<std::io::Result<()>>) -> std::io::Result<()> {
    copy.join().unwrap_or_else(|_| Err(std::io::Error::other("the copying thread failed")))
}

/// The line to report as the cause: the first with `error:`, or else the last that is not blank.
fn first_error(lines: &[String]) -> Option<String> {
    let error = lines.iter().find(|line| line.contains("error:"));
    error.or_else(|| lines.iter().rfind(|line| !line.trim().is_empty())).cloned()
}
