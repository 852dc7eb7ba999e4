//! Modules written in Rust.
//!
//! ```
//! use vm::NativeModule;
//!
//! let module = NativeModule::builder("arithmetic")
//!     .function("add", "0ii_i", |call| Ok(call.i32(0)?.wrapping_add(call.i32(1)?)))
//!     .build();
//! assert_eq!(module.name(), "arithmetic");
//! ```

use crate::status::Status;
use crate::value::{Ref, Value};

/// What a native function gets: its arguments.
#[derive(Debug)]
pub struct NativeCall<'a> {
    arguments: &'a [Value],
}

impl<'a> NativeCall<'a> {
    /// All arguments in order. A span is its count as an `I32`, then its tuples flattened.
    #[must_use]
    pub fn arguments(&self) -> &'a [Value] {
        self.arguments
    }

    /// Argument `index` as an i32.
    ///
    /// # Errors
    /// There is no such argument or it has another type: the function's declaration is wrong.
    pub fn i32(&self, index: usize) -> Result<i32, Status> {
        match self.arguments.get(index) {
            Some(Value::I32(value)) => Ok(*value),
            _ => Err(Status::internal(format!("argument {index} is no i32"))),
        }
    }
}

/// What a native function gives back.
pub enum NativeReturn {
    /// It is done; these are its results.
    Results(Vec<Value>),
    /// It waits for something outside. The invocation yields; when it is run again, the closure is
    /// asked again.
    Pending(Box<dyn FnMut() -> Result<NativeReturn, Status> + Send>),
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
                NativeReturn::Results(vec![Value::$variant(self)])
            }
        }
    )*};
}

single_result!(i32: I32, i64: I64, f32: F32, f64: F64, Ref: Ref);

type NativeFunction = dyn Fn(&mut NativeCall<'_>) -> Result<NativeReturn, Status> + Send + Sync;

/// A module whose functions are Rust closures.
pub struct NativeModule {
    name: String,
    functions: Vec<(String, String, Box<NativeFunction>)>,
}

impl NativeModule {
    /// Starts the declaration of a module.
    #[must_use]
    pub fn builder(name: &str) -> NativeModuleBuilder {
        NativeModuleBuilder { module: Self { name: name.to_owned(), functions: Vec::new() } }
    }

    /// The namespace that its functions are found in.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Declares the functions of a native module.
pub struct NativeModuleBuilder {
    module: NativeModule,
}

impl NativeModuleBuilder {
    /// Adds a function with its calling convention.
    #[must_use]
    pub fn function<R: IntoResults>(
        mut self,
        name: &str,
        calling_convention: &str,
        body: impl Fn(&mut NativeCall<'_>) -> Result<R, Status> + Send + Sync + 'static,
    ) -> Self {
        self.module.functions.push((
            name.to_owned(),
            calling_convention.to_owned(),
            Box::new(move |call| body(call).map(IntoResults::into_results)),
        ));
        self
    }

    /// The finished module.
    #[must_use]
    pub fn build(self) -> NativeModule {
        self.module
    }
}
