//! Where to stop: `setBreakpoints`, `setFunctionBreakpoints`, `setInstructionBreakpoints`,
//! `setExceptionBreakpoints`. Breakpoints on data are in `data_breakpoints`.
//!
//! Each request replaces the breakpoints of the last request of its kind, and `setBreakpoints` only
//! those of its source. A breakpoint that both requests contain keeps its number, its hit count and
//! its place.

use std::collections::{HashMap, VecDeque};
use std::str::FromStr;

use dap::requests::{SetFunctionBreakpointsArguments, SetInstructionBreakpointsArguments};
use debug::{
    BreakpointId, BreakpointOptions, BreakpointSpec, BreakpointTable, HitCondition, OptionError,
};
use serde_json::Value;

use super::disassembly::instruction_address;
use crate::client::Client;
use crate::debuggee::exception_filters::ExceptionFilters;
use crate::debuggee::{Debuggee, Owner};
use crate::protocol::{
    Breakpoint, BreakpointsBody, Request, RequestError, SetBreakpointsArguments, body,
};
use crate::references::SourceKey;
use crate::to_dap;

/// A breakpoint that the client asks for, or why it is impossible.
pub(super) type Wanted = Result<(BreakpointSpec, BreakpointOptions), Impossible>;

/// Why a breakpoint cannot be set; for the user.
#[derive(Debug, thiserror::Error)]
pub(super) enum Impossible {
    #[error("there is no such line")]
    NoLine,
    #[error("{0} is no source of the program")]
    NoSource(String),
    #[error("{0:?} is no data of this program; ask for it again")]
    NoData(String),
    #[error("{}", .0.text)]
    Address(RequestError),
    #[error("{0}")]
    HitCondition(<HitCondition as FromStr>::Err),
    #[error(transparent)]
    Options(#[from] OptionError),
}

pub(super) fn set_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetBreakpointsArguments = request.arguments()?;
    let source = arguments.source;
    let key = debuggee.sources.identify(&source, &debuggee.debugger, client);
    let asked = arguments.breakpoints.unwrap_or_default();
    let wanted = asked
        .iter()
        .map(|it| {
            let column = client.column_if_any(it.column);
            let line = client.line_if_any(it.line).ok_or(Impossible::NoLine)?;
            let spec = spec(&key, line, column)?;
            with_options(
                spec,
                it.condition.clone(),
                it.hit_condition.as_deref(),
                it.log_message.clone(),
            )
        })
        .collect();
    let mut breakpoints = replace(debuggee, client, Owner::Source(key), wanted);
    for (breakpoint, asked) in breakpoints.iter_mut().zip(&asked) {
        breakpoint.line.get_or_insert(asked.line);
        breakpoint.source = Some(source.clone());
        debuggee.breakpoints.report(breakpoint);
    }
    body(BreakpointsBody { breakpoints })
}

fn spec(key: &SourceKey, line: u32, column: Option<u32>) -> Result<BreakpointSpec, Impossible> {
    match key {
        SourceKey::File(file) => Ok(BreakpointSpec::Line { file: file.clone(), line, column }),
        SourceKey::Listing(module) => Ok(BreakpointSpec::ListingLine { module: *module, line }),
        SourceKey::Unknown(name) => Err(Impossible::NoSource(name.clone())),
    }
}

/// A breakpoint with the options that the client wants: a condition, a hit condition, a message to
/// log instead of stopping.
pub(super) fn with_options(
    spec: BreakpointSpec,
    condition: Option<String>,
    hit_condition: Option<&str>,
    log: Option<String>,
) -> Wanted {
    let hit_condition = hit_condition.filter(|text| !text.trim().is_empty());
    let hit_condition = hit_condition.map_or(Ok(HitCondition::Always), str::parse);
    let hit_condition = hit_condition.map_err(Impossible::HitCondition)?;
    Ok((spec, BreakpointOptions { condition, hit_condition, log }))
}

pub(super) fn set_function_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetFunctionBreakpointsArguments = request.arguments()?;
    let asked = arguments.breakpoints.into_iter();
    let wanted = asked
        .map(|it| {
            with_options(
                commands::function_breakpoint(&it.name),
                it.condition,
                it.hit_condition.as_deref(),
                None,
            )
        })
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Functions, wanted);
    breakpoints.iter().for_each(|breakpoint| debuggee.breakpoints.report(breakpoint));
    body(BreakpointsBody { breakpoints })
}

pub(super) fn set_instruction_breakpoints(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SetInstructionBreakpointsArguments = request.arguments()?;
    let asked = arguments.breakpoints.iter();
    let wanted = asked
        .map(|it| match instruction_address(&it.instruction_reference, it.offset) {
            Ok(address) => {
                let spec = BreakpointSpec::Instruction { address };
                with_options(spec, it.condition.clone(), it.hit_condition.as_deref(), None)
            }
            Err(error) => Err(Impossible::Address(error)),
        })
        .collect();
    let breakpoints = replace(debuggee, client, Owner::Instructions, wanted);
    breakpoints.iter().for_each(|breakpoint| debuggee.breakpoints.report(breakpoint));
    body(BreakpointsBody { breakpoints })
}

/// The exception filters: failures, NaN, infinities, overflows.
pub(super) fn set_exception_breakpoints(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let (wanted, answers) = ExceptionFilters::new(&request.arguments()?);
    debuggee.exception_filters = wanted;
    debuggee.set_traps();
    let breakpoints = answers.into_iter().map(|answer| match answer {
        Ok(()) => Breakpoint { verified: true, message: None, reason: None, ..refused("".into()) },
        Err(why) => refused(why.to_string()),
    });
    body(BreakpointsBody { breakpoints: breakpoints.collect() })
}

/// Replaces an owner's breakpoints. Returns the new ones, in the order of `wanted`.
pub(super) fn replace(
    debuggee: &mut Debuggee,
    client: &Client,
    owner: Owner,
    wanted: Vec<Wanted>,
) -> Vec<Breakpoint> {
    if debuggee.settings.no_debug {
        let why = "the program runs without debugging";
        return wanted.iter().map(|_| refused(why.into())).collect();
    }
    let old = debuggee.breakpoints.owned.remove(&owner).unwrap_or_default();
    let of_commands = debuggee.breakpoints.unowned();
    let Debuggee { debugger, breakpoints, .. } = debuggee;
    let mut edit = debugger.edit_breakpoints();
    let mut old = Previous::new(old, &edit);
    let mut of_commands = Previous::new(of_commands, &edit);
    let set = wanted.into_iter().map(|wanted| {
        let (spec, options) = wanted?;
        let known = old.take(&spec).or_else(|| of_commands.take(&spec));
        let id = known.unwrap_or_else(|| edit.add(spec));
        // A command may have disabled it.
        edit.enable(id, true);
        edit.set_options(id, &options).map(|()| id).map_err(|error| {
            // Without its options it would always stop, which the client did not ask for.
            edit.remove(id);
            breakpoints.reported.remove(&id);
            error.into()
        })
    });
    let set: Vec<Result<BreakpointId, Impossible>> = set.collect();
    for id in old.left() {
        edit.remove(id);
        breakpoints.reported.remove(&id);
    }
    drop(edit);
    let ids = set.iter().filter_map(|it| it.as_ref().ok().copied()).collect();
    let answer = set.into_iter().filter_map(|set| match set {
        Ok(id) => debugger.breakpoints().get(id).map(|it| to_dap::breakpoint(it, debugger, client)),
        Err(why) => Some(refused(why.to_string())),
    });
    let answer = answer.collect();
    debuggee.breakpoints.owned.insert(owner, ids);
    answer
}

/// The breakpoints of the last request, by specification; equal ones from the oldest on.
struct Previous(HashMap<BreakpointSpec, VecDeque<BreakpointId>>);

impl Previous {
    #[expect(clippy::mutable_key_type, reason = "watched data is hashed by its name")]
    fn new(ids: Vec<BreakpointId>, known: &BreakpointTable) -> Self {
        let mut old: HashMap<BreakpointSpec, VecDeque<BreakpointId>> = HashMap::new();
        for id in ids {
            if let Some(breakpoint) = known.get(id) {
                old.entry(breakpoint.spec.clone()).or_default().push_back(id);
            }
        }
        Self(old)
    }

    /// Takes the oldest breakpoint with a specification.
    fn take(&mut self, spec: &BreakpointSpec) -> Option<BreakpointId> {
        self.0.get_mut(spec)?.pop_front()
    }

    fn left(self) -> impl Iterator<Item = BreakpointId> {
        self.0.into_values().flatten()
    }
}

/// A breakpoint that the debugger does not have.
fn refused(message: String) -> Breakpoint {
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
