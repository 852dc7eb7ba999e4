//! [`DispatchRun`]: a dispatch with its tensors before and after it, and where it comes from.

use abi::tensor::Tensor;
use debug::DispatchState;
use debuginfo::{ArgumentOrigin, DispatchFunction, NoFunction};

/// Where a dispatch comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The module's file, as it was named.
    pub module: String,
    /// The function that was called.
    pub function: String,
    /// The source that was compiled.
    pub input: String,
    /// What the compiler called itself.
    pub compiler: Option<String>,
    /// The flags that the module was compiled with.
    pub flags: Vec<String>,
    /// The device that the dispatches were compiled for.
    pub device: Option<String>,
    /// The source of all dispatches of the module.
    pub sources: String,
}

impl Origin {
    /// What iree-run-module calls the device.
    pub(crate) fn runner_device(&self) -> &str {
        match self.device.as_deref() {
            Some("local") | None => "local-sync",
            Some(other) => other,
        }
    }
}

/// Why a dispatch is no function over tensors that are known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unusable {
    /// Its text is none.
    #[error(transparent)]
    NoFunction(#[from] NoFunction),
    /// The function takes more numbers than the call has.
    #[error("the call has no number {0}")]
    NoNumber(usize),
    /// The function takes a tensor that the dispatch computes.
    #[error("the call has no such tensor")]
    InnerTensor,
    /// An operand was overwritten before it was kept.
    #[error("operand {0} is not known as it was before the dispatch")]
    InputUnknown(usize),
    /// What the dispatch has left in an operand was not kept.
    #[error("operand {0} is not known")]
    OutputUnknown(usize),
}

/// A dispatch of a run.
#[derive(Clone, Debug)]
pub struct DispatchRun {
    /// Before it ran; tensors that it has overwritten may be missing.
    pub before: DispatchState,
    /// After it.
    pub after: DispatchState,
    /// Which run of it that was, from 1, if that is known.
    pub run: Option<u64>,
    /// Where it comes from.
    pub origin: Origin,
}

impl DispatchRun {
    /// The tensors that a function of the dispatch takes, with numbers as tensors of one element,
    /// in its order.
    ///
    /// # Errors
    /// [`Unusable`]: one of them is not known.
    pub(crate) fn inputs(&self, function: &DispatchFunction) -> Result<Vec<Input>, Unusable> {
        let inputs = function.arguments.iter().map(|argument| match argument.origin {
            ArgumentOrigin::Number(ordinal) => {
                let number = self.before.numbers.get(ordinal).copied();
                number.map(|it| Input::Number(it.cast_signed())).ok_or(Unusable::NoNumber(ordinal))
            }
            ArgumentOrigin::Inner => Err(Unusable::InnerTensor),
            ArgumentOrigin::Operand(index) => {
                let tensor = self.before.operands.get(index).and_then(|it| it.tensor.clone());
                tensor.map(Input::Tensor).ok_or(Unusable::InputUnknown(index))
            }
        });
        inputs.collect()
    }

    /// The tensors that a function of the dispatch returns, as the dispatch has left them.
    ///
    /// # Errors
    /// [`Unusable`]: one of them is not known.
    pub(crate) fn outputs(&self, function: &DispatchFunction) -> Result<Vec<Tensor>, Unusable> {
        let outputs = function.results.iter().map(|result| {
            let tensor = self.after.operands.get(result.operand).and_then(|it| it.tensor.clone());
            tensor.ok_or(Unusable::OutputUnknown(result.operand))
        });
        outputs.collect()
    }

    /// The name of an operand in the source.
    pub(crate) fn name_of(&self, operand: usize) -> Option<&str> {
        self.after.operands.get(operand)?.name.as_deref()
    }
}

/// An input of a dispatch's function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    Tensor(Tensor),
    Number(i32),
}
