//! Values: `variables`, `evaluate`.

use std::ops::Range;

use dap::requests::{EvaluateArguments, VariablesArguments};
use dap::responses::{EvaluateResponse, VariablesResponse};
use dap::types::{Variable, VariablesArgumentsFilter};
use debug::FrameIndex;
use serde_json::Value;

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::Request;
use crate::session::body;
use crate::to_dap;

/// The most elements in one answer. A client that asks for all elements of a large tensor, as those
/// do that do not know about paging, would freeze on more.
const MAX_ELEMENTS: usize = 10_000;

pub(super) fn variables(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: VariablesArguments = arguments(request)?;
    let reference = arguments.variables_reference;
    let Some(children) = debuggee.variables.get(reference).cloned() else {
        return Err(RequestError::stale(format!(
            "variable {reference} is not of this stop; ask for the scopes of a frame"
        )));
    };
    let wanted = Wanted::new(&arguments, children.indexed);
    let found = match wanted.range {
        Some(Range { start, end }) if start >= end => Vec::new(),
        range => debuggee.debugger.children(&children.node, range),
    };
    let convert = |variable| to_dap::variable(variable, debuggee, client);
    let mut variables: Vec<Variable> = found.into_iter().map(convert).collect();
    if wanted.left > 0 {
        variables.push(Variable {
            name: "…".into(),
            value: format!("{} more, for clients that ask in parts", wanted.left),
            ..Variable::default()
        });
    }
    body(VariablesResponse { variables })
}

/// Which children a request wants.
struct Wanted {
    /// None for children that have names.
    range: Option<Range<usize>>,
    /// How many are left out though they were asked for.
    left: usize,
}

impl Wanted {
    fn new(arguments: &VariablesArguments, indexed: Option<usize>) -> Self {
        let nothing = Self { range: Some(0..0), left: 0 };
        let Some(length) = indexed else {
            return match arguments.filter {
                Some(VariablesArgumentsFilter::Indexed) => nothing,
                Some(VariablesArgumentsFilter::Named) | None => Self { range: None, left: 0 },
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
        Self { range: Some(start..start + given), left: asked - given }
    }
}

/// Evaluates in a frame, the innermost if none is named.
pub(super) fn evaluate(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: EvaluateArguments = arguments(request)?;
    let frame = match arguments.frame_id {
        Some(number) => debuggee.frame(number)?,
        None => FrameIndex(0),
    };
    let value = debuggee.debugger.evaluate(frame, &arguments.expression);
    let value = to_dap::variable(
        value.map_err(|error| RequestError::failed(error.message))?,
        debuggee,
        client,
    );
    body(EvaluateResponse {
        result: value.value,
        type_field: value.type_field,
        variables_reference: value.variables_reference,
        indexed_variables: value.indexed_variables,
        ..EvaluateResponse::default()
    })
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
