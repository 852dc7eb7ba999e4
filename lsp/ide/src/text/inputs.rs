//! Which importers a text concerns: iree-compile converts a program whose operations belong to
//! PyTorch, StableHLO or TOSA by other rules than a plain one.

use syntax::{Source, TextRange, find_all};

/// The dialects of importers that have operations or types in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// PyTorch.
    pub torch: bool,
    /// StableHLO and what belongs to it.
    pub stablehlo: bool,
    /// Tuples of StableHLO, which are taken apart.
    pub tuples: bool,
    /// TOSA.
    pub tosa: bool,
}

/// The beginning of a text, in bytes, that is searched.
const SEARCHED: usize = 1 << 20;

impl Inputs {
    /// Searches the beginning of a range of a text.
    pub(crate) fn of<S: Source + ?Sized>(text: &S, range: TextRange) -> Self {
        let range = range.start..range.end.min(range.start + SEARCHED);
        let has = |name: &str| {
            find_all(text, range.clone(), name).any(|found| {
                let start = found.saturating_sub(200).max(range.start);
                is_used(&text.slice(start..found), &text.slice(found..found + 80))
            })
        };
        Self {
            torch: has("torch."),
            stablehlo: ["stablehlo.", "chlo.", "vhlo."].iter().any(|dialect| has(dialect)),
            tuples: has("stablehlo.tuple") || has("stablehlo.get_tuple_element"),
            tosa: has("tosa."),
        }
    }
}

/// Whether a dialect's name stands for an operation or a type, not for an attribute: at the start
/// of a line, after `=` or `!`. In generic form, an operation's name is followed by a parenthesis.
fn is_used(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.contains("//") {
        return false;
    }
    let (place, is_quoted) = match line.strip_suffix('"') {
        Some(place) => (place, true),
        None => (line, false),
    };
    let place = place.trim_end();
    if is_quoted {
        let mut rest = after.split('"');
        rest.next();
        return rest.next().is_some_and(|rest| rest.starts_with('('));
    }
    // `attributes {torch.debug = …}` on a line of its own is followed by `=`.
    let is_attribute = after.split_once('=').is_some_and(|(name, _)| {
        name.trim_end().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
    });
    place.ends_with(['=', '!']) || place.is_empty() && !is_attribute
}

#[cfg(test)]
mod tests {
    use super::Inputs;

    #[test]
    fn operations_and_types_count_and_attributes_do_not() {
        for (text, torch) in [
            ("%0 = torch.constant.int 1", true),
            ("  torch.initialize.global_slots [", true),
            ("%0 = \"torch.constant.int\"() : () -> i32", true),
            ("func.func @f(%a: !torch.int)", true),
            ("module attributes {torch.debug_module_name = \"M\"} {", false),
            ("module attributes {\n  torch.debug_module_name = \"M\"} {", false),
            ("func.func @f() attributes {torch.assume_strict} {", false),
            ("x.y {a = \"torch.constant\"}", false),
            ("// !torch.int", false),
        ] {
            let found = Inputs::of(text, 0..text.len());
            assert_eq!(found, Inputs { torch, ..Inputs::default() }, "{text}");
        }
        let text = "%1 = stablehlo.tuple %0 : tuple<i32>\n\"tosa.const\"() : () -> i1";
        let found = Inputs::of(text, 0..text.len());
        assert!(found.stablehlo && found.tuples && found.tosa && !found.torch);
    }
}
