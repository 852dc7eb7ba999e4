//! Answers about stages: lists of them, their texts, and where an operation went.

use std::path::Path;

use ide::{Language, OriginKind, Place, Stage, TextRange};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{Location, Position, Range, Url};

use super::View;
use crate::documents::Open;
use crate::positions::{self, Encoding};
use crate::stages::{
    Fault, Named, PassList, Problem, StageError, StageSet, TitledStage, digest_of, read_pass,
};

/// The longest text, in bytes, that an editor is given.
const LONGEST: usize = 40 << 20;
/// The most bytes of a line in an answer.
const LINE: usize = 400;

/// The answer to `iree-dbg/stages`: each stage with the functions that a function of the source,
/// or its whole text, became. `lines` is where the function stands, from 0.
pub(crate) fn list(set: &StageSet, function: Option<(&str, u32, u32)>) -> Value {
    let stages = set.stages.iter().map(|titled| {
        let functions = titled.stage.functions();
        let parts: Vec<Value> = match function {
            Some((_, first, last)) => {
                let found = titled.stage.functions_from(&set.info.input, first + 1, last + 1);
                found.into_iter().map(|(index, count)| (&functions[index], Some(count))).collect()
            }
            None => functions.iter().map(|function| (function, None)).collect::<Vec<_>>(),
        }
        .into_iter()
        .map(|(part, operations)| {
            json!({
                "name": part.name, "line": part.first, "endLine": part.last,
                "operations": operations,
            })
        })
        .collect();
        let own = function.and_then(|(name, _, _)| {
            // At the boundary, an export is split into a wrapper and its body.
            let is_it = |part: &&Value| {
                let found = part["name"].as_str().unwrap_or_default();
                let body = found.strip_prefix('_').or_else(|| found.strip_suffix("$async"));
                found == name || body == Some(name)
            };
            let body = parts.iter().filter(is_it).max_by_key(|part| part["operations"].as_u64());
            body.map(|part| part["line"].clone())
        });
        let first = parts.first().and_then(|part| part["line"].as_u64());
        json!({
            "name": titled.stage.name, "label": titled.label(), "title": titled.title,
            "uri": set.uri(titled), "lines": titled.stage.text().lines().count(),
            "line": own.unwrap_or_else(|| json!(first)), "parts": parts,
        })
    });
    json!({
        "key": set.key,
        "source": Url::from_file_path(&set.info.source).ok(),
        "function": function.map(|(name, _, _)| name),
        "compiler": set.info.compiler, "version": set.info.version, "flags": set.info.flags,
        "messages": set.info.messages, "notes": set.notes, "problem": set.info.problem,
        "stages": stages.collect::<Vec<_>>(),
    })
}

/// The answer to `iree-dbg/passes`.
pub(crate) fn passes(set: &StageSet, made: &PassList) -> Value {
    let passes = made.passes.iter().map(|pass| {
        json!({
            "title": pass.title, "pass": pass.pass, "uri": made.uri(set, pass),
            "changed": pass.changed,
        })
    });
    json!({
        "function": made.function, "printed": made.printed, "notes": made.notes,
        "passes": passes.collect::<Vec<_>>(),
    })
}

/// A stage that a URI names: one of a compilation, or a function after a pass.
pub(crate) enum Found<'s> {
    Stage(usize, &'s Stage),
    Pass(Box<Stage>),
}

impl Found<'_> {
    pub(crate) fn stage(&self) -> &Stage {
        match self {
            Self::Stage(_, stage) => stage,
            Self::Pass(stage) => stage,
        }
    }
}

/// The stage that a URI names.
pub(crate) fn find<'s>(
    folder: &Path,
    set: &'s StageSet,
    named: &Named,
) -> Result<Found<'s>, StageError> {
    if named.passes.is_some() {
        return read_pass(folder, named).map(|stage| Found::Pass(Box::new(stage)));
    }
    let index = set.index_of(&named.title);
    let index = index.ok_or_else(|| StageError::Missing(named.title.clone()))?;
    Ok(Found::Stage(index, &set.stages[index].stage))
}

/// The text of a stage, for an editor.
pub(crate) fn text(stage: &Stage) -> String {
    let text = stage.text();
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text[..LONGEST].rfind('\n').map_or(0, |at| at + 1);
    let line = text[..end].lines().count() + 1;
    format!("{}// … from line {line} on this is too long to show\n", &text[..end])
}

/// Lines of a source, from 0, that are as they were compiled, though others have changed since.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Unchanged {
    first: u32,
    last: u32,
    /// How much later each of them stood then.
    shift: i64,
}

impl Unchanged {
    /// Where a line, from 1, stood.
    fn then(&self, line: u32) -> Option<u32> {
        let is_there = (self.first..=self.last).contains(&(line - 1));
        u32::try_from(i64::from(line).checked_add(self.shift)?).ok().filter(|_| is_there)
    }
}

/// The places that the operation at a position of the source has, and its name's range.
pub(crate) fn places_at(
    set: &StageSet,
    open: &Open,
    position: Position,
    encoding: Encoding,
    unchanged: Option<&Unchanged>,
) -> Option<(Range, Vec<Place>)> {
    let offset = positions::to_byte(&open.rope, position, encoding);
    let operation = ide::operation_at(&open.document, offset)?;
    let mut places = operation.places;
    let then = |line: u32| unchanged.map_or(Some(line), |lines| lines.then(line));
    if places.is_empty() {
        let parts = operation.parts.iter().flat_map(|part| columns_of(&open.rope, part));
        // An operation that was edited in part is another one.
        let parts: Option<Vec<_>> =
            parts.map(|(line, columns)| Some((then(line)?, columns))).collect();
        let parts = parts?;
        for titled in &set.stages {
            places.extend(titled.stage.places_within(&set.info.input, &parts));
        }
        places.sort_unstable_by_key(|place| (place.line, place.column));
        places.dedup();
    }
    if places.is_empty() {
        let at = positions::to_position(&open.rope, operation.name.start, Encoding::Utf8);
        let file = set.info.input.as_str().into();
        places.push(Place { file, line: then(at.line + 1)?, column: at.character + 1 });
    }
    Some((positions::to_range(&open.rope, &operation.name, encoding), places))
}

/// A part of a text as lines and columns, both from 1, as the compiler counts.
fn columns_of(rope: &Rope, part: &TextRange) -> Vec<(u32, std::ops::Range<u32>)> {
    let start = positions::to_position(rope, part.start, Encoding::Utf8);
    let end = positions::to_position(rope, part.end, Encoding::Utf8);
    let of_line = |line: u32| {
        let from = if line == start.line { start.character } else { 0 };
        let to = if line == end.line { end.character } else { u32::MAX - 1 };
        (line + 1, from + 1..to + 1)
    };
    (start.line..=end.line).map(of_line).collect()
}

/// The places that a line of a stage comes from: those of the operation itself, or where it has
/// none, of the calls around it.
pub(crate) fn places_of(stage: &Stage, line: u32) -> Vec<Place> {
    let origins = stage.origins(line as usize);
    let is_own = |kind: OriginKind| kind != OriginKind::Caller;
    let has_own = origins.iter().any(|(_, kind)| is_own(*kind));
    let kept = origins.into_iter().filter(|(_, kind)| !has_own || is_own(*kind));
    kept.map(|(place, _)| place).collect()
}

/// The answer to `iree-dbg/becomes`; with `only`, about the stages of these names.
pub(crate) fn becomes(
    set: &StageSet,
    places: &[Place],
    only: Option<&[String]>,
    source: Option<&Open>,
    encoding: Encoding,
) -> Value {
    let flow = set.stages.iter().position(|titled| titled.stage.name == "flow");
    let is_wanted =
        |titled: &TitledStage| only.is_none_or(|only| only.contains(&titled.stage.name));
    let stages = set.stages.iter().enumerate().filter(|(_, titled)| is_wanted(titled));
    let stages = stages.map(|(index, titled)| {
        let traced = ide::trace(&titled.stage, places);
        // Later stages have dispatches as machine code or bytecode, and commands that record them.
        let recorded = match flow.filter(|flow| *flow < index) {
            Some(flow) => ide::trace_dispatches(&set.stages[flow].stage, &titled.stage, places),
            None => ide::Trace::default(),
        };
        let is_new = |line: &&ide::TracedLine| traced.lines.iter().all(|it| it.line != line.line);
        let recorded = recorded.lines.iter().filter(is_new).map(|line| {
            let mut shown = shown(set, titled, line, encoding);
            shown["kind"] = json!("dispatch");
            shown
        });
        let lines = traced.lines.iter().map(|line| shown(set, titled, line, encoding));
        let lines = lines.chain(recorded);
        json!({
            "name": titled.stage.name, "label": titled.label(), "title": titled.title,
            "uri": set.uri(titled), "lines": lines.collect::<Vec<_>>(), "leftOut": traced.left_out,
        })
    });
    let is_stale = is_stale(set, source);
    json!({
        "key": set.key, "isStale": is_stale,
        "places": places.iter().map(|place| json!({
            "file": &*place.file, "line": place.line, "column": place.column,
        })).collect::<Vec<_>>(),
        "source": sources(set, places, source),
        "stages": stages.collect::<Vec<_>>(),
    })
}

/// Whether a source has another text than the one that was compiled.
pub(crate) fn is_stale(set: &StageSet, source: Option<&Open>) -> bool {
    source.is_some_and(|open| digest_of(&open.rope) != set.info.digest)
}

fn shown(
    set: &StageSet,
    titled: &TitledStage,
    traced: &ide::TracedLine,
    encoding: Encoding,
) -> Value {
    let stage = &titled.stage;
    let line = stage.line(traced.line);
    let instruction = stage.instruction(traced.line);
    // The bytes are told apart.
    let line =
        if instruction.is_some() { line.split("  // ").next().unwrap_or(line) } else { line };
    let text: String = line.trim().chars().take(LINE).collect();
    json!({
        "range": line_range(stage, traced.line, encoding),
        "uri": set.uri(titled),
        "text": text,
        "kind": match traced.kind {
            OriginKind::Own => "own",
            OriginKind::Fused => "fused",
            OriginKind::Caller => "inlined",
        },
        "function": stage.function_at(traced.line).map(|function| &function.name),
        "instruction": instruction.map(|it| {
            let bytes: String = it.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            json!({"function": &*it.function, "offset": it.offset, "bytes": bytes})
        }),
    })
}

/// A line without its indentation.
fn line_range(stage: &Stage, number: usize, encoding: Encoding) -> Range {
    let line = stage.line(number);
    let rope = Rope::from_str(line);
    let start = line.len() - line.trim_start().len();
    let columns = positions::to_range(&rope, &(start..line.len()), encoding);
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let at = |position: Position| Position::new(number, position.character);
    Range::new(at(columns.start), at(columns.end))
}

/// The places of the source, as an editor names them.
pub(crate) fn sources(set: &StageSet, places: &[Place], source: Option<&Open>) -> Vec<Location> {
    let own = Url::from_file_path(&set.info.source).ok();
    let mut found = Vec::new();
    for place in places {
        let at = Position::new(place.line.saturating_sub(1), place.column.saturating_sub(1));
        let location = if *place.file == *set.info.input {
            own.clone().map(|uri| Location::new(uri, Range::new(at, at)))
        } else {
            mentioned(set, place, source).or_else(|| {
                let path = set.info.directory.join(&*place.file);
                let uri = Url::from_file_path(path.is_file().then_some(path)?).ok()?;
                Some(Location::new(uri, Range::new(at, at)))
            })
        };
        found.extend(location.filter(|location| !found.contains(location)));
    }
    found
}

/// Where a source that has locations of its own mentions a place.
fn mentioned(set: &StageSet, place: &Place, source: Option<&Open>) -> Option<Location> {
    let of_file;
    let (document, rope) = match source {
        Some(open) => (&open.document, open.rope.clone()),
        None => {
            let text = std::fs::read_to_string(&set.info.source).ok()?;
            let rope = Rope::from_str(&text);
            of_file = ide::Document::new(Language::Mlir, None, std::sync::Arc::new(text));
            (&of_file, rope)
        }
    };
    let offset = ide::place_in_source(document, place)?;
    let at = positions::to_position(&rope, offset, Encoding::Utf8);
    let at = Position::new(at.line, 0);
    let uri = Url::from_file_path(&set.info.source).ok()?;
    Some(Location::new(uri, Range::new(at, at)))
}

/// Which way an editor asks to go from a line of a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the source.
    Up,
    /// To the stage before.
    Before,
    /// To the stage after.
    After,
}

/// Where a line of a stage comes from, or what it became. A stage without any line of these places
/// is passed over.
pub(crate) fn go(view: &View<'_>, position: Position, way: Way) -> Option<Vec<Location>> {
    let named = view.session.stages.named(view.uri)?;
    let folder = view.session.cache().ok()?;
    let set = view.session.stages.of_key(&folder, &named.key).ok()?;
    let found = find(&folder, &set, &named).ok()?;
    let places = places_of(found.stage(), position.line);
    let source = Url::from_file_path(&set.info.source).ok();
    let source = source.and_then(|uri| view.documents.get(&uri).cloned());
    let up = || sources(&set, &places, source.as_deref());
    let index = match &found {
        Found::Stage(index, _) => *index,
        Found::Pass(_) => return Some(up()),
    };
    let others: Vec<&TitledStage> = match way {
        Way::Up => return Some(up()),
        Way::Before => set.stages[..index].iter().rev().collect(),
        Way::After => set.stages[index + 1..].iter().collect(),
    };
    for titled in others {
        let traced = ide::trace(&titled.stage, &places);
        let Some(uri) = set.uri(titled) else { continue };
        if traced.lines.is_empty() {
            continue;
        }
        let range = |line: &ide::TracedLine| line_range(&titled.stage, line.line, view.encoding());
        let lines = traced.lines.iter();
        return Some(lines.map(|line| Location::new(uri.clone(), range(line))).collect());
    }
    Some(if way == Way::Before { up() } else { Vec::new() })
}

/// An error answer with the way out.
pub(crate) fn failed(problem: impl Into<Problem>) -> tower_lsp::jsonrpc::Error {
    let problem = problem.into();
    tower_lsp::jsonrpc::Error {
        code: tower_lsp::jsonrpc::ErrorCode::ServerError(-32803),
        message: problem.message.into(),
        data: data_of(problem.setting, problem.fault),
    }
}

fn data_of(setting: Option<&str>, fault: Option<Fault>) -> Option<Value> {
    let mut data = serde_json::Map::new();
    if let Some(setting) = setting {
        data.insert("setting".to_owned(), json!(setting));
    }
    if let Some(fault) = fault {
        data.insert("fault".to_owned(), json!({"line": fault.line, "message": fault.message}));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}
