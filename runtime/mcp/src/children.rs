//! Questions that `iree-dbg` answers in a process of its own: comparisons of whole runs take long
//! and much memory, and a process can be ended at any time without harm to the program here.

use std::ffi::OsString;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use compile::{Cancellation, ProcessGroup};
use hal::NativeCode;

use crate::access::Allowed;
use crate::problem::Problem;
use crate::program::{Desk, Origin};

/// The most bytes of what it prints.
const MOST_OUTPUT: u64 = 16 << 20;

/// How often it is asked whether it has ended.
const PATIENCE: Duration = Duration::from_millis(10);

/// A compiler that is not there, so that none is found.
const NO_COMPILER: &str = "/nonexistent/iree-compile-is-not-allowed";

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit status, if no signal has ended it.
    pub(crate) status: Option<i32>,
    /// What it has printed.
    pub(crate) output: String,
    /// What it has complained about.
    pub(crate) errors: String,
}

impl Ended {
    /// Why it has no answer: its last complaint.
    pub(crate) fn complaint(&self) -> String {
        let errors = self.errors.trim();
        let said = errors.find("error: ").map_or(errors, |at| &errors[at + "error: ".len()..]);
        match said {
            "" => "iree-dbg has ended without an answer".to_owned(),
            said => said.to_owned(),
        }
    }
}

/// Asks `iree-dbg` with this command line, in the first folder.
///
/// # Errors
/// It does not start, its time is over, or the client has cancelled the call.
pub(crate) fn ask(desk: &Desk, arguments: &[OsString]) -> Result<Ended, Problem> {
    let mut command = Command::new(&desk.executable);
    command.args(arguments).current_dir(desk.access.folder());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !desk.access.allows(Allowed::Compile) {
        command.env("IREE_COMPILE", NO_COMPILER);
    }
    let group = ProcessGroup::new().ok();
    if let Some(group) = &group {
        group.add(&mut command);
    }
    let mut child = command.spawn()?;
    let output = child.stdout.take().map(collected);
    let errors = child.stderr.take().map(collected);
    let ended = ended(&mut child, &desk.stopper.cancellation());
    if ended.is_none() {
        // Its own children hold its pipes.
        drop(group);
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = |reader: Option<JoinHandle<String>>| {
        reader.and_then(|it| it.join().ok()).unwrap_or_default()
    };
    let (output, errors) = (text(output), text(errors));
    match ended {
        Some(status) => Ok(Ended { status: status.code(), output, errors }),
        None => Err("its time was over, or the call was cancelled; `seconds` gives it more".into()),
    }
}

/// Waits for the end; none if it was cancelled.
fn ended(child: &mut Child, cancellation: &Cancellation) -> Option<ExitStatus> {
    loop {
        if cancellation.is_cancelled() {
            return None;
        }
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(PATIENCE),
            Err(_) => return None,
        }
    }
}

/// What comes from a pipe; what is beyond the limit is read and dropped.
fn collected(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The command line of a question about the loaded program: its module, function, inputs, device.
///
/// # Errors
/// It has no files: it is a recorded run.
pub(crate) fn command_line(
    desk: &Desk,
    command: &str,
    origin: &Origin,
) -> Result<Vec<OsString>, Problem> {
    let (last, before) = origin.modules.split_last().ok_or_else(|| {
        let text = "the program is a recorded run; this needs its module";
        Problem::with_next(text, &["load {\"module\": \"MODEL.vmfb\"}"])
    })?;
    let mut line: Vec<OsString> = vec![command.into()];
    let flag = |name: &str, value: &std::ffi::OsStr| {
        let mut flag = OsString::from(format!("--{name}="));
        flag.push(value);
        flag
    };
    line.extend(before.iter().map(|it| flag("module", it.as_os_str())));
    line.push(last.into());
    line.extend(origin.function.iter().map(|it| flag("function", it.as_ref())));
    line.extend(origin.inputs.iter().map(|it| flag("input", it.as_ref())));
    line.extend(origin.parameters.iter().map(|it| flag("parameters", it.as_ref())));
    line.extend(origin.device.iter().map(|it| flag("device", it.as_ref())));
    line.push(match desk.access.native_code {
        NativeCode::Refused => "--no-native".into(),
        NativeCode::Sandboxed => "--sandbox=on".into(),
        NativeCode::Allowed => "--sandbox=off".into(),
    });
    Ok(line)
}
