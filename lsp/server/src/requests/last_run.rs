//! Values of the last run: hints on the lines of a source, and a lens over the function that ran.

use std::collections::HashMap;
use std::sync::Arc;

use lastrun::{LastRun, LineValue};
use serde_json::{Value, json};
use tower_lsp::lsp_types::{
    CodeLens, Command, InlayHint, InlayHintLabel, InlayHintTooltip, MarkupContent, MarkupKind,
    Position, Range,
};

use super::View;

/// The command that shows where the last run left NaN first.
pub(crate) const SHOW_LAST_RUN: &str = "iree-dbg.showLastRun";
/// The most functions that are searched for the one that ran.
const FUNCTIONS: usize = 500;

/// The last run of a document's text, if it is to be shown.
fn last_run(view: &View<'_>) -> Option<Arc<LastRun>> {
    let settings = view.session.settings();
    if !settings.last_run_values {
        return None;
    }
    view.session.last_runs.of(&view.open.rope, settings.cache_folder.as_deref())
}

/// What values were in the last run, after their names.
pub(crate) fn hints(view: &View<'_>, range: Range) -> Vec<InlayHint> {
    let Some(last) = last_run(view) else { return Vec::new() };
    let mut on_lines: HashMap<(u32, &str), Vec<&LineValue>> = HashMap::new();
    for value in &last.values {
        // `%r#1` is a result of `%r:2`.
        let name = value.name.split('#').next().unwrap_or_default();
        on_lines.entry((value.line, name)).or_default().push(value);
    }
    let (range, rope) = (view.bounded(range), &view.open.rope);
    let line_of = |at: usize| rope.byte_to_line(at.min(rope.len_bytes())) as u32 + 1;
    // Whole lines: a name that a line defines twice has no hint.
    let start = rope.line_to_byte(line_of(range.start) as usize - 1);
    let end = rope.line_to_byte((line_of(range.end) as usize).min(rope.len_lines()));
    let names = ide::value_names(view.document(), &(start..end), &|| view.cancelled.is_set());
    let places: Vec<(u32, &ide::NamedValue)> =
        names.iter().map(|it| (line_of(it.range.start), it)).collect();
    let mut defined: HashMap<(u32, &str), usize> = HashMap::new();
    for (line, named) in &places {
        *defined.entry((*line, named.name.as_str())).or_default() += 1;
    }
    let mut walk = view.walk();
    let hints = places.iter().filter_map(|(line, named)| {
        let key = (*line, named.name.as_str());
        let values = on_lines.get(&key).filter(|_| defined[&key] == 1)?;
        if named.range.end < range.start || named.range.end > range.end {
            return None;
        }
        Some(InlayHint {
            position: walk.position(named.range.end),
            label: InlayHintLabel::String(label(values)),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: tooltip(values, &last),
            })),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        })
    });
    hints.collect()
}

/// The figures of one value, or of how many there are.
fn label(values: &[&LineValue]) -> String {
    match values {
        [value] => figures(value),
        _ => {
            let nans: usize = values.iter().map(|it| it.nans).sum();
            let is_pack = values.iter().all(|it| it.name.contains('#'));
            let what = if is_pack { "results" } else { "calls" };
            let nans = if nans == 0 { "no NaN".to_owned() } else { format!("{nans} NaN") };
            format!("{} {what}, {nans}", values.len())
        }
    }
}

fn figures(value: &LineValue) -> String {
    let range = value.min.as_ref().zip(value.max.as_ref());
    let range = range.map(|(min, max)| format!("min {min}, max {max}"));
    let count = |count: usize, what| (count > 0).then(|| format!("{count} {what}"));
    let parts = [range, count(value.nans, "NaN"), count(value.infinities, "inf")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no elements".to_owned() } else { parts.join(", ") }
}

fn tooltip(values: &[&LineValue], last: &LastRun) -> String {
    let mut text = String::new();
    for value in values {
        text += &format!(
            "`{}: {}` — {} elements, {}, {} NaN, {} inf",
            value.name,
            value.tensor_type,
            value.count,
            range_text(value),
            value.nans,
            value.infinities
        );
        if let Some(mean) = value.mean {
            text += &format!(", mean {mean}");
        }
        if !value.calls.is_empty() {
            text += &format!("; called from {}", value.calls.join(", "));
        }
        text += "\n\n";
    }
    // Others are not kept: what a loop computes, and functions that run several times.
    text + &format!("From memory in the last run, once in its call: {}\n", said(last))
}

fn range_text(value: &LineValue) -> String {
    match (&value.min, &value.max) {
        (Some(min), Some(max)) => format!("min {min}, max {max}"),
        _ => "none that is a number".to_owned(),
    }
}

/// Which run it was.
fn said(last: &LastRun) -> String {
    let run = &last.run;
    let how = match &run.failure {
        Some(failure) => format!(", failed ({})", failure.lines().next().unwrap_or_default()),
        None => String::new(),
    };
    format!("`@{}` of `{}`, {}{how}", run.function, run.module, run.ended_text())
}

/// How the last run ended, in a few words.
fn title(last: &LastRun) -> String {
    let values = &last.values;
    let sum = |of: fn(&LineValue) -> usize| values.iter().map(of).sum::<usize>();
    let with = values.iter().filter(|it| it.nans > 0).count();
    let (nans, infinities) = (sum(|it| it.nans), sum(|it| it.infinities));
    let failed = if last.run.failure.is_some() { "failed, " } else { "" };
    let nans = match nans {
        0 => format!("no NaN in {} tensors", values.len()),
        _ => format!("{nans} NaN in {with} of {} tensors", values.len()),
    };
    let infinities = if infinities == 0 { String::new() } else { format!(", {infinities} inf") };
    format!("last run: {failed}{nans}{infinities}")
}

/// The lens over the function that ran.
pub(crate) fn lens(view: &View<'_>) -> Option<CodeLens> {
    let last = last_run(view)?;
    let functions = ide::exported_functions(view.document(), FUNCTIONS);
    let ran = functions.into_iter().find(|it| it.name == last.run.function)?;
    let command = Command {
        title: title(&last),
        command: SHOW_LAST_RUN.into(),
        arguments: Some(vec![json!(view.uri)]),
    };
    Some(CodeLens { range: view.range(&ran.selection), command: Some(command), data: None })
}

/// The answer to [`SHOW_LAST_RUN`]: a message, the values, and the place to show: of the first
/// value with NaN, else with infinities, else of the first one.
pub(crate) fn shown(view: &View<'_>) -> Option<(Value, Option<Range>)> {
    let last = last_run(view)?;
    let first = |is: fn(&&LineValue) -> bool| last.values.iter().find(is);
    let first = first(|it| it.nans > 0).or(first(|it| it.infinities > 0)).or(last.values.first());
    let mut message = format!("{} ({})", title(&last), said(&last).replace('`', ""));
    if let Some(value) = first {
        message += &format!("; {} on line {}: {}", value.name, value.line, figures(value));
    }
    let place = first.map(|it| {
        let start = Position::new(it.line.saturating_sub(1), 0);
        Range::new(start, start)
    });
    Some((json!({"message": message, "run": last.run, "values": last.values}), place))
}
