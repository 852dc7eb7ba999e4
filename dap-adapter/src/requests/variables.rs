//! Values: `variables`, `evaluate`.

use std::ops::Range;

use commands::evidence_in_short;
use dap::requests::{EvaluateArguments, VariablesArguments};
use dap::types::{EvaluateArgumentsContext, VariablesArgumentsFilter};
use debug::{Children, Debugger, FrameId, Limits, Node, ScopeKind};
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Answer, Format, Request, RequestError, Variable, body};
use crate::references::{Content, Expandable, Parent};
use crate::to_dap;

/// The most elements in one answer. A client without paging asks for all elements of a large
/// tensor, and would freeze on more.
const MAX_ELEMENTS: usize = 10_000;

/// The most elements that a summary reads: few enough for an instant answer.
const MAX_SUMMARISED: usize = 1 << 22;

/// The most elements of a matrix that the console prints.
const MOST_IN_MATRIX: usize = 64;

/// How deep lists in lists are written whole. A list may contain itself.
const DEEPEST: usize = 16;

/// The most elements that the figures in the rows of one list read: a few milliseconds.
const MAX_IN_ROWS: usize = 1 << 21;

pub(super) fn variables(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: VariablesArguments = request.arguments()?;
    let Expandable { content, parent } = debuggee.expandable(arguments.variables_reference)?;
    let variables = match content {
        Content::Parts(children) => parts(&children, &parent, &arguments, debuggee, client),
        Content::Summary(children) => {
            let summary = children.summary(MAX_SUMMARISED);
            let value = summary.map_or_else(|| "nothing".into(), |summary| summary.to_string());
            vec![Variable { name: "summary".into(), value, ..Variable::default() }]
        }
    };
    Ok(json!({ "variables": body(variables)? }))
}

fn parts(
    children: &Children,
    parent: &Parent,
    arguments: &VariablesArguments,
    debuggee: &mut Debuggee,
    client: &Client,
) -> Vec<Variable> {
    let wanted = Wanted::new(arguments, children.indexed);
    let found = match wanted.range {
        Some(Range { start, end }) if start >= end => Vec::new(),
        _ if let Node::Scope(frame, ScopeKind::Dispatch) = children.node
            && client.has_menus_for_variables =>
        {
            debuggee.debugger.machine().dispatch_rows(frame)
        }
        range => debuggee.debugger.machine().children(&children.node, range),
    };
    let mut variables = Vec::with_capacity(found.len() + 1);
    let is_named_wanted = !matches!(arguments.filter, Some(VariablesArgumentsFilter::Indexed));
    if is_named_wanted && wanted.is_from_start && to_dap::is_summarised(children) {
        variables.push(to_dap::summary(children, parent, &mut debuggee.values));
    }
    let format = Format::from(arguments.format.clone());
    // A client that shows no types in rows gets them with the values.
    let is_list = matches!(children.node, Node::Scope(..) | Node::Passed(_))
        && client.has_menus_for_variables;
    let mut left = MAX_IN_ROWS;
    let convert = |variable| {
        let formatted = to_dap::formatted(variable, format);
        let formatted = if is_list && !format.hex { row(formatted, &mut left) } else { formatted };
        to_dap::variable(formatted, parent, &mut debuggee.values, client)
    };
    variables.extend(found.into_iter().map(convert));
    if wanted.left > 0 {
        variables.push(Variable {
            name: "…".into(),
            value: format!("{} more, for clients that ask in parts", wanted.left),
            ..Variable::default()
        });
    }
    variables
}

/// A tensor with its type, mean and deviation in its row.
fn row(variable: debug::Variable, left: &mut usize) -> debug::Variable {
    match variable.children.as_ref().and_then(Children::tensor) {
        Some(tensor) => debug::Variable { value: tensor.row(left), ..variable },
        None => variable,
    }
}

/// A small matrix with a pair of brackets for each row.
pub(super) fn matrix(value: debug::Variable, debugger: &Debugger) -> debug::Variable {
    let children = value.children.as_ref();
    let tensor = children.and_then(Children::tensor);
    let is_matrix = tensor.is_some_and(|it| it.shape().len() > 1 && it.count() <= MOST_IN_MATRIX);
    let text = children.filter(|_| is_matrix);
    let text = text.and_then(|children| whole_text(children, debugger, Format::default()));
    match text {
        Some(text) => debug::Variable { value: text, ..value },
        None => value,
    }
}

/// Which children a request wants.
struct Wanted {
    /// None for children that have names.
    range: Option<Range<usize>>,
    /// How many of those that the client asked for are left out.
    left: usize,
    /// Whether the range begins with the first child, so that a summary may precede it.
    is_from_start: bool,
}

impl Wanted {
    fn new(arguments: &VariablesArguments, indexed: Option<usize>) -> Self {
        let nothing = Self { range: Some(0..0), left: 0, is_from_start: true };
        let Some(length) = indexed else {
            return match arguments.filter {
                Some(VariablesArgumentsFilter::Indexed) => nothing,
                Some(VariablesArgumentsFilter::Named) | None => {
                    Self { range: None, left: 0, is_from_start: true }
                }
            };
        };
        if matches!(arguments.filter, Some(VariablesArgumentsFilter::Named)) {
            return nothing;
        }
        let start = to_dap::count(arguments.start).min(length);
        let asked = match to_dap::count(arguments.count) {
            0 => length - start,
            count => count.min(length - start),
        };
        let given = asked.min(MAX_ELEMENTS);
        let range = Some(start..start + given);
        Self { range, left: asked - given, is_from_start: start == 0 }
    }
}

/// Whether the user has typed an expression in the console.
pub(super) fn is_console(arguments: &EvaluateArguments) -> bool {
    matches!(arguments.context, Some(EvaluateArgumentsContext::Repl))
}

/// Evaluates an expression that a client asks for unasked, such as a watch or a hover, in a frame,
/// by default the innermost.
pub(super) fn evaluate(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
    arguments: &EvaluateArguments,
) -> Result<Value, RequestError> {
    let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
    let cancel = debuggee.cancelled.begin_evaluation(request.seq);
    let limits = Limits { cancel, ..Limits::default() };
    let text = arguments.expression.as_str();
    let outcome = debuggee.debugger.machine().evaluate_within(frame, text, limits);
    debuggee.cancelled.end_evaluation();
    let value = outcome.map_err(RequestError::because)?;
    let format = Format::from(arguments.format.clone());
    let whole = match &arguments.context {
        Some(EvaluateArgumentsContext::Clipboard) => value
            .children
            .as_ref()
            .and_then(|children| whole_text(children, &debuggee.debugger, format)),
        _ => None,
    };
    let is_watched = matches!(arguments.context, Some(EvaluateArgumentsContext::Watch));
    let value = match is_watched && client.has_menus_for_variables && !format.hex {
        true => row(value, &mut { MAX_IN_ROWS }),
        false => value,
    };
    let mut shown = evaluated(debuggee, client, frame, value, format);
    if let Some(whole) = whole {
        shown.value = whole;
    }
    if matches!(arguments.context, Some(EvaluateArgumentsContext::Hover)) {
        // Beside the type, where a hover has room for it. Other expressions than names have none.
        let told = debuggee.debugger.machine().evidence(frame, text).ok();
        let short = told.map(|told| evidence_in_short(&told));
        shown.type_name = match (shown.type_name.as_str(), short) {
            ("", short) => short.unwrap_or_default(),
            (known, Some(short)) => format!("{known} ({short})"),
            (known, None) => known.to_owned(),
        };
    }
    body(Answer::result(shown))
}

/// A value of a frame, as the client is shown it.
pub(super) fn evaluated(
    debuggee: &mut Debuggee,
    client: &Client,
    frame: FrameId,
    value: debug::Variable,
    format: Format,
) -> Variable {
    let parent = Parent { frame, expression: value.evaluate_name.clone() };
    to_dap::variable(to_dap::formatted(value, format), &parent, &mut debuggee.values, client)
}

/// All elements of a value in brackets, for the clipboard; None if the value has no elements.
fn whole_text(children: &Children, debugger: &Debugger, format: Format) -> Option<String> {
    let mut text = String::new();
    let mut left = MAX_ELEMENTS;
    write_elements(children, debugger, format, 0, &mut text, &mut left)?;
    Some(text)
}

fn write_elements(
    children: &Children,
    debugger: &Debugger,
    format: Format,
    depth: usize,
    text: &mut String,
    left: &mut usize,
) -> Option<()> {
    let length = children.indexed?;
    text.push('[');
    let elements = debugger.machine().children(&children.node, Some(0..length.min(*left)));
    let length_given = elements.len();
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        if *left == 0 {
            text.push_str("…]");
            return Some(());
        }
        let inside = element.children.as_ref();
        let inside = inside.filter(|it| it.indexed.is_some() && depth < DEEPEST);
        if let Some(inside) = inside {
            write_elements(inside, debugger, format, depth + 1, text, left)?;
        } else {
            *left -= 1;
            text.push_str(&to_dap::formatted(element, format).value);
        }
    }
    if length_given < length {
        text.push_str(", …");
    }
    text.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(
        start: Option<i64>,
        count: Option<i64>,
        indexed: Option<usize>,
    ) -> (Option<Range<usize>>, usize) {
        let arguments = VariablesArguments { start, count, ..Default::default() };
        let wanted = Wanted::new(&arguments, indexed);
        (wanted.range, wanted.left)
    }

    #[test]
    fn elements_are_given_as_they_are_asked_for() {
        assert_eq!(wanted(None, None, None), (None, 0));
        assert_eq!(wanted(None, None, Some(5)), (Some(0..5), 0));
        assert_eq!(wanted(Some(2), None, Some(5)), (Some(2..5), 0));
        assert_eq!(wanted(Some(2), Some(0), Some(5)), (Some(2..5), 0));
        assert_eq!(wanted(Some(2), Some(2), Some(5)), (Some(2..4), 0));
        assert_eq!(wanted(Some(9), Some(2), Some(5)), (Some(5..5), 0));
        assert_eq!(wanted(Some(-1), Some(-1), Some(5)), (Some(0..5), 0));
        assert_eq!(wanted(Some(4), Some(i64::MAX), Some(5)), (Some(4..5), 0));
    }

    #[test]
    fn more_elements_than_a_client_can_bear_are_left_out() {
        assert_eq!(wanted(None, None, Some(MAX_ELEMENTS + 7)), (Some(0..MAX_ELEMENTS), 7));
    }

    #[test]
    fn filters_choose_between_names_and_indices() {
        let cases = [
            (VariablesArgumentsFilter::Named, None, None),
            (VariablesArgumentsFilter::Indexed, None, Some(0..0)),
            (VariablesArgumentsFilter::Named, Some(3), Some(0..0)),
            (VariablesArgumentsFilter::Indexed, Some(3), Some(0..3)),
        ];
        for (filter, indexed, range) in cases {
            let arguments = VariablesArguments { filter: Some(filter), ..Default::default() };
            assert_eq!(Wanted::new(&arguments, indexed).range, range);
        }
    }
}
