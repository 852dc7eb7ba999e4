//! Directives that an output fulfils: a label, the function's head, and each line of its body, with
//! a variable for each value.
//!
//! What is written is compared with all outputs before it is offered.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use crate::directives::{CheckFile, DirectiveKind};
use crate::matching::compare;
use crate::options::Options;
use crate::variables::{Mention, mentions};

/// Directives of a function, and the edits of a text that put them there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The replaced places, in order, each with its new text.
    pub edits: Vec<(Range<usize>, String)>,
    /// Whether other directives of the function were there before.
    pub replaces: bool,
}

/// Writes the directives of a function from what a test printed. They replace those that are there,
/// or are put at `place`, the start of a line. `None` if that cannot be done so that they match.
pub fn write_checks(
    text: &str,
    outputs: &[(Options, String)],
    function: &str,
    place: usize,
) -> Option<Written> {
    let all: Vec<Options> = outputs.iter().map(|(options, _)| options.clone()).collect();
    let (mentions, _) = mentions(text, &all);
    let labels: Vec<usize> = (0..mentions.len())
        .filter(|&index| {
            mentions[index].kind == DirectiveKind::Label
                && names(&text[mentions[index].text.clone()], function)
        })
        .collect();
    // Of several with this name, the next one after the place, or the last.
    let number = labels.iter().position(|&index| mentions[index].head.start >= place);
    let number = number.unwrap_or(labels.len().saturating_sub(1));
    let label = labels.get(number).copied();
    let prefix = match label {
        Some(index) => mentions[index].prefix.clone(),
        None => outputs.first().filter(|(options, _)| options.prefixes.len() == 1)?.0.prefixes[0]
            .clone(),
    };
    let (options, output) = outputs.iter().find(|(one, _)| one.prefixes.contains(&prefix))?;
    let block = block(output, function, number, &prefix)?;
    let mut edits = match label {
        Some(index) => replaced(text, &mentions, index, options, &block)?,
        None => vec![(place..place, block)],
    };
    edits.sort_by_key(|(range, _)| range.start);
    let written = Written { edits, replaces: label.is_some() };
    is_fulfilled(text, &written, outputs, &prefix).then_some(written)
}

/// Whether a text names `@function` as a whole.
fn names(text: &str, function: &str) -> bool {
    text.match_indices(&format!("@{function}")).any(|(at, found)| {
        let next = text[at + found.len()..].chars().next();
        next.is_none_or(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')))
    })
}

/// The lines of a function in an output: the one that defines it for the time `number`.
fn lines_of<'a>(output: &'a str, function: &str, number: usize) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = output.lines().collect();
    let is_head = |line: &&str| {
        let before = line.split('@').next().unwrap_or_default();
        before.contains("func") && !before.contains('%') && names(line, function)
    };
    let first = (0..lines.len()).filter(|&at| is_head(&lines[at])).nth(number)?;
    if !lines[first].trim_end().ends_with('{') {
        return Some(vec![lines[first]]);
    }
    let indent = lines[first].len() - lines[first].trim_start().len();
    let closing = format!("{}}}", " ".repeat(indent));
    let last = (first + 1..lines.len()).find(|&at| lines[at].starts_with(&closing))?;
    Some(lines[first..=last].to_vec())
}

/// The directives of a function.
fn block(output: &str, function: &str, number: usize, prefix: &str) -> Option<String> {
    let lines = lines_of(output, function, number)?;
    let head = lines[0].trim();
    let name = format!("@{function}(");
    let split = head.find(&name)? + name.len();
    let width = prefix.len() + "-LABEL".len();
    let mut out = String::new();
    let mut line = |kind: &str, indent: usize, text: &str| {
        let directive = format!("{prefix}-{kind}");
        let indent = " ".repeat(indent + 1);
        let _ = writeln!(out, "// {directive:>width$}:{indent}{text}");
    };
    line("LABEL", 0, &escaped(&head[..split]));
    let mut values = Values::default();
    let rest = head[split..].trim_end_matches('{').trim();
    if !rest.is_empty() && rest != ")" {
        line("SAME", 4, &values.pattern(rest));
    }
    let indent = lines[0].len() - lines[0].trim_start().len();
    for body in &lines[1..] {
        let text = body.trim();
        if text.is_empty() {
            line("EMPTY", 0, "");
            continue;
        }
        let inner = (body.len() - body.trim_start().len()).saturating_sub(indent);
        values.begin_line(text);
        line("NEXT", inner, &values.pattern(text));
    }
    Some(out.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// A text as FileCheck would take it literally.
fn escaped(text: &str) -> String {
    text.replace("[[", "{{\u{1}}}")
        .replace("{{", "{{[{][{]}}")
        .replace("{{[{][{]}}\u{1}}}", r"{{\[\[}}")
}

/// The values that were named so far, and their variables.
#[derive(Default)]
struct Values {
    of: HashMap<String, String>,
    taken: HashMap<String, usize>,
    /// Names that this line defines anew.
    anew: Vec<String>,
}

impl Values {
    /// Results at the start of a line are new values, also under old names.
    fn begin_line(&mut self, line: &str) {
        self.anew.clear();
        let is_definition = line.starts_with('%') && line.contains(" = ");
        let results = line.split(" = ").next().filter(|_| is_definition).unwrap_or_default();
        let names = results.split(',').filter_map(|name| name.trim().strip_prefix('%'));
        self.anew.extend(names.map(|name| name.split(':').next().unwrap_or(name).to_owned()));
    }

    fn pattern(&mut self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find('%') {
            let length = rest[at + 1..]
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || b"_$.-".contains(byte))
                .count();
            out += &escaped(&rest[..at]);
            let name = &rest[at + 1..at + 1 + length];
            rest = &rest[at + 1 + length..];
            if name.is_empty() || name.contains(['$', '.', '-']) {
                out += "%";
                out += name;
                continue;
            }
            let anew = self.anew.iter().position(|other| other == name);
            let known = self.of.get(name).filter(|_| anew.is_none());
            if let Some(variable) = known {
                let _ = write!(out, "%[[{variable}]]");
                continue;
            }
            anew.map(|at| self.anew.swap_remove(at));
            let variable = self.variable(name);
            let _ = write!(out, "%[[{variable}:[a-zA-Z0-9_]+]]");
            self.of.insert(name.to_owned(), variable);
        }
        out + &escaped(rest)
    }

    fn variable(&mut self, name: &str) -> String {
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        let name = format!("{}{}", if is_number { "V" } else { "" }, name.to_ascii_uppercase());
        let count = self.taken.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}_{count}") }
    }
}

/// The edits that put a block in the place of a label and of the directives after it. `None` if one
/// of them shares its line with something else.
fn replaced(
    text: &str,
    mentions: &[Mention],
    label: usize,
    options: &Options,
    block: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let own = &mentions[label];
    let ends = |mention: &&Mention| {
        mention.kind == DirectiveKind::Label && options.prefixes.contains(&mention.prefix)
    };
    let next = mentions[label + 1..].iter().find(ends);
    let end = next.map_or(usize::MAX, |next| next.head.start);
    let mut edits = Vec::new();
    let group = mentions[label..].iter().take_while(|mention| mention.head.start < end);
    for mention in group.filter(|mention| mention.prefix == own.prefix) {
        let start = text[..mention.head.start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline + 1);
        let before = text[start..mention.head.start].trim();
        if !before.starts_with("//") {
            return None;
        }
        let new = if mention.head == own.head { block.to_owned() } else { String::new() };
        edits.push((start..line_end, new));
    }
    Some(edits)
}

/// Whether the new directives match all outputs that are compared with their prefix.
fn is_fulfilled(
    text: &str,
    written: &Written,
    outputs: &[(Options, String)],
    prefix: &str,
) -> bool {
    let (mut new, mut at, mut ours) = (String::new(), 0, Vec::new());
    for (range, replacement) in &written.edits {
        new += &text[at..range.start];
        ours.push(new.len()..new.len() + replacement.len());
        new += replacement;
        at = range.end;
    }
    new += &text[at..];
    let reads = outputs.iter().filter(|(options, _)| options.prefixes.iter().any(|p| p == prefix));
    for (options, output) in reads {
        let Ok(file) = CheckFile::read(&new, options) else { return false };
        let outcome = compare(&file, options, output);
        let is_ours = |index: usize| {
            let start = file.directives[index].head.start;
            ours.iter().any(|range| range.contains(&start))
        };
        let fails = outcome.failures.iter().any(|one| one.directive.is_none_or(is_ours));
        let matched = outcome.matches.iter().filter(|(index, _)| is_ours(*index)).count();
        let expected = (0..file.directives.len()).filter(|&index| is_ours(index)).count();
        if fails || matched < expected {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::write_checks;
    use crate::Options;

    const OUTPUT: &str = "module {\n  func.func @f(%arg0: i32) -> i32 {\n    %0:2 = call @g(%arg0) : (i32) -> (i32, i32)\n    %cst = arith.constant dense<[[1, 2]]> : tensor<1x2xi32>\n    scf.if %a {\n      %1 = x.y {{a}} %0#1\n    }\n    return %0#0 : i32\n  }\n}\n";

    fn applied(text: &str, written: &super::Written) -> String {
        let mut text = text.to_owned();
        for (range, new) in written.edits.iter().rev() {
            text.replace_range(range.clone(), new);
        }
        text
    }

    #[test]
    fn directives_from_an_output() {
        let outputs = [(Options::default(), OUTPUT.to_owned())];
        let text = "func.func @f(%a: i32)\n";
        let written = write_checks(text, &outputs, "f", 0).expect("directives");
        assert_eq!(
            applied(text, &written),
            "// CHECK-LABEL: func.func @f(\n\
             //  CHECK-SAME:     %[[ARG0:[a-zA-Z0-9_]+]]: i32) -> i32\n\
             //  CHECK-NEXT:   %[[V0:[a-zA-Z0-9_]+]]:2 = call @g(%[[ARG0]]) : (i32) -> (i32, i32)\n\
             //  CHECK-NEXT:   %[[CST:[a-zA-Z0-9_]+]] = arith.constant dense<{{\\[\\[}}1, 2]]> : \
             tensor<1x2xi32>\n\
             //  CHECK-NEXT:   scf.if %[[A:[a-zA-Z0-9_]+]] {\n\
             //  CHECK-NEXT:     %[[V1:[a-zA-Z0-9_]+]] = x.y {{[{][{]}}a}} %[[V0]]#1\n\
             //  CHECK-NEXT:   }\n\
             //  CHECK-NEXT:   return %[[V0]]#0 : i32\n\
             //  CHECK-NEXT: }\n\
             func.func @f(%a: i32)\n"
        );
        // Directives that are there are replaced; remarks and those of others stay.
        let text = "// CHECK-LABEL: @f\n// A remark.\n// CHECK: old\nfunc.func @f(%a: i32)\n// CHECK-LABEL: @other\n// CHECK: kept\n";
        let with_g = format!("{OUTPUT}func.func @other\nkept\n");
        let outputs = [(Options::default(), with_g)];
        let new = applied(text, &write_checks(text, &outputs, "f", 0).expect("directives"));
        assert!(!new.contains("old") && new.contains("// A remark.\nfunc.func @f"), "{new}");
        assert!(new.contains("// CHECK: kept"), "{new}");
        // What two runs print differently has no directives under one prefix.
        let other = OUTPUT.replace("i32", "i64");
        let two = [(Options::default(), OUTPUT.to_owned()), (Options::default(), other)];
        assert_eq!(write_checks("func.func @f\n", &two, "f", 0), None);
        assert_eq!(write_checks("x\n", &outputs, "nothing", 0), None);
    }
}
