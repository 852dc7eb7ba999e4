//! Regions that are called with numbers: for each index of a tensor that is padded or generated.

use crate::evaluate::callable::Callable;
use crate::evaluate::indices;
use crate::evaluate::slices::{self, Part};
use crate::evaluate::walk::Evaluator;
use crate::lanes::{Bank, Program};
use crate::operations::Region;
use crate::refusal::{Refusal, Result};
use crate::values::{Number, Tensor};
use mlir::TensorType;

impl Evaluator<'_> {
    /// A region that is called with numbers, one call at a time.
    pub(crate) fn callable(&self, region: &Region, arguments: usize) -> Result<Callable> {
        if region.arguments.len() != arguments {
            let reason = format!("its region takes {} values", region.arguments.len());
            return Err(Refusal::malformed(0, reason));
        }
        let mut program = Program::compile(self.function, region)?;
        // What each call yields is a result, and rounded, though it may be a step of a sum.
        program.steps.iter_mut().for_each(|step| step.sum = None);
        let mut bank = Bank::new(program.floats.len(), program.yields.len());
        for (register, number) in &program.constants {
            bank.broadcast(*register, *number);
        }
        for ((_, register), number) in program.captures.iter().zip(self.captures(&program)?) {
            bank.broadcast(*register, number);
        }
        let tensors = self.tensors(&program)?;
        Ok(Callable { program, bank, tensors, with_bounds: self.with_bounds })
    }

    /// Sets those elements of a tensor that `is_set` accepts to what a region says of their index.
    pub(super) fn each_index(
        &mut self,
        body: &Region,
        tensor: &mut Tensor,
        is_set: impl Fn(&[usize]) -> bool,
    ) -> Result<()> {
        let mut callable = self.callable(body, tensor.shape.len())?;
        let shape = tensor.shape.clone();
        self.budget.take(tensor.count() as u128 * callable.cost())?;
        let mut indices = indices::Indices::new(&shape);
        let mut at = 0;
        while let Some(index) = indices.current() {
            if is_set(index) {
                let arguments: Vec<Number> = index
                    .iter()
                    .map(|it| Number { integer: *it as i64, ..Number::default() })
                    .collect();
                tensor.set(at, callable.call(&arguments)?);
            }
            at += 1;
            indices.advance();
        }
        Ok(())
    }

    pub(super) fn pad(
        &mut self,
        source: &Tensor,
        low: &[i64],
        high: &[i64],
        body: &Region,
        type_: &TensorType,
    ) -> Result<Tensor> {
        if low.len() != source.shape.len() || high.len() != source.shape.len() {
            return Err(Refusal::malformed(0, "another number of dimensions"));
        }
        let mut shape = Vec::new();
        for ((size, low), high) in source.shape.iter().zip(low).zip(high) {
            let sum = i128::from(*low) + *size as i128 + i128::from(*high);
            match usize::try_from(sum) {
                Ok(size) if *low >= 0 && *high >= 0 => shape.push(size),
                _ => return Err(Refusal::undefined(0, format!("padding of {low} and {high}"))),
            }
        }
        let mut tensor = self.zeros(shape, type_)?;
        let is_inside = |index: &[usize]| {
            let inside = |((at, low), size): ((&usize, &i64), &usize)| {
                let from = *at as i64 - low;
                from >= 0 && from < *size as i64
            };
            index.iter().zip(low).zip(&source.shape).all(inside)
        };
        self.each_index(body, &mut tensor, |index| !is_inside(index))?;
        let part = Part {
            offsets: low.to_vec(),
            sizes: source.shape.iter().map(|size| *size as i64).collect(),
            strides: vec![1; low.len()],
        };
        slices::insert(source, &mut tensor, &part, |_| {})?;
        Ok(tensor)
    }
}
