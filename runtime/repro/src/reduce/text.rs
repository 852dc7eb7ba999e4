//! Words of the text of operations: values, types, lists in brackets.

/// The values that a text uses, with their sigils and without `#0`, each with its place.
pub(super) fn values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('%').map(|(start, _)| {
        let rest = &text[start + 1..];
        let is_name = |it: char| it.is_ascii_alphanumeric() || "_$.-".contains(it);
        let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
        (start, &text[start..=start + end])
    })
}

/// A text with one value in the place of another one, both with their sigils.
pub(super) fn with_value(text: &str, of: &str, by: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    for (start, name) in values(text) {
        if name == of {
            written.push_str(&text[at..start]);
            written.push_str(by);
            at = start + name.len();
        }
    }
    written + &text[at..]
}

/// A text without its locations.
pub(super) fn without_locations(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" loc(") {
        let from = at + " loc".len();
        let Some(length) = group(&rest[from..]) else { break };
        written.push_str(&rest[..at]);
        rest = &rest[from + length..];
    }
    written + rest
}

/// How long the group is that a text begins with, with its brackets: `(a, (b))`.
pub(super) fn group(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut before = ' ';
    for (at, it) in text.char_indices() {
        match it {
            '"' if before != '\\' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + it.len_utf8());
                }
            }
            _ => {}
        }
        before = it;
    }
    None
}

/// The parts of a list, split at commas that stand in no brackets.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut start, mut before) = (Vec::new(), 0_usize, 0, ' ');
    for (at, it) in text.char_indices() {
        match it {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        before = it;
    }
    let last = text[start..].trim();
    if !last.is_empty() || !all.is_empty() {
        all.push(last);
    }
    all
}

/// What stands in the brackets after a word, and where the closing one is: `ins(…)`.
pub(super) fn after<'t>(text: &'t str, word: &str) -> Option<(&'t str, usize)> {
    let start = text.find(word)? + word.len() - 1;
    let length = group(&text[start..])?;
    Some((&text[start + 1..start + length - 1], start + length))
}

/// The sizes and the element type of `tensor<4x8xf32>`, if all sizes are numbers.
pub(super) fn shape_of(written: &str) -> Option<(Vec<u64>, &str)> {
    let inner = written.strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut rest = inner;
    let mut sizes = Vec::new();
    while rest.starts_with(|it: char| it.is_ascii_digit()) {
        let (size, after) = rest.split_once('x')?;
        sizes.push(size.parse().ok()?);
        rest = after;
    }
    rest.bytes().all(|it| it.is_ascii_alphanumeric()).then_some((sizes, rest))
}

/// A tensor's type as it is written.
pub(super) fn tensor_type(sizes: &[u64], element: &str) -> String {
    let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_outside_of_brackets() {
        let maps = "affine_map<(d0, d1) -> (d1, d0)>, #map1";
        assert_eq!(parts(maps), ["affine_map<(d0, d1) -> (d1, d0)>", "#map1"]);
        assert_eq!(parts(""), Vec::<&str>::new());
        assert_eq!(after("f {m = [a, [b]], i}", "m = [").map(|it| it.0), Some("a, [b]"));
        assert_eq!(group("(a -> b) c"), Some("(a -> b)".len()));
        assert_eq!(group("(a"), None);
    }

    #[test]
    fn values_are_whole_names() {
        let text = "%in_1 = arith.addf %in, %1#0 : f32";
        assert_eq!(values(text).map(|it| it.1).collect::<Vec<_>>(), ["%in_1", "%in", "%1"]);
        assert_eq!(with_value(text, "%in", "%x"), "%in_1 = arith.addf %x, %1#0 : f32");
        let located = "%a = arith.negf %b loc(callsite(#a at #b)) : f32 loc(\"a (b\":1:2)";
        assert_eq!(without_locations(located), "%a = arith.negf %b : f32");
    }

    #[test]
    fn shapes_are_numbers() {
        assert_eq!(shape_of("tensor<4x8xf32>"), Some((vec![4, 8], "f32")));
        assert_eq!(shape_of("tensor<i8>"), Some((vec![], "i8")));
        assert_eq!(shape_of("tensor<?x8xf32>"), None);
        assert_eq!(shape_of("tensor<4xf32, #encoding>"), None);
        assert_eq!(tensor_type(&[4, 8], "f32"), "tensor<4x8xf32>");
    }
}
