//! What passes did with an operation, in words.

use std::collections::BTreeSet;

use debuginfo::OriginKind;

use super::stage::Place;
use super::trail::{Change, Form, Trail};

/// The most names in a sentence.
const NAMES: usize = 3;

/// What a pass did with an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryStep {
    /// The pass, as the compiler names it; `None` if several come into question.
    pub pass: Option<String>,
    /// What happened, without the pass: `moved from @f into @f_dispatch_0`.
    pub text: String,
    /// What it was and what it is, as far as the change is one of lines.
    pub detail: Option<String>,
    /// The places of what stands for it now.
    pub into: Vec<Place>,
    /// Whether nothing of the operation is left, nor of what was inlined into it.
    pub is_end: bool,
    /// Whether it went to another function.
    pub is_move: bool,
}

/// What passes did with the operation at a place, in order.
pub fn story(trail: &Trail, place: &Place) -> Vec<StoryStep> {
    let mut before: &[Form] = &[];
    let mut steps = Vec::new();
    for change in trail.of(place) {
        let told = told(before, change);
        let is_move = functions(before) != functions(&change.forms);
        before = &change.forms;
        let Some((mut text, mut into)) = told else { continue };
        let pass = match change.since {
            None => Some(trail.passes[change.pass].clone()),
            Some(since) => {
                let (first, last) =
                    (short_pass(&trail.passes[since]), short_pass(&trail.passes[change.pass]));
                text += &match change.pass - since {
                    1 => format!(", by {first} or {last}"),
                    _ => format!(", by one of the passes from {first} to {last}"),
                };
                None
            }
        };
        into.dedup();
        let detail = match (&change.before, &change.after) {
            (Some(was), Some(is)) if was != is => Some(format!("{was}  →  {is}")),
            (Some(was), None) => Some(was.clone()),
            (None, Some(is)) => Some(is.clone()),
            _ => None,
        };
        let is_end = change.forms.is_empty();
        steps.push(StoryStep { pass, text, detail, into, is_end, is_move });
    }
    steps
}

/// The class of a pass: `CSEPass`.
pub fn short_pass(pass: &str) -> &str {
    let name = pass.split_whitespace().next().unwrap_or(pass);
    let name = name.split('{').next().unwrap_or(name).trim_end_matches(':');
    name.rsplit("::").next().unwrap_or(name)
}

/// What happened, and the places of what stands there now. `None` for what says nothing: of a place
/// that stands for many operations, such as a dispatch with all around it, that it has one more.
fn told(before: &[Form], change: &Change) -> Option<(String, Vec<Place>)> {
    let after = change.forms.as_slice();
    let own = |forms: &[Form]| -> Vec<Form> {
        forms.iter().filter(|form| form.kind != OriginKind::Caller).cloned().collect()
    };
    let (was, is) = (own(before), own(after));
    if before.is_empty() {
        return Some((format!("is {} in {}", operations(after), functions(after)), Vec::new()));
    }
    if is.is_empty() && !was.is_empty() {
        return Some(gone(&was, change));
    }
    let count = |forms: &[Form]| -> usize {
        forms.iter().map(|form| &form.operation).collect::<BTreeSet<_>>().len()
    };
    let is_of_many = count(&was) > NAMES || count(&is) > NAMES;
    if is.is_empty() {
        let text = match after.is_empty() {
            true => format!("nothing is left of what was inlined into {}", functions(before)),
            false => format!("what was inlined is {} in {}", operations(after), functions(after)),
        };
        return Some((text, Vec::new()));
    }
    if was.is_empty() {
        let text = format!("is {} in {} again", operations(&is), functions(&is));
        return Some((text, Vec::new()));
    }
    let is_fused = |forms: &[Form]| forms.iter().all(|form| form.kind == OriginKind::Fused);
    if is_fused(&is) && !is_fused(&was) {
        let text = format!("fused into {} in {}", operations(&is), functions(&is));
        return Some((text, change.fused_with.clone()));
    }
    let (from, to) = (functions(&was), functions(&is));
    let (old, new) = (operations(&was), operations(&is));
    let text = match (from == to, old == new) {
        (false, true) => format!("moved from {from} to {to}"),
        (false, false) => format!("moved from {from} to {to}, as {new}"),
        (true, false) if !is_of_many => format!("{old} became {new} in {to}"),
        (true, _) => return None,
    };
    Some((text, Vec::new()))
}

fn gone(was: &[Form], change: &Change) -> (String, Vec<Place>) {
    let from = functions(was);
    if !change.forms.is_empty() {
        let body = operations(&change.forms);
        return (format!("inlined into {}: {body}", functions(&change.forms)), Vec::new());
    }
    let uses = change.uses.iter();
    let known = uses.filter_map(|told| Some((told.now.as_deref()?, told.place.as_ref())));
    let known: Vec<(&str, Option<&Place>)> = known.collect();
    let places = || known.iter().filter_map(|(_, place)| place.cloned()).collect();
    let of_line = |place: Option<&Place>| {
        place.map_or(String::new(), |place| format!(" of line {}", place.line))
    };
    if let [told] = change.uses.as_slice()
        && let Some(now) = told.now.as_ref().filter(|_| told.is_user)
    {
        let line = of_line(told.place.as_ref());
        return (format!("removed from {from}: what used it became `{now}`{line}"), places());
    }
    // What uses an argument now, or something else that is not known, is not told for all.
    if known.len() == change.uses.len()
        && change.uses.iter().all(|told| !told.is_user)
        && let [(now, place), rest @ ..] = known.as_slice()
    {
        let line = of_line(*place);
        let more = if rest.is_empty() { "" } else { ", or others" };
        let text = format!("removed from {from}: what used it uses `{now}`{line}{more} now");
        return (text, places());
    }
    let text = match change.was_used {
        Some(false) => format!("removed from {from}: nothing used it"),
        Some(true) => format!("removed from {from}"),
        // The function itself has gone, or the operation has no results.
        None => format!("gone from {from}"),
    };
    (text, Vec::new())
}

fn operations(forms: &[Form]) -> String {
    let names: BTreeSet<&str> = forms.iter().map(|form| &*form.operation).collect();
    listed(names.into_iter().map(|name| format!("`{name}`")).collect())
}

fn functions(forms: &[Form]) -> String {
    let mut names: BTreeSet<&str> = forms.iter().map(|form| &*form.function).collect();
    // What stands outside of functions, such as the dispatch's executable, is around them.
    if names.len() > 1 {
        names.remove("");
    }
    let shown = |name: &str| match name {
        "" => "the module".to_owned(),
        name => format!("@{name}"),
    };
    listed(names.into_iter().map(shown).collect())
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::super::stage::Place;
    use super::super::trail::TrailMaker;
    use super::{short_pass, story};

    fn place(line: u32) -> Place {
        Place { file: "a.mlir".into(), line, column: 3 }
    }

    /// A program of one function with these lines, each with the line of the source.
    fn program(lines: &[(&str, &str)]) -> String {
        let mut text = "module {\n  util.func public @f(%arg0: i32) -> i32 {\n".to_owned();
        for (line, location) in lines {
            text += &format!("    {line} loc({location})\n");
        }
        text + "  } loc(\"a.mlir\":1:1)\n} loc(\"a.mlir\":0:0)\n"
    }

    fn at(line: u32) -> String {
        format!("\"a.mlir\":{line}:3")
    }

    #[test]
    fn passes_are_told_by_what_they_did() {
        let (two, three, four, five) = (at(2), at(3), at(4), at(5));
        let mut maker = TrailMaker::new(["f".to_owned()]);
        maker.take(
            "A: a",
            program(&[
                ("%0 = arith.muli %arg0, %arg0 : i32", &two),
                ("%1 = arith.muli %arg0, %arg0 : i32", &three),
                ("%2 = arith.subi %0, %arg0 : i32", &four),
                ("util.return %1 : i32", &five),
            ])
            .as_bytes(),
        );
        maker.take(
            "x::DeadPass: dead{n=1}",
            program(&[
                ("%0 = arith.muli %arg0, %arg0 : i32", &two),
                ("%1 = arith.muli %arg0, %arg0 : i32", &three),
                ("util.return %1 : i32", &five),
            ])
            .as_bytes(),
        );
        let fused = format!("fused[{two}, \"a.mlir\":9:9]");
        maker.take(
            "CSEPass: cse",
            program(&[
                ("%0 = arith.muli %arg0, %arg0 : i32", &two),
                ("util.return %0 : i32", &five),
            ])
            .as_bytes(),
        );
        maker.take(
            "FusePass: fuse",
            program(&[("%0 = x.two %arg0 : i32", &fused), ("util.return %0 : i32", &five)])
                .as_bytes(),
        );
        let trail = maker.finish();
        let texts = |line: u32| -> Vec<String> {
            let steps = story(&trail, &place(line)).into_iter();
            steps.map(|step| format!("{}: {}", step.pass.unwrap_or_default(), step.text)).collect()
        };
        assert_eq!(texts(4)[1], "x::DeadPass: dead{n=1}: removed from @f: nothing used it");
        assert_eq!(
            texts(3)[1],
            "CSEPass: cse: removed from @f: what used it uses \
             `%0 = arith.muli %arg0, %arg0 : i32` of line 2 now"
        );
        assert_eq!(texts(2)[1], "FusePass: fuse: fused into `x.two` in @f");
        let into = story(&trail, &place(2)).pop().map(|step| (step.into, step.is_end));
        let other = Place { file: "a.mlir".into(), line: 9, column: 9 };
        assert_eq!(into, Some((vec![other], false)));
        assert_eq!(story(&trail, &place(3))[1].into, [place(2)]);
        assert!(texts(6).is_empty());
    }

    /// A part of the program that has no function.
    const PART: &str = "util.initializer {\n} loc(\"a.mlir\":0:0)\n";

    #[test]
    fn a_pass_is_not_blamed_for_what_was_not_read() {
        let (two, five) = (at(2), at(5));
        let both = program(&[("%0 = x.y : i32", &two), ("util.return %arg0 : i32", &five)]);
        let one = program(&[("util.return %arg0 : i32", &five)]);
        let steps = |texts: &[(&str, &str)]| {
            let mut maker = TrailMaker::new(["f".to_owned()]);
            texts.iter().for_each(|(pass, text)| maker.take(pass, text.as_bytes()));
            let steps = story(&maker.finish(), &place(2));
            (steps[1].pass.clone(), steps[1].text.clone())
        };
        // The text of B was too long.
        let (pass, text) = steps(&[("A", &both), ("B", ""), ("C", &one)]);
        assert_eq!(pass, None);
        assert!(text.ends_with(", by B or C"), "{text}");
        // Passes that run others are not those that did it.
        let (pass, text) = steps(&[("A", &both), ("B", PART), ("OpPipelineAdaptorPass: x", &one)]);
        assert_eq!(pass, None, "{text}");
        let (pass, _) = steps(&[("A", &both), ("C", &one)]);
        assert_eq!(pass.as_deref(), Some("C"));
    }

    #[test]
    fn what_is_inlined_keeps_the_place_of_its_call() {
        let call = at(2);
        let inlined = format!("callsite({} at {call})", at(20));
        let five = at(5);
        let mut maker = TrailMaker::new(["f".to_owned()]);
        let lines = |first, place| program(&[(first, place), ("util.return %0 : i32", &five)]);
        maker.take("A", lines("%0 = util.call @g(%arg0) : (i32) -> i32", &call).as_bytes());
        maker.take("InlinerPass: inline", lines("%0 = x.y %arg0 : i32", &inlined).as_bytes());
        let trail = maker.finish();
        let last = story(&trail, &place(2)).pop().unwrap();
        assert_eq!((last.text.as_str(), last.is_end), ("inlined into @f: `x.y`", false));
        let of_body = story(&trail, &place(20));
        assert_eq!(of_body[0].text, "is `x.y` in @f");
    }

    #[test]
    fn passes_have_short_names() {
        assert_eq!(short_pass("mlir::detail::CSEPass: cse"), "CSEPass");
        assert_eq!(short_pass("A{x=1}: a{x=1}"), "A");
    }
}
