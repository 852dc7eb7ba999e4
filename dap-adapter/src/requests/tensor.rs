//! `iree/tensor`, `iree/tensorMoments` and `iree/tensorHistory`, which the protocol does not have:
//! a tensor to look at, as it was at earlier stops, and each time that its dispatch has run. What
//! can be asked of one is in [`crate::tensor_questions`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use debug::{Evaluated, Execution, Limits, Look, Moment, TensorView};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError};
use crate::references::Content;
use crate::tensor_questions::{self, Question};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(flatten)]
    tensor: Named,
    /// The tensor to compare with.
    with: Option<Named>,
    #[serde(flatten)]
    question: Question,
}

/// Which tensor.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    /// A variable of this stop, or an expression in a frame, by default the innermost.
    variables_reference: Option<i64>,
    expression: Option<String>,
    frame_id: Option<i64>,
    /// As it was at an earlier stop: the number of a moment.
    moment: Option<u64>,
    /// A tensor of a file: its name in the file, and its type if the file states none.
    file: Option<PathBuf>,
    name: Option<String>,
    #[serde(rename = "type")]
    declared: Option<String>,
    /// The same tensor as the bytecode of its dispatch has left it.
    #[serde(default)]
    twin: bool,
    /// The same tensor as the text of its dispatch says, in float64.
    #[serde(default)]
    reference: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MomentsArguments {
    expression: String,
    frame_id: Option<i64>,
    /// Whether it is kept as it is now, within limits.
    #[serde(default)]
    keep: bool,
    /// Whether it is kept until the session ends.
    #[serde(default)]
    pin: bool,
}

/// The most executions in one answer.
const MAX_EXECUTIONS: usize = 1 << 10;
/// The most elements that are looked at for one answer, unless one execution has more, and the
/// longest time: other requests wait meanwhile.
const MAX_LOOKED_AT: usize = 1 << 24;
const LONGEST_LOOK: Duration = Duration::from_millis(300);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryArguments {
    expression: String,
    frame_id: Option<i64>,
    /// The first execution; by default none is looked at, but they are counted.
    from: Option<usize>,
}

/// Serves `iree/tensor`.
pub(super) fn tensor(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let Arguments { tensor, with, question } = request.arguments()?;
    let frame = tensor.frame_id;
    let tensor = named(debuggee, request, &tensor, None)?;
    let mut evaluated = None;
    let other = with.map(|mut with| {
        if with.reference {
            let found = debuggee.debugger.evaluated(&tensor).map_err(RequestError::because)?;
            evaluated = Some(evaluated_body(&tensor, &found));
            return Ok(found.expected);
        }
        with.frame_id = with.frame_id.or(frame);
        named(debuggee, request, &with, Some(&tensor))
    });
    let other = other.transpose()?;
    let answer = tensor_questions::answer(&tensor, other.as_ref(), &question);
    let mut answer = answer.map_err(RequestError::because)?;
    if let Some(evaluated) = evaluated {
        answer["evaluated"] = evaluated;
    }
    Ok(answer)
}

/// How far a tensor is from what it should be, in terms of what is allowed.
fn evaluated_body(tensor: &TensorView, found: &Evaluated) -> Value {
    json!({
        "dispatch": found.dispatch,
        "count": tensor.count(),
        "known": found.known,
        "beyond": found.beyond,
        "first": found.first_beyond.map(|number| tensor.indices_of(number)),
        "reason": found.reason,
    })
}

/// Serves `iree/tensorMoments`.
pub(super) fn moments(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let MomentsArguments { expression, frame_id, keep, pin } = request.arguments()?;
    let mut refused = None;
    if keep || pin {
        let place = place(debuggee, frame_id)?;
        match evaluated(debuggee, request, &expression, frame_id) {
            Ok(tensor) => {
                refused = debuggee.moments.keep(&expression, &place, &tensor, pin).err();
            }
            Err(error) if pin => return Err(error),
            // It has no value at this stop.
            Err(_) => {}
        }
    }
    if let (true, Some(reason)) = (pin, &refused) {
        return Err(RequestError::because(reason));
    }
    let shown = |moment: &Moment| {
        json!({
            "moment": moment.number,
            "place": moment.place,
            "repeated": moment.repeated,
            "isPinned": moment.is_pinned,
            "type": moment.tensor.type_name(),
        })
    };
    let moments: Vec<Value> = debuggee.moments.of(&expression).map(shown).collect();
    let refused = refused.map(|reason| reason.to_string());
    Ok(json!({"moments": moments, "refused": refused}))
}

/// Serves `iree/tensorHistory`: as many executions as one answer takes.
pub(super) fn history(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let HistoryArguments { expression, frame_id, from } = request.arguments()?;
    let frame = debuggee.frame_or_innermost(frame_id)?;
    let interrupt = debuggee.debugger.interrupt_handle();
    let cancel = debuggee.cancelled.begin_running(request.seq, interrupt.clone());
    let look = Look {
        from: from.unwrap_or(0),
        most: if from.is_some() { MAX_EXECUTIONS } else { 0 },
        elements: MAX_LOOKED_AT,
        time: LONGEST_LOOK,
        cancel: cancel.clone(),
    };
    let found = debuggee.debugger.executions(frame, &expression, &look);
    debuggee.cancelled.end_evaluation();
    if cancel.is_cancelled() {
        // It is not meant for what runs next.
        interrupt.withdraw();
        return Err(RequestError::cancelled());
    }
    let found = found.map_err(RequestError::because)?;
    let execution = |it: &Execution| match &it.figures {
        Ok(figures) => {
            json!({"command": it.command, "figures": tensor_questions::figures(figures)})
        }
        Err(why) => json!({"command": it.command, "lost": why}),
    };
    Ok(json!({
        "dispatch": found.dispatch,
        "isLeft": found.is_left,
        "total": found.total,
        "forgotten": found.forgotten,
        "ran": found.ran,
        "isRecorded": debuggee.debugger.record_state().is_some(),
        "from": found.from,
        "executions": found.executions.iter().map(execution).collect::<Vec<_>>(),
    }))
}

/// Where a frame stands, in words.
fn place(debuggee: &mut Debuggee, frame: Option<i64>) -> Result<String, RequestError> {
    let id = debuggee.frame_or_innermost(frame)?;
    let count = debuggee.frame_count();
    let frames = debuggee.debugger.machine().frames_in(0..count.min(1 << 10));
    let frame = frames.iter().find(|it| it.id() == id).or(frames.first());
    Ok(frame.map_or_else(String::new, |frame| match &frame.source {
        Some(line) => {
            let file = Path::new(&line.file).file_name().unwrap_or_default().to_string_lossy();
            format!("{file}:{}", line.line)
        }
        None => frame.name.clone(),
    }))
}

fn named(
    debuggee: &mut Debuggee,
    request: &Request,
    named: &Named,
    compared: Option<&TensorView>,
) -> Result<TensorView, RequestError> {
    if let Some(moment) = named.moment {
        let moment = debuggee.moments.get(moment).map(|it| it.tensor.clone());
        return moment.ok_or_else(|| RequestError::stale("this moment is no longer kept"));
    }
    if let Some(path) = &named.file {
        let (name, declared) = (named.name.as_deref(), named.declared.as_deref());
        let loaded = tensor_questions::open(path, name, declared);
        return loaded.map_err(RequestError::because);
    }
    if let (true, Some(tensor)) = (named.twin, compared) {
        return debuggee.debugger.twin_of_tensor(tensor).map_err(RequestError::because);
    }
    if let Some(expression) = &named.expression {
        return evaluated(debuggee, request, expression, named.frame_id);
    }
    let reference = named.variables_reference.ok_or_else(|| {
        RequestError::malformed("`iree/tensor` needs an `expression` or a `variablesReference`")
    })?;
    match debuggee.expandable(reference)?.content {
        Content::Parts(children) | Content::Summary(children) => {
            children.tensor().ok_or_else(|| RequestError::failed("this is not a tensor"))
        }
    }
}

fn evaluated(
    debuggee: &mut Debuggee,
    request: &Request,
    expression: &str,
    frame: Option<i64>,
) -> Result<TensorView, RequestError> {
    let frame = debuggee.frame_or_innermost(frame)?;
    let cancel = debuggee.cancelled.begin_evaluation(request.seq);
    let limits = Limits { cancel, ..Limits::default() };
    let outcome = debuggee.debugger.machine().evaluate_within(frame, expression, limits);
    debuggee.cancelled.end_evaluation();
    let value = outcome.map_err(RequestError::because)?;
    match value.children.as_ref().and_then(debug::Children::tensor) {
        Some(tensor) => Ok(tensor),
        // A name without a value has the reason instead.
        None if value.children.is_none() => {
            Err(RequestError::failed(format!("{expression} is {}", value.value)))
        }
        None => Err(RequestError::failed("this is not a tensor")),
    }
}
