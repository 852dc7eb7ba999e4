//! Some functions of a text that the compiler printed, with the locations that it uses.

use std::collections::{HashMap, HashSet};

use super::stage::{function_name, functions_in};

/// The functions with these names in a printed text, each with the location aliases that it uses.
pub fn functions_named(printed: &str, names: &[String]) -> Vec<(String, String)> {
    let lines: Vec<&str> = printed.lines().collect();
    let is_alias = |line: &&&str| line.starts_with('#') && line.contains(" = loc(");
    let aliases: HashMap<&str, &str> = lines
        .iter()
        .filter(is_alias)
        .filter_map(|line| Some((line.split_once(" = ")?.0, *line)))
        .collect();
    functions_in(&without_ends(printed))
        .into_iter()
        .filter(|function| names.contains(&function.name))
        .filter_map(|function| {
            let body = lines.get(function.first..=function.last)?;
            Some((function.name, with_aliases(body, &aliases)))
        })
        .collect()
}

fn with_aliases(body: &[&str], aliases: &HashMap<&str, &str>) -> String {
    let mut out = String::new();
    let indent = body.first().map_or(0, |line| line.len() - line.trim_start().len());
    for line in body {
        out += line.get(indent..).unwrap_or(line.trim_start());
        out.push('\n');
    }
    let mut known = HashSet::new();
    let mut pending = vec![out.clone()];
    while let Some(text) = pending.pop() {
        for name in mentioned(&text) {
            if let Some(line) = aliases.get(name)
                && known.insert(name.to_owned())
            {
                out += line;
                out.push('\n');
                pending.push(line.split_once(" = ").map_or("", |(_, rest)| rest).to_owned());
            }
        }
    }
    out
}

/// The text with lines that end as they would without locations, for the search of functions.
fn without_ends(printed: &str) -> String {
    let mut out = String::with_capacity(printed.len());
    for line in printed.lines() {
        let trimmed = line.trim_start();
        // Only heads of functions and closing braces are looked at.
        if trimmed.starts_with('}') || function_name(trimmed).is_some() {
            out += line;
        }
        out.push('\n');
    }
    out
}

/// The names of location aliases in a text.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("#loc").map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &text[at..at + 1 + end]
    })
}

#[cfg(test)]
mod tests {
    use super::functions_named;

    #[test]
    fn a_function_has_its_locations() {
        let printed = r##"#loc = loc("a.mlir":1:1)
module {
  func.func @f(%a: i32 loc("a":1:1)) {
    scf.if %c {
      return loc(#loc3)
    } loc(#loc2)
  } loc(#loc)
  func.func private @"g h"() loc(#loc9)
  func.func @g() {
  } loc(#loc)
} loc(#loc)
#loc2 = loc("a.mlir":2:1)
#loc3 = loc(callsite(#loc2 at #loc9))
#loc9 = loc("a.mlir":9:1)
"##;
        let of =
            |name: &str| functions_named(printed, &[name.to_owned()]).pop().map(|(_, text)| text);
        let f = of("f").expect("the function");
        assert!(f.starts_with("func.func @f(") && f.contains("\n} loc(#loc)\n"), "{f}");
        assert!(!f.contains("@g") && f.matches(" = loc(").count() == 4, "{f}");
        assert_eq!(
            of("g h").as_deref(),
            Some("func.func private @\"g h\"() loc(#loc9)\n#loc9 = loc(\"a.mlir\":9:1)\n")
        );
        assert_eq!(of("nothing"), None);
    }
}
