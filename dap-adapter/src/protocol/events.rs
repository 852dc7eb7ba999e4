//! Events: everything that the adapter sends unasked.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::types::{Breakpoint, Source};

/// An event. Field meanings are those of the specification; comments explain only what is ours.
#[derive(Serialize, Debug)]
#[serde(tag = "event", content = "body", rename_all = "camelCase")]
pub(crate) enum Event {
    Initialized,
    Process(Process),
    Thread(ThreadEvent),
    Module(ModuleEvent),
    LoadedSource(LoadedSource),
    Stopped(Stopped),
    Continued(Continued),
    Output(Output),
    Breakpoint(BreakpointEvent),
    Capabilities(CapabilitiesEvent),
    Invalidated(Invalidated),
    Memory(Memory),
    ProgressStart(ProgressStart),
    ProgressUpdate(ProgressUpdate),
    ProgressEnd(ProgressEnd),
    Exited(Exited),
    Terminated,
    /// What has run so far, for clients that have asked for it; the protocol has no such event.
    #[serde(rename = "iree/runMap")]
    RunMap(Value),
    /// What is wrong with the results of a program.
    #[serde(rename = "iree/verdict")]
    Verdict(Value),
    /// What a dispatch has left that ran again, compared with before.
    #[serde(rename = "iree/rerun")]
    Rerun(Value),
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) system_process_id: u32,
    pub(crate) is_local_process: bool,
    pub(crate) start_method: &'static str,
    pub(crate) pointer_size: u32,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThreadEvent {
    pub(crate) reason: &'static str,
    pub(crate) thread_id: i64,
}

#[derive(Serialize, Debug)]
pub(crate) struct ModuleEvent {
    pub(crate) reason: &'static str,
    pub(crate) module: Module,
}

/// A module, in the event and in the `modules` response.
#[derive(Serialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Module {
    /// The module's name; frames refer to it.
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    pub(crate) is_user_code: bool,
    pub(crate) symbol_status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symbol_file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address_range: Option<String>,
}

#[derive(Serialize, Debug)]
pub(crate) struct LoadedSource {
    pub(crate) reason: &'static str,
    pub(crate) source: Source,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stopped {
    pub(crate) reason: &'static str,
    #[serde(serialize_with = "shown")]
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) thread_id: i64,
    pub(crate) all_threads_stopped: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hit_breakpoint_ids: Vec<i64>,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Continued {
    pub(crate) thread_id: i64,
    pub(crate) all_threads_continued: bool,
}

#[derive(Serialize, Debug)]
pub(crate) struct Output {
    pub(crate) category: Category,
    /// Clients in terminals draw it as it comes.
    #[serde(serialize_with = "shown")]
    pub(crate) output: String,
    #[serde(flatten)]
    pub(crate) place: Option<Place>,
}

/// Writes a text that may have come from a file, without its control characters.
fn shown<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&abi::shown(text))
}

/// Where the program was when it printed that.
#[derive(Serialize, Debug)]
pub(crate) struct Place {
    pub(crate) source: Source,
    pub(crate) line: i64,
    pub(crate) column: i64,
}

/// The origin of a printed text.
#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Category {
    /// The debugger.
    Console,
    /// The debugger, with something that the user must not overlook.
    Important,
    /// The program.
    Stdout,
    /// The program's failure, and the compiler.
    Stderr,
}

#[derive(Serialize, Debug)]
pub(crate) struct BreakpointEvent {
    pub(crate) reason: &'static str,
    pub(crate) breakpoint: Breakpoint,
}

#[derive(Serialize, Debug)]
pub(crate) struct CapabilitiesEvent {
    pub(crate) capabilities: Value,
}

/// What the client shows of these areas is out of date.
#[derive(Serialize, Debug)]
pub(crate) struct Invalidated {
    pub(crate) areas: &'static [&'static str],
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memory {
    pub(crate) memory_reference: String,
    pub(crate) offset: i64,
    pub(crate) count: usize,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressStart {
    pub(crate) progress_id: String,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<i64>,
    pub(crate) cancellable: bool,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressUpdate {
    pub(crate) progress_id: String,
    pub(crate) message: String,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressEnd {
    pub(crate) progress_id: String,
}

#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exited {
    pub(crate) exit_code: i64,
}
