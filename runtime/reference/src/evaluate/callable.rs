//! [`Callable`]: a region that is called with numbers, one call at a time.

use std::sync::Arc;

use crate::formats::{epsilon, greatest, tiny};
use crate::lanes::{Bank, Context, Program, run};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor};
use mlir::Format;

/// A region with its registers.
pub(crate) struct Callable {
    pub(crate) program: Program,
    pub(crate) bank: Bank,
    pub(crate) tensors: Vec<Arc<Tensor>>,
    pub(crate) with_bounds: bool,
}

/// A sum that grows by one term at a time, each of which is a result too: its terms may be added in
/// any order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    format: Format,
    /// The sum of the magnitudes of what was added up, and of its bounds.
    magnitude: f64,
    carried: f64,
    additions: f64,
}

impl Growing {
    /// A term is added. The sum as it is now gets the bound of any order.
    pub(crate) fn add(&mut self, term: Number, sum: Number) -> Number {
        self.magnitude += term.float.abs();
        self.carried += term.bound;
        self.additions += 1.0;
        if !sum.float.is_finite() || sum.bound == f64::INFINITY {
            return sum;
        }
        let rounding = self.magnitude * epsilon(self.format) + tiny(self.format);
        let bound = self.carried + self.additions * rounding;
        let is_decided = self.magnitude + bound <= greatest(self.format);
        Number { bound: if is_decided { bound } else { f64::INFINITY }, ..sum }
    }
}

impl Callable {
    /// What the region adds up, if it is a sum that begins with this number.
    pub(crate) fn growing(&self, start: Number) -> Option<Growing> {
        let sum = self.program.sums.first().copied().flatten()?;
        let is_plain = self.with_bounds && sum.additions == 1 && self.program.cost == 1;
        is_plain.then_some(Growing {
            format: sum.format,
            magnitude: start.float.abs(),
            carried: start.bound,
            additions: 0.0,
        })
    }

    /// How many scalar operations a call costs: those of a block of lanes.
    pub(crate) fn cost(&self) -> u128 {
        (self.program.cost as u128 + 1) * 16
    }

    /// What the region yields first for these arguments.
    pub(crate) fn call(&mut self, arguments: &[Number]) -> Result<Number> {
        for (register, number) in self.program.arguments.iter().zip(arguments) {
            self.bank.set(*register, 0, *number);
        }
        let context = Context { tensors: &self.tensors, with_bounds: self.with_bounds };
        run(&mut self.bank, &self.program.steps, 1, &context)?;
        match self.program.yields.first() {
            Some(register) => Ok(self.bank.get(*register, 0)),
            None => Err(Refusal::malformed(0, "a region that yields nothing")),
        }
    }
}
