//! Words that operations and attributes choose from: predicates, kinds of iterators, flags. Only
//! sets that are complete stand here, so that another word is a fault.

use crate::scalar::Numbers;
use crate::table::{Meaning, meaning};

const INTEGER_PREDICATES: &[&str] =
    &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const FLOAT_PREDICATES: &[&str] = &[
    "oeq", "one", "olt", "ole", "ogt", "oge", "ueq", "une", "ult", "ule", "ugt", "uge", "ord",
    "uno", "true", "false",
];
const ITERATORS: &[&str] = &["parallel", "reduction", "window"];
const COMBINING: &[&str] = &[
    "add", "mul", "minui", "minsi", "minnumf", "maxui", "maxsi", "maxnumf", "and", "or", "xor",
    "minimumf", "maximumf",
];

const FAST_MATH: &[&str] =
    &["none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"];
const OVERFLOW: &[&str] = &["none", "nsw", "nuw"];

/// The words of attributes, by their names or their keys, in order.
const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("arith.fastmath", FAST_MATH),
    ("arith.overflow", OVERFLOW),
    ("fastmath", FAST_MATH),
    ("gpu.address_space", &["global", "workgroup", "private", "constant"]),
    ("iterator_types", ITERATORS),
    ("linalg.iterator_type", ITERATORS),
    ("overflow", OVERFLOW),
    ("vector.kind", COMBINING),
];

/// Whether a word of an enumeration follows the operation's name, as in `arith.cmpi eq`.
#[must_use]
pub fn leads(operation: &str) -> bool {
    words(operation, None).is_some()
}

/// The words of an attribute of an operation, by its name or key; without one, those after the
/// operation's name.
#[must_use]
pub fn words(operation: &str, key: Option<&str>) -> Option<&'static [&'static str]> {
    let Some(key) = key else {
        return match meaning(operation)? {
            Meaning::Numbers(Numbers::CompareFloats) => Some(FLOAT_PREDICATES),
            // `index.cmp eq(%a, %b)` has its word in another form.
            Meaning::Numbers(Numbers::CompareIntegers) => Some(INTEGER_PREDICATES),
            _ => None,
        };
    };
    let at = ATTRIBUTES.binary_search_by_key(&key, |(name, _)| name).ok()?;
    Some(ATTRIBUTES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_by_operation_and_by_key() {
        assert!(ATTRIBUTES.is_sorted_by_key(|(name, _)| *name));
        assert!(leads("arith.cmpi") && leads("arith.cmpf") && !leads("arith.addi"));
        assert!(words("arith.cmpf", None).is_some_and(|words| words.contains(&"oeq")));
        assert!(words("linalg.generic", Some("iterator_types")).is_some());
        assert!(words("vector.contract", Some("vector.kind")).is_some());
        assert!(words("mine.op", Some("kind")).is_none());
    }
}
