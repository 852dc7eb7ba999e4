//! `info name`: why a name has the value that it is shown with. The evidence itself is made by
//! [`debug::Machine::evidence`]; this is its text, and its form for scripts and editors.

use std::fmt::Write;

use debug::{
    Evidence, FrameId, Grounds, Limits, Machine, Matched, NoEvidence, Refuted, SecondOpinion,
};
use serde_json::{Value, json};

use crate::output::Output;
use crate::session::{Performer, Problem};
use crate::show;

/// The widest left column of the operations.
const WIDEST: usize = 60;

impl Performer<'_> {
    /// `info name %x`.
    pub(crate) fn info_name(&mut self, name: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let machine = self.debugger.machine();
        let frame = self.session.frame;
        let told = machine.evidence(frame, name)?;
        let value = value_of(machine, frame, name, &told.name);
        match &value {
            Some(value) => show::variable_line(&mut self.out, value)?,
            None => writeln!(self.out, "{}", told.name)?,
        }
        self.out.put("evidence", data(&told));
        self.out.put("value", value.as_ref().map(show::variable_data));
        write_evidence(&mut self.out, &told)?;
        Ok(())
    }
}

/// The evidence of a name in a frame, for editors: as data, with its text.
///
/// # Errors
/// Nothing has the name there.
pub fn evidence_data(machine: &Machine, frame: FrameId, name: &str) -> Result<Value, NoEvidence> {
    let told = machine.evidence(frame, name)?;
    let value = value_of(machine, frame, name, &told.name);
    let mut out = Output::new(crate::output::DEFAULT_WIDTH);
    // Writing to a text does not fail.
    let _ = write_evidence(&mut out, &told);
    Ok(json!({
        "evidence": data(&told),
        "value": value.as_ref().map(show::variable_data),
        "text": out.text,
        "short": evidence_in_short(&told),
    }))
}

/// The evidence in a line: "register %i4:5, proven by structure".
#[must_use]
pub fn evidence_in_short(told: &Evidence) -> String {
    match (&told.missing, &told.place) {
        (Some(missing), _) => format!("no value: {missing}"),
        (None, Some(place)) => format!("{place}, {}", told.grounds.short()),
        (None, None) => told.grounds.short().to_owned(),
    }
}

fn data(told: &Evidence) -> Value {
    serde_json::to_value(told).unwrap_or_default()
}

/// The value that a name has at the stop, under the name that the source gives it.
fn value_of(machine: &Machine, frame: FrameId, asked: &str, name: &str) -> Option<debug::Variable> {
    let shown = machine.evaluate_within(frame, asked, Limits::default()).ok()?;
    Some(debug::Variable { name: name.to_owned(), ..shown })
}

fn write_evidence(out: &mut Output, told: &Evidence) -> std::fmt::Result {
    if let Some(framework) = &told.framework {
        writeln!(out, "  the framework calls it {framework:?}")?;
    }
    writeln!(out, "  said by: {}", told.maker.text())?;
    if let Some(place) = &told.place {
        writeln!(out, "  place: {place}")?;
    }
    if told.grounds != Grounds::Unknown || told.missing.is_none() {
        writeln!(out, "  {}", told.grounds.text())?;
    }
    if let Some(missing) = &told.missing {
        writeln!(out, "  no value: {missing}")?;
    }
    if let Some(opinion) = &told.check {
        writeln!(out, "  second opinion: {}", opinion_text(opinion))?;
    }
    for note in &told.notes {
        writeln!(out, "  note: {note}")?;
    }
    write_operations(out, &told.operations)?;
    if !told.refuted.is_empty() {
        writeln!(out, "  refuted:")?;
    }
    told.refuted.iter().try_for_each(|it| writeln!(out, "    {}", candidate_text(it)))
}

/// A second opinion, and whether it agrees with the register.
fn opinion_text(opinion: &SecondOpinion) -> String {
    let SecondOpinion { recipe, is_believed, held, given } = opinion;
    match (held, given, is_believed) {
        (Some(held), Some(given), _) if held == given => {
            format!("{recipe} gives {given}, as the register")
        }
        (Some(held), Some(given), true) => {
            format!("{recipe} gives {given}, which is believed; the register holds {held}")
        }
        (Some(held), Some(given), false) => {
            format!("{recipe} gives {given}, and the register holds {held}: neither is shown")
        }
        (_, None, _) => format!("{recipe}, of which something is not known here"),
        (None, Some(given), _) => format!("{recipe} gives {given}"),
    }
}

fn candidate_text(candidate: &Refuted) -> String {
    let Refuted { place, holds, refuted_by } = candidate;
    let holds = match holds.as_slice() {
        [] => String::new(),
        names => format!(" (it is {})", names.join(" = ")),
    };
    format!("{place}{holds}: by {refuted_by}")
}

/// A line of the tree: a depth, an operation, and whether it is shown above.
struct Line<'o> {
    depth: usize,
    number: usize,
    operation: &'o Matched,
    is_above: bool,
}

impl Line<'_> {
    fn left(&self) -> String {
        let Self { depth, number, operation, is_above } = self;
        let line = match (operation.line, is_above) {
            (_, true) => "  (above)".to_owned(),
            (Some(line), false) => format!("  line {line}"),
            (None, false) => String::new(),
        };
        format!("{:1$}{number} {2}{line}", "", depth * 2, operation.source)
    }

    fn right(&self) -> Option<String> {
        if self.is_above {
            return None;
        }
        let Matched { compiled, by, found, is_cut, .. } = self.operation;
        let compiled = compiled.as_deref().unwrap_or("-");
        let found = found.as_ref().map_or_else(String::new, |found| format!(", {found}"));
        let more = if *is_cut { ", …" } else { "" };
        Some(format!("{compiled}  ({}{found}{more})", by.text()))
    }
}

/// The operations as a tree, with what they were matched with on the right. What several are made
/// from is shown once.
fn write_operations(out: &mut Output, operations: &[Matched]) -> std::fmt::Result {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut is_shown = vec![false; operations.len()];
    let mut pending = if operations.is_empty() { Vec::new() } else { vec![(0, 0)] };
    while let Some((at, depth)) = pending.pop() {
        let Some(operation) = operations.get(at) else { continue };
        let is_above = std::mem::replace(&mut is_shown[at], true);
        lines.push(Line { depth, number: at + 1, operation, is_above });
        if !is_above {
            pending.extend(operation.operands.iter().rev().map(|it| (*it, depth + 1)));
        }
    }
    if !lines.is_empty() {
        writeln!(out, "  matched, source | compiled program:")?;
    }
    let widths = lines.iter().filter(|line| !line.is_above);
    let widths = widths.map(|line| line.left().chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or_default();
    lines.iter().try_for_each(|line| match line.right() {
        Some(right) => writeln!(out, "    {:width$} | {right}", line.left()),
        None => writeln!(out, "    {}", line.left()),
    })
}

#[cfg(test)]
mod tests {
    use debug::MatchedBy;

    use super::*;

    fn operation(source: &str, operands: Vec<usize>) -> Matched {
        Matched {
            source: source.to_owned(),
            line: Some(3),
            compiled: Some("vm".to_owned()),
            by: MatchedBy::Term,
            operands,
            ..Matched::default()
        }
    }

    #[test]
    fn what_several_are_made_from_is_shown_once() {
        let operations = [
            operation("%c = f %a, %b", vec![1, 2]),
            operation("%a = g %x", vec![3]),
            operation("%b = h %x", vec![3]),
            operation("%x: argument 0", vec![0]),
        ];
        let mut out = Output::new(80);
        write_operations(&mut out, &operations).expect("a text takes it");
        let expected = "  matched, source | compiled program:
    1 %c = f %a, %b  line 3      | vm  (term)
      2 %a = g %x  line 3        | vm  (term)
        4 %x: argument 0  line 3 | vm  (term)
          1 %c = f %a, %b  (above)
      3 %b = h %x  line 3        | vm  (term)
        4 %x: argument 0  (above)
";
        assert_eq!(out.text, expected);
    }

    #[test]
    fn a_second_opinion_says_which_is_shown() {
        let opinion = |given: Option<&str>, is_believed| SecondOpinion {
            recipe: "arith.addi i32 (%i0, 1)".to_owned(),
            is_believed,
            held: Some("3".to_owned()),
            given: given.map(str::to_owned),
        };
        assert!(opinion_text(&opinion(Some("3"), false)).ends_with("gives 3, as the register"));
        assert!(opinion_text(&opinion(Some("4"), false)).ends_with("3: neither is shown"));
        assert!(opinion_text(&opinion(Some("4"), true)).contains("gives 4, which is believed"));
        assert!(opinion_text(&opinion(None, true)).contains("is not known here"));
    }
}
