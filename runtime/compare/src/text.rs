//! A report for a terminal: a table of all dispatches, then the first bad one.

use std::fmt::Write;

use crate::columns::{COLUMNS, allowed};
use crate::finding::{Figures, TensorFinding, Verdict};
use crate::report::{DispatchFinding, Mode, Report, place};

/// The most tensors of the programs' own that are shown.
const MOST_OWN: usize = 8;

impl Report {
    /// The report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("A: {}\nB: {}\n", self.sides[0], self.sides[1]);
        if !self.dispatches.is_empty() {
            text.push('\n');
            text.push_str(&self.table());
        }
        // In lock step, results that agree are what side A has left on both sides.
        let shown =
            |it: &&TensorFinding| self.mode != Mode::Isolated || it.verdict != Verdict::Equal;
        for result in self.results.iter().filter(shown) {
            let _ = write!(text, "\n{}", tensor(result));
        }
        if let Some(bad) = self.first_bad() {
            let _ = write!(text, "\n{}:\n{}", self.first_bad_title(), details(bad));
        }
        text.push_str(&self.own_text());
        for (side, failure) in &self.failures {
            let _ = writeln!(text, "\nside {side} failed: {failure}");
        }
        for note in &self.notes {
            let _ = write!(text, "\nnote: {note}");
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "\n{}", self.conclusion());
        text
    }

    /// What the first dispatch that differs is called: others before it may not have been compared.
    pub(crate) fn first_bad_title(&self) -> String {
        match self.uncompared_before_first_bad() {
            0 if self.has_files_only() => {
                "The first dispatch that differs, of those that have files".to_owned()
            }
            0 => "The first dispatch that differs".to_owned(),
            1 => "A dispatch differs; 1 before it was not compared, so it may not be the first"
                .to_owned(),
            count => format!(
                "A dispatch differs; {count} before it were not compared, so it may not be the first"
            ),
        }
    }

    /// The programs' own tensors that differ.
    fn own_text(&self) -> String {
        let Some(first) = self.own.first() else { return String::new() };
        let mut text = format!("\n{}:\n", self.own_title());
        for own in self.own.iter().take(MOST_OWN) {
            let _ = write!(text, "  read by #{}:\n{}", own.reader, tensor(&own.tensor));
        }
        let more = self.own.len().saturating_sub(MOST_OWN);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
        let is_unseen =
            |it: &DispatchFinding| it.number == first.reader && it.verdict() != Verdict::Differs;
        if self.own.len() == 1 && self.dispatches.iter().any(is_unseen) {
            text.push_str("  what the dispatch makes of it does not differ by more than allowed\n");
        }
        text
    }

    /// What these are called.
    pub(crate) fn own_title(&self) -> String {
        match self.own.len() {
            1 => "1 tensor of the programs' own (weight, constant or input) differs".to_owned(),
            count => {
                format!("{count} tensors of the programs' own (weights, constants, inputs) differ")
            }
        }
    }

    /// `6 of 266 dispatches compared`, unless all were, or nothing was.
    fn coverage_text(&self) -> Option<String> {
        let (compared, all) = self.coverage();
        let is_partial = compared < all && compared > 0 && !self.dispatches.is_empty();
        is_partial.then(|| format!("{compared} of {all} dispatches compared"))
    }

    /// The last line: how both compare.
    #[must_use]
    pub fn conclusion(&self) -> String {
        let text = match (self.coverage_text(), self.is_enough()) {
            (None, _) => self.counts(),
            (Some(coverage), true) => format!("{coverage}; {}", self.counts()),
            (Some(coverage), false) => {
                let required = self.required * 100.0;
                format!("only {coverage}, and {required}% are required; {}", self.counts())
            }
        };
        match self.own.len() {
            0 => text,
            1 => format!("{text}; 1 tensor of the programs' own differs"),
            count => format!("{text}; {count} tensors of the programs' own differ"),
        }
    }

    /// How many dispatches and results have each verdict.
    fn counts(&self) -> String {
        if let Some(culprits) = &self.culprits {
            return culprits.sentence.clone();
        }
        let counted = |verdict: Verdict, what: &str| {
            let count = self.count(verdict);
            (count > 0).then(|| format!("{count} {what}"))
        };
        let parts: Vec<String> = [
            counted(
                Verdict::Differs,
                if self.count(Verdict::Differs) == 1 { "differs" } else { "differ" },
            ),
            counted(Verdict::Within, "within tolerance"),
            counted(Verdict::Equal, "equal"),
            counted(Verdict::NotCompared, "not compared"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let count = self.dispatches.len();
        let s = if count == 1 { "" } else { "es" };
        let dispatches = match count {
            0 => "no dispatch".to_owned(),
            _ => format!("{count} dispatch{s}: {}", parts.join(", ")),
        };
        let results = self.results.iter().filter(|it| it.verdict == Verdict::Differs).count();
        let results = match (self.results.len(), results) {
            (1, 1) => "; the result differs".to_owned(),
            (0, _) => String::new(),
            (_, 0) if self.mode == Mode::Isolated => String::new(),
            (_, 0) => "; the results agree".to_owned(),
            (all, 1) => format!("; 1 of {all} results differs"),
            (all, bad) => format!("; {bad} of {all} results differ"),
        };
        match (self.verdict(), count) {
            (Verdict::NotCompared, _) if !self.failures.is_empty() => {
                format!("the program failed; {dispatches}")
            }
            (Verdict::NotCompared, 0) => format!("nothing was compared{results}"),
            (Verdict::NotCompared, _) => format!("nothing was compared; {dispatches}"),
            (_, 0) => format!("no dispatch{results}"),
            _ => format!("{dispatches}{results}"),
        }
    }

    /// Each thing that a dispatch was compared with which is not side B, with the dispatches.
    pub(crate) fn footnotes(&self) -> Vec<String> {
        let mut by_text: Vec<(&str, Vec<u64>)> = Vec::new();
        for dispatch in &self.dispatches {
            let Some(with) = dispatch.compared_with.as_deref() else { continue };
            match by_text.iter_mut().find(|(text, _)| *text == with) {
                Some((_, numbers)) => numbers.push(dispatch.number),
                None => by_text.push((with, vec![dispatch.number])),
            }
        }
        let footnote = |(with, numbers): (&str, Vec<u64>)| {
            let shown: Vec<String> =
                numbers.iter().take(MOST_OWN).map(|number| format!("#{number}")).collect();
            let more = numbers.len().saturating_sub(MOST_OWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("* {}{more}: compared with {with}", shown.join(", "))
        };
        by_text.into_iter().map(footnote).collect()
    }

    /// Whether only dispatches that have files are in the report.
    fn has_files_only(&self) -> bool {
        !self.is_of_two && self.mode == Mode::Accumulated
    }

    fn table(&self) -> String {
        let titles = COLUMNS.map(|column| column.title.to_owned());
        let cells = self.rows().map(|row| COLUMNS.map(|column| (column.text)(&row)));
        let rows: Vec<[String; COLUMNS.len()]> = std::iter::once(titles).chain(cells).collect();
        let mut text = aligned(&rows);
        self.footnotes().iter().for_each(|it| {
            let _ = writeln!(text, "{it}");
        });
        text
    }
}

/// Rows in columns; the last cell of a row that has no more goes as far as it does.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    let used = |row: &[String; N]| row.iter().rposition(|it| !it.is_empty()).unwrap_or(0);
    for row in rows {
        for (index, cell) in row.iter().enumerate().take(used(row)) {
            widths[index] = widths[index].max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let last = used(row);
        for (index, cell) in row.iter().enumerate().take(last + 1) {
            if index == last {
                text.push_str(cell);
            } else {
                let _ = write!(text, "{cell:width$}  ", width = widths[index]);
            }
        }
        text.push('\n');
    }
    text
}

fn details(dispatch: &DispatchFinding) -> String {
    let mut text = format!("  #{} @{}", dispatch.number, dispatch.names.0);
    if let Some(source) = &dispatch.source {
        let _ = write!(text, " at {}", place(source));
    }
    if let Some(other) = &dispatch.names.1 {
        let _ = write!(text, "\n  on side B @{other}");
    }
    text.push('\n');
    if let Some(line) = &dispatch.source_text {
        let _ = writeln!(text, "    {line}");
    }
    let bad = dispatch.tensors.iter().filter(|it| it.verdict == Verdict::Differs);
    bad.for_each(|it| text.push_str(&tensor(it)));
    if let Some(judged) = &dispatch.judged {
        let _ = writeln!(text, "  {}", judged.sentence());
    }
    for input in &dispatch.inputs {
        let _ = write!(text, "  it reads what differs already:\n{}", tensor(input));
    }
    text
}

/// A tensor in some lines.
fn tensor(finding: &TensorFinding) -> String {
    let mut text = match finding.tensor_type.is_empty() {
        true => format!("  {}", finding.name()),
        false => format!("  {} : {}", finding.name(), finding.tensor_type),
    };
    match (&finding.figures, &finding.reason) {
        (Some(figures), _) => {
            let _ = write!(text, ": {}", figures.sentence());
            for line in figures.lines() {
                let _ = write!(text, "\n    {line}");
            }
            if finding.tolerance.is_some() {
                let _ = write!(text, "\n    allowed: {}", allowed(finding));
            }
        }
        (None, Some(reason)) => {
            let how = if finding.verdict == Verdict::Differs { "differs" } else { "not compared" };
            let _ = write!(text, ": {how}: {reason}");
        }
        (None, None) => text.push_str(": equal"),
    }
    text.push('\n');
    text
}

impl Figures {
    /// How many elements differ.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { count, different, beyond, .. } = self;
        let s = if *count == 1 { "" } else { "s" };
        let differ = |many: usize| if many == 1 { "differs" } else { "differ" };
        match beyond {
            0 => format!(
                "{different} of {count} element{s} {}, within tolerance",
                differ(*different)
            ),
            beyond if beyond == different => {
                format!("{beyond} of {count} element{s} {}", differ(*beyond))
            }
            beyond => format!(
                "{beyond} of {count} element{s} {} by more than allowed, {} by less",
                differ(*beyond),
                different - beyond
            ),
        }
    }

    /// More of what differs.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let worst = &self.worst;
        let ulps = worst.ulps.map(|ulps| format!(" or {ulps} ULP")).unwrap_or_default();
        let [a, b] = &worst.texts;
        let difference = match worst.difference {
            difference if difference.is_nan() => String::new(),
            difference => format!(", apart by {difference:.4e}{ulps}"),
        };
        let mut lines = vec![format!("worst at {:?}: A {a}, B {b}{difference}", worst.index)];
        if self.nans > 0 {
            lines.push(format!("NaN on one side only: {}", self.nans));
        }
        if self.infinities > 0 {
            lines.push(format!("infinite on one side only: {}", self.infinities));
        }
        lines.extend(self.pattern.clone());
        lines
    }
}
