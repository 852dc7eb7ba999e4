//! [`ValueLocation`]: the register of a value, how to compute it, or why it is missing.

use super::arithmetic::{Pure, Scalar};
use crate::bytecode::RegisterSlot;
use crate::source::NodeName;

/// A name of the source that is in scope, with its value's location.
#[derive(Clone, Debug)]
pub struct ScopedValue {
    /// As the source spells it: `%x`, `%r#1`; a variable of Python as `x`.
    pub name: String,
    /// The framework's names of it, where they are known.
    pub node: Option<NodeName>,
    /// Its type as the source spells it; empty where it does not.
    pub type_text: String,
    /// The type of the number; `None` for other values.
    pub scalar: Option<Scalar>,
    /// The line and the column of the operation that defines it, or of its own name, if it is an
    /// argument; `None` where no text has it.
    pub defined_at: Option<(u32, u32)>,
    /// Its index among the arguments of its function, if it is one.
    pub argument: Option<usize>,
    /// Whether it is a tensor that the source writes: a weight, a table.
    pub is_constant: bool,
    /// Where its value is.
    pub location: ValueLocation,
    /// For a number in a register, what its operation gives, if its operands are known.
    pub check: Option<Check>,
}

/// A second opinion on what a register holds.
#[derive(Clone, Debug)]
pub struct Check {
    /// How to compute the value from its operands.
    pub recipe: Recipe,
    /// Whether the recipe is believed where the two differ. Otherwise neither is.
    pub is_sure: bool,
}

impl ScopedValue {
    /// A tensor in the memory of a device, by its name.
    pub(crate) fn of_tensor(name: String) -> Self {
        Self {
            name,
            node: None,
            type_text: String::new(),
            scalar: None,
            defined_at: None,
            argument: None,
            is_constant: false,
            location: ValueLocation::Missing(MissingReason::Tensor),
            check: None,
        }
    }

    /// The line and the column of what defines it in the body of its function; `None` for an
    /// argument of the function, which no operation defines.
    #[must_use]
    pub fn defined_inside_at(&self) -> Option<(u32, u32)> {
        self.defined_at.filter(|_| self.argument.is_none())
    }

    /// How to find the value, if it is a number whose place is known.
    #[must_use]
    pub fn recipe(&self) -> Option<(Recipe, Scalar)> {
        let scalar = self.scalar?;
        let recipe = match (&self.location, &self.check) {
            (ValueLocation::Missing(_), _) => return None,
            (ValueLocation::Computed(recipe), _) => recipe.clone(),
            (ValueLocation::Register(slot), None) => Recipe::Register(*slot, scalar),
            (ValueLocation::Register(slot), Some(check)) => {
                let held = Box::new(Recipe::Register(*slot, scalar));
                let check_recipe = Box::new(check.recipe.clone());
                match check.is_sure {
                    true => Recipe::Surely(check_recipe, held),
                    false => Recipe::Agreed(held, check_recipe, scalar),
                }
            }
        };
        Some((recipe, scalar))
    }

    /// The value that a name, without its `%`, means: by the names of the source, the innermost
    /// first, or else by the framework's names, if only one value has it.
    #[must_use]
    pub fn named<'v>(scope: &'v [Self], name: &str) -> Option<&'v Self> {
        // A variable of Python has no sign.
        let is_it = |it: &&Self| it.name.strip_prefix('%').unwrap_or(&it.name) == name;
        let own = scope.iter().rev().find(is_it);
        let by = |is_wanted: &dyn Fn(&NodeName) -> bool| {
            let mut found = scope.iter().filter(|it| it.node.as_ref().is_some_and(is_wanted));
            found.next().filter(|_| found.next().is_none())
        };
        own.or_else(|| by(&|it| it.tensor == name))
            .or_else(|| by(&|it| it.node.as_deref() == Some(name)))
    }
}

/// Where a value is.
#[derive(Clone, Debug)]
pub enum ValueLocation {
    /// In a register.
    Register(RegisterSlot),
    /// In no register, but it can be computed from registers.
    Computed(Recipe),
    /// Unknown.
    Missing(MissingReason),
}

/// Why a value is missing, as far as the code alone tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingReason {
    /// The compiler has left nothing to compute it from.
    OptimizedOut,
    /// The instruction that makes it comes later.
    NotYetComputed,
    /// It is a tensor, in the memory of a device.
    Tensor,
    /// The code is shared by several operations, and its registers are known for another one of
    /// them.
    Shared,
    /// It was known where a command was submitted, which runs later: the registers have changed
    /// since.
    Late,
}

impl MissingReason {
    /// The reason as part of a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OptimizedOut => "optimized out",
            Self::NotYetComputed => "not yet computed",
            Self::Tensor => "a tensor: see the dispatches that read and write it",
            Self::Shared => "in code that several operations share: see the registers",
            Self::Late => "of the moment at which the command was submitted, which runs later",
        }
    }
}

/// How to compute a value.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// These bits.
    Constant(u64),
    /// The contents of a register, as a number of a type.
    Register(RegisterSlot, Scalar),
    /// The argument of this index that the function was called with, as a number of a type.
    Argument(usize, Scalar),
    /// The result of an operation.
    Apply(RecipeOperation, Vec<Recipe>),
    /// The first or the second value, by a condition; the other one may be unknown.
    Choose(Box<Recipe>, [Option<Box<Recipe>>; 2]),
    /// The first value, unless the second one is known and another number.
    Agreed(Box<Recipe>, Box<Recipe>, Scalar),
    /// The first value; the second one if the first is unknown.
    Surely(Box<Recipe>, Box<Recipe>),
}

/// An input of a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecipeInput {
    /// A register of the frame.
    Register(RegisterSlot),
    /// The argument of this index that the function was called with.
    Argument(usize),
}

/// A pure operation.
#[derive(Clone, Copy, Debug)]
pub struct RecipeOperation(pub(crate) Pure);

impl Recipe {
    /// The value, given registers and arguments; `None` if one is unknown or an operation has no
    /// result.
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
            Self::Agreed(value, check, scalar) => {
                let value = value.evaluate(read)?;
                let check = check.evaluate(read);
                check.is_none_or(|check| scalar.is_same(value, check)).then_some(value)
            }
            Self::Surely(value, other) => value.evaluate(read).or_else(|| other.evaluate(read)),
        }
    }
}
