//! What the text of a call and of its callee say about the values that go in and out.
//!
//! A call that was inlined is gone from the program; which of the caller's values are the callee's arguments,
//! and which of the callee's are the call's results, only the source still knows. This is reading, not
//! parsing: where the text looks otherwise than expected, nothing is known.

use crate::source::SourceText;

/// Calls with more operands are not read.
const MOST: usize = 256;

impl SourceText {
    /// The names of the operands of the call whose operation is written at a position: `%a` and `%b` of
    /// `func.call @f(%a, %b) : …`.
    #[must_use]
    pub fn call_operands(&self, line: u32, column: u32) -> Vec<String> {
        let rest = self.line(line).and_then(|text| text.get((column as usize).checked_sub(1)?..));
        let operands = rest.and_then(|rest| {
            let symbol = &rest[rest.find('@')? + 1..];
            let list = match symbol.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?.1,
                None => symbol
                    .trim_start_matches(|it: char| it.is_alphanumeric() || "_.$-".contains(it)),
            };
            names(list.strip_prefix('(')?.split(')').next()?)
        });
        operands.unwrap_or_default()
    }

    /// The names of the arguments of the function that a line is in.
    #[must_use]
    pub fn arguments_around(&self, line: u32) -> Vec<String> {
        let start = self.function_extent(line).map(|extent| *extent.start());
        let operation = start.and_then(|start| {
            let text = self.line(start)?;
            let indentation = text.len() - text.trim_start().len();
            Some((start, u32::try_from(indentation).ok()? + 1))
        });
        operation.map(|(line, column)| self.argument_names(line, column)).unwrap_or_default()
    }

    /// The names of what the function returns that a line is in, if it returns in one place.
    #[must_use]
    pub fn returned_around(&self, line: u32) -> Vec<String> {
        let lines = self.function_extent(line).into_iter().flatten();
        let mut returns = lines.filter_map(|line| {
            let text = self.line(line)?;
            let code = text.split("//").next()?;
            let at = code.rfind("return ")?;
            let before = code[..at].chars().next_back();
            let is_word = before.is_none_or(|before| before == ' ' || before == '.');
            is_word.then(|| names(code[at + "return ".len()..].split(':').next()?)).flatten()
        });
        match (returns.next(), returns.next()) {
            (Some(only), None) => only,
            _ => Vec::new(),
        }
    }
}

/// SSA names with commas between them, and nothing else.
fn names(list: &str) -> Option<Vec<String>> {
    let parts = list.split(',').map(str::trim).take(MOST + 1);
    let names: Vec<String> = parts.map(str::to_owned).collect();
    let is_name = |name: &String| {
        let digits = |it: char| it.is_ascii_alphanumeric() || "_.$-#".contains(it);
        name.strip_prefix('%').is_some_and(|rest| !rest.is_empty() && rest.chars().all(digits))
    };
    (names.len() <= MOST && names.iter().all(is_name)).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_in_and_out_of_calls() {
        let source = SourceText::new(
            "func.func private @f(%x: i32, %y: i32) -> (i32, i32) {\n  %s = a.b %x : i32 // return %n\n  \
             return %s, %y : i32, i32\n}\nfunc.func @g(%a: i32) -> i32 {\n  \
             %r:2 = func.call @f(%a, %q#1) : (i32, i32) -> (i32, i32) %t = call @\"f g\"(%r#0) : (i32) -> i32\n  \
             cf.cond_br %c, ^a, ^b\n^a:\n  return %t : i32\n^b:\n  return %a : i32\n}\n"
                .to_owned(),
        );
        assert_eq!(source.call_operands(6, 10), ["%a", "%q#1"]);
        assert_eq!(source.call_operands(6, 66), ["%r#0"]);
        assert_eq!(source.arguments_around(3), ["%x", "%y"]);
        assert_eq!(source.returned_around(2), ["%s", "%y"]);
        assert_eq!(source.arguments_around(9), ["%a"]);
        assert_eq!(source.returned_around(9), [""; 0]);
        for (line, column) in [(0, 0), (2, 8), (6, 4000), (400, 1)] {
            assert_eq!(source.call_operands(line, column), [""; 0]);
        }
    }
}
