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
