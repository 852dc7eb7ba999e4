//! Lines of printed MLIR: names of operations, results, operands. Printers write one operation a
//! line, indent what is in a region, and give a name once within the regions around it; beside
//! each other, regions may have the same names.

/// The name of the operation on a line.
pub(super) fn name_of(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let text = match text.strip_prefix('%') {
        Some(_) => text.split_once(" = ")?.1.trim_start(),
        None => text,
    };
    let text = text.strip_prefix('"').unwrap_or(text);
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '$');
    let end = text.find(|it| !is_part(it)).unwrap_or(text.len());
    Some(&text[..end]).filter(|name| !name.is_empty())
}

/// The names of the results on a line, without the counts of packs.
pub(super) fn results_of(line: &str) -> Vec<&str> {
    let text = line.trim_start();
    match text.split_once(" = ") {
        Some((results, _)) if text.starts_with('%') => names_in(results),
        _ => Vec::new(),
    }
}

/// The values that a line names, apart from its results, in order.
pub(super) fn operands_of(line: &str) -> Vec<&str> {
    let text = line.trim_start();
    match text.split_once(" = ") {
        Some((_, rest)) if text.starts_with('%') => names_in(rest),
        _ => names_in(text),
    }
}

fn names_in(text: &str) -> Vec<&str> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '$' | '.' | '-');
    let names = text.match_indices('%').map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        &text[at..at + 1 + end]
    });
    names.filter(|name| name.len() > 1).collect()
}

/// How far a line is indented.
pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_label(line: &str) -> bool {
    line.trim_start().starts_with('^')
}

/// The lines among these, which follow a definition with this indentation, that use one of its
/// results.
pub(super) fn uses_after<'t>(
    lines: impl Iterator<Item = (usize, &'t str)>,
    indent: usize,
    results: &[&str],
) -> Vec<usize> {
    let mut found = Vec::new();
    for (number, line) in lines {
        if line.trim().is_empty() || is_label(line) {
            continue;
        }
        // Here ends the region of the definition.
        if indent_of(line) < indent {
            break;
        }
        if operands_of(line).iter().any(|name| results.contains(name)) {
            found.push(number);
        }
    }
    found
}

/// The line among these, going up from `line`, that defines a value; `None` for arguments.
pub(super) fn definition_before<'t>(
    above: impl Iterator<Item = (usize, &'t str)>,
    line: &str,
    name: &str,
) -> Option<usize> {
    let mut indent = indent_of(line);
    for (number, line) in above {
        if line.trim().is_empty() {
            continue;
        }
        if is_label(line) {
            if operands_of(line).contains(&name) {
                return None;
            }
            continue;
        }
        indent = indent.min(indent_of(line));
        // What is indented further is in a region that has ended.
        if indent_of(line) == indent && results_of(line).contains(&name) {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{definition_before, name_of, operands_of, results_of, uses_after};

    #[test]
    fn lines_are_read() {
        let line = "  %1:2, %r = scf.for %i = %c0 to %n iter_args(%x = %0#1) -> (i32) {";
        assert_eq!(results_of(line), ["%1", "%r"]);
        assert_eq!(operands_of(line), ["%i", "%c0", "%n", "%x", "%0"]);
        assert_eq!(name_of(line), Some("scf.for"));
        assert_eq!(name_of("    \"vm.call\"(%0) : (i32) -> ()"), Some("vm.call"));
        assert_eq!(name_of("    util.return %0 : i32"), Some("util.return"));
        assert_eq!(name_of("  }"), None);
    }

    #[test]
    fn regions_beside_each_other_have_the_same_names() {
        let text = "\
func.func @f(%a: i1) {
  %0 = x.y
  scf.if %a {
    %1 = x.first
    x.use %1
  } else {
    %1 = x.second
    x.use %1, %0
  }
  cf.br ^bb1
^bb1:
  x.use %0
}";
        let lines: Vec<&str> = text.lines().collect();
        let after = |at: usize| lines.iter().copied().enumerate().skip(at + 1);
        assert_eq!(uses_after(after(3), 4, &["%1"]), [4]);
        assert_eq!(uses_after(after(1), 2, &["%0"]), [7, 11]);
        let above = |at: usize| (0..at).rev().map(|number| (number, lines[number]));
        assert_eq!(definition_before(above(7), lines[7], "%1"), Some(6));
        assert_eq!(definition_before(above(7), lines[7], "%0"), Some(1));
        assert_eq!(definition_before(above(11), lines[11], "%0"), Some(1));
        assert_eq!(definition_before(above(11), lines[11], "%1"), None);
        assert_eq!(definition_before(above(2), lines[2], "%a"), None);
    }
}
