//! Finds where the text of an operation begins and ends on its line.
//!
//! A location has the position of an operation's name. To a reader the operation begins at its
//! results, left of the name, and ends where the next one on the line begins. This is pattern
//! matching, not parsing: the name of nearly every operation has a dot, and the keywords inside
//! operations have none.

use std::ops::Range;

/// Operations with more results are not recognised.
const MAX_RESULTS: usize = 64;

/// The most bytes of a line that are searched; longer lines are data.
const MAX_LENGTH: usize = 1 << 14;

/// The columns, from one, of the operation whose name is at a column of a line; at most to the
/// line's end.
pub(crate) fn operation_extent(line: &str, column: u32) -> Option<Range<u32>> {
    let at = (column as usize).checked_sub(1)?;
    let (before, rest) = (line.get(..at)?, line.get(at..)?);
    let is_name = |first: char| first.is_ascii_alphabetic() || first == '"';
    let rest = if rest.starts_with(is_name) { rest } else { return None };
    let start = before.len() - results(before);
    let end = at + length(rest);
    let column = |at: usize| u32::try_from(at + 1).ok();
    (end > at).then_some(column(start)?..column(end)?)
}

/// The length of a list of results, `%a, %b:2 = `, at the end of a text; 0 if there is none.
fn results(before: &str) -> usize {
    let names = before.rmatch_indices('%').map(|(at, _)| &before[at..]);
    let lists = names.take_while(|list| after_results(list).is_some_and(str::is_empty));
    lists.last().map_or(0, str::len)
}

/// The text after a list of results, `%a, %b:2 = `, if the text begins with one.
fn after_results(text: &str) -> Option<&str> {
    let mut rest = text;
    for _ in 0..MAX_RESULTS {
        rest = rest.strip_prefix('%')?.trim_start_matches(is_of_name).trim_start();
        if let Some(count) = rest.strip_prefix(':') {
            rest = count.trim_start().trim_start_matches(|it: char| it.is_ascii_digit());
            rest = rest.trim_start();
        }
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return rest.strip_prefix('=').map(str::trim_start),
        }
    }
    None
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_.$-#".contains(character)
}

/// The length of the operation that a text begins with.
fn length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut characters = rest.char_indices();
    let mut last = ' ';
    let mut end = rest.len();
    while let Some((at, character)) = characters.next().filter(|(at, _)| *at < MAX_LENGTH) {
        let begins = || begins_operation(&rest[at..]);
        if rest[at..].starts_with("//") || (at > 0 && depth == 0 && last == ' ' && begins()) {
            end = at;
            break;
        }
        match character {
            '"' => {
                while let Some((_, inside)) = characters.next() {
                    match inside {
                        '\\' => drop(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if last == '-' => {}
            ')' | ']' | '}' | '>' if depth == 0 => {
                end = at;
                break;
            }
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        last = character;
    }
    rest[..end].trim_end().len()
}

/// Whether a text begins with an operation in its generic form: `"a.b"(`.
fn is_generic(text: &str) -> bool {
    text[1..]
        .split_once('"')
        .is_some_and(|(name, rest)| name.contains('.') && rest.starts_with('('))
}

/// Whether a text begins with an operation: `%a = a.b`, `a.b `, `"a.b"(`, `return`.
fn begins_operation(text: &str) -> bool {
    if text.starts_with('%') {
        return after_results(text).is_some_and(begins_with_name);
    }
    begins_with_name(text)
}

/// Whether a text begins with the name of an operation.
fn begins_with_name(text: &str) -> bool {
    if text.starts_with('"') {
        return is_generic(text);
    }
    let word = &text[..text.find(|it| !is_of_name(it)).unwrap_or(text.len())];
    let is_word = word.starts_with(|first: char| first.is_ascii_alphabetic());
    is_word && (word == "return" || (word.contains('.') && !word.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the operation whose name is first found on a line.
    fn text_of<'l>(line: &'l str, name: &str) -> &'l str {
        let at = line.find(name).unwrap();
        let extent = operation_extent(line, u32::try_from(at + 1).unwrap()).unwrap();
        &line[extent.start as usize - 1..extent.end as usize - 1]
    }

    #[test]
    fn operations_reach_from_their_results_to_the_next() {
        let line = "  %s = arith.addi %a, %b : i32 %d:2, %e = t.two %a  %p = arith.muli %s, %d#1 : i32 // x";
        assert_eq!(text_of(line, "arith.addi"), "%s = arith.addi %a, %b : i32");
        assert_eq!(text_of(line, "t.two"), "%d:2, %e = t.two %a");
        assert_eq!(text_of(line, "arith.muli"), "%p = arith.muli %s, %d#1 : i32");
        let line = "%i = scf.for %i = %zero to %n iter_args(%s = %z) -> (i32) : i32 {";
        assert_eq!(text_of(line, "scf.for"), line);
        let line = "%x = scf.if %c -> (i32) { scf.yield %a : i32 } else { scf.yield %b : i32 }";
        assert_eq!(text_of(line, "scf.if"), line);
        assert_eq!(text_of(line, "scf.yield"), "scf.yield %a : i32");
        let line = "  %0 = \"a.b\"(%x) {k = \"} // %y = \\\" c.d\"} : (i32) -> i32 \"t.u\"() : () -> () return %0 : i32";
        assert_eq!(text_of(line, "\"a.b\""), &line[2..line.find(" \"t.u").unwrap()]);
        assert_eq!(text_of(line, "\"t.u\""), "\"t.u\"() : () -> ()");
        assert_eq!(text_of(line, "return"), "return %0 : i32");
    }

    #[test]
    fn what_is_no_operation_has_no_extent() {
        for (line, column) in [("", 1), ("", 0), ("a.b", 4), ("a.b", 40), ("é.b", 2), ("a b", 2)] {
            assert_eq!(operation_extent(line, column), None, "{line} {column}");
        }
        assert_eq!(operation_extent("é = a.b", 6), Some(6..9));
    }
}
