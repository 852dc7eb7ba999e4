//! Affine expressions and maps, with their values.

use crate::refusal::{Refusal, Result};

/// An affine expression over dimensions and symbols, which are counted together: symbols come
/// after dimensions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant(i64),
    Operand(usize),
    Add(Box<Expression>, Box<Expression>),
    Multiply(Box<Expression>, Box<Expression>),
    FloorDivide(Box<Expression>, Box<Expression>),
    CeilDivide(Box<Expression>, Box<Expression>),
    Modulo(Box<Expression>, Box<Expression>),
}

/// An affine map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    /// Dimensions and symbols.
    pub(crate) operands: usize,
    pub(crate) results: Vec<Expression>,
}

impl Map {
    /// The map from this many dimensions to these of them.
    pub(crate) fn of_dimensions(operands: usize, results: &[usize]) -> Self {
        Self { operands, results: results.iter().map(|at| Expression::Operand(*at)).collect() }
    }

    /// The map that changes nothing.
    pub(crate) fn identity(operands: usize) -> Self {
        Self::of_dimensions(operands, &(0..operands).collect::<Vec<_>>())
    }
}

/// A sum of operands with factors, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) constant: i64,
    pub(crate) factors: Vec<i64>,
}

impl Expression {
    /// The value for these operands. A division needs a positive divisor.
    pub(crate) fn value(&self, operands: &[i64]) -> Result<i64> {
        let both = |a: &Self, b: &Self| Ok::<_, Refusal>((a.value(operands)?, b.value(operands)?));
        let divisor = |(a, b): (i64, i64)| {
            if b > 0 {
                return Ok((a, b));
            }
            Err(Refusal::undefined(0, format!("an affine expression divides by {b}")))
        };
        Ok(match self {
            Self::Constant(value) => *value,
            Self::Operand(at) => operands.get(*at).copied().unwrap_or_default(),
            Self::Add(a, b) => both(a, b).map(|(a, b)| a.wrapping_add(b))?,
            Self::Multiply(a, b) => both(a, b).map(|(a, b)| a.wrapping_mul(b))?,
            Self::FloorDivide(a, b) => divisor(both(a, b)?).map(|(a, b)| a.div_euclid(b))?,
            Self::CeilDivide(a, b) => {
                let (a, b) = divisor(both(a, b)?)?;
                a.div_euclid(b).wrapping_add(i64::from(a.rem_euclid(b) != 0))
            }
            Self::Modulo(a, b) => divisor(both(a, b)?).map(|(a, b)| a.rem_euclid(b))?,
        })
    }

    /// The expression as a sum of operands with factors; `None` if it divides.
    pub(crate) fn linear(&self, operands: usize) -> Option<Linear> {
        let constant = |constant| Linear { constant, factors: vec![0; operands] };
        match self {
            Self::Constant(value) => Some(constant(*value)),
            Self::Operand(at) => {
                let mut it = constant(0);
                *it.factors.get_mut(*at)? = 1;
                Some(it)
            }
            Self::Add(a, b) => {
                let (mut a, b) = (a.linear(operands)?, b.linear(operands)?);
                a.constant = a.constant.checked_add(b.constant)?;
                for (a, b) in a.factors.iter_mut().zip(b.factors) {
                    *a = a.checked_add(b)?;
                }
                Some(a)
            }
            Self::Multiply(a, b) => {
                let (a, b) = (a.linear(operands)?, b.linear(operands)?);
                let (factor, mut of) = match (a.is_constant(), b.is_constant()) {
                    (true, _) => (a.constant, b),
                    (_, true) => (b.constant, a),
                    _ => return None,
                };
                of.constant = of.constant.checked_mul(factor)?;
                for it in &mut of.factors {
                    *it = it.checked_mul(factor)?;
                }
                Some(of)
            }
            Self::FloorDivide(..) | Self::CeilDivide(..) | Self::Modulo(..) => None,
        }
    }
}

impl Linear {
    fn is_constant(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 0)
    }
}
