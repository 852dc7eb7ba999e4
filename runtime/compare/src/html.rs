//! A report as one file of HTML, to be attached to an issue: it loads nothing, and is light or dark
//! as the reader's system is. All text of programs is escaped.

use std::fmt::Write;

use crate::columns::{COLUMNS, Cell, allowed};
use crate::finding::{ErrorMap, Figures, TensorFinding, Verdict};
use crate::report::{DispatchFinding, Outcome, Report, place};

/// The most dispatches that differ whose details are shown.
const MOST_DETAILS: usize = 20;

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #fff; --line: #d7d7dd; --soft: #f4f4f7;
  --good: #1a7f37; --bad: #cf222e; --none: #8a6100; --hot: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6ea; --paper: #17171a; --line: #3a3a42;
  --soft: #222227; --good: #57ab5a; --bad: #ff6b6b; --none: #d4a72c; --hot: #ff6b6b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 13px; }
.wide { overflow-x: auto; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; white-space: pre-wrap; }
.equal, .within { color: var(--good); } .differs { color: var(--bad); font-weight: 600; }
.not_compared { color: var(--none); }
svg { background: var(--soft); border: 1px solid var(--line); max-width: 100%; }
svg rect { fill: var(--hot); }
";

impl Report {
    /// The report as a page. `about` has what else belongs to it: versions, the command line.
    #[must_use]
    pub fn to_html(&self, about: &[(&str, String)]) -> String {
        let title = format!("iree-dbg diff: @{}", self.function);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
            escaped(&title),
            escaped(&title),
        );
        // Green is for what was compared: a page of which little was is amber.
        let class = match self.outcome() {
            Outcome::TooLittle | Outcome::NotRun => Verdict::NotCompared.key(),
            Outcome::Alike | Outcome::Differs => self.verdict().key(),
        };
        let _ = writeln!(page, "<p class=\"{class}\">{}</p>", escaped(&self.conclusion()));
        page.push_str("<table>\n");
        let known = [
            ("A", self.sides[0].clone()),
            ("B", self.sides[1].clone()),
            ("mode", self.mode.key().to_owned()),
        ];
        for (name, value) in known.iter().chain(about) {
            let (name, value) = (escaped(name), escaped(value));
            let _ = writeln!(page, "<tr><th>{name}</th><td><code>{value}</code></td></tr>");
        }
        page.push_str("</table>\n");
        self.details(&mut page);
        if !self.dispatches.is_empty() {
            page.push_str("<h2>All dispatches</h2>\n");
            self.html_table(&mut page);
        }
        for (side, failure) in &self.failures {
            let _ =
                writeln!(page, "<p class=\"differs\">side {side} failed: {}</p>", escaped(failure));
        }
        if !self.notes.is_empty() {
            page.push_str("<h2>Notes</h2>\n<ul>\n");
            for note in &self.notes {
                let _ = writeln!(page, "<li>{}</li>", escaped(note));
            }
            page.push_str("</ul>\n");
        }
        page.push_str("</body>\n</html>\n");
        page
    }

    /// The dispatches and the results that differ.
    fn details(&self, page: &mut String) {
        let bad = self.dispatches.iter().filter(|it| it.verdict() == Verdict::Differs);
        for (index, dispatch) in bad.enumerate() {
            if index == MOST_DETAILS {
                page.push_str("<p>More dispatches differ: see the table.</p>\n");
                break;
            }
            let what = if index == 0 { self.first_bad_title() } else { "Also".to_owned() };
            let _ = writeln!(page, "<h2>{}: #{}</h2>", escaped(&what), dispatch.number);
            details(page, dispatch);
        }
        let bad = self.results.iter().filter(|it| it.verdict == Verdict::Differs);
        for result in bad {
            let _ = writeln!(page, "<h2>{}</h2>", escaped(&result.name()));
            tensor(page, result);
        }
        if !self.own.is_empty() {
            let _ = writeln!(page, "<h2>{}</h2>", escaped(&self.own_title()));
        }
        for own in self.own.iter().take(MOST_DETAILS) {
            let _ = writeln!(page, "<p>Read by #{}:</p>", own.reader);
            tensor(page, &own.tensor);
        }
    }

    fn html_table(&self, page: &mut String) {
        page.push_str("<div class=\"wide\"><table>\n<tr>");
        COLUMNS.iter().for_each(|it| {
            let _ = write!(page, "<th>{}</th>", it.title);
        });
        page.push_str("</tr>\n");
        for row in self.rows() {
            page.push_str("<tr>");
            COLUMNS.iter().for_each(|column| cell(page, &(column.html)(&row)));
            page.push_str("</tr>\n");
        }
        page.push_str("</table></div>\n");
    }
}

fn cell(page: &mut String, cell: &Cell) {
    let _ = match cell {
        Cell::Text(text) => write!(page, "<td>{}</td>", escaped(text)),
        Cell::Code(text) => write!(page, "<td><code>{}</code></td>", escaped(text)),
        Cell::Number(text) => write!(page, "<td class=\"number\">{}</td>", escaped(text)),
        Cell::Verdict(verdict, reason) => {
            let reason = reason.as_ref().map(|it| format!(": {}", escaped(it)));
            let (key, label) = (verdict.key(), verdict.label());
            write!(page, "<td class=\"{key}\">{label}{}</td>", reason.unwrap_or_default())
        }
    };
}

fn details(page: &mut String, dispatch: &DispatchFinding) {
    let source = dispatch.source.as_ref().map(place).unwrap_or_default();
    let _ =
        writeln!(page, "<p><code>@{}</code> {}</p>", escaped(&dispatch.names.0), escaped(&source));
    if let Some(line) = &dispatch.source_text {
        let _ = writeln!(page, "<pre>{}</pre>", escaped(line));
    }
    let bad = dispatch.tensors.iter().filter(|it| it.verdict == Verdict::Differs);
    bad.for_each(|it| tensor(page, it));
    if let Some(judged) = &dispatch.judged {
        let _ = writeln!(page, "<p><b>{}</b></p>", escaped(&judged.sentence()));
    }
    for input in &dispatch.inputs {
        page.push_str("<p>It reads what differs already:</p>\n");
        tensor(page, input);
    }
}

/// A tensor with its figures, its histogram and its map.
fn tensor(page: &mut String, finding: &TensorFinding) {
    let (name, ty) = (escaped(&finding.name()), escaped(&finding.tensor_type));
    let _ = writeln!(page, "<h3><code>{name} : {ty}</code></h3>");
    let Some(figures) = &finding.figures else {
        let _ = writeln!(page, "<p>{}</p>", escaped(finding.reason.as_deref().unwrap_or_default()));
        return;
    };
    let _ = writeln!(page, "<p>{}</p>\n<ul>", escaped(&figures.sentence()));
    for line in figures.lines() {
        let _ = writeln!(page, "<li>{}</li>", escaped(&line));
    }
    let _ = writeln!(page, "<li>allowed: {}</li>\n</ul>", escaped(&allowed(finding)));
    histogram(page, figures);
    map(page, &figures.map);
}

fn histogram(page: &mut String, figures: &Figures) {
    if figures.decades.is_empty() {
        return;
    }
    page.push_str("<table><tr><th>|A − B|</th><th>elements</th></tr>\n");
    for (decade, count) in &figures.decades {
        let _ = writeln!(page, "<tr><td>from 1e{decade}</td><td>{count}</td></tr>");
    }
    page.push_str("</table>\n");
}

/// The largest differences as cells, the larger the stronger, on a scale of powers of ten.
fn map(page: &mut String, map: &ErrorMap) {
    let (rows, columns) = map.cells;
    if rows * columns < 2 {
        return;
    }
    let cell = (MAP_SIDE / rows.max(columns)).clamp(SMALLEST_CELL, LARGEST_CELL);
    let finite = |value: &&f32| value.is_finite() && **value > 0.0;
    let largest = map.values.iter().filter(finite).copied().fold(0.0_f32, f32::max);
    let _ = writeln!(
        page,
        "<p>|A − B| over {} × {} elements, at most {largest:.3e}:</p>\n\
         <svg width=\"{}\" height=\"{}\" viewBox=\"0 0 {columns} {rows}\" \
         preserveAspectRatio=\"none\" role=\"img\" aria-label=\"map of differences\">",
        map.plane.0,
        map.plane.1,
        columns * cell,
        rows * cell,
    );
    for (index, value) in map.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        // Six powers of ten below the largest are nearly invisible.
        let strength = match value.is_finite() {
            true => (1.0 + (value / largest).log10() / 6.0).clamp(0.05, 1.0),
            false => 1.0,
        };
        let (row, column) = (index / columns, index % columns);
        let _ = writeln!(
            page,
            "<rect x=\"{column}\" y=\"{row}\" width=\"1\" height=\"1\" \
             fill-opacity=\"{strength:.2}\"/>"
        );
    }
    page.push_str("</svg>\n");
}

/// The longer side of a map, in pixels, if that makes its cells neither too small nor too large.
const MAP_SIDE: usize = 512;
const SMALLEST_CELL: usize = 4;
const LARGEST_CELL: usize = 32;

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            it if it.is_control() && it != '\n' && it != '\t' => out.push('\u{FFFD}'),
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{MOSTLY, Mode};

    #[test]
    fn text_of_programs_is_escaped() {
        let evil = "<script>alert('1')</script>&\"";
        let tensor = TensorFinding::not_compared(vec![evil.into()], evil.into(), evil);
        let report = Report {
            sides: [evil.into(), evil.into()],
            function: evil.into(),
            mode: Mode::Isolated,
            dispatches: vec![DispatchFinding {
                number: 0,
                names: (evil.into(), Some(evil.into())),
                node: None,
                source: None,
                source_text: Some(evil.into()),
                tensors: vec![tensor],
                inputs: Vec::new(),
                reason: None,
                compared_with: None,
                judged: None,
            }],
            results: Vec::new(),
            notes: vec![evil.into()],
            failures: vec![("B", evil.into())],
            culprits: None,
            own: Vec::new(),
            is_of_two: false,
            required: MOSTLY,
            kept_in: None,
        };
        let page = report.to_html(&[("flags", evil.to_owned())]);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
        assert!(!page.contains("http"), "it loads nothing");
    }
}
