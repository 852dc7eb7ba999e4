//! The answer to why an operation is gone: between which stages, and what passes did with it.

use ide::{Place, StoryStep, Trail, story};
use serde_json::{Value, json};

use super::stages::sources;
use crate::documents::Open;
use crate::stages::{StageSet, TitledStage};

/// The member `why` of the answer to `iree-dbg/becomes`.
pub(crate) fn why(set: &StageSet, places: &[Place], trail: &Trail, source: Option<&Open>) -> Value {
    // The bytecode of dispatches is beside the last stage, not after it.
    let host = set.stages.iter().filter(|titled| !titled.stage.name.starts_with("bytecode-"));
    let host: Vec<&TitledStage> = host.collect();
    let has = |titled: &TitledStage| !ide::trace(&titled.stage, places).lines.is_empty();
    let last = set.stages.iter().rposition(has);
    let is_in_dispatches = last.is_some_and(|last| {
        let stage = &set.stages[last].stage;
        stage.name.starts_with("bytecode-") || is_recorded(set, places)
    });
    let last = host.iter().rposition(|titled| has(titled));
    let after = last.map(|last| host[last]);
    let before = host.get(last.map_or(0, |last| last + 1)).copied();
    let is_gone = before.is_some() && !is_in_dispatches && !places.is_empty();
    // An operation of several places is there as long as one of them is.
    let stories: Vec<Vec<StoryStep>> = places.iter().map(|place| story(trail, place)).collect();
    let longest = stories.into_iter().max_by_key(|steps| steps.last().map(|step| !step.is_end));
    let steps = longest.unwrap_or_default();
    let text = match (is_gone, steps.last()) {
        _ if places.is_empty() => {
            "The compiler made this line: it has no place in the source.".to_owned()
        }
        (true, end) => {
            let from = after.map_or("the source".to_owned(), TitledStage::label);
            let to = before.map_or_else(String::new, TitledStage::label);
            let between = format!("Gone between {from} and {to}");
            match end.filter(|step| step.is_end) {
                Some(step) => {
                    let was = step.detail.as_ref();
                    let was = was.map_or_else(String::new, |line| format!(". It was: {line}"));
                    format!("{between}: {}{was}", told(step))
                }
                None => format!("{between}; the texts after passes do not show by which one"),
            }
        }
        (false, _) => {
            let label = set.stages.iter().rev().find(|titled| has(titled));
            let label = label.map_or_else(String::new, TitledStage::label);
            // Of an operation that went into a dispatch, the way there says most.
            let is_outlined = |step: &&StoryStep| {
                let pass = step.pass.as_deref().unwrap_or_default();
                step.is_move && pass.contains("OutlineDispatch")
            };
            let outlined = steps.iter().find(is_outlined).filter(|_| is_in_dispatches);
            let last = outlined.or_else(|| steps.iter().rev().find(|step| !step.is_end));
            let last = last.map(|step| format!(". Last change: {}", told(step)));
            let last = last.unwrap_or_default();
            match is_in_dispatches {
                true => format!("It is there, in a dispatch, up to {label}{last}"),
                false => format!("It is there, up to {label}{last}"),
            }
        }
    };
    let history = steps.iter().map(|step| {
        json!({
            "pass": step.pass, "text": step.text, "detail": step.detail,
            "into": sources(set, &step.into, source), "isEnd": step.is_end,
        })
    });
    json!({
        "isGone": is_gone,
        "after": after.map(|titled| &titled.stage.name),
        "before": before.map(|titled| &titled.stage.name),
        "text": text,
        "history": history.collect::<Vec<_>>(),
    })
}

/// Whether later stages record a dispatch that has an operation from these places.
fn is_recorded(set: &StageSet, places: &[Place]) -> bool {
    let named = |name: &str| set.stages.iter().find(|titled| titled.stage.name == name);
    let Some((flow, last)) = named("flow").zip(named("bytecode").or(named("vm"))) else {
        return false;
    };
    !ide::trace_dispatches(&flow.stage, &last.stage, places).lines.is_empty()
}

fn told(step: &StoryStep) -> String {
    match &step.pass {
        Some(pass) => format!("{} ({})", step.text, ide::short_pass(pass)),
        None => step.text.clone(),
    }
}
