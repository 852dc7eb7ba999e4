//! From the debugger's words to the protocol's. All line and column arithmetic is here and in
//! [`crate::client`].

use dap::types::{Scope, ScopePresentationhint};
use debug::{
    Breakpoint, BreakpointSpec, Children, Debugger, Frame, FrameId, Memory, ModuleDetails, Node,
    Program, ScopeKind, SourceLine, StopReason,
};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::events;
use crate::protocol;
use crate::sources::{self, Sources};

/// The only thread.
pub(crate) const THREAD: i64 = 1;

/// A number that a client gives for a count or an index; negative ones count as none.
pub(crate) fn count(number: Option<i64>) -> usize {
    number.map_or(0, |number| usize::try_from(number).unwrap_or(0))
}

/// A breakpoint. The source is the request's to add.
pub(crate) fn breakpoint(
    breakpoint: &Breakpoint,
    debugger: &Debugger,
    client: &Client,
) -> protocol::Breakpoint {
    let verified = breakpoint.is_verified();
    // What is named may be in a module that is still to come, or in the program when it is launched
    // anew.
    let may_come =
        matches!(breakpoint.spec, BreakpointSpec::Line { .. } | BreakpointSpec::Function { .. });
    let reference = breakpoint.locations.first().and_then(|at| debugger.linear(*at));
    protocol::Breakpoint {
        id: Some(i64::from(breakpoint.id.0)),
        verified,
        message: breakpoint.message.clone(),
        source: None,
        line: breakpoint.line.map(|line| client.line(line)),
        column: breakpoint.column.map(|column| client.column(column)),
        instruction_reference: reference.map(|address| address.to_string()),
        reason: (!verified).then_some(if may_come { "pending" } else { "failed" }),
    }
}

/// A frame: in the text of the level if it has one that can be shown, else in the disassembly.
pub(crate) fn frame(
    number: i64,
    frame: &Frame,
    debugger: &Debugger,
    sources: &mut Sources,
    client: &Client,
) -> protocol::StackFrame {
    let text = frame.source.as_ref();
    let source = text.and_then(|line| source_line(line, debugger, sources, client));
    let place = source.or_else(|| {
        let position = frame.position?;
        let line = debugger.listing_line(position)?;
        let source = sources.listing(position.function.module, &frame.module);
        Some((source, client.line(line), client.column(1)))
    });
    let (source, line, column) = match place {
        Some((source, line, column)) => (Some(source), line, column),
        None => (None, 0, 0),
    };
    let address = frame.position.and_then(|position| debugger.linear(position));
    protocol::StackFrame {
        id: number,
        name: frame_name(frame),
        presentation_hint: source.is_none().then_some("subtle"),
        source,
        line,
        column,
        instruction_pointer_reference: address.map(|address| address.to_string()),
        // An inlined call has no arguments to begin anew with.
        can_restart: frame.position.is_some() && !frame.is_inlined,
        module_id: frame.module.clone(),
    }
}

/// What a frame is called. The protocol has no hint for inlined calls.
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

/// A place in a source whose text can be shown, with its line and column.
pub(crate) fn source_line(
    at: &SourceLine,
    debugger: &Debugger,
    sources: &mut Sources,
    client: &Client,
) -> Option<(protocol::Source, i64, i64)> {
    let source = match &at.path {
        Some(path) => sources::file(path, client),
        None => {
            debugger.has_source(&at.file).then_some(())?;
            sources.in_memory(&at.file)
        }
    };
    Some((source, client.line(at.line), client.column(at.column)))
}

/// A scope.
pub(crate) fn scope(kind: ScopeKind, node: Node, frame: FrameId, debuggee: &mut Debuggee) -> Scope {
    let content = Content::Parts(Children { node, indexed: None });
    let parent = Parent { frame, expression: None };
    let (hint, expensive) = match kind {
        ScopeKind::Locals => (Some(ScopePresentationhint::Locals), false),
        ScopeKind::Arguments => (Some(ScopePresentationhint::Arguments), false),
        ScopeKind::Compiler => (None, false),
        ScopeKind::Registers => (Some(ScopePresentationhint::Registers), false),
        ScopeKind::Dispatch => (None, false),
        ScopeKind::Globals | ScopeKind::Device => (None, true),
    };
    Scope {
        name: kind.name().into(),
        presentation_hint: hint,
        variables_reference: debuggee.variables.insert(Expandable { content, parent }),
        expensive,
        ..Scope::default()
    }
}

/// What a variable is a part of, as far as expressions go.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    /// The frame in which names mean something.
    pub(crate) frame: FrameId,
    /// What names the whole, if something does.
    pub(crate) expression: Option<String>,
}

/// Something that a client may ask for the inside of.
#[derive(Clone, Debug)]
pub(crate) struct Expandable {
    pub(crate) content: Content,
    pub(crate) parent: Parent,
}

/// What is inside.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The parts of a value.
    Parts(Children),
    /// What a tensor is like as a whole: one line, which is computed when somebody wants to see it.
    Summary(Children),
}

/// A tensor of fewer elements is seen at a glance.
const LEAST_SUMMARISED: usize = 17;

/// A variable. What is inside it gets a number to ask for, and its memory a reference.
pub(crate) fn variable(
    variable: debug::Variable,
    parent: &Parent,
    debuggee: &mut Debuggee,
    client: &Client,
) -> protocol::Variable {
    let expression = variable.evaluate_name.or_else(|| {
        // An element is named by what it is an element of.
        let whole = parent.expression.as_ref().filter(|_| variable.name.starts_with('['))?;
        Some(format!("{whole}{}", variable.name))
    });
    let mut shown = protocol::Variable {
        name: variable.name,
        value: variable.value,
        type_name: variable.type_name,
        evaluate_name: expression.clone(),
        ..protocol::Variable::default()
    };
    if let Some(children) = variable.children {
        shown.memory_reference =
            Memory::of(&children).map(|memory| debuggee.memories.reference(memory));
        if client.pages_variables {
            shown.indexed_variables = children.indexed;
            shown.named_variables = children.indexed.map(|_| usize::from(is_summarised(&children)));
        }
        let parent = Parent { frame: parent.frame, expression };
        let content = Content::Parts(children);
        shown.variables_reference = debuggee.variables.insert(Expandable { content, parent });
    }
    shown
}

/// Whether a line about the whole stands before the elements.
pub(crate) fn is_summarised(children: &Children) -> bool {
    match &children.node {
        Node::Tensor(tensor) => tensor.count() >= LEAST_SUMMARISED,
        _ => false,
    }
}

/// The line about a tensor as a whole: not computed yet.
pub(crate) fn summary(
    children: &Children,
    parent: &Parent,
    debuggee: &mut Debuggee,
) -> protocol::Variable {
    let content = Content::Summary(children.clone());
    let parent = parent.clone();
    protocol::Variable {
        name: "summary".into(),
        variables_reference: debuggee.variables.insert(Expandable { content, parent }),
        presentation_hint: Some(protocol::Hint { kind: "virtual", lazy: true }),
        ..protocol::Variable::default()
    }
}

/// What to say about a stop. None for the end of the program, which is no stop.
pub(crate) fn stopped(reason: &StopReason, debugger: &Debugger) -> Option<events::Stopped> {
    let text = Some(debugger.sentence(reason));
    let (reason, description) = match reason {
        StopReason::Entry => ("entry", "Paused on entry"),
        StopReason::Breakpoint(hit) => {
            let specs = hit.iter().filter_map(|id| debugger.breakpoint(*id)).map(|it| &it.spec);
            let failed = debugger.failed_condition().map(|_| "Paused on a condition that failed");
            let stopped = events::Stopped { text, ..hit_breakpoint(specs, hit) };
            let description = failed.map_or(stopped.description, str::to_owned);
            return Some(events::Stopped { description, ..stopped });
        }
        StopReason::Step => ("step", "Paused on step"),
        StopReason::Pause => ("pause", "Paused"),
        StopReason::Data(hits) => {
            let hit: Vec<debug::BreakpointId> = hits.iter().map(|hit| hit.breakpoint).collect();
            return Some(events::Stopped {
                reason: "data breakpoint",
                description: "Paused on data breakpoint".to_owned(),
                text,
                ..hit_breakpoint(std::iter::empty(), &hit)
            });
        }
        StopReason::Trap(_) => ("exception", "Paused on a float"),
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

/// The stop that a jump leads to.
pub(crate) fn arrived() -> events::Stopped {
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
    use debug::BreakpointSpec::{Data, Dispatch, Function, Instruction, Line, ListingLine};
    let (reason, description) = match specs.next() {
        Some(Data { .. }) => ("data breakpoint", "Paused on data breakpoint"),
        Some(Dispatch { .. }) => ("function breakpoint", "Paused on dispatch breakpoint"),
        Some(Function { .. }) => ("function breakpoint", "Paused on function breakpoint"),
        Some(Instruction { .. }) => ("instruction breakpoint", "Paused on instruction breakpoint"),
        Some(Line { .. } | ListingLine { .. }) | None => ("breakpoint", "Paused on breakpoint"),
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

/// What runs.
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
        (true, _) => format!("debug companion: {mapped} of {functions} functions have lines"),
        (false, 0) => "no debug information".to_owned(),
        (false, _) => format!("debug database: {mapped} of {functions} functions have lines"),
    };
    let companion = module.path.as_ref().filter(|_| module.has_companion).map(|path| {
        let mut companion = path.clone().into_os_string();
        companion.push(".companion.mlir");
        client.path(companion.as_ref())
    });
    events::Module {
        id: module.name.clone(),
        name: module.name.clone(),
        path: module.path.as_ref().map(|path| client.path(path)),
        is_user_code: !module.is_nested,
        symbol_status,
        symbol_file_path: companion,
        address_range: program.address_range(module.index).map(|(from, to)| format!("{from}-{to}")),
    }
}
