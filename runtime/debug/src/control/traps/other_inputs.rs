//! Whether a dispatch that has read bad floats makes some of its own, or only passes them on.
//!
//! A dispatch is looked at operation by operation as bytecode, which for machine code has to be
//! compiled first: too slow for each of the hundred dispatches that a NaN of an input goes through.
//! So the dispatch itself is asked first, at full speed:
//!
//! ```text
//!  memory as it was before ──> bad elements that it reads become numbers ──> it runs once more
//!      ──> is there a bad float still? ──> memory as the program has left it
//! ```
//!
//! If there is, the dispatch makes it. If not, all came from what it has read. That is not known
//! of each operation: one may make a NaN only because an operand was one, as where a comparison
//! with it has chosen the other branch. So a note says what was looked at.

use abi::tensor::Tensor;
use hal::{Device, ResolvedDispatch, Unfinished};
use vm::Interrupt;

use super::dispatch_floats::{Bad, FloatsBefore, length_of_floats};
use crate::inspect::dispatch::DispatchUse;
use crate::machine::Machine;
use crate::tensor::TensorView;

/// Where the bad floats come from that a dispatch has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// From what it has read alone.
    Inputs,
    /// Perhaps from itself.
    Unknown,
}

/// What stands for bad elements: of each value, results may be bad for reasons of its own, as the
/// logarithm of 1 is 0, by which something is divided. So there are two.
const NUMBERS: [&str; 2] = ["1", "0.5"];

/// Runs a dispatch that has just run on other inputs, all at once. Memory is as it was afterwards.
///
/// # Errors
/// A stop was requested before that was known.
pub(crate) fn source_of(
    machine: &Machine,
    dispatch: &ResolvedDispatch,
    before: &mut FloatsBefore,
    bad: Bad,
) -> Result<Source, Unfinished> {
    if before.inputs(machine, dispatch).of(bad).is_empty() {
        return Ok(Source::Unknown);
    }
    let Some(interrupt) = machine.invocation().map(vm::Invocation::interrupt) else {
        return Ok(Source::Unknown);
    };
    let read = machine.operands_used(dispatch, DispatchUse::Reading);
    let read: Vec<TensorView> = read.into_iter().map(|(_, tensor)| tensor).collect();
    let outputs = before.outputs();
    let device = machine.program.host().device();
    for number in NUMBERS {
        let trial = Trial { dispatch, device, interrupt: &interrupt, read: &read, bad, number };
        let outcome = before.while_put_back(|| trial.leaves_none(&outputs));
        match outcome.flatten() {
            Some(Ok(true)) => return Ok(Source::Inputs),
            Some(Ok(false)) => {}
            Some(Err(Unfinished::Interrupted)) => return Err(Unfinished::Interrupted),
            Some(Err(Unfinished::Failed(_))) | None => return Ok(Source::Unknown),
        }
    }
    Ok(Source::Unknown)
}

/// One run on other inputs.
struct Trial<'a> {
    dispatch: &'a ResolvedDispatch,
    device: &'a Device,
    interrupt: &'a Interrupt,
    /// What the dispatch reads.
    read: &'a [TensorView],
    bad: Bad,
    /// The text of what stands for bad elements.
    number: &'static str,
}

/// A tensor whose bad elements are replaced, with its bytes before.
struct Replaced<'a> {
    tensor: &'a TensorView,
    bytes: Vec<u8>,
}

impl Trial<'_> {
    /// Whether the dispatch leaves no bad float of its inputs with other elements in the place of
    /// bad ones. Its inputs are as they were afterwards. `None`: they cannot be written.
    fn leaves_none(&self, outputs: &[TensorView]) -> Option<Result<bool, Unfinished>> {
        let mut replaced = Vec::new();
        let is_whole = self.read.iter().all(|tensor| match self.replace(tensor) {
            Ok(it) => {
                replaced.extend(it);
                true
            }
            Err(NotReplaced) => false,
        });
        let outcome = is_whole.then(|| {
            let ran = self.device.run_apart(self.dispatch, self.interrupt);
            ran.map(|()| !outputs.iter().any(|it| self.bad.is_in_tensor(it)))
        });
        // Tensors may share memory: the first one's bytes are the oldest.
        let is_back =
            replaced.iter().rev().all(|it| it.tensor.buffer().write(0, &it.bytes).is_ok());
        outcome.filter(|_| is_back)
    }

    /// Replaces the bad elements of a tensor, if it has some.
    fn replace<'a>(&self, tensor: &'a TensorView) -> Result<Option<Replaced<'a>>, NotReplaced> {
        let Some(length) = length_of_floats(tensor) else { return Ok(None) };
        if !self.bad.is_in_tensor(tensor) {
            return Ok(None);
        }
        let element_type = tensor.tensor_type().element_type;
        let number = Tensor::parse(&format!("{element_type}={}", self.number), 8);
        let number = number.map_err(|_| NotReplaced)?.bytes;
        let bytes = tensor.buffer().read(0, length);
        let mut others = bytes.clone();
        for element in others.chunks_exact_mut(number.len().max(1)) {
            if element_type.float_value(element).is_some_and(|it| self.bad.is(it)) {
                element.copy_from_slice(&number);
            }
        }
        tensor.buffer().write(0, &others).map_err(|_| NotReplaced)?;
        Ok(Some(Replaced { tensor, bytes }))
    }
}

/// The elements of a tensor cannot be replaced: its memory is constant.
struct NotReplaced;
