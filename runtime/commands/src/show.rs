//! The text of what a command shows.

use std::borrow::Cow;
use std::fmt::{self, Write};

use debug::{
    BreakpointId, BreakpointSpec, DataAccess, Debugger, DispatchMoment, Frame, FrameIndex, Node,
    Position, StopReason, Variable,
};

use crate::output::Output;

/// The most elements that the summary of a tensor reads.
const MAX_SUMMARISED: usize = 1 << 24;

/// The reason of a stop, and the frame.
pub(crate) fn stop(out: &mut Output, debugger: &Debugger, reason: &StopReason) -> fmt::Result {
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
pub(crate) fn frame(
    out: &mut Output,
    debugger: &Debugger,
    number: usize,
    frame: &Frame,
) -> fmt::Result {
    frame_line(out, number, frame)?;
    let line = frame.source.as_ref().and_then(|source| {
        let text = debugger.program().line_of_source(&source.file, source.line)?;
        Some((source.line, source.column, text))
    });
    match (line, frame.position) {
        (Some((number, column, line)), _) => {
            let line = cut(&line, column, out.width).into_owned();
            writeln!(out, "{number}\t{line}")
        }
        (None, Some(position)) => match instruction(debugger, position) {
            Some(text) => writeln!(out, "[{}]\t{text}", position.offset),
            None => Ok(()),
        },
        (None, None) => Ok(()),
    }
}

fn frame_line(out: &mut Output, number: usize, frame: &Frame) -> fmt::Result {
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
pub(crate) fn backtrace(out: &mut Output, debugger: &Debugger) -> fmt::Result {
    let frames = debugger.machine().frames();
    if frames.is_empty() {
        return writeln!(out, "nothing runs");
    }
    let mut numbered = frames.iter().enumerate();
    numbered.try_for_each(|(number, frame)| frame_line(out, number, frame))
}

/// A new or changed breakpoint.
pub(crate) fn breakpoint_set(
    out: &mut Output,
    debugger: &Debugger,
    id: BreakpointId,
) -> fmt::Result {
    breakpoint_line(out, debugger, id)?;
    let message = debugger.breakpoints().get(id).and_then(|it| it.message.as_ref());
    message.map_or(Ok(()), |message| writeln!(out, "note: {message}"))
}

fn breakpoint_line(out: &mut Output, debugger: &Debugger, id: BreakpointId) -> fmt::Result {
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
pub(crate) fn breakpoints(out: &mut Output, debugger: &Debugger) -> fmt::Result {
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
pub(crate) fn variable(out: &mut Output, debugger: &Debugger, variable: &Variable) -> fmt::Result {
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

fn variable_line(out: &mut Output, variable: &Variable) -> fmt::Result {
    writeln!(out, "{} = {} : {}", variable.name, variable.value, variable.type_name)
}

/// The variables of a scope.
pub(crate) fn variables(out: &mut Output, debugger: &Debugger, node: &Node) -> fmt::Result {
    let variables = debugger.machine().children(node, None);
    if variables.is_empty() {
        return writeln!(out, "none here");
    }
    variables.iter().try_for_each(|variable| variable_line(out, variable))
}

/// The memory that is allocated on the device.
pub(crate) fn allocations(out: &mut Output, debugger: &Debugger) -> fmt::Result {
    let allocations = debugger.machine().allocations();
    if allocations.is_empty() {
        return writeln!(out, "nothing is allocated");
    }
    let mut lines = allocations.iter();
    lines.try_for_each(|it| writeln!(out, "{} {}", it.name, it.value))
}

/// The instructions of a function, with an arrow at the one that the frame stands at.
pub(crate) fn disassembly(
    out: &mut Output,
    debugger: &Debugger,
    function: vm::FunctionId,
    frame: FrameIndex,
) -> fmt::Result {
    let here = debugger.machine().position_in(frame);
    writeln!(out, "{}:", debugger.program().function_label(function))?;
    for (position, text) in debugger.program().function_instructions(function) {
        let arrow = if here == Some(position) { "=>" } else { "  " };
        writeln!(out, "{arrow} [{}]  {text}", position.offset)?;
    }
    Ok(())
}

/// Lines of a source file, with an arrow at one of them. Returns how many there were.
pub(crate) fn source_lines(
    out: &mut Output,
    debugger: &Debugger,
    here: Option<u32>,
    file: &str,
    first: u32,
    count: u32,
) -> Result<usize, fmt::Error> {
    let mut shown = 0;
    for number in first..first.saturating_add(count) {
        let Some(line) = debugger.program().line_of_source(file, number) else { break };
        let is_last =
            line.is_empty() && debugger.program().line_of_source(file, number + 1).is_none();
        if is_last {
            break;
        }
        let arrow = if here == Some(number) { "=>" } else { "  " };
        let line = cut(&line, 1, out.width);
        writeln!(out, "{arrow} {number}\t{line}")?;
        shown += 1;
    }
    Ok(shown)
}

/// A source line, cut to the width of the output: lines of models may contain all their weights.
/// What stands around a column, counted from 1, is kept.
fn cut(line: &str, column: u32, width: usize) -> Cow<'_, str> {
    // For the arrow, the number and the tab before the line.
    const MARGIN: usize = 16;
    // A very narrow terminal still gets 40 columns.
    let width = width.saturating_sub(MARGIN).max(40);
    if line.char_indices().nth(width).is_none() {
        return Cow::Borrowed(line);
    }
    let column = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    // A third of the width lies before the column, unless the line begins there.
    let first = if column < width * 2 / 3 { 0 } else { column - width / 3 };
    let at = |index| line.char_indices().nth(index).map_or(line.len(), |(at, _)| at);
    let (start, end) = (at(first), at(first + width));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    Cow::Owned(format!("{before}{}{after}", &line[start..end]))
}
