//! Modules written in Rust.
//!
//! ```
//! use vm::NativeModule;
//!
//! let module = NativeModule::builder("arithmetic")
//!     .function("add", "0ii_i", |call| Ok(call.i32(0)?.wrapping_add(call.i32(1)?)))
//!     .function("sum", "0CiD_i", |call| {
//!         call.span(0)?.map(|tuple| tuple.i32(0)).sum::<Result<i32, _>>()
//!     })
//!     .build();
//! assert_eq!(module.name(), "arithmetic");
//! ```

use std::fmt;
use std::sync::Arc;

use abi::cconv::{Signature, ValueType};

use crate::activity::Activity;
use crate::buffer::Buffer;
use crate::invocation::Position;
use crate::limits::ExecutionLimits;
use crate::list::List;
use crate::status::Status;
use crate::value::{Object, Ref, Value};

/// Values that a native function was given: all its arguments, or one tuple of a span.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    values: &'a [Value],
    types: &'a [ValueType],
    /// How many stand before the first span: each of them is one value.
    scalar_count: usize,
}

/// What a native function gets.
#[derive(Clone, Copy, Debug)]
pub struct NativeCall<'a> {
    arguments: Arguments<'a>,
    limits: &'a ExecutionLimits,
    is_left_alone: bool,
    caller: Option<Position>,
}

impl<'a> NativeCall<'a> {
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

    pub(crate) fn called_by(self, caller: Option<Position>) -> Self {
        Self { caller, ..self }
    }

    /// The instruction that makes the call, where somebody looks at the program.
    #[must_use]
    pub fn caller(&self) -> Option<Position> {
        self.caller
    }

    /// Whether nobody looks at the program, may interrupt it, or counts its steps. Then a function
    /// that takes its time need not be an activity.
    #[must_use]
    pub fn is_left_alone(&self) -> bool {
        self.is_left_alone
    }

    /// The bounds on what the program may use.
    #[must_use]
    pub fn limits(&self) -> &'a ExecutionLimits {
        self.limits
    }
}

impl<'a> std::ops::Deref for NativeCall<'a> {
    type Target = Arguments<'a>;

    fn deref(&self) -> &Arguments<'a> {
        &self.arguments
    }
}

macro_rules! scalars {
    ($($name:ident: $type:ty, $variant:ident;)*) => {$(
        #[doc = concat!("Argument `index` as an `", stringify!($type), "`; a span counts as one argument.")]
        ///
        /// # Errors
        /// There is no such argument or it has another type.
        #[inline]
        pub fn $name(&self, index: usize) -> Result<$type, Status> {
            match self.value(index)? {
                Value::$variant(value) => Ok(*value),
                other => Err(mismatch(index, stringify!($type), other)),
            }
        }
    )*};
}

impl<'a> Arguments<'a> {
    /// All values in order. A span is its count as an `I32`, then its tuples flattened.
    #[must_use]
    pub fn values(&self) -> &'a [Value] {
        self.values
    }

    scalars! {
        i32: i32, I32;
        i64: i64, I64;
        f32: f32, F32;
        f64: f64, F64;
    }

    /// Argument `index` as a ref, which may be null.
    ///
    /// # Errors
    /// There is no such argument or it is no ref.
    #[inline]
    pub fn reference(&self, index: usize) -> Result<&'a Ref, Status> {
        match self.value(index)? {
            Value::Ref(value) => Ok(value),
            other => Err(mismatch(index, "ref", other)),
        }
    }

    /// Argument `index` as a buffer.
    ///
    /// # Errors
    /// There is no such argument, or it is null or no buffer.
    pub fn buffer(&self, index: usize) -> Result<&'a Arc<Buffer>, Status> {
        match self.reference(index)? {
            Ref::Buffer(buffer) => Ok(buffer),
            other => Err(wrong_ref(index, "vm.buffer", other)),
        }
    }

    /// Argument `index` as a list.
    ///
    /// # Errors
    /// There is no such argument, or it is null or no list.
    pub fn list(&self, index: usize) -> Result<&'a Arc<List>, Status> {
        match self.reference(index)? {
            Ref::List(list) => Ok(list),
            other => Err(wrong_ref(index, "vm.list", other)),
        }
    }

    /// Argument `index` as an object of Rust type `T`.
    ///
    /// # Errors
    /// There is no such argument, or it is null or something else.
    pub fn object<T: Object>(&self, index: usize) -> Result<&'a T, Status> {
        let value = self.reference(index)?;
        value.downcast().ok_or_else(|| wrong_ref(index, std::any::type_name::<T>(), value))
    }

    /// The tuples of the span that is argument `index`.
    ///
    /// # Errors
    /// There is no such argument or it is no span.
    pub fn span(
        &self,
        index: usize,
    ) -> Result<impl ExactSizeIterator<Item = Arguments<'a>> + use<'a>, Status> {
        let Some(ValueType::Span(types)) = self.types.get(index) else {
            return Err(Status::internal(format!("argument {index} is no span")));
        };
        let start = self.position(index);
        let count = span_count(self.values, start);
        let end = start + 1 + count * types.len();
        let values = self.values.get(start + 1..end).unwrap_or(&[]);
        // Tuples hold no spans.
        let tuple = move |values| Arguments { values, types, scalar_count: types.len() };
        Ok(values.chunks_exact(types.len()).map(tuple))
    }

    #[inline]
    fn value(&self, index: usize) -> Result<&'a Value, Status> {
        match self.values.get(index) {
            Some(value) if index < self.scalar_count => Ok(value),
            _ => self.value_behind_spans(index),
        }
    }

    fn value_behind_spans(&self, index: usize) -> Result<&'a Value, Status> {
        let value = match self.types.get(index) {
            Some(ValueType::Span(_)) | None => None,
            Some(_) => self.values.get(self.position(index)),
        };
        value.ok_or_else(|| {
            Status::internal(format!("the native function has no scalar argument {index}"))
        })
    }

    /// Where argument `index` is among the values.
    fn position(&self, index: usize) -> usize {
        self.types.iter().take(index).fold(0, |position, value_type| match value_type {
            ValueType::Span(tuple) => {
                position + 1 + span_count(self.values, position) * tuple.len()
            }
            _ => position + 1,
        })
    }
}

fn span_count(values: &[Value], position: usize) -> usize {
    match values.get(position) {
        Some(Value::I32(count)) => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

#[cold]
fn mismatch(index: usize, expected: &str, found: &Value) -> Status {
    Status::internal(format!("argument {index} is {}, not {expected}", found.value_type()))
}

#[cold]
fn wrong_ref(index: usize, expected: &str, found: &Ref) -> Status {
    Status::invalid_argument(format!("argument {index} is {}, not {expected}", found.type_name()))
}

/// What a native function gives back.
pub enum NativeReturn {
    /// It is done; these are its results.
    Results(Vec<Value>),
    /// It is done; this is its only result, which most functions have.
    Result(Value),
    /// It waits for something outside. The invocation yields; when it is run again, the closure is
    /// asked again.
    Pending(Box<dyn FnMut() -> Result<NativeReturn, Status> + Send>),
    /// It goes on in steps: a frame of the stack until it is done.
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

type Body = dyn Fn(NativeCall<'_>) -> Result<NativeReturn, Status> + Send + Sync;

/// A function of a native module.
pub(crate) struct NativeFunction {
    pub(crate) name: String,
    pub(crate) calling_convention: String,
    pub(crate) signature: Signature,
    /// How many arguments stand before the first span.
    scalar_count: usize,
    pub(crate) body: Box<Body>,
}

/// A module whose functions are Rust closures.
pub struct NativeModule {
    name: String,
    version: u32,
    pub(crate) functions: Vec<NativeFunction>,
}

impl NativeModule {
    /// Starts the declaration of a module.
    #[must_use]
    pub fn builder(name: &str) -> NativeModuleBuilder {
        NativeModuleBuilder {
            module: Self { name: name.to_owned(), version: 0, functions: Vec::new() },
        }
    }

    /// The namespace that its functions are found in.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version, which dependents may ask a minimum of.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The names of its functions with their calling conventions.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.functions
            .iter()
            .map(|function| (function.name.as_str(), function.calling_convention.as_str()))
    }
}

impl fmt::Debug for NativeModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeModule({})", self.name)
    }
}

/// Declares the functions of a native module.
pub struct NativeModuleBuilder {
    module: NativeModule,
}

impl NativeModuleBuilder {
    /// Sets the module's version.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.module.version = version;
        self
    }

    /// Adds a function with its calling convention. Several may have the same name with different
    /// calling conventions; imports find the one that fits.
    ///
    /// # Panics
    /// The calling convention is not one: a mistake in the declaration.
    #[must_use]
    pub fn function<R: IntoResults>(
        mut self,
        name: &str,
        calling_convention: &str,
        body: impl Fn(NativeCall<'_>) -> Result<R, Status> + Send + Sync + 'static,
    ) -> Self {
        let signature = Signature::parse(calling_convention)
            .unwrap_or_else(|error| panic!("declaration of {name}: {error}"));
        let is_span = |value_type: &ValueType| matches!(value_type, ValueType::Span(_));
        let types = &signature.arguments;
        let scalar_count = types.iter().position(is_span).unwrap_or(types.len());
        self.module.functions.push(NativeFunction {
            name: name.to_owned(),
            calling_convention: calling_convention.to_owned(),
            signature,
            scalar_count,
            body: Box::new(move |call| body(call).map(IntoResults::into_results)),
        });
        self
    }

    /// The finished module.
    #[must_use]
    pub fn build(self) -> NativeModule {
        self.module
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_behind_a_span_are_found() {
        let module =
            NativeModule::builder("test").function("test", "0iCiIDf_v", |_| Ok(())).build();
        let values = [
            Value::I32(7),
            Value::I32(2),
            Value::I32(1),
            Value::I64(10),
            Value::I32(2),
            Value::I64(20),
            Value::F32(0.5),
        ];
        let limits = ExecutionLimits::default();
        let call = NativeCall::new(&values, &module.functions[0], &limits, true);
        assert_eq!(call.i32(0), Ok(7));
        let tuples: Vec<_> = call
            .span(1)
            .unwrap()
            .map(|tuple| (tuple.i32(0).unwrap(), tuple.i64(1).unwrap()))
            .collect();
        assert_eq!(tuples, [(1, 10), (2, 20)]);
        assert_eq!(call.f32(2), Ok(0.5));
        assert!(call.i32(1).is_err());
        assert!(call.f32(3).is_err());
    }
}
