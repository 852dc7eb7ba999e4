//! The text of what a command shows.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::ops::Range;

use debug::{
    AsOf, Breakpoint, BreakpointId, BreakpointSpec, DataAccess, Debugger, DispatchMoment, Frame,
    FrameIndex, Node, Position, StopReason, Trapped, Variable,
};

use serde_json::{Value, json};

use crate::output::Output;
use crate::words;

/// The most elements that the summary of a tensor reads.
const MAX_SUMMARISED: usize = 1 << 24;

/// The reason of a stop, and the frame.
pub(crate) fn stop(
    out: &mut Output,
    debugger: &Debugger,
    reason: &StopReason,
    selected: usize,
) -> fmt::Result {
    out.put("reason", stop_word(reason));
    out.put("sentence", debugger.sentence(reason));
    // Expectations of `check` modules, since the last stop.
    for note in debugger.program().host().expectations().take() {
        writeln!(out, "check: {note}")?;
    }
    match reason {
        StopReason::Entry | StopReason::Step => {}
        StopReason::Breakpoint(ids) if ids.is_empty() => {}
        StopReason::Breakpoint(ids) => {
            out.put("breakpoints", ids.iter().map(|id| id.0).collect::<Vec<u32>>());
            let ids: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
            match debugger.failed_condition() {
                Some(text) => writeln!(out, "{text}")?,
                None => writeln!(out, "Breakpoint {}", ids.join(", "))?,
            }
        }
        StopReason::Data(hits) => {
            let ids: Vec<u32> = hits.iter().map(|hit| hit.breakpoint.0).collect();
            out.put("breakpoints", ids);
            for hit in hits {
                let (id, text) = (hit.breakpoint.0, debugger.data_sentence(hit));
                writeln!(out, "Breakpoint {id}: {text}")?;
            }
        }
        StopReason::Trap(Trapped { text, .. }) => writeln!(out, "Caught {text}")?,
        StopReason::Pause => writeln!(out, "Interrupted")?,
        StopReason::Begin => writeln!(out, "The beginning of the recording")?,
        StopReason::Found(text) => writeln!(out, "{text}")?,
        StopReason::BreakInstruction => writeln!(out, "The program asked to stop (vm.break)")?,
        StopReason::Failed(failure) => writeln!(out, "The program failed: {failure}")?,
        StopReason::Completed(results) => {
            let results = vm::value_text::format_values("result", results);
            out.put("results", results.as_str());
            write!(out, "{results}")?;
            return writeln!(out, "The program is over");
        }
    }
    // Native frames on top of the selected one say what has failed.
    for number in 0..selected {
        if let Some(above) = debugger.machine().frame_at(number) {
            frame_line(out, number, &above)?;
        }
    }
    match debugger.machine().frame_at(selected) {
        Some(shown) => frame(out, debugger, selected, &shown),
        None => Ok(()),
    }
}

/// A word for the reason of a stop.
fn stop_word(reason: &StopReason) -> &'static str {
    match reason {
        StopReason::Entry => "entry",
        StopReason::Step => "step",
        StopReason::Breakpoint(_) => "breakpoint",
        StopReason::Data(_) => "data",
        StopReason::Trap(_) => "trap",
        StopReason::Pause => "pause",
        StopReason::Begin => "begin",
        StopReason::Found(_) => "found",
        StopReason::BreakInstruction => "break instruction",
        StopReason::Failed(_) => "failed",
        StopReason::Completed(_) => "completed",
    }
}

/// A frame for scripts.
fn frame_data(number: usize, frame: &Frame) -> Value {
    let source = frame.source.as_ref();
    let source = source.map(|at| json!({"file": at.file, "line": at.line, "column": at.column}));
    json!({
        "number": number,
        "name": frame.name,
        "module": frame.module,
        "offset": frame.position.map(|position| position.offset.0),
        "source": source,
        "inlined": frame.is_inlined,
    })
}

/// A value for scripts.
pub(crate) fn variable_data(variable: &Variable) -> Value {
    let mut data = json!({
        "name": variable.name,
        "value": variable.value,
        "type": variable.type_name,
    });
    if let Some(reason) = &variable.absent {
        data["absent"] = reason.kind().into();
    }
    if let Some(as_of) = variable.as_of {
        data["asOf"] = as_of_data(as_of);
    }
    data
}

/// A time in the run for scripts: next to a command, and on which side of it.
pub(crate) fn as_of_data(as_of: AsOf) -> Value {
    json!({ "command": as_of.command(), "side": as_of.side() })
}

/// A breakpoint for scripts.
pub(crate) fn breakpoint_data(debugger: &Debugger, breakpoint: &Breakpoint) -> Value {
    let program = debugger.program();
    let places = breakpoint.locations.iter().map(|position| {
        let line = program_line(debugger, *position);
        json!({
            "function": program.function_label(position.function),
            "offset": position.offset.0,
            "file": line.as_ref().map(|line| line.file.as_str()),
            "line": line.as_ref().map(|line| line.line),
        })
    });
    let options = breakpoint.options();
    json!({
        "number": breakpoint.id.0,
        "what": asked_for(debugger, breakpoint),
        "enabled": breakpoint.is_enabled,
        "verified": breakpoint.is_verified(),
        "hits": breakpoint.hits(),
        "places": places.collect::<Vec<Value>>(),
        "dispatches": breakpoint.dispatches,
        "condition": options.condition,
        "log": options.log,
        "message": breakpoint.message,
    })
}

fn program_line(debugger: &Debugger, position: Position) -> Option<debug::SourceLine> {
    debugger.machine().source_line(position)
}

/// A frame with its source line, or with its instruction if the source is not known.
pub(crate) fn frame(
    out: &mut Output,
    debugger: &Debugger,
    number: usize,
    frame: &Frame,
) -> fmt::Result {
    out.put("frame", frame_data(number, frame));
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

/// Frames of the call stack.
pub(crate) fn backtrace(out: &mut Output, frames: &[Frame], range: Range<usize>) -> fmt::Result {
    if frames.is_empty() {
        return writeln!(out, "nothing runs");
    }
    let shown = || frames.iter().enumerate().take(range.end).skip(range.start);
    out.put("frames", shown().map(|(number, it)| frame_data(number, it)).collect::<Vec<Value>>());
    shown().try_for_each(|(number, frame)| frame_line(out, number, frame))?;
    match frames.len() - range.len() {
        0 => Ok(()),
        left => writeln!(out, "… {left} more"),
    }
}

/// A new or changed breakpoint.
pub(crate) fn breakpoint_set(
    out: &mut Output,
    debugger: &Debugger,
    id: BreakpointId,
    temporary: &BTreeSet<BreakpointId>,
) -> fmt::Result {
    breakpoint_line(out, debugger, id, temporary)?;
    let message = debugger.breakpoints().get(id).and_then(|it| it.message.as_ref());
    message.map_or(Ok(()), |message| writeln!(out, "note: {message}"))
}

/// What a breakpoint was asked for.
fn asked_for(debugger: &Debugger, breakpoint: &Breakpoint) -> String {
    match &breakpoint.spec {
        BreakpointSpec::Line { file, line, .. } => {
            let column = breakpoint.column.map(|column| format!(":{column}")).unwrap_or_default();
            format!("{file}:{}{column}", breakpoint.line.unwrap_or(*line))
        }
        BreakpointSpec::ListingLine { line, .. } => format!("disassembly line {line}"),
        BreakpointSpec::Function { name } => name.clone(),
        BreakpointSpec::Operation { operation } => {
            format!("dispatch {}", debug::node_id(*operation))
        }
        BreakpointSpec::Dispatch { pattern, when } => {
            let after = if *when == DispatchMoment::After { " after" } else { "" };
            format!("dispatch {}{after}", words::quoted_pattern(pattern))
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
    }
}

fn breakpoint_line(
    out: &mut Output,
    debugger: &Debugger,
    id: BreakpointId,
    temporary: &BTreeSet<BreakpointId>,
) -> fmt::Result {
    let Some(breakpoint) = debugger.breakpoints().get(id) else { return Ok(()) };
    let kind = if temporary.contains(&id) { "Temporary breakpoint" } else { "Breakpoint" };
    write!(out, "{kind} {}: {}", id.0, asked_for(debugger, breakpoint))?;
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
    if !breakpoint.is_enabled {
        write!(out, ", disabled")?;
    }
    match breakpoint.ignores() {
        0 => {}
        1 => write!(out, ", ignores the next hit")?,
        hits => write!(out, ", ignores the next {hits} hits")?,
    }
    match breakpoint.hits() {
        0 => writeln!(out),
        1 => writeln!(out, ", hit once"),
        hits => writeln!(out, ", hit {hits} times"),
    }
}

/// All breakpoints and traps.
pub(crate) fn breakpoints(
    out: &mut Output,
    debugger: &Debugger,
    temporary: &BTreeSet<BreakpointId>,
) -> fmt::Result {
    let data = debugger.breakpoints().iter().map(|it| breakpoint_data(debugger, it));
    out.put("breakpoints", data.collect::<Vec<Value>>());
    out.put("catches", debugger.catches());
    let ids: Vec<BreakpointId> = debugger.breakpoints().iter().map(|it| it.id).collect();
    let catches = debugger.catches();
    if ids.is_empty() && catches.is_empty() {
        return writeln!(out, "no breakpoints");
    }
    for id in ids {
        breakpoint_line(out, debugger, id, temporary)?;
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

pub(crate) fn variable_line(out: &mut Output, variable: &Variable) -> fmt::Result {
    write!(out, "{} = {}", variable.name, variable.value)?;
    match variable.type_name.as_str() {
        "" => writeln!(out),
        name => writeln!(out, " : {name}"),
    }
}

/// All elements of a value, one line for each of its rows.
pub(crate) fn elements(debugger: &Debugger, variable: &Variable) -> String {
    let Some(children) = variable.children.as_ref().filter(|it| it.indexed.is_some()) else {
        return variable.value.clone();
    };
    let inside =
        debugger.machine().children(&children.node, Some(0..children.indexed.unwrap_or(0)));
    let has_rows = inside.first().is_some_and(|it| it.children.is_some());
    let texts: Vec<String> = inside.iter().map(|it| elements(debugger, it)).collect();
    texts.join(if has_rows { "\n" } else { " " })
}

/// The variables of a scope.
pub(crate) fn variables(out: &mut Output, debugger: &Debugger, node: &Node) -> fmt::Result {
    let variables = debugger.machine().children(node, None);
    if variables.is_empty() {
        out.put("values", Vec::<Value>::new());
        return writeln!(out, "none here");
    }
    listed(out, &variables)
}

/// A line for each value.
pub(crate) fn listed(out: &mut Output, variables: &[Variable]) -> fmt::Result {
    out.put("values", variables.iter().map(variable_data).collect::<Vec<Value>>());
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
