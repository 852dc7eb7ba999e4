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

use abi::cconv::{Signature, ValueType};

use super::call::{Body, IntoResults, NativeCall, NativeFunction, NativeReturn};
use crate::errors::Status;

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

    /// The same module, with each call made by `around`: it gets the name of the function, the
    /// call, and the function itself.
    #[must_use]
    pub fn around<F>(mut self, around: F) -> Self
    where
        F: Fn(&str, NativeCall<'_>, &Body) -> Result<NativeReturn, Status>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        for function in &mut self.functions {
            let nothing: Box<Body> = Box::new(|_| Ok(NativeReturn::Results(Vec::new())));
            let body = std::mem::replace(&mut function.body, nothing);
            let (around, name) = (around.clone(), function.name.clone());
            function.body = Box::new(move |call| around(&name, call, &*body));
        }
        self
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

    /// Adds a function with its calling convention. Several functions may share a name and differ
    /// in calling convention; an import finds the one that matches.
    ///
    /// # Panics
    /// The text is not a calling convention: a mistake in the declaration.
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
    use crate::limits::ExecutionLimits;
    use crate::native::call::NativeCall;
    use crate::objects::Value;

    #[test]
    fn calls_are_made_by_what_is_around_a_module() {
        let module = NativeModule::builder("test")
            .function("twice", "0i_i", |call| call.i32(0).map(|value| 2 * value));
        let module = module.build().around(|name, call, body| match call.i32(0)? {
            0 => Err(Status::invalid_argument(name)),
            _ => body(call),
        });
        let limits = ExecutionLimits::default();
        let called = |value| {
            let values = [Value::I32(value)];
            let call = NativeCall::new(&values, &module.functions[0], &limits, true);
            match (module.functions[0].body)(call) {
                Ok(NativeReturn::Result(Value::I32(result))) => Ok(result),
                Ok(_) => panic!("no result"),
                Err(status) => Err(status.message),
            }
        };
        assert_eq!((called(3), called(0)), (Ok(6), Err("twice".to_owned())));
    }

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
