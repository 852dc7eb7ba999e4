//! The output of the terminal debugger.

use std::borrow::Cow;
use std::io::{self, Write};

use debug::{
    BreakpointId, BreakpointSpec, DataAccess, Debugger, DispatchMoment, Frame, FrameIndex, Node,
    Position, StopReason, Variable,
};

/// The most columns of a source line that are shown.
const MAX_COLUMNS: usize = 300;

/// The most elements that the summary of a tensor reads.
const MAX_SUMMARISED: usize = 1 << 24;

/// The reason of a stop, and the frame.
pub(super) fn stop(
    out: &mut impl Write,
    debugger: &Debugger,
    reason: &StopReason,
) -> io::Result<()> {
    match reason {
        StopReason::Entry | StopReason::Step => {}
        StopReason::Breakpoint(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
            match debugger.failed_condition() {
                Some(text) => writeln!(out, "{text}")?,
                None => writeln!(out, "Breakpoint {}", ids.join(", "))?,
            }
        }
        StopReason::Data(hits) => {
            for hit in hits {
                let (id, text) = (hit.breakpoint.0, debugger.data_sentence(hit));
                writeln!(out, "Breakpoint {id}: {text}")?;
            }
        }
        StopReason::Trap(text) => writeln!(out, "Caught {text}")?,
        StopReason::Pause => writeln!(out, "Interrupted")?,
        StopReason::BreakInstruction => writeln!(out, "The program asked to stop (vm.break)")?,
        StopReason::Failed(failure) => writeln!(out, "The program failed: {failure}")?,
        StopReason::Completed(results) => {
            write!(out, "{}", vm::value_text::format_values("result", results))?;
            return writeln!(out, "The program is over");
        }
    }
    match debugger.machine().frame_at(0) {
        Some(innermost) => frame(out, debugger, 0, &innermost),
        None => Ok(()),
    }
}

/// A frame with its source line, or with its instruction if the source is not known.
pub(super) fn frame(
    out: &mut impl Write,
    debugger: &Debugger,
    number: usize,
    frame: &Frame,
) -> io::Result<()> {
    frame_line(out, number, frame)?;
    let line = frame.source.as_ref().and_then(|source| {
        Some((source.line, debugger.program().line_of_source(&source.file, source.line)?))
    });
    match (line, frame.position) {
        (Some((number, line)), _) => writeln!(out, "{number}\t{}", cut(&line)),
        (None, Some(position)) => match instruction(debugger, position) {
            Some(text) => writeln!(out, "[{}]\t{text}", position.offset),
            None => Ok(()),
        },
        (None, None) => Ok(()),
    }
}

fn frame_line(out: &mut impl Write, number: usize, frame: &Frame) -> io::Result<()> {
    let inlined = if frame.is_inlined { " [inlined]" } else { "" };
    write!(out, "#{number} {}{inlined}", frame.name)?;
    if let Some(position) = frame.position {
        write!(out, " [{}]", position.offset)?;
    }
    match &frame.source {
        Some(source) => writeln!(out, " at {}:{}:{}", source.file, source.line, source.column),
        None if frame.position.is_some() || frame.is_part => writeln!(out),
        None => writeln!(out, " (native)"),
    }
}

fn instruction(debugger: &Debugger, position: Position) -> Option<String> {
    let address = debugger.program().linear(position)?;
    debugger.machine().disassemble(address, 0, 1).pop().map(|instruction| instruction.text)
}

/// The call stack.
pub(super) fn backtrace(out: &mut impl Write, debugger: &Debugger) -> io::Result<()> {
    let frames = debugger.machine().frames();
    if frames.is_empty() {
        return writeln!(out, "nothing runs");
    }
    let mut numbered = frames.iter().enumerate();
    numbered.try_for_each(|(number, frame)| frame_line(out, number, frame))
}

/// A new or changed breakpoint.
pub(super) fn breakpoint_set(
    out: &mut impl Write,
    debugger: &Debugger,
    id: BreakpointId,
) -> io::Result<()> {
    breakpoint_line(out, debugger, id)?;
    let message = debugger.breakpoints().get(id).and_then(|it| it.message.as_ref());
    message.map_or(Ok(()), |message| writeln!(out, "note: {message}"))
}

fn breakpoint_line(out: &mut impl Write, debugger: &Debugger, id: BreakpointId) -> io::Result<()> {
    let Some(breakpoint) = debugger.breakpoints().get(id) else { return Ok(()) };
    let asked = match &breakpoint.spec {
        BreakpointSpec::Line { file, line, .. } => {
            let column = breakpoint.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{file}:{}{column}", breakpoint.line.unwrap_or(*line))
        }
        BreakpointSpec::ListingLine { line, .. } => format!("disassembly line {line}"),
        BreakpointSpec::Function { name } => name.clone(),
        BreakpointSpec::Dispatch { pattern, when } => {
            let after = if *when == DispatchMoment::After { " after" } else { "" };
            format!("dispatch '{pattern}'{after}")
        }
        BreakpointSpec::Data { target, access } => {
            let access = match access {
                DataAccess::Read => "reads of",
                DataAccess::Write => "writes of",
                DataAccess::Change => "changes of",
                DataAccess::ReadWrite => "uses of",
            };
            format!("{access} {}", target.name)
        }
        BreakpointSpec::Instruction { address } => match breakpoint.locations.first() {
            Some(at) => {
                format!("*{}+{}", debugger.program().function_label(at.function), at.offset)
            }
            None => format!("*{address}"),
        },
    };
    write!(out, "Breakpoint {}: {asked}", id.0)?;
    for position in &breakpoint.locations {
        let name = debugger.program().function_label(position.function);
        write!(out, ", {name} [{}]", position.offset)?;
    }
    for name in &breakpoint.dispatches {
        write!(out, ", dispatch @{name}")?;
    }
    let options = breakpoint.options();
    if let Some(condition) = options.condition {
        write!(out, ", if {condition}")?;
    }
    if let Some(log) = options.log {
        write!(out, ", says {log:?}")?;
    }
    match breakpoint.hits() {
        0 => writeln!(out),
        1 => writeln!(out, ", hit once"),
        hits => writeln!(out, ", hit {hits} times"),
    }
}

/// All breakpoints and traps.
pub(super) fn breakpoints(out: &mut impl Write, debugger: &Debugger) -> io::Result<()> {
    let ids: Vec<BreakpointId> = debugger.breakpoints().iter().map(|it| it.id).collect();
    let catches = debugger.catches();
    if ids.is_empty() && catches.is_empty() {
        return writeln!(out, "no breakpoints");
    }
    for id in ids {
        breakpoint_line(out, debugger, id)?;
        // The message if it has changed since the breakpoint was set.
        let breakpoint = debugger.breakpoints().get(id).filter(|it| it.has_news());
        if let Some(message) = breakpoint.and_then(|it| it.message.as_ref()) {
            writeln!(out, "  {message}")?;
        }
    }
    catches.into_iter().try_for_each(|text| writeln!(out, "Catch: {text}"))
}

/// A value and its parts.
pub(super) fn variable(
    out: &mut impl Write,
    debugger: &Debugger,
    variable: &Variable,
) -> io::Result<()> {
    variable_line(out, variable)?;
    match &variable.children {
        Some(children) => {
            if let Some(summary) = children.summary(MAX_SUMMARISED) {
                writeln!(out, "  {summary}")?;
            }
            let inside = debugger.machine().children(&children.node, Some(0..32));
            for child in &inside {
                write!(out, "  ")?;
                variable_line(out, child)?;
            }
            match children.indexed {
                Some(count) if count > inside.len() => {
                    writeln!(out, "  … {} more", count - inside.len())
                }
                _ => Ok(()),
            }
        }
        None => Ok(()),
    }
}

fn variable_line(out: &mut impl Write, variable: &Variable) -> io::Result<()> {
    writeln!(out, "{} = {} : {}", variable.name, variable.value, variable.type_name)
}

/// The variables of a scope.
pub(super) fn variables(out: &mut impl Write, debugger: &Debugger, node: &Node) -> io::Result<()> {
    let variables = debugger.machine().children(node, None);
    if variables.is_empty() {
        return writeln!(out, "none here");
    }
    variables.iter().try_for_each(|variable| variable_line(out, variable))
}

/// The memory that is allocated on the device.
pub(super) fn allocations(out: &mut impl Write, debugger: &Debugger) -> io::Result<()> {
    let allocations = debugger.machine().allocations();
    if allocations.is_empty() {
        return writeln!(out, "nothing is allocated");
    }
    let mut lines = allocations.iter();
    lines.try_for_each(|it| writeln!(out, "{} {}", it.name, it.value))
}

/// The instructions of a function, with an arrow at the one that the frame stands at.
pub(super) fn disassembly(
    out: &mut impl Write,
    debugger: &Debugger,
    function: vm::FunctionId,
    frame: FrameIndex,
) -> io::Result<()> {
    let here = debugger.machine().position_in(frame);
    writeln!(out, "{}:", debugger.program().function_label(function))?;
    for (position, text) in debugger.program().function_instructions(function) {
        let arrow = if here == Some(position) { "=>" } else { "  " };
        writeln!(out, "{arrow} [{}]  {text}", position.offset)?;
    }
    Ok(())
}

/// Lines of a source file, with an arrow at one of them. Returns how many there were.
pub(super) fn source_lines(
    out: &mut impl Write,
    debugger: &Debugger,
    here: Option<u32>,
    file: &str,
    first: u32,
    count: u32,
) -> io::Result<usize> {
    let mut shown = 0;
    for number in first..first.saturating_add(count) {
        let Some(line) = debugger.program().line_of_source(file, number) else { break };
        let is_last =
            line.is_empty() && debugger.program().line_of_source(file, number + 1).is_none();
        if is_last {
            break;
        }
        let arrow = if here == Some(number) { "=>" } else { "  " };
        writeln!(out, "{arrow} {number}\t{}", cut(&line))?;
        shown += 1;
    }
    Ok(shown)
}

/// A source line, cut to the width of the terminal: lines of models may contain all their weights.
fn cut(line: &str) -> Cow<'_, str> {
    // For the arrow, the number and the tab before the line.
    const MARGIN: usize = 16;
    let columns = rustix::termios::tcgetwinsize(io::stdout());
    let columns = columns.ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    // A very narrow terminal still gets 40 columns.
    let width =
        columns.map_or(MAX_COLUMNS, |width| width.saturating_sub(MARGIN).max(40)).min(MAX_COLUMNS);
    match line.char_indices().nth(width) {
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
        None => Cow::Borrowed(line),
    }
}
