//! The protocol's types that the `dap` crate does not have, or has wrong.
//!
//! Arguments and bodies come from `dap::{requests, responses, types}` wherever those do the job. As
//! of 0.4.1-alpha1 they do not for
//! - `Source`, `SourceBreakpoint`, `Breakpoint` and `ContinueResponse`, whose fields go over the
//!   wire in snake case (`source_reference`), and everything that contains them;
//! - `StackFrameFormat`, which lacks the fields of the `ValueFormat` that it extends;
//! - events, which write absent fields as `null`, although the protocol's schema forbids that;
//! - later additions to the protocol: `Breakpoint.reason`,
//!   `DisassembledInstruction.presentationHint`.
//!
//! Field meanings are those of the specification; comments explain only what is ours.

use dap::types::ValueFormat;
use serde::{Deserialize, Deserializer, Serialize};

/// A source: a file of the client's machine by `path`, or a text of ours by `source_reference`.
#[derive(Serialize, Deserialize, Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_reference: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
}

/// See the `setBreakpoints` request.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetBreakpointsArguments {
    pub(crate) source: Source,
    #[serde(default)]
    pub(crate) breakpoints: Option<Vec<SourceBreakpoint>>,
}

/// A breakpoint that a client asks for.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceBreakpoint {
    pub(crate) line: i64,
    #[serde(default)]
    pub(crate) column: Option<i64>,
    #[serde(default)]
    pub(crate) condition: Option<String>,
    #[serde(default)]
    pub(crate) hit_condition: Option<String>,
    #[serde(default)]
    pub(crate) log_message: Option<String>,
}

/// A breakpoint as the debugger has set it, or why it has not.
#[derive(Serialize, Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Breakpoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<i64>,
    pub(crate) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// The body of all `set…Breakpoints` responses.
#[derive(Serialize, Debug)]
pub(crate) struct BreakpointsBody {
    pub(crate) breakpoints: Vec<Breakpoint>,
}

/// See the `source` request; a client may give either of the two.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceArguments {
    #[serde(default)]
    pub(crate) source: Option<Source>,
    #[serde(default)]
    pub(crate) source_reference: Option<i64>,
}

/// A value in a list.
#[derive(Serialize, Debug, Clone, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(crate) type_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evaluate_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<Hint>,
    /// What VS Code's menus for the row depend on; other clients ignore it.
    #[serde(rename = "__vscodeVariableMenuContext", skip_serializing_if = "Option::is_none")]
    pub(crate) menu_context: Option<&'static str>,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) indexed_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_reference: Option<String>,
    /// Why there is no value: the kind of reason, for clients of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iree_absent: Option<&'static str>,
    /// As of which time it is, if something has overwritten it since, for clients of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iree_as_of: Option<AsOf>,
}

/// A time in the run: next to a command.
#[derive(Serialize, Debug, Clone, Copy)]
pub(crate) struct AsOf {
    command: u64,
    /// `before` or `after` it.
    side: &'static str,
}

impl From<debug::AsOf> for AsOf {
    fn from(as_of: debug::AsOf) -> Self {
        Self { command: as_of.command(), side: as_of.side() }
    }
}

/// How to show a value.
#[derive(Serialize, Debug, Clone)]
pub(crate) struct Hint {
    pub(crate) kind: &'static str,
    /// Whether the client asks for the value only when its user wants to see it.
    pub(crate) lazy: bool,
}

/// A single value: the answers to `evaluate`, `setVariable` and `setExpression`, which have
/// different names for the same field.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub(crate) type_name: String,
    pub(crate) variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) named_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) indexed_variables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iree_absent: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iree_as_of: Option<AsOf>,
}

impl Answer {
    /// The value of an expression.
    pub(crate) fn result(shown: Variable) -> Self {
        Self { result: Some(shown.value.clone()), value: None, ..Self::value(shown) }
    }

    /// A value that was set.
    pub(crate) fn value(shown: Variable) -> Self {
        Self {
            result: None,
            value: Some(shown.value),
            type_name: shown.type_name,
            variables_reference: shown.variables_reference,
            named_variables: shown.named_variables,
            indexed_variables: shown.indexed_variables,
            memory_reference: shown.memory_reference,
            iree_absent: shown.iree_absent,
            iree_as_of: shown.iree_as_of,
        }
    }
}

/// How a client wants values and frames written: the protocol's `ValueFormat` and
/// `StackFrameFormat`.
#[derive(Deserialize, Debug, Clone, Copy, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Format {
    #[serde(deserialize_with = "flag")]
    pub(crate) hex: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameters: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_types: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_names: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) parameter_values: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) line: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) module: bool,
}

/// A flag. Some clients send null where others leave it out.
fn flag<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(value).map(Option::unwrap_or_default)
}

impl Format {
    /// Whether the client wants anything about a frame's parameters.
    pub(crate) fn has_parameters(self) -> bool {
        let any_part = self.parameter_types || self.parameter_names || self.parameter_values;
        self.parameters || any_part
    }
}

impl From<Option<ValueFormat>> for Format {
    fn from(format: Option<ValueFormat>) -> Self {
        let hex = format.and_then(|format| format.hex).unwrap_or(false);
        Self { hex, ..Self::default() }
    }
}

/// See the `stackTrace` request.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackTraceArguments {
    pub(crate) thread_id: i64,
    #[serde(default)]
    pub(crate) start_frame: Option<i64>,
    #[serde(default)]
    pub(crate) levels: Option<i64>,
    #[serde(default)]
    pub(crate) format: Option<Format>,
}

/// A frame of the stack.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackFrame {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    pub(crate) line: i64,
    pub(crate) column: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instruction_pointer_reference: Option<String>,
    pub(crate) can_restart: bool,
    pub(crate) module_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
}

/// The body of a `stackTrace` response.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackTraceBody {
    pub(crate) stack_frames: Vec<StackFrame>,
    pub(crate) total_frames: usize,
}

/// A line of the disassembly view.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DisassembledInstruction {
    pub(crate) address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) instruction_bytes: String,
    pub(crate) instruction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) presentation_hint: Option<&'static str>,
}

/// The body of a `disassemble` response.
#[derive(Serialize, Debug)]
pub(crate) struct DisassembleBody {
    pub(crate) instructions: Vec<DisassembledInstruction>,
}

/// The body of a `continue` response.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContinueBody {
    pub(crate) all_threads_continued: bool,
}
