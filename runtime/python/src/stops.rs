//! A stopped program as JSON: its frames, its values, its tensors.

use commands::TensorRow;
use debug::{Debugger, Frame, FrameId, Limits, ScopeKind, TensorEntry, TensorView, Variable};
use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::messages::Said;
use crate::tensors::Lent;

/// The most frames that are told: endless recursion has thousands.
const MAX_FRAMES: usize = 128;

/// The frames of a program, innermost first.
pub(crate) fn frames(debugger: &Debugger) -> Json {
    debugger.machine().frames_in(0..MAX_FRAMES).iter().map(frame).collect()
}

/// Takes the places from frames that wait for a command that has failed. Which operation of theirs
/// that is, only a history of commands tells; they stand where the first of them is.
pub(crate) fn leave_out_waiting(frames: &mut Json) {
    let frames = frames.as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
    let waiting =
        frames.iter().rposition(|it| it["part"] == true).map_or(frames.len(), |at| at + 1);
    for frame in &mut frames[waiting..] {
        for place in ["file", "path", "line", "column"] {
            frame[place] = Json::Null;
        }
    }
}

fn frame(frame: &Frame) -> Json {
    let source = frame.source.as_ref();
    // Python's users know the function by its own name.
    let name = frame.layer.as_ref().map_or(&frame.name, |it| &it.untitled);
    json!({
        // A command without a history has no more than a number.
        "name": name.trim_end_matches(": "),
        "layer": frame.layer.as_ref().map(|it| &*it.name),
        "module": frame.module,
        "offset": frame.position.map(|at| at.offset.0),
        "inlined": frame.is_inlined,
        "part": frame.is_part,
        "file": source.map(|at| &at.file),
        "path": source.and_then(|at| at.path.as_ref()).map(|path| path.display().to_string()),
        "line": source.map(|at| at.line),
        "column": source.map(|at| at.column),
    })
}

/// The frame of a number, counted from the innermost.
///
/// # Errors
/// There is no such frame.
pub(crate) fn frame_id(debugger: &Debugger, number: usize) -> Result<FrameId, Error> {
    let machine = debugger.machine();
    if number == 0 {
        return Ok(machine.innermost_frame());
    }
    let frame = machine.frame_at(number);
    frame.map(|frame| frame.id()).ok_or(Error::NoFrame(number))
}

/// The value of an expression, as text, and as a tensor if it is one.
///
/// # Errors
/// It is no expression, or makes no sense here.
pub(crate) fn evaluate(
    debugger: &mut Debugger,
    number: usize,
    expression: &str,
) -> Result<Said, Error> {
    let frame = frame_id(debugger, number)?;
    let found = debugger.evaluate_in_console(frame, expression, Limits::default())?;
    let mut said = Said::default();
    let mut evaluated = |expression: String| {
        let value = debugger.evaluate_in_console(frame, &expression, Limits::default());
        value.ok().map(|value| value.value)
    };
    said.text = told(&found, Some(expression), &mut evaluated, &mut said.tensors);
    Ok(said)
}

/// The values of a frame: the names of the source that are in scope, and what the dispatch reads
/// and writes.
///
/// # Errors
/// There is no such frame.
pub(crate) fn values(debugger: &Debugger, number: usize) -> Result<Said, Error> {
    let frame = frame_id(debugger, number)?;
    let machine = debugger.machine();
    let wanted =
        [ScopeKind::Locals, ScopeKind::Arguments, ScopeKind::Constants, ScopeKind::Dispatch];
    let mut said = Said::default();
    let mut found = Vec::new();
    for (kind, node) in machine.scopes(frame) {
        if wanted.contains(&kind) {
            let inside = machine.children(&node, None);
            found.extend(inside.iter().map(|it| {
                let mut told = variable(debugger, frame, it, &mut said.tensors);
                told["scope"] = kind.name().into();
                told
            }));
        }
    }
    said.text = found.into();
    Ok(said)
}

/// A value of a frame.
fn variable(
    debugger: &Debugger,
    frame: FrameId,
    found: &Variable,
    tensors: &mut Vec<Lent>,
) -> Json {
    let mut evaluated = |expression: String| {
        let value = debugger.machine().evaluate_within(frame, &expression, Limits::default());
        value.ok().map(|value| value.value)
    };
    told(found, found.evaluate_name.as_deref(), &mut evaluated, tensors)
}

/// A value: its text; a tensor's elements, and a float's bits, whose text is short of digits.
/// `expression` names it; `evaluated` gives the text of what is computed from that.
fn told(
    found: &Variable,
    expression: Option<&str>,
    evaluated: &mut dyn FnMut(String) -> Option<String>,
    tensors: &mut Vec<Lent>,
) -> Json {
    let mut told = json!({"name": found.name, "value": found.value, "type": found.type_name});
    if let Some(view) = found.children.as_ref().and_then(debug::Children::tensor) {
        told["tensor"] = tensor(&view, tensors);
    } else if let (Some(float), Some(expression)) = (float_of(&found.type_name), expression) {
        // A tensor of one element has no bits of its own; a reduction of it is exact.
        match evaluated(format!("{expression},u")).and_then(|bits| bits.parse::<u64>().ok()) {
            Some(bits) => told["bits"] = json!([float, bits]),
            None => told["exact"] = evaluated(format!("max({expression})")).into(),
        }
    }
    told
}

/// The float that a type is, with what is said of it: `f32`, `tensor<f32>`, `f32 (read, …)`.
fn float_of(type_name: &str) -> Option<&'static str> {
    let mut words = type_name.split([' ', ',', '<', '>']).filter(|word| *word != "tensor");
    let first = words.next()?;
    ["f16", "bf16", "f32", "f64"].into_iter().find(|known| *known == first)
}

/// The number of a tensor, or null if its elements do not lie whole bytes apart.
fn tensor(view: &TensorView, tensors: &mut Vec<Lent>) -> Json {
    let lent = view.tensor().and_then(|tensor| Lent::copy(&tensor).ok());
    lent.map_or(Json::Null, |lent| {
        tensors.push(lent);
        (tensors.len() - 1).into()
    })
}

/// The tensors that the dispatch has left at which the program stands, or else those of the
/// innermost frame's function as they are now.
pub(crate) fn tensors(debugger: &Debugger, takes_elements: bool) -> Said {
    let machine = debugger.machine();
    let innermost = machine.innermost_frame();
    let entries = match machine.tensors_left(innermost) {
        left if !left.is_empty() => left,
        _ => machine.tensor_list(innermost),
    };
    listed(&entries, takes_elements)
}

/// Rows of tensors, with statistics.
pub(crate) fn listed(entries: &[TensorEntry], takes_elements: bool) -> Said {
    let mut said = Said::default();
    let rows = entries.iter().map(|entry| {
        let mut row = TensorRow::of(entry).data;
        row["place"] = entry.place.clone().into();
        if let (true, Ok(view)) = (takes_elements, &entry.value) {
            row["tensor"] = tensor(view, &mut said.tensors);
        }
        row
    });
    said.text = rows.collect();
    said
}

/// The dispatch at which the program stands: its name, its place, and its tensors by name.
pub(crate) fn dispatch(debugger: &Debugger) -> Said {
    let machine = debugger.machine();
    let innermost = machine.innermost_frame();
    let mut said = Said::default();
    let scopes = machine.scopes(innermost);
    let node = scopes.iter().find(|(kind, _)| *kind == ScopeKind::Dispatch);
    let inside = node.map_or_else(Vec::new, |(_, node)| machine.children(node, None));
    let tensors = &mut said.tensors;
    let values = inside.iter().map(|it| variable(debugger, innermost, it, tensors));
    let values: Vec<Json> = values.collect();
    let left = listed(&machine.tensors_left(innermost), false).text;
    said.text = json!({"values": values, "left": left});
    said
}
