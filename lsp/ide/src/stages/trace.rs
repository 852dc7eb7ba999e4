//! From places to the lines of all stages that come from them.

use debuginfo::OriginKind;

use super::stage::{Hit, Place, Stage};

/// The most lines of one stage that are listed.
const MOST: usize = 200;

/// A line that comes from a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedLine {
    /// The line, from 0.
    pub line: usize,
    /// Why it belongs there.
    pub kind: OriginKind,
}

/// What a stage has of some places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The lines, in the order of the text.
    pub lines: Vec<TracedLine>,
    /// How many more there are.
    pub left_out: usize,
}

/// The lines of stages after `flow` that record the dispatches which have operations from some
/// places, where no line of a stage comes from these places itself. A dispatch is known by the
/// place of its call in `flow`; where several have the same place, by its order among them.
pub fn trace_dispatches(flow: &Stage, stage: &Stage, places: &[Place]) -> Trace {
    let bodies: Vec<&str> = trace(flow, places)
        .lines
        .iter()
        .filter_map(|line| Some(flow.function_at(line.line)?.name.as_str()))
        .collect();
    let mut found: Vec<usize> = Vec::new();
    for (number, line) in flow.text().lines().enumerate() {
        let calls = called(line).is_some_and(|name| bodies.contains(&name));
        if !calls {
            continue;
        }
        let own = flow.origins(number).into_iter();
        let Some((place, _)) = own.into_iter().next() else { continue };
        let place = [place];
        let of_flow = lines_with(flow, &place, |line| called(line).is_some());
        let recorded = lines_with(stage, &place, |line| {
            line.contains("hal.command_buffer.dispatch") && line.contains('(')
        });
        let order = of_flow.iter().position(|line| *line == number);
        if of_flow.len() == recorded.len()
            && let Some(line) = order.and_then(|order| recorded.get(order))
            && !found.contains(line)
        {
            found.push(*line);
        }
    }
    found.sort_unstable();
    let left_out = found.len().saturating_sub(MOST);
    let lines = found.into_iter().take(MOST);
    let lines = lines.map(|line| TracedLine { line, kind: OriginKind::Fused });
    Trace { lines: lines.collect(), left_out }
}

/// The lines of a stage that come from these places and pass a test.
fn lines_with(stage: &Stage, places: &[Place], test: impl Fn(&str) -> bool) -> Vec<usize> {
    let lines = places.iter().flat_map(|place| stage.lines_from(place)).map(|(line, _)| *line);
    let mut found: Vec<usize> = lines.map(|line| line as usize).collect();
    found.retain(|line| test(stage.line(*line)));
    found.sort_unstable();
    found.dedup();
    found
}

/// The entry that `flow.dispatch @executable::@entry(…)` calls.
fn called(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("flow.dispatch @")?;
    let (_, entry) = rest.split_once("::@")?;
    match entry.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => entry.split(['(', '[', ' ', ',']).next(),
    }
}

/// The lines of a stage that come from any of these places. What was inlined into a call counts
/// only where nothing is left of the call itself.
pub fn trace(stage: &Stage, places: &[Place]) -> Trace {
    let mut hits: Vec<Hit> =
        places.iter().flat_map(|place| stage.lines_from(place)).copied().collect();
    if hits.iter().any(|(_, kind)| *kind != OriginKind::Caller) {
        hits.retain(|(_, kind)| *kind != OriginKind::Caller);
    }
    hits.sort_unstable();
    hits.dedup_by_key(|(line, _)| *line);
    let left_out = hits.len().saturating_sub(MOST);
    hits.truncate(MOST);
    let lines = hits.into_iter().map(|(line, kind)| TracedLine { line: line as usize, kind });
    Trace { lines: lines.collect(), left_out }
}
