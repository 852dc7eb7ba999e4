//! Conversion from the debugger's types to the protocol's. All arithmetic on lines and columns is
//! here and in [`crate::client`].

use dap::types::{Scope, ScopePresentationhint};
use debug::{
    Absent, Breakpoint, BreakpointSpec, Children, Debugger, Frame, FrameId, Memory, ModuleDetails,
    Node, Program, ScopeKind, SourceLine, StopReason, Trapped,
};

use crate::client::Client;
use crate::protocol::{self, Format, events};
use crate::references::{Content, Expandable, Parent, Sources, ValueReferences, file_source};

/// The number of the only thread.
pub(crate) const THREAD: i64 = 1;

/// A client's count or index; a missing or negative one is 0.
pub(crate) fn count(number: Option<i64>) -> usize {
    number.map_or(0, |number| usize::try_from(number).unwrap_or(0))
}

/// A breakpoint, without its source, which the caller knows from the request.
pub(crate) fn breakpoint(
    breakpoint: &Breakpoint,
    debugger: &Debugger,
    client: &Client,
) -> protocol::Breakpoint {
    let verified = breakpoint.is_verified() && breakpoint.is_enabled;
    let disabled = || "a command has disabled it; `enable` makes it work again".to_owned();
    // A module that is loaded later may define the name, or the program after a restart.
    let may_come =
        matches!(breakpoint.spec, BreakpointSpec::Line { .. } | BreakpointSpec::Function { .. });
    let reference = breakpoint.locations.first().and_then(|at| debugger.program().linear(*at));
    protocol::Breakpoint {
        id: Some(i64::from(breakpoint.id.0)),
        verified,
        message: if breakpoint.is_enabled { breakpoint.message.clone() } else { Some(disabled()) },
        source: None,
        line: breakpoint.line.map(|line| client.line(line)),
        column: column_of(breakpoint, debugger).map(|column| client.column(column)),
        instruction_reference: reference.map(|address| address.to_string()),
        reason: (!verified).then_some(if may_come { "pending" } else { "failed" }),
    }
}

/// The column of a breakpoint: where its statement begins, if that is alone on its line.
fn column_of(breakpoint: &Breakpoint, debugger: &Debugger) -> Option<u32> {
    let column = breakpoint.column?;
    let (BreakpointSpec::Line { file, .. }, Some(line)) = (&breakpoint.spec, breakpoint.line)
    else {
        return Some(column);
    };
    debugger.program().lone_statement(file, line, column).or(Some(column))
}

/// A frame, located in the text of its level if that is available, else in the disassembly.
pub(crate) fn frame(
    number: i64,
    frame: &Frame,
    debugger: &Debugger,
    sources: &mut Sources,
    client: &Client,
) -> protocol::StackFrame {
    let text = frame.source.as_ref();
    let source = text.and_then(|at| {
        let (source, line, column) = source_line(at, debugger, sources, client)?;
        // VS Code marks a column in the text unless it is the first one.
        let is_alone = debugger.program().lone_statement(&at.file, at.line, at.column).is_some();
        Some((source, line, if is_alone { client.column(1) } else { column }))
    });
    let place = source.or_else(|| {
        let position = frame.position?;
        let line = debugger.program().listing_line(position)?;
        let source = sources.listing(position.function.module, &frame.module);
        Some((source, client.line(line), client.column(1)))
    });
    let (source, line, column) = match place {
        Some((source, line, column)) => (Some(source), line, column),
        None => (None, 0, 0),
    };
    let address = frame.position.and_then(|position| debugger.program().linear(position));
    protocol::StackFrame {
        id: number,
        name: frame_name(frame),
        // A frame without a text is a name only: clients would write "Unknown Source" beside it.
        presentation_hint: source.is_none().then_some("label"),
        source,
        line,
        column,
        instruction_pointer_reference: address.map(|address| address.to_string()),
        // An inlined call has no arguments to start again with.
        can_restart: frame.position.is_some() && !frame.is_inlined,
        module_id: frame.module.clone(),
    }
}

/// The name of a frame. It marks inlined calls, because the protocol has no hint for them.
fn frame_name(frame: &Frame) -> String {
    let inlined = if frame.is_inlined { " [inlined]" } else { "" };
    format!("{}{inlined}", frame.name)
}

/// A frame in one line of text.
pub(crate) fn frame_line(frame: &Frame) -> String {
    let name = frame_name(frame);
    match &frame.source {
        Some(at) => format!("{name} at {}:{}:{}", at.file, at.line, at.column),
        None => name,
    }
}

/// A place in a source, with its line and column; None if the text is not available.
pub(crate) fn source_line(
    at: &SourceLine,
    debugger: &Debugger,
    sources: &mut Sources,
    client: &Client,
) -> Option<(protocol::Source, i64, i64)> {
    let source = match &at.path {
        Some(path) => file_source(path, client),
        None => {
            debugger.program().has_source(&at.file).then_some(())?;
            sources.in_memory(&at.file)
        }
    };
    Some((source, client.line(at.line), client.column(at.column)))
}

/// A scope.
pub(crate) fn scope(
    kind: ScopeKind,
    node: Node,
    frame: FrameId,
    values: &mut ValueReferences,
) -> Scope {
    let content = Content::Parts(Children { node, indexed: None });
    let parent = Parent { frame, expression: None };
    let (hint, expensive) = match kind {
        ScopeKind::Locals => (Some(ScopePresentationhint::Locals), false),
        ScopeKind::Arguments => (Some(ScopePresentationhint::Arguments), false),
        ScopeKind::Compiler => (None, false),
        ScopeKind::Registers => (Some(ScopePresentationhint::Registers), false),
        ScopeKind::Dispatch => (None, false),
        ScopeKind::Globals | ScopeKind::Device | ScopeKind::Constants => (None, true),
    };
    Scope {
        name: kind.name().into(),
        presentation_hint: hint,
        variables_reference: values.variables.insert(Expandable { content, parent }),
        expensive,
        ..Scope::default()
    }
}

/// A variable's value in the format that the client wants.
pub(crate) fn formatted(variable: debug::Variable, format: Format) -> debug::Variable {
    if format.hex { variable.in_hexadecimal() } else { variable }
}

/// The fewest elements of a tensor with a summary; the user sees fewer at a glance.
const MIN_SUMMARISED: usize = 17;

/// A variable. If it has parts they get a number, and its memory gets a reference.
pub(crate) fn variable(
    variable: debug::Variable,
    parent: &Parent,
    values: &mut ValueReferences,
    client: &Client,
) -> protocol::Variable {
    let expression = variable.evaluate_name.or_else(|| {
        // The expression for an element is the one for the whole, and the index.
        let whole = parent.expression.as_ref().filter(|_| variable.name.starts_with('['))?;
        Some(format!("{whole}{}", variable.name))
    });
    let mut shown = protocol::Variable {
        name: variable.name,
        value: variable.value,
        type_name: variable.type_name,
        evaluate_name: expression.clone(),
        iree_absent: variable.absent.as_ref().map(Absent::kind),
        iree_as_of: variable.as_of.map(Into::into),
        ..protocol::Variable::default()
    };
    if let Some(children) = variable.children {
        if client.has_menus_for_variables {
            shown.menu_context = children.tensor().map(|_| "tensor");
        }
        shown.memory_reference =
            Memory::of(&children).map(|memory| values.memory.reference(memory));
        if client.pages_variables {
            shown.indexed_variables = children.indexed;
            shown.named_variables = children.indexed.map(|_| usize::from(is_summarised(&children)));
        }
        let parent = Parent { frame: parent.frame, expression };
        let content = Content::Parts(children);
        shown.variables_reference = values.variables.insert(Expandable { content, parent });
    }
    shown
}

/// Whether a summary precedes the elements.
pub(crate) fn is_summarised(children: &Children) -> bool {
    match &children.node {
        Node::Tensor(tensor) => tensor.count() >= MIN_SUMMARISED,
        _ => false,
    }
}

/// The summary of a tensor, not computed yet.
pub(crate) fn summary(
    children: &Children,
    parent: &Parent,
    values: &mut ValueReferences,
) -> protocol::Variable {
    let content = Content::Summary(children.clone());
    let parent = parent.clone();
    protocol::Variable {
        name: "summary".into(),
        variables_reference: values.variables.insert(Expandable { content, parent }),
        presentation_hint: Some(protocol::Hint { kind: "virtual", lazy: true }),
        ..protocol::Variable::default()
    }
}

/// The event for a stop; None for the end of the program, which is no stop.
pub(crate) fn stopped(reason: &StopReason, debugger: &Debugger) -> Option<events::Stopped> {
    let text = Some(debugger.sentence(reason));
    let (reason, description) = match reason {
        StopReason::Entry => ("entry", "Paused on entry"),
        StopReason::Breakpoint(hit) => {
            let specs =
                hit.iter().filter_map(|id| debugger.breakpoints().get(*id)).map(|it| &it.spec);
            let failed = debugger.failed_condition().map(|_| "Paused on a condition that failed");
            let stopped = events::Stopped { text, ..hit_breakpoint(specs, hit) };
            let description = failed.map_or(stopped.description, str::to_owned);
            return Some(events::Stopped { description, ..stopped });
        }
        StopReason::Step => ("step", "Paused on step"),
        StopReason::Pause => ("pause", "Paused"),
        StopReason::Begin => ("step", "The beginning of the recording"),
        StopReason::Found(_) => ("step", "Reached the moment you asked for"),
        StopReason::Data(hits) => {
            let hit: Vec<debug::BreakpointId> = hits.iter().map(|hit| hit.breakpoint).collect();
            return Some(events::Stopped {
                reason: "data breakpoint",
                description: "Paused on data breakpoint".to_owned(),
                text,
                ..hit_breakpoint(std::iter::empty(), &hit)
            });
        }
        StopReason::Trap(Trapped { kind, .. }) => {
            let description = format!("Paused on {}", kind.name());
            return Some(events::Stopped {
                reason: "exception",
                description,
                text,
                ..stopped_after_jump()
            });
        }
        StopReason::BreakInstruction => {
            ("breakpoint", "Paused on a break instruction of the program")
        }
        StopReason::Failed(_) => ("exception", "Paused on failure"),
        StopReason::Completed(_) => return None,
    };
    Some(events::Stopped {
        reason,
        description: description.to_owned(),
        text,
        thread_id: THREAD,
        all_threads_stopped: true,
        hit_breakpoint_ids: Vec::new(),
    })
}

/// The event at the end of a recorded program.
pub(crate) fn stopped_at_end() -> events::Stopped {
    let description = "The end of the recorded run".to_owned();
    let text = "the end of the recorded run; continue ends the session".to_owned();
    events::Stopped { reason: "pause", description, text: Some(text), ..stopped_after_jump() }
}

/// The event after a jump.
pub(crate) fn stopped_after_jump() -> events::Stopped {
    events::Stopped {
        reason: "goto",
        description: "Paused after a jump".into(),
        text: None,
        thread_id: THREAD,
        all_threads_stopped: true,
        hit_breakpoint_ids: Vec::new(),
    }
}

fn hit_breakpoint<'a>(
    mut specs: impl Iterator<Item = &'a debug::BreakpointSpec>,
    hit: &[debug::BreakpointId],
) -> events::Stopped {
    use debug::BreakpointSpec::{
        Data, Dispatch, Function, Instruction, Line, ListingLine, Operation,
    };
    let (reason, description) = match specs.next() {
        Some(Data { .. }) => ("data breakpoint", "Paused on data breakpoint"),
        Some(Dispatch { .. }) => ("function breakpoint", "Paused on dispatch breakpoint"),
        Some(Function { .. }) => ("function breakpoint", "Paused on function breakpoint"),
        Some(Instruction { .. }) => ("instruction breakpoint", "Paused on instruction breakpoint"),
        Some(Line { .. } | ListingLine { .. } | Operation { .. }) | None => {
            ("breakpoint", "Paused on breakpoint")
        }
    };
    events::Stopped {
        reason,
        description: description.to_owned(),
        text: None,
        thread_id: THREAD,
        all_threads_stopped: true,
        hit_breakpoint_ids: hit.iter().map(|id| i64::from(id.0)).collect(),
    }
}

/// The event for the program as a process.
pub(crate) fn process(program: &Program, start_method: &'static str) -> events::Process {
    let main = program.entry().module;
    let main = program.catalog().into_iter().find(|module| module.index == main);
    let path = main.and_then(|module| module.path);
    events::Process {
        name: path.map_or_else(|| program.entry_name().to_owned(), |it| it.display().to_string()),
        system_process_id: std::process::id(),
        is_local_process: true,
        start_method,
        pointer_size: 64,
    }
}

/// A module.
pub(crate) fn module(module: &ModuleDetails, program: &Program, client: &Client) -> events::Module {
    let ModuleDetails { mapped, functions, .. } = module;
    let symbol_status = match (module.has_companion, *mapped) {
        (true, _) => format!("debug file: {mapped} of {functions} functions have lines"),
        (false, 0) => "no debug information".to_owned(),
        (false, _) => format!("debug database: {mapped} of {functions} functions have lines"),
    };
    events::Module {
        id: module.name.clone(),
        name: module.name.clone(),
        path: module.path.as_ref().map(|path| client.path(path)),
        is_user_code: !module.is_nested,
        symbol_status,
        symbol_file_path: module.debug_file.as_ref().map(|path| client.path(path)),
        address_range: program.address_range(module.index).map(|(from, to)| format!("{from}-{to}")),
    }
}
