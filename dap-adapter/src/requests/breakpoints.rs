//! Where to stop: `setBreakpoints`, `setFunctionBreakpoints`, `setInstructionBreakpoints`,
//! `setExceptionBreakpoints`. Those on data are in `data`.
//!
//! Each request replaces what an earlier one of its kind (for sources: for the same source) had
//! set. A breakpoint that was there before and still is keeps its number, its hit count, and its
//! place.

use std::collections::{HashMap, VecDeque};

use dap::requests::{SetFunctionBreakpointsArguments, SetInstructionBreakpointsArguments};
use debug::{
    BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, DispatchMoment, HitCondition,
};
use serde_json::Value;

use super::arguments;
use super::code::address;
use crate::client::Client;
use crate::debuggee::{Debuggee, Owner};
use crate::error::RequestError;
use crate::exceptions::Exceptions;
use crate::protocol::{Breakpoint, BreakpointsBody, Request, SetBreakpointsArguments};
use crate::session::body;
use crate::sources::SourceKey;
use crate::to_dap;

/// A breakpoint as asked for, or why it cannot be.
pub(super) type Wanted = Result<(BreakpointSpec, BreakpointOptions), String>;

pub(super) fn set_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetBreakpointsArguments = arguments(request)?;
    let source = arguments.source;
    let key = debuggee.sources.identify(&source, &debuggee.debugger, client);
    let asked = arguments.breakpoints.unwrap_or_default();
    let wanted = asked
        .iter()
        .map(|it| {
            let column = client.column_if_any(it.column);
            let line = client.line_if_any(it.line).ok_or("there is no such line")?;
            let spec = spec(&key, line, column)?;
            refined(spec, it.condition.clone(), it.hit_condition.as_deref(), it.log_message.clone())
        })
        .collect();
    let mut breakpoints = replace(debuggee, client, Owner::Source(key), wanted);
    for (breakpoint, asked) in breakpoints.iter_mut().zip(&asked) {
        breakpoint.line.get_or_insert(asked.line);
        breakpoint.source = Some(source.clone());
        report(debuggee, breakpoint);
    }
    body(BreakpointsBody { breakpoints })
}

fn spec(key: &SourceKey, line: u32, column: Option<u32>) -> Result<BreakpointSpec, String> {
    match key {
        SourceKey::File(file) => Ok(BreakpointSpec::Line { file: file.clone(), line, column }),
        SourceKey::Listing(module) => Ok(BreakpointSpec::ListingLine { module: *module, line }),
        SourceKey::Unknown(name) => Err(format!("{name} is no source of the program")),
    }
}

/// A breakpoint that stops only sometimes, or says something instead, if the client wants that.
pub(super) fn refined(
    spec: BreakpointSpec,
    condition: Option<String>,
    hit_condition: Option<&str>,
    log: Option<String>,
) -> Wanted {
    let hit_condition = hit_condition.filter(|text| !text.trim().is_empty());
    let hit_condition = hit_condition.map_or(Ok(HitCondition::Always), str::parse)?;
    Ok((spec, BreakpointOptions { condition, hit_condition, log }))
}

pub(super) fn set_function_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetFunctionBreakpointsArguments = arguments(request)?;
    let asked = arguments.breakpoints.into_iter();
    let wanted = asked
        .map(|it| refined(function_spec(it.name), it.condition, it.hit_condition.as_deref(), None))
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Functions, wanted);
    breakpoints.iter().for_each(|breakpoint| report(debuggee, breakpoint));
    body(BreakpointsBody { breakpoints })
}

/// A function, or with `dispatch:GLOB` before dispatches, with `dispatch-after:GLOB` after them.
fn function_spec(name: String) -> BreakpointSpec {
    let dispatches = |pattern: &str, when| {
        let pattern = debug::bare_symbol(pattern.trim());
        BreakpointSpec::Dispatch { pattern, when }
    };
    if let Some(pattern) = name.strip_prefix("dispatch:") {
        return dispatches(pattern, DispatchMoment::Before);
    }
    if let Some(pattern) = name.strip_prefix("dispatch-after:") {
        return dispatches(pattern, DispatchMoment::After);
    }
    BreakpointSpec::Function { name }
}

pub(super) fn set_instruction_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetInstructionBreakpointsArguments = arguments(request)?;
    let asked = arguments.breakpoints.iter();
    let wanted = asked
        .map(|it| match address(&it.instruction_reference, it.offset) {
            Ok(address) => {
                let spec = BreakpointSpec::Instruction { address };
                refined(spec, it.condition.clone(), it.hit_condition.as_deref(), None)
            }
            Err(error) => Err(error.text),
        })
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Instructions, wanted);
    breakpoints.iter().for_each(|breakpoint| report(debuggee, breakpoint));
    body(BreakpointsBody { breakpoints })
}

/// Failures, and floats that go bad.
pub(super) fn set_exception_breakpoints(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let (wanted, answers) = Exceptions::new(&arguments(request)?);
    if !debuggee.settings.no_debug {
        debuggee.debugger.set_traps(wanted.traps);
    }
    debuggee.exceptions = wanted;
    let breakpoints = answers.into_iter().map(|answer| match answer {
        Ok(()) => Breakpoint { verified: true, message: None, reason: None, ..nowhere("".into()) },
        Err(message) => nowhere(message),
    });
    body(BreakpointsBody { breakpoints: breakpoints.collect() })
}

/// Makes an owner's breakpoints those that are wanted.
pub(super) fn replace(
    debuggee: &mut Debuggee,
    client: &Client,
    owner: Owner,
    wanted: Vec<Wanted>,
) -> Vec<Breakpoint> {
    if debuggee.settings.no_debug {
        let why = "the program runs without debugging";
        return wanted.iter().map(|_| nowhere(why.into())).collect();
    }
    let old = debuggee.breakpoints.owned.remove(&owner).unwrap_or_default();
    let Debuggee { debugger, breakpoints, .. } = debuggee;
    let (ids, answer) = debugger.edit_breakpoints(|debugger| {
        let mut old = Old::new(old, debugger);
        let mut ids = Vec::new();
        let mut answer = Vec::new();
        for wanted in wanted {
            let set = wanted.and_then(|(spec, options)| {
                let id = old.take(&spec).unwrap_or_else(|| debugger.add_breakpoint(spec));
                let set = debugger.set_breakpoint_options(id, &options);
                set.map(|()| id).map_err(|error| {
                    // One that stops always is not what was asked for.
                    debugger.remove_breakpoint(id);
                    breakpoints.reported.remove(&id);
                    error.to_string()
                })
            });
            match set {
                Ok(id) => {
                    ids.push(id);
                    let set = debugger.breakpoint(id);
                    answer.extend(set.map(|it| to_dap::breakpoint(it, debugger, client)));
                }
                Err(message) => answer.push(nowhere(message)),
            }
        }
        for id in old.left() {
            debugger.remove_breakpoint(id);
            breakpoints.reported.remove(&id);
        }
        (ids, answer)
    });
    debuggee.breakpoints.owned.insert(owner, ids);
    answer
}

/// The breakpoints of an earlier request, by what was asked for, each oldest first.
struct Old(HashMap<BreakpointSpec, VecDeque<BreakpointId>>);

impl Old {
    #[expect(clippy::mutable_key_type, reason = "data that is watched is hashed by its name")]
    fn new(ids: Vec<BreakpointId>, debugger: &Debugger) -> Self {
        let mut old: HashMap<BreakpointSpec, VecDeque<BreakpointId>> = HashMap::new();
        for id in ids {
            if let Some(breakpoint) = debugger.breakpoint(id) {
                old.entry(breakpoint.spec.clone()).or_default().push_back(id);
            }
        }
        Self(old)
    }

    /// Takes the first that was asked for like this.
    fn take(&mut self, spec: &BreakpointSpec) -> Option<BreakpointId> {
        self.0.get_mut(spec)?.pop_front()
    }

    fn left(self) -> impl Iterator<Item = BreakpointId> {
        self.0.into_values().flatten()
    }
}

/// A breakpoint that the debugger was not even asked for.
fn nowhere(message: String) -> Breakpoint {
    Breakpoint {
        id: None,
        verified: false,
        message: Some(message),
        source: None,
        line: None,
        column: None,
        instruction_reference: None,
        reason: Some("failed"),
    }
}

/// Remembers what the client is told, to notice when it changes.
pub(super) fn report(debuggee: &mut Debuggee, breakpoint: &Breakpoint) {
    if let Some(id) = breakpoint.id.and_then(|id| u32::try_from(id).ok()) {
        debuggee.breakpoints.reported.insert(BreakpointId(id), breakpoint.clone());
    }
}
