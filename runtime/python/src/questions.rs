//! What Python asks about a program, or changes in it: JSON in, JSON out.

use abi::tensor::Tensor;
use debug::{BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, DispatchMoment};
use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::messages::Said;
use crate::stops;

/// Answers a question.
///
/// # Errors
/// The question makes no sense here.
pub(crate) fn answer(
    debugger: &mut Debugger,
    question: &Json,
    mut given: Vec<Tensor>,
) -> Result<Said, Error> {
    let number = |key: &str| question[key].as_u64().unwrap_or(0) as usize;
    let text = match question["what"].as_str().unwrap_or_default() {
        "frames" => stops::frames(debugger),
        "values" => return stops::values(debugger, number("frame")),
        "tensors" => {
            let takes_elements = question["elements"].as_bool().unwrap_or(false);
            return Ok(stops::tensors(debugger, takes_elements));
        }
        "evaluate" => {
            let expression = question["expression"].as_str().unwrap_or_default();
            return stops::evaluate(debugger, number("frame"), expression);
        }
        "set" => {
            let frame = stops::frame_id(debugger, number("frame"))?;
            let target = question["target"].as_str().unwrap_or_default();
            match given.pop() {
                Some(tensor) => debugger.assign_elements(frame, target, tensor)?,
                None => {
                    let value = question["value"].as_str().unwrap_or_default();
                    debugger.assign(frame, target, value)?
                }
            };
            Json::Null
        }
        "breakpoint" => add_breakpoint(debugger, question)?,
        "remove" => {
            let id = BreakpointId(u32::try_from(number("id"))?);
            let may = debugger.breakpoints().is_own(id) == is_own(question);
            let existed = may && debugger.edit_breakpoints().remove(id);
            let is_watched = debugger.breakpoints().iter().any(|it| it.is_enabled);
            if !is_watched && !question["inspects"].as_bool().unwrap_or(false) {
                debugger.set_inspecting(false);
            }
            existed.into()
        }
        "inspect" => {
            debugger.set_inspecting(question["inspects"].as_bool().unwrap_or(true));
            Json::Null
        }
        "notes" => debugger.program().notes().into(),
        other => return Err(Error::NoQuestion(other.to_owned())),
    };
    Ok(Said { text, tensors: Vec::new() })
}

/// Whether a breakpoint is for Python's callbacks, not for clients: these do not stop at it when
/// they go back.
fn is_own(question: &Json) -> bool {
    question["own"].as_bool().unwrap_or(true)
}

fn spec(question: &Json) -> Result<BreakpointSpec, Error> {
    let text = |key: &str| question[key].as_str().map(str::to_owned);
    let whole = |key: &str| question[key].as_u64().and_then(|it| u32::try_from(it).ok());
    if let Some(pattern) = text("dispatch") {
        let is_before = question["before"].as_bool().unwrap_or(false);
        let when = if is_before { DispatchMoment::Before } else { DispatchMoment::After };
        return Ok(BreakpointSpec::Dispatch { pattern, when });
    }
    if let Some(name) = text("function") {
        return Ok(BreakpointSpec::Function { name });
    }
    match (text("file"), whole("line")) {
        (Some(file), Some(line)) => {
            Ok(BreakpointSpec::Line { file, line, column: whole("column") })
        }
        _ => Err(Error::NoPlace),
    }
}

fn add_breakpoint(debugger: &mut Debugger, question: &Json) -> Result<Json, Error> {
    debugger.set_inspecting(true);
    let mut edit = debugger.edit_breakpoints();
    let id = edit.add(spec(question)?);
    if is_own(question) {
        edit.own(id);
    }
    let condition = question["condition"].as_str().map(str::to_owned);
    if condition.is_some() {
        let options = BreakpointOptions { condition, ..BreakpointOptions::default() };
        if let Err(error) = edit.set_options(id, &options) {
            edit.remove(id);
            return Err(error.into());
        }
    }
    drop(edit);
    let Some(set) = debugger.breakpoints().get(id) else { return Ok(Json::Null) };
    Ok(json!({
        "id": id.0,
        "verified": set.is_verified(),
        "line": set.line,
        "column": set.column,
        "message": set.message,
    }))
}
