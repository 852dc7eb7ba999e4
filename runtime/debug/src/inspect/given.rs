//! What the program was called with, as far as operations of the source are evaluated from it: the
//! sizes of tensors, and numbers.
//!
//! Only the function that is called, and runs once, has these arguments.

use std::sync::Arc;

use abi::element_type::ElementType;
use reference::Output;
use vm::Value;

use super::source_evaluation::Known;
use super::tensors::Stand;
use crate::machine::Machine;

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Given {
    /// The sizes of a tensor, outermost first.
    Sizes(Vec<u64>),
    /// An integer of 32 bits, or of fewer.
    I32(i32),
    /// An integer of 64 bits.
    I64(i64),
    /// The bits of an `f32`.
    F32(u32),
    /// The bits of an `f64`.
    F64(u64),
}

impl Given {
    /// The size of an axis.
    pub(super) fn size(&self, axis: usize) -> Option<u64> {
        match self {
            Self::Sizes(sizes) => sizes.get(axis).copied(),
            _ => None,
        }
    }

    /// A number in the type that the source declares for it. A type that is wider than what the
    /// program was given is not of this program: the compiler has narrowed it.
    pub(super) fn number(&self, declared: &str) -> Option<Known> {
        let declared = if declared == "index" { "i64" } else { declared };
        let element_type: ElementType = declared.parse().ok()?;
        let is_integer = declared.starts_with('i');
        let is_float = declared.starts_with('f');
        let output = match (self, element_type.bits) {
            (Self::I32(value), ..=32) if is_integer => {
                Output::integer(i64::from(*value), element_type)
            }
            (Self::I64(value), 64) if is_integer => Output::integer(*value, element_type),
            (Self::F32(bits), 32) if is_float => {
                Output::float(f64::from(f32::from_bits(*bits)), element_type)
            }
            (Self::F64(bits), 64) if is_float => Output::float(f64::from_bits(*bits), element_type),
            _ => return None,
        };
        Some(Known::Computed(Arc::new(output)))
    }
}

/// What an argument of the function is in which the program stands.
pub(super) fn given(machine: &Machine, stand: &Stand<'_>, argument: usize) -> Option<Given> {
    let program = &machine.program;
    let entry = program.function_name(program.entry())?;
    if !stand.tensors.runs_once(stand.function, &entry) {
        return None;
    }
    Some(match program.arguments().get(argument)? {
        Value::Ref(view) => {
            let view: &hal::BufferView = view.downcast()?;
            Given::Sizes(view.shape().to_vec())
        }
        Value::I32(value) => Given::I32(*value),
        Value::I64(value) => Given::I64(*value),
        Value::F32(value) => Given::F32(value.to_bits()),
        Value::F64(value) => Given::F64(value.to_bits()),
    })
}

#[cfg(test)]
mod tests {
    use reference::Elements;

    use super::*;

    fn number(given: &Given, declared: &str) -> Option<Elements> {
        match given.number(declared)? {
            Known::Computed(output) => Some(output.values.clone()),
            Known::Memory(..) => None,
        }
    }

    #[test]
    fn numbers_are_of_the_type_that_is_declared() {
        let integer = |value| Some(Elements::Integers(vec![value]));
        assert_eq!(number(&Given::I32(-3), "i32"), integer(-3));
        assert_eq!(number(&Given::I32(0xff), "i8"), integer(-1));
        assert_eq!(number(&Given::I32(-1), "i1"), integer(1));
        assert_eq!(number(&Given::I64(1 << 40), "index"), integer(1 << 40));
        let float = |value| Some(Elements::Floats(vec![value]));
        assert_eq!(number(&Given::F32(0.5_f32.to_bits()), "f32"), float(0.5));
        assert_eq!(number(&Given::F64(0.1_f64.to_bits()), "f64"), float(0.1));
    }

    #[test]
    fn what_the_compiler_has_narrowed_is_no_number_of_the_source() {
        assert_eq!(number(&Given::I32(7), "i64"), None);
        assert_eq!(number(&Given::F32(0.5_f32.to_bits()), "f64"), None);
        assert_eq!(number(&Given::I32(7), "f32"), None, "the bits of a float");
        assert_eq!(number(&Given::Sizes(vec![1]), "i64"), None);
    }
}
