//! What is said of a name: where its value is, how to compute it, or why there is none.

use super::arithmetic::{Pure, Scalar};
use crate::bytecode::RegisterSlot;

/// A name of the source that is in scope, with what is known of its value.
#[derive(Clone, Debug)]
pub struct ScopedValue {
    /// As the source spells it: `%x`, `%r#1`.
    pub name: String,
    /// Its type as the source spells it; empty where it does not.
    pub type_text: String,
    /// What kind of number it is; none for everything else.
    pub scalar: Option<Scalar>,
    /// Whether it is an argument of its function, and which.
    pub argument: Option<usize>,
    /// Where its value is.
    pub location: ValueLocation,
}

/// Where a value is.
#[derive(Clone, Debug)]
pub enum ValueLocation {
    /// In a register.
    Register(RegisterSlot),
    /// Nowhere, but it follows from what is in registers.
    Computed(Recipe),
    /// It cannot be known.
    Missing(MissingReason),
}

/// Why a value cannot be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingReason {
    /// The compiler has left nothing that it follows from.
    OptimizedOut,
    /// The instruction that makes it comes later.
    NotYetComputed,
    /// It is a tensor, in the memory of a device.
    Tensor,
    /// The code belongs to several operations; what its registers mean is known for another one.
    Shared,
}

impl MissingReason {
    /// What is shown in the value's place.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::OptimizedOut => "<optimized out>",
            Self::NotYetComputed => "<not yet computed>",
            Self::Shared => "<in code that several operations share: see the registers>",
            Self::Tensor => "<a tensor: see the dispatches that read and write it>",
        }
    }
}

/// How to compute a value.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// It is this one.
    Constant(u64),
    /// It is what a register holds, as a number of a type.
    Register(RegisterSlot, Scalar),
    /// It is what the function was called with.
    Argument(usize, Scalar),
    /// By an operation.
    Apply(RecipeOperation, Vec<Recipe>),
    /// One or the other, by a condition; what is not chosen may be unknown.
    Choose(Box<Recipe>, [Option<Box<Recipe>>; 2]),
}

/// What a value is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecipeInput {
    /// A register of the frame.
    Register(RegisterSlot),
    /// What the function was called with, by its number.
    Argument(usize),
}

/// A pure operation.
#[derive(Clone, Copy, Debug)]
pub struct RecipeOperation(pub(crate) Pure);

impl Recipe {
    /// The value, given what registers and arguments are; `None` where it cannot be computed after
    /// all.
    pub fn evaluate(&self, read: &dyn Fn(RecipeInput) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Constant(bits) => Some(*bits),
            Self::Register(slot, scalar) => Some(scalar.cut(read(RecipeInput::Register(*slot))?)),
            Self::Argument(index, scalar) => Some(scalar.cut(read(RecipeInput::Argument(*index))?)),
            Self::Apply(RecipeOperation(pure), operands) => {
                let operands: Option<Vec<u64>> =
                    operands.iter().map(|operand| operand.evaluate(read)).collect();
                pure.apply(&operands?)
            }
            Self::Choose(condition, [yes, no]) => {
                let is_so = condition.evaluate(read)? & 1 == 1;
                if is_so { yes } else { no }.as_ref()?.evaluate(read)
            }
        }
    }
}
