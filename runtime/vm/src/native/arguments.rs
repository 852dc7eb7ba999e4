//! The arguments of a native function.

use std::sync::Arc;

use abi::cconv::ValueType;

use crate::errors::Status;
use crate::objects::{Buffer, List, Object, Ref, Value};

/// Values that a native function was given: all its arguments, or one tuple of a span.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    pub(super) values: &'a [Value],
    pub(super) types: &'a [ValueType],
    /// The number of arguments before the first span; each is one value.
    pub(super) scalar_count: usize,
}

macro_rules! scalars {
    ($($name:ident: $type:ty, $variant:ident;)*) => {$(
        #[doc = concat!("Argument `index` as an `", stringify!($type), "`.")]
        ///
        /// A span counts as one argument.
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
    #[inline]
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
    /// There is no such argument or it is not a ref.
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
    /// There is no such argument, it is null, or it is not a buffer.
    #[inline]
    pub fn buffer(&self, index: usize) -> Result<&'a Arc<Buffer>, Status> {
        match self.reference(index)? {
            Ref::Buffer(buffer) => Ok(buffer),
            other => Err(wrong_ref(index, "vm.buffer", other)),
        }
    }

    /// Argument `index` as a list.
    ///
    /// # Errors
    /// There is no such argument, it is null, or it is not a list.
    #[inline]
    pub fn list(&self, index: usize) -> Result<&'a Arc<List>, Status> {
        match self.reference(index)? {
            Ref::List(list) => Ok(list),
            other => Err(wrong_ref(index, "vm.list", other)),
        }
    }

    /// Argument `index` as an object of Rust type `T`.
    ///
    /// # Errors
    /// There is no such argument, it is null, or it is of another type.
    pub fn object<T: Object>(&self, index: usize) -> Result<&'a T, Status> {
        let value = self.reference(index)?;
        value.downcast().ok_or_else(|| wrong_ref(index, std::any::type_name::<T>(), value))
    }

    /// The tuples of the span that is argument `index`.
    ///
    /// # Errors
    /// There is no such argument or it is not a span.
    pub fn span(
        &self,
        index: usize,
    ) -> Result<impl ExactSizeIterator<Item = Arguments<'a>> + use<'a>, Status> {
        let Some(ValueType::Span(types)) = self.types.get(index) else {
            return Err(Status::internal(format!("argument {index} is not a span")));
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

    #[inline]
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
    #[inline]
    fn position(&self, index: usize) -> usize {
        self.types.iter().take(index).fold(0, |position, value_type| match value_type {
            ValueType::Span(tuple) => {
                position + 1 + span_count(self.values, position) * tuple.len()
            }
            _ => position + 1,
        })
    }
}

#[inline]
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
