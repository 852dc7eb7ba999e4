//! A call of a native function: what the function gets and what it returns.

use abi::cconv::Signature;

use super::activity::Activity;
use super::arguments::Arguments;
use crate::errors::Status;
use crate::limits::ExecutionLimits;
use crate::objects::{Ref, Value};
use crate::position::Position;

/// What a native function gets.
#[derive(Clone, Copy, Debug)]
pub struct NativeCall<'a> {
    arguments: Arguments<'a>,
    limits: &'a ExecutionLimits,
    is_left_alone: bool,
    caller: Option<Position>,
}

impl<'a> NativeCall<'a> {
    #[inline]
    pub(crate) fn new(
        values: &'a [Value],
        function: &'a NativeFunction,
        limits: &'a ExecutionLimits,
        is_left_alone: bool,
    ) -> Self {
        let (types, scalar_count) = (&function.signature.arguments, function.scalar_count);
        let arguments = Arguments { values, types, scalar_count };
        Self { arguments, limits, is_left_alone, caller: None }
    }

    #[inline]
    pub(crate) fn called_by(self, caller: Option<Position>) -> Self {
        Self { caller, ..self }
    }

    /// The instruction that makes the call, if a debugger inspects the program.
    #[must_use]
    #[inline]
    pub fn caller(&self) -> Option<Position> {
        self.caller
    }

    /// Whether nothing inspects the program, may interrupt it, or counts its steps. Then a slow
    /// function need not be an activity.
    #[must_use]
    #[inline]
    pub fn is_left_alone(&self) -> bool {
        self.is_left_alone
    }

    /// The bounds on the program.
    #[must_use]
    #[inline]
    pub fn limits(&self) -> &'a ExecutionLimits {
        self.limits
    }
}

impl<'a> std::ops::Deref for NativeCall<'a> {
    type Target = Arguments<'a>;

    #[inline]
    fn deref(&self) -> &Arguments<'a> {
        &self.arguments
    }
}

/// What a native function gives back.
pub enum NativeReturn {
    /// It is done; these are its results.
    Results(Vec<Value>),
    /// It is done; this is its only result, which most functions have.
    Result(Value),
    /// It waits for something outside. The invocation yields; the closure is asked again when the
    /// invocation runs again.
    Pending(Box<dyn FnMut() -> Result<NativeReturn, Status> + Send>),
    /// It runs in steps, as a frame of the stack until it is done.
    Activity(Box<dyn Activity>),
}

/// Rust values that can be the results of a native function.
pub trait IntoResults {
    /// The results, in the order of the signature.
    fn into_results(self) -> NativeReturn;
}

impl IntoResults for NativeReturn {
    fn into_results(self) -> NativeReturn {
        self
    }
}

impl IntoResults for Vec<Value> {
    fn into_results(self) -> NativeReturn {
        NativeReturn::Results(self)
    }
}

impl IntoResults for () {
    fn into_results(self) -> NativeReturn {
        NativeReturn::Results(Vec::new())
    }
}

macro_rules! single_result {
    ($($type:ty: $variant:ident),*) => {$(
        impl IntoResults for $type {
            fn into_results(self) -> NativeReturn {
                NativeReturn::Result(Value::$variant(self))
            }
        }
    )*};
}

single_result!(i32: I32, i64: I64, f32: F32, f64: F64, Ref: Ref);

/// What a native function does when it is called.
pub type Body = dyn Fn(NativeCall<'_>) -> Result<NativeReturn, Status> + Send + Sync;

/// A function of a native module.
pub(crate) struct NativeFunction {
    pub(crate) name: String,
    pub(crate) calling_convention: String,
    pub(crate) signature: Signature,
    /// The number of arguments before the first span.
    pub(super) scalar_count: usize,
    pub(crate) body: Box<Body>,
}
