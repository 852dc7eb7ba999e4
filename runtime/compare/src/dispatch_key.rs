//! What a dispatch is, as a text that does not depend on the module which has it: its function in
//! the phase `flow`, without its name, its locations and the aliases of attributes. Two dispatches
//! with one key compute the same of the same tensors.

use std::collections::HashMap;

/// The keys of the dispatches of a text of the phase `flow`, by their exports.
pub(crate) fn keys(flow: &str) -> HashMap<&str, String> {
    let aliases = aliases(flow);
    let mut found = HashMap::new();
    let mut lines = flow.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.trim_start().strip_prefix("func.func @") else { continue };
        let Some((export, _)) = rest.split_once('(') else { continue };
        let indent = line.len() - line.trim_start().len();
        let mut key = plain(&line[indent..].replacen(export, "", 1), &aliases);
        for line in lines.by_ref() {
            key.push('\n');
            key.push_str(&plain(line.trim_start(), &aliases));
            if line.len() > indent && line[indent..].starts_with('}') {
                break;
            }
        }
        found.insert(export, key);
    }
    found
}

/// `#map = affine_map<(d0) -> (d0)>`, except locations.
fn aliases(flow: &str) -> HashMap<&str, &str> {
    let lines = flow.lines().filter(|line| line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    pairs.filter(|(_, value)| !value.starts_with("loc(")).collect()
}

/// A line without its locations, with what its aliases stand for.
fn plain(line: &str, aliases: &HashMap<&str, &str>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find([' ', '#', '"']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('"') {
            let end = rest[1..].find('"').map_or(rest.len(), |it| it + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if rest.starts_with(" loc(") {
            rest = after_parentheses(&rest[" loc".len()..]);
        } else if rest.starts_with('#') {
            let is_part = |it: char| it.is_ascii_alphanumeric() || "#_.$-".contains(it);
            let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
            out.push_str(aliases.get(&rest[..end]).unwrap_or(&&rest[..end]));
            rest = &rest[end..];
        } else {
            out.push(' ');
            rest = &rest[1..];
        }
    }
    out + rest
}

/// What follows a text in parentheses.
fn after_parentheses(text: &str) -> &str {
    let (mut depth, mut is_string) = (0, false);
    for (at, it) in text.char_indices() {
        match it {
            '"' => is_string = !is_string,
            '(' if !is_string => depth += 1,
            ')' if !is_string => depth -= 1,
            _ => {}
        }
        if depth == 0 && it == ')' {
            return &text[at + 1..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "\
#loc1 = loc(\"a (1).mlir\":4:10)
#map = affine_map<(d0) -> (d0)>
module {
  func.func @NAME(%arg0: !t<readonly:tensor<16xf32>> loc(\"a\":2:3), %arg1: f32 loc(#loc1)) {
    %1 = linalg.generic {maps = [#map], note = \"#map loc(x)\"} loc(callsite(#loc1 at #loc2))
    return loc(#loc1)
  } loc(#loc1)
  func.func @other() {
  }
}
";

    #[test]
    fn a_key_has_neither_the_name_nor_locations_nor_aliases() {
        let key = |flow: &str, name: &str| keys(flow)[name].clone();
        let one = key(&FLOW.replace("NAME", "x_dispatch_1"), "x_dispatch_1");
        let other = FLOW.replace("NAME", "y").replace("#map", "#map7").replace("\"#map7", "\"#map");
        assert_eq!(one, key(&other.replace("4:10", "9:1"), "y"));
        assert!(one.contains("[affine_map<(d0) -> (d0)>], note = \"#map loc(x)\"}\n"), "{one}");
        assert!(!one.contains("#loc") && one.ends_with("return\n}"), "{one}");
        assert_ne!(one, key(&FLOW.replace("NAME", "x").replace("16xf32", "8xf32"), "x"));
    }
}
