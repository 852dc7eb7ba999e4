//! Numbers, operations and recipes as text, in the names of MLIR: `arith.trunci i32 (%i10:11)`.

use std::fmt;

use mlir::{Element, Format, Scalar as Function};

use super::arithmetic::{Pure, Scalar};
use super::value_location::{Recipe, RecipeOperation};

impl Scalar {
    /// A number of this type as text.
    #[must_use]
    pub fn text(self, bits: u64) -> String {
        match self {
            Self::Int(1) => (bits & 1 == 1).to_string(),
            Self::Int(_) => self.signed(bits).to_string(),
            Self::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Self::F64 => format!("{:?}", f64::from_bits(bits)),
        }
    }

    fn of(element: Element) -> Option<Self> {
        match element {
            Element::Float(Format::F32) => Some(Self::F32),
            Element::Float(Format::F64) => Some(Self::F64),
            Element::Float(_) => None,
            integer => Some(Self::Int(integer.width())),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.element().fmt(f)
    }
}

/// The function of MLIR that it is, or the VM's own instruction.
impl fmt::Display for Pure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(function) => function.fmt(f),
            Self::Not(scalar) => write!(f, "vm.not {scalar}"),
            Self::MultiplyAdd(scalar) => write!(f, "vm.fma {scalar}"),
            Self::Extreme { is_least: true, scalar, .. } => write!(f, "vm.min {scalar}"),
            Self::Extreme { is_least: false, scalar, .. } => write!(f, "vm.max {scalar}"),
        }
    }
}

impl Pure {
    /// The type of an operand, given that of the result.
    fn operand(self, index: usize, result: Option<Scalar>) -> Option<Scalar> {
        let function = match self {
            Self::Of(function) => function,
            Self::Not(scalar) | Self::MultiplyAdd(scalar) | Self::Extreme { scalar, .. } => {
                return Some(scalar);
            }
        };
        match function {
            Function::SelectFloat | Function::SelectInteger if index == 0 => Some(Scalar::Int(1)),
            Function::SelectFloat | Function::SelectInteger => result,
            _ => Scalar::of(function.operand()?),
        }
    }
}

impl fmt::Display for RecipeOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A recipe for a number of a type, which its constants are written in.
#[derive(Clone, Copy, Debug)]
pub struct WrittenRecipe<'r>(pub &'r Recipe, pub Option<Scalar>);

impl fmt::Display for WrittenRecipe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(recipe, scalar) = *self;
        match recipe {
            Recipe::Constant(bits) => match scalar {
                Some(scalar) => f.write_str(&scalar.text(*bits)),
                None => write!(f, "{}", bits.cast_signed()),
            },
            Recipe::Register(slot, _) => slot.fmt(f),
            Recipe::Argument(index, _) => write!(f, "argument {index}"),
            Recipe::Apply(operation, operands) => {
                write!(f, "{operation} (")?;
                for (index, operand) in operands.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    let scalar = operation.0.operand(index, scalar);
                    write!(f, "{comma}{}", WrittenRecipe(operand, scalar))?;
                }
                f.write_str(")")
            }
            Recipe::Agreed(value, ..) | Recipe::Surely(value, _) => {
                WrittenRecipe(value, scalar).fmt(f)
            }
            Recipe::Choose(condition, sides) => {
                let of = |side: &Option<Box<Recipe>>| match side {
                    Some(side) => WrittenRecipe(side, scalar).to_string(),
                    None => "?".to_owned(),
                };
                let condition = WrittenRecipe(condition, Some(Scalar::Int(1)));
                write!(f, "arith.select ({condition}, {}, {})", of(&sides[0]), of(&sides[1]))
            }
        }
    }
}

/// Its constants are written as integers.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WrittenRecipe(self, None).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use mlir::{FloatBinary, IntegerBinary};

    use super::*;
    use crate::bytecode::RegisterSlot;

    #[test]
    fn recipes_have_names_of_mlir_and_numbers_of_their_type() {
        let register = |scalar| Recipe::Register(RegisterSlot::I32(3), scalar);
        let half = Recipe::Constant(u64::from(0.5_f32.to_bits()));
        let element = Scalar::F32.element();
        let product = Function::FloatBinary(FloatBinary::Multiply, element);
        let product = Recipe::Apply(
            RecipeOperation(product.into()),
            vec![register(Scalar::F32), half.clone()],
        );
        assert_eq!(product.to_string(), "arith.mulf f32 (%i3, 0.5)");
        let is_less =
            Function::CompareIntegers { order: mlir::Order::Less, is_signed: true, width: 8 };
        let operands = vec![register(Scalar::Int(8)), Recipe::Constant(0xff)];
        let is_less = Recipe::Apply(RecipeOperation(is_less.into()), operands);
        assert_eq!(is_less.to_string(), "arith.cmpi slt i8 (%i3, -1)");
        let choice = [Some(Box::new(half)), None];
        let choice = Recipe::Choose(Box::new(is_less), choice);
        assert_eq!(
            WrittenRecipe(&choice, Some(Scalar::F32)).to_string(),
            "arith.select (arith.cmpi slt i8 (%i3, -1), 0.5, ?)"
        );
        let not = RecipeOperation(Pure::Not(Scalar::Int(1)));
        let not = Recipe::Apply(not, vec![Recipe::Constant(1)]);
        assert_eq!(not.to_string(), "vm.not i1 (true)");
        let power = Function::IntegerBinary(IntegerBinary::Power, 32);
        assert_eq!(Pure::Of(power).to_string(), "math.ipowi i32");
    }
}
