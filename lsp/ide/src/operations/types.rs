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

#[cfg(test)]
mod tests {
    use super::{Stated, TypeRule, rule, type_rules};

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
}
