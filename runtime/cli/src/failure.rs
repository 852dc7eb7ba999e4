//! Why a command failed. A failed run is one value, printed as text or as JSON (`--error_format`).
//!
//! ```text
//! INVALID_ARGUMENT; input0 shape dimension 0 mismatch; while invoking native function …
//!     0 hal.buffer_view.assert (native)
//!     1 module.main [00000016]
//!       at model.mlir:12:8 (inlined) in helper
//!       at model.mlir:30:10 in main
//! ```
//!
//! The first line is iree-run-module's, without the line of its own sources. Debug information is
//! read only after a failure: a companion can be as large as the constants of its model.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use debuginfo::DebugInfo;
use serde_json::{Value, json};
use vm::{Context, FramePosition, ModuleIndex, Status, StatusCode};

use crate::modules::LoadedModules;

/// Why a command failed. Its text follows `error: `.
pub(crate) type Failure = Box<dyn Error>;

/// Tells the user why the command failed, unless the reader of its output has gone away
/// (`iree-dbg dump … | head`), which is no failure.
pub(crate) fn report(error: &Failure) {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_none_or(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        errln!("error: {error}");
    }
}

/// A failed run.
#[derive(Debug)]
pub(crate) struct RunFailure {
    pub(crate) status: Status,
    /// What the program was doing, innermost first, in the words of IREE's tools.
    pub(crate) notes: Vec<String>,
    /// Innermost first.
    pub(crate) frames: Vec<ReportedFrame>,
}

/// A frame, and the source lines that it stands at.
#[derive(Debug)]
pub(crate) struct ReportedFrame {
    position: FramePosition,
    /// Innermost first: the functions that the compiler inlined, then the frame's own.
    sources: Vec<ReportedLine>,
}

#[derive(Debug)]
struct ReportedLine {
    file: String,
    line: u32,
    column: u32,
    function: Option<String>,
    is_inlined: bool,
}

impl RunFailure {
    /// A failure outside the program's code.
    pub(crate) fn outside(status: Status, notes: Vec<String>) -> Self {
        Self { status, notes, frames: Vec::new() }
    }

    /// A failure of the program's code. `notes` follow those about calls of native functions.
    pub(crate) fn new(
        failure: vm::Failure,
        notes: Vec<String>,
        context: &Context,
        modules: &LoadedModules,
    ) -> Self {
        let mut loaded: HashMap<ModuleIndex, DebugInfo> = HashMap::new();
        let native = native_import(&failure.backtrace).into_iter().flatten();
        let notes = native.chain(notes).collect();
        let frames = failure.backtrace.into_iter().map(|position| {
            let sources = context.bytecode_module(position.module).map(|module| {
                let info = loaded.entry(position.module).or_insert_with(|| {
                    // An unusable debug file counts as none: the report is about the program.
                    let companion = modules.companion(module);
                    DebugInfo::load(module, companion.as_ref())
                });
                source_lines(info, &position)
            });
            ReportedFrame { position, sources: sources.unwrap_or_default() }
        });
        let frames = frames.collect();
        Self { status: failure.status, notes, frames }
    }

    /// The failure as JSON. Programs read it: add keys, never change one. Its schema is
    /// `schemas/failure.schema.json`.
    pub(crate) fn to_json(&self) -> Value {
        let frames: Vec<Value> = self.frames.iter().map(ReportedFrame::to_json).collect();
        json!({
            "schema_version": 1,
            "code": self.status.code.name(),
            "number": self.status.code as u32,
            "message": self.status.message,
            "notes": self.notes,
            "frames": frames,
        })
    }
}

/// The notes of IREE's VM about a native function that fails.
fn native_import(backtrace: &[FramePosition]) -> Option<[String; 2]> {
    let function = backtrace.iter().find(|position| position.part.is_none())?;
    let FramePosition { module_name, function_name, bytecode, .. } = function;
    let called = bytecode.is_none() && backtrace.iter().any(|it| it.bytecode.is_some());
    called.then(|| {
        [
            format!("while invoking native function {module_name}.{function_name}"),
            "while calling import".to_owned(),
        ]
    })
}

fn source_lines(info: &DebugInfo, position: &FramePosition) -> Vec<ReportedLine> {
    let Some((function, offset)) = position.bytecode else { return Vec::new() };
    let frames = info.frames_at(function, offset).into_iter();
    let lines = frames.filter_map(|frame| {
        let place = frame.position.filter(debuginfo::SourcePosition::is_written)?;
        Some(ReportedLine {
            file: info.locations().file(place.file).to_owned(),
            line: place.line,
            column: place.column,
            function: frame.function.map(|name| name.to_string()),
            is_inlined: frame.is_inlined,
        })
    });
    lines.collect()
}

impl ReportedFrame {
    fn to_json(&self) -> Value {
        let FramePosition { module_name, function_name, bytecode, part, .. } = &self.position;
        let sources: Vec<Value> = self
            .sources
            .iter()
            .map(|source| {
                json!({
                    "file": source.file,
                    "line": source.line,
                    "column": source.column,
                    "function": source.function,
                    "inlined": source.is_inlined,
                })
            })
            .collect();
        json!({
            "module": module_name,
            "function": function_name,
            "ordinal": bytecode.map(|(function, _)| function.0),
            "offset": bytecode.map(|(_, offset)| offset.0),
            "part": part,
            "sources": sources,
        })
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        for note in &self.notes {
            write!(f, "; {note}")?;
        }
        for (number, frame) in self.frames.iter().enumerate() {
            write!(f, "\n  {number:3} {}", frame.position)?;
            for ReportedLine { file, line, column, function, is_inlined } in &frame.sources {
                let inlined = if *is_inlined { " (inlined)" } else { "" };
                write!(f, "\n      at {file}:{line}:{column}{inlined}")?;
                if let Some(name) = function {
                    write!(f, " in {name}")?;
                }
            }
        }
        Ok(())
    }
}

impl Error for RunFailure {}

/// The format of a failure on standard error.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub(crate) enum ErrorFormat {
    /// For people
    #[default]
    Text,
    /// One object on one line of standard error
    Json,
}

impl ErrorFormat {
    /// Reports a failure in this format.
    pub(crate) fn report(self, error: &Failure) {
        match (self, error.downcast_ref::<RunFailure>()) {
            (Self::Text, _) => report(error),
            (Self::Json, Some(failure)) => errln!("{}", failure.to_json()),
            // The text of any other failure may begin with a status code.
            (Self::Json, None) => {
                let text = error.to_string();
                let (code, message) = text.split_once("; ").unwrap_or(("", &text));
                let status = match StatusCode::named(code) {
                    Some(code) => Status::new(code, message),
                    None => Status::new(StatusCode::Unknown, &text),
                };
                errln!("{}", RunFailure::outside(status, Vec::new()).to_json());
            }
        }
    }
}
