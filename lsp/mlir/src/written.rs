//! Functions of numbers as MLIR writes them: the table read backwards, from what an operation does
//! to its name.

use std::fmt;

use crate::element::Element;
use crate::scalar::{Numbers, Order, Scalar};
use crate::table::{self, Meaning};

/// The predicates of comparisons of integers.
const OF_INTEGERS: [&str; 10] =
    ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

/// The predicates of comparisons of floats.
const OF_FLOATS: [&str; 16] = [
    "oeq", "one", "olt", "ole", "ogt", "oge", "ord", "ueq", "une", "ult", "ule", "ugt", "uge",
    "uno", "true", "false",
];

/// The bits of a number in memory.
fn bits(element: Element) -> u32 {
    u32::from(element.element_type().bits)
}

impl Scalar {
    /// The operation of `arith` or `math` that this is: the name that most programs use, where
    /// several do the same.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let (from, to) = (self.from(), self.to());
        let predicate = self.predicate().unwrap_or_default();
        let is_it = |name: &&str| match table::meaning(name) {
            Some(Meaning::Numbers(numbers)) => {
                let types = (from.unwrap_or(any(numbers)), to.unwrap_or(any(numbers)));
                numbers.of(types.0, types.1, predicate) == Some(*self)
            }
            _ => false,
        };
        let is_narrower = matches!((from, to), (Some(from), Some(to)) if bits(to) < bits(from))
            || matches!(self, Self::Narrow { .. });
        // Wider and narrower numbers are one row's meaning and two names.
        let fits = |name: &&str| {
            let is_cast = name.contains("index_cast");
            let is_extension = name.starts_with("arith.ext");
            !is_cast
                && (!is_extension || !is_narrower)
                && (!name.starts_with("arith.trunc") || is_narrower)
        };
        // Of two names, the earlier one in the table is the older one, or the rarer one.
        let found = table::names().filter(|name| {
            let is_plain = name.starts_with("arith.") || name.starts_with("math.");
            is_plain && fits(name) && is_it(name)
        });
        found.last()
    }

    /// The operation whose second result this is.
    fn second_result(&self) -> Option<&'static str> {
        let Self::IntegerBinary(function, _) = self else { return None };
        table::names().find(|name| match table::meaning(name) {
            Some(Meaning::Extended(_, second)) => second == *function,
            _ => false,
        })
    }

    /// The predicate of a comparison.
    #[must_use]
    pub fn predicate(&self) -> Option<&'static str> {
        match *self {
            Self::CompareIntegers { order, is_signed, .. } => OF_INTEGERS
                .into_iter()
                .find(|it| Order::of_integers(it) == Some((order, is_signed))),
            Self::CompareFloats { order, unordered, .. } => {
                OF_FLOATS.into_iter().find(|it| Order::of_floats(it) == Some((order, unordered)))
            }
            _ => None,
        }
    }

    /// The type of its operands; `None` for a choice, which does not say it.
    #[must_use]
    pub fn operand(&self) -> Option<Element> {
        match self {
            Self::SelectFloat | Self::SelectInteger => None,
            _ => self.from(),
        }
    }

    /// A type that what it takes can have.
    fn from(&self) -> Option<Element> {
        match *self {
            Self::FloatUnary(_, element)
            | Self::FloatBinary(_, element)
            | Self::FusedMultiplyAdd(element)
            | Self::PowerOfInteger(element)
            | Self::FloatTest(_, element)
            | Self::CompareFloats { element, .. } => Some(element),
            Self::IntegerUnary(_, width)
            | Self::IntegerBinary(_, width)
            | Self::CompareIntegers { width, .. } => Some(Element::Integer(width)),
            Self::SelectFloat => Some(Element::Float(crate::element::Format::F32)),
            Self::SelectInteger => None,
            Self::Convert { from, .. }
            | Self::ToSigned { from, .. }
            | Self::ToUnsigned { from, .. }
            | Self::Bitcast { from, .. } => Some(from),
            Self::SignExtend { from, .. }
            | Self::ZeroExtend { from, .. }
            | Self::FromSigned { from, .. }
            | Self::FromUnsigned { from, .. } => Some(Element::Integer(from)),
            // Of any type that is wider.
            Self::Narrow { to } => Some(Element::Integer(if to < 64 { 64 } else { to })),
        }
    }

    /// The type of what it gives, as it is written after its name; a choice does not say it.
    fn to(&self) -> Option<Element> {
        match *self {
            Self::Convert { to, .. }
            | Self::FromSigned { to, .. }
            | Self::FromUnsigned { to, .. }
            | Self::Bitcast { to, .. } => Some(to),
            Self::SignExtend { to, .. }
            | Self::ZeroExtend { to, .. }
            | Self::Narrow { to }
            | Self::ToSigned { to, .. }
            | Self::ToUnsigned { to, .. } => Some(Element::Integer(to)),
            Self::FloatTest(..) | Self::CompareFloats { .. } | Self::CompareIntegers { .. } => {
                Some(Element::TRUTH)
            }
            Self::SelectFloat | Self::SelectInteger => None,
            _ => self.from(),
        }
    }

    /// The type that tells this function from others with its name: the result's, or what a
    /// comparison or a test is of.
    fn written_type(&self) -> Option<Element> {
        match self {
            Self::SelectFloat | Self::SelectInteger => None,
            _ if self.to() == Some(Element::TRUTH) => self.from(),
            _ => self.to(),
        }
    }
}

/// A type that a function of numbers can be of.
fn any(numbers: Numbers) -> Element {
    match numbers {
        Numbers::FloatUnary(_) | Numbers::FloatBinary(_) => {
            Element::Float(crate::element::Format::F32)
        }
        _ => Element::Integer(32),
    }
}

/// As MLIR writes it, with its type: `arith.cmpi slt i32`, `arith.trunci i8`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name)?,
            None => match self.second_result() {
                Some(name) => write!(f, "{name}#1")?,
                None => write!(f, "{self:?}")?,
            },
        }
        if let Some(predicate) = self.predicate() {
            write!(f, " {predicate}")?;
        }
        match self.written_type() {
            Some(element) => write!(f, " {element}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Format;
    use crate::scalar::IntegerBinary;

    const TYPES: [Element; 6] = [
        Element::Integer(1),
        Element::Integer(8),
        Element::Integer(32),
        Element::Integer(64),
        Element::Float(Format::F32),
        Element::Float(Format::F64),
    ];

    /// Each row of functions of numbers, with each pair of types and each predicate, has a name
    /// that leads back to the same function.
    #[test]
    fn every_function_has_a_name_that_leads_back() {
        let mut led_back = 0;
        for name in table::names() {
            let is_plain = name.starts_with("arith.") || name.starts_with("math.");
            let Some(Meaning::Numbers(numbers)) = table::meaning(name).filter(|_| is_plain) else {
                continue;
            };
            let mut is_found = false;
            for (from, to) in TYPES.iter().flat_map(|from| TYPES.map(|to| (*from, to))) {
                let is_comparison =
                    matches!(numbers, Numbers::CompareFloats | Numbers::CompareIntegers);
                let predicates = OF_INTEGERS.iter().chain(&OF_FLOATS).copied();
                let predicates: Vec<&str> =
                    if is_comparison { predicates.collect() } else { vec![""] };
                // Only casts have a result of another type.
                let is_cast = matches!(numbers, Numbers::Cast(_));
                if !is_cast && from != to {
                    continue;
                }
                for predicate in predicates {
                    let Some(function) = numbers.of(from, to, predicate) else { continue };
                    let back = function.name().unwrap_or_else(|| panic!("{name}: {function:?}"));
                    let predicate = function.predicate().unwrap_or_default();
                    let again = table::scalar(back, from, to, predicate);
                    assert_eq!(again, Some(function), "{name} became {back}");
                    is_found = true;
                    led_back += 1;
                }
            }
            assert!(is_found, "no types for {name}");
        }
        assert!(led_back > 300, "only {led_back}");
    }

    #[test]
    fn functions_are_written_with_their_type() {
        let f32 = Element::Float(Format::F32);
        let f64 = Element::Float(Format::F64);
        for (function, text) in [
            (Scalar::Narrow { to: 32 }, "arith.trunci i32"),
            (Scalar::SignExtend { from: 8, to: 32 }, "arith.extsi i32"),
            (Scalar::Convert { from: f64, to: f32 }, "arith.truncf f32"),
            (Scalar::Convert { from: f32, to: f64 }, "arith.extf f64"),
            (Scalar::IntegerBinary(IntegerBinary::Xor, 64), "arith.xori i64"),
            (
                Scalar::CompareIntegers { order: Order::Less, is_signed: false, width: 32 },
                "arith.cmpi ult i32",
            ),
            (
                Scalar::CompareFloats { order: Order::Never, unordered: true, element: f32 },
                "arith.cmpf uno f32",
            ),
            (Scalar::SelectFloat, "arith.select"),
            (
                Scalar::IntegerBinary(IntegerBinary::MultiplyHighSigned, 32),
                "arith.mulsi_extended#1 i32",
            ),
        ] {
            assert_eq!(function.to_string(), text);
        }
    }
}
