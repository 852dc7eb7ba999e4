//! Which of the types that an operation writes are those of its operands and results.

use std::collections::HashMap;
use std::sync::OnceLock;

/// One of the types that an operation writes, or what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stated {
    /// The written type with this index; a negative one counts from the last.
    Type(i8),
    /// The element type of that type.
    Element(i8),
    /// `index`.
    Index,
    /// `i1`, or the shape of the first type with `i1` as element.
    Bool,
    /// `i32`.
    Int,
}

impl Stated {
    /// The type itself, among so many that the operation writes.
    pub(crate) fn among(self, count: usize, written: impl Fn(usize) -> String) -> Option<String> {
        let at = |index: i8| {
            let from_end = || count.checked_sub(usize::from(index.unsigned_abs()));
            let index = usize::try_from(index).ok().or_else(from_end)?;
            (index < count).then(|| written(index))
        };
        match self {
            Self::Type(index) => at(index),
            Self::Element(index) => element(&at(index)?).map(str::to_owned),
            Self::Index => Some("index".into()),
            Self::Int => Some("i32".into()),
            Self::Bool => {
                let first = at(0)?;
                let is_plain = !first.starts_with('!') && !first.contains('#');
                is_plain.then(|| with_element(&first, "i1"))
            }
        }
    }
}

/// What the types of an operation's operands or results are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeRule {
    /// Every operand.
    All(Stated),
    /// The operand with this index.
    Operand(u8, Stated),
    /// As many operands as types before the arrow, in their order; with the operands in lists.
    Each,
    /// The same, without the operands in lists.
    EachOutside,
    /// The operands in brackets.
    InBrackets(Stated),
    /// The only result.
    Result(Stated),
    /// The results have the types after the arrow.
    AfterArrow,
    /// The results have all the types.
    Results,
}

/// The rules of an operation; none if it is not listed.
pub(crate) fn type_rules(op: &str) -> &'static [TypeRule] {
    static RULES: OnceLock<HashMap<&str, Vec<TypeRule>>> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        let mut found = HashMap::new();
        let mut rules = Vec::new();
        for line in include_str!("types.txt").lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                Some(ops) => found.extend(ops.split(' ').map(|op| (op, rules.clone()))),
                None => rules = line.split(' ').filter_map(rule).collect(),
            }
        }
        found
    });
    rules.get(op).map_or(&[], Vec::as_slice)
}

fn rule(text: &str) -> Option<TypeRule> {
    match text {
        "each" => return Some(TypeRule::Each),
        "each0" => return Some(TypeRule::EachOutside),
        "r=>" => return Some(TypeRule::AfterArrow),
        "r=>>" => return Some(TypeRule::Results),
        _ => {}
    }
    let (whose, what) = text.split_once('=')?;
    let stated = match what {
        "index" => Stated::Index,
        "i1" => Stated::Bool,
        "i32" => Stated::Int,
        _ => match what.strip_prefix('e') {
            Some(index) => Stated::Element(index.parse().ok()?),
            None => Stated::Type(what.parse().ok()?),
        },
    };
    Some(match whose {
        "*" => TypeRule::All(stated),
        "[]" => TypeRule::InBrackets(stated),
        "r" => TypeRule::Result(stated),
        operand => TypeRule::Operand(operand.parse().ok()?, stated),
    })
}

/// Whether a word is a built-in type or begins one.
pub(crate) fn is_type(word: &str) -> bool {
    let integer = word.trim_start_matches(['s', 'u']).strip_prefix('i');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    integer.is_some_and(digits) && !word.starts_with("us")
        || matches!(word, "tensor" | "memref" | "vector" | "complex" | "tuple")
        || matches!(word, "index" | "none" | "f16" | "bf16" | "f32" | "f64" | "tf32")
}

/// The element type of a shaped type.
pub(crate) fn element(ty: &str) -> Option<&str> {
    let inner =
        ["tensor<", "vector<", "memref<"].iter().find_map(|prefix| ty.strip_prefix(prefix))?;
    let mut rest = inner;
    while let Some(at) = rest.find('x') {
        let dimension = rest[..at].trim();
        let is_dimension = !dimension.is_empty()
            && (dimension == "?"
                || dimension == "*"
                || dimension.trim_matches(['[', ']']).bytes().all(|byte| byte.is_ascii_digit()));
        if !is_dimension {
            break;
        }
        rest = &rest[at + 1..];
    }
    let mut nest = 0_i32;
    let end = rest.find(|c: char| {
        nest += i32::from(c == '<') - i32::from(c == '>');
        nest < 0 || nest == 0 && c == ','
    });
    Some(rest[..end?].trim())
}

/// A type with its element type replaced.
fn with_element(ty: &str, with: &str) -> String {
    match element(ty) {
        Some(old) => {
            let at = ty.find(old).unwrap_or(0);
            format!("{}{with}{}", &ty[..at], &ty[at + old.len()..])
        }
        None => with.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Stated, TypeRule, element, is_type, rule, type_rules, with_element};

    #[test]
    fn every_rule_is_understood() {
        let lines = include_str!("types.txt").lines();
        let rules = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ' ']));
        for word in rules.flat_map(|line| line.split(' ')) {
            assert!(rule(word).is_some(), "{word}");
        }
        assert_eq!(type_rules("arith.addi")[0], TypeRule::All(Stated::Type(0)));
        assert!(type_rules("mine.op").is_empty());
    }

    #[test]
    fn elements() {
        for (ty, expected) in [
            ("tensor<4x?xf32>", Some("f32")),
            ("tensor<f32>", Some("f32")),
            ("tensor<*xi8>", Some("i8")),
            ("memref<2x[4]xindex, strided<[1]>>", Some("index")),
            ("vector<4xcomplex<f32>>", Some("complex<f32>")),
            ("i32", None),
            ("tensor<4x", None),
        ] {
            assert_eq!(element(ty), expected, "{ty}");
        }
        assert_eq!(with_element("tensor<4xf32, #e>", "i1"), "tensor<4xi1, #e>");
        assert_eq!(with_element("i32", "i1"), "i1");
    }

    #[test]
    fn words_that_are_types() {
        for word in ["i32", "si8", "ui64", "f32", "tensor", "index"] {
            assert!(is_type(word), "{word}");
        }
        for word in ["i", "in", "to", "f", "usi8", "i32x", "into"] {
            assert!(!is_type(word), "{word}");
        }
    }
}
