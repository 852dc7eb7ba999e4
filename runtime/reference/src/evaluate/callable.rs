//! [`Callable`]: a region that is called with numbers, one call at a time.

use std::rc::Rc;

use crate::lanes::{Bank, Context, Program, run};
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor};

/// A region with its registers.
pub(crate) struct Callable {
    pub(crate) program: Program,
    pub(crate) bank: Bank,
    pub(crate) tensors: Vec<Rc<Tensor>>,
    pub(crate) with_bounds: bool,
}

impl Callable {
    /// How many scalar operations a call costs: those of a block of lanes.
    pub(crate) fn cost(&self) -> u128 {
        (self.program.cost as u128 + 1) * 16
    }

    /// What the region yields first for these arguments.
    pub(crate) fn call(&mut self, arguments: &[Number]) -> Result<Number> {
        for (register, number) in self.program.arguments.iter().zip(arguments) {
            self.bank.floats[*register][0] = number.float;
            self.bank.integers[*register][0] = number.integer;
            self.bank.bounds[*register][0] = number.bound;
        }
        let context = Context { tensors: &self.tensors, with_bounds: self.with_bounds };
        run(&mut self.bank, &self.program.steps, 1, &context)?;
        match self.program.yields.first() {
            Some(register) => Ok(self.bank.get(*register, 0)),
            None => Err(Refusal::malformed(0, "a region that yields nothing")),
        }
    }
}
