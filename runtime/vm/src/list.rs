//! `!vm.list`: a growable sequence, typed or variant.
//!
//! Rules and messages are IREE's (`vm/list.c`): values convert between integer widths and between
//! float widths when they are read or written as another type, any other conversion gives 0; a
//! variant list keeps what it is given. A list is shared by reference, so its elements are behind a
//! lock, which nobody contends for while one invocation runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::ExecutionLimits;
use crate::status::Status;
use crate::types::{RefType, ScalarType, Type};
use crate::value::{Ref, Value};

/// What the elements of a list are.
pub type ElementType = Type;

/// A list.
#[derive(Debug)]
pub struct List {
    element_type: ElementType,
    maximum_size: usize,
    elements: Mutex<Elements>,
}

/// The elements, stored densely where they are of one type.
#[derive(Debug)]
enum Elements {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Ref(Vec<Ref>),
    Variant(Vec<Option<Value>>),
}

/// Does the same to the vector of whichever type.
macro_rules! each {
    ($elements:expr, $vector:ident => $body:expr) => {
        match $elements {
            Elements::I8($vector) => $body,
            Elements::I16($vector) => $body,
            Elements::I32($vector) => $body,
            Elements::I64($vector) => $body,
            Elements::F32($vector) => $body,
            Elements::F64($vector) => $body,
            Elements::Ref($vector) => $body,
            Elements::Variant($vector) => $body,
        }
    };
}

impl List {
    /// An empty list.
    #[must_use]
    pub fn new(element_type: ElementType, limits: &ExecutionLimits) -> Self {
        let elements = match &element_type {
            Type::Scalar(ScalarType::I8) => Elements::I8(Vec::new()),
            Type::Scalar(ScalarType::I16) => Elements::I16(Vec::new()),
            Type::Scalar(ScalarType::I32) => Elements::I32(Vec::new()),
            Type::Scalar(ScalarType::I64) => Elements::I64(Vec::new()),
            Type::Scalar(ScalarType::F32) => Elements::F32(Vec::new()),
            Type::Scalar(ScalarType::F64) => Elements::F64(Vec::new()),
            Type::Ref(_) => Elements::Ref(Vec::new()),
            Type::Variant => Elements::Variant(Vec::new()),
        };
        let element_size = each!(&elements, vector => size_of_element(vector));
        let maximum_size = limits.allocation_bytes / element_size;
        Self { element_type, maximum_size, elements: Mutex::new(elements) }
    }

    /// What the elements are.
    #[must_use]
    pub fn element_type(&self) -> &ElementType {
        &self.element_type
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(&*self.lock(), vector => vector.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index` in its own type (narrow integers widened); `None` past the end and for
    /// a variant element that was never set.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value> {
        match &*self.lock() {
            Elements::I8(vector) => vector.get(index).map(|value| Value::I32((*value).into())),
            Elements::I16(vector) => vector.get(index).map(|value| Value::I32((*value).into())),
            Elements::I32(vector) => vector.get(index).map(|value| Value::I32(*value)),
            Elements::I64(vector) => vector.get(index).map(|value| Value::I64(*value)),
            Elements::F32(vector) => vector.get(index).map(|value| Value::F32(*value)),
            Elements::F64(vector) => vector.get(index).map(|value| Value::F64(*value)),
            Elements::Ref(vector) => vector.get(index).cloned().map(Value::Ref),
            Elements::Variant(vector) => vector.get(index).cloned().flatten(),
        }
    }

    /// Changes the element at `index`; values convert to the list's element type.
    ///
    /// # Errors
    /// The index is out of bounds or the list does not hold what is given.
    pub fn set(&self, index: usize, value: Value) -> Result<(), Status> {
        match value {
            Value::Ref(value) => self.set_ref(index, value),
            value => self.set_value(index, value),
        }
    }

    /// Adds an element at the end.
    ///
    /// # Errors
    /// The list may not grow or does not hold what is given.
    pub fn push(&self, value: Value) -> Result<(), Status> {
        let index = self.len();
        self.resize(index + 1)?;
        self.set(index, value)
    }

    /// Makes room for elements to come.
    ///
    /// # Errors
    /// There is no room.
    pub fn reserve(&self, capacity: usize) -> Result<(), Status> {
        if capacity > self.maximum_size {
            return Err(too_large(capacity));
        }
        each!(&mut *self.lock(), vector => make_room(vector, capacity))
    }

    /// Cuts the list short, or extends it with zeros, nulls or unset variants.
    ///
    /// # Errors
    /// There is no room.
    pub fn resize(&self, size: usize) -> Result<(), Status> {
        // Under one lock: programs that build lists resize them for every element.
        each!(&mut *self.lock(), vector => {
            if size > vector.len() {
                if size > self.maximum_size {
                    return Err(too_large(size));
                }
                make_room(vector, size)?;
            }
            vector.resize_with(size, Default::default);
        });
        Ok(())
    }

    /// The element at `index` as an i32.
    pub(crate) fn get_i32(&self, index: usize) -> Result<i32, Status> {
        if let Elements::I32(vector) = &*self.lock() {
            let element = vector.get(index).copied();
            return element.ok_or_else(|| out_of_bounds(index, vector.len()));
        }
        Ok(match self.get_value(index)? {
            Value::I32(value) => value,
            Value::I64(value) => value as i32,
            _ => 0,
        })
    }

    /// The element at `index` as an i64.
    pub(crate) fn get_i64(&self, index: usize) -> Result<i64, Status> {
        Ok(match self.get_value(index)? {
            Value::I32(value) => value.into(),
            Value::I64(value) => value,
            _ => 0,
        })
    }

    /// The element at `index` as an f32.
    pub(crate) fn get_f32(&self, index: usize) -> Result<f32, Status> {
        Ok(match self.get_value(index)? {
            Value::F32(value) => value,
            Value::F64(value) => value as f32,
            _ => 0.0,
        })
    }

    /// The element at `index` as an f64.
    pub(crate) fn get_f64(&self, index: usize) -> Result<f64, Status> {
        Ok(match self.get_value(index)? {
            Value::F32(value) => value.into(),
            Value::F64(value) => value,
            _ => 0.0,
        })
    }

    pub(crate) fn fast_i32(&self, index: usize) -> Option<i32> {
        self.get_i32(index).ok()
    }

    pub(crate) fn set_fast_i32(&self, index: usize, value: i32) -> bool {
        self.set_value(index, Value::I32(value)).is_ok()
    }

    pub(crate) fn fast_i64(&self, index: usize) -> Option<i64> {
        self.get_i64(index).ok()
    }

    pub(crate) fn set_fast_i64(&self, index: usize, value: i64) -> bool {
        self.set_value(index, Value::I64(value)).is_ok()
    }

    pub(crate) fn fast_f32(&self, index: usize) -> Option<f32> {
        self.get_f32(index).ok()
    }

    pub(crate) fn set_fast_f32(&self, index: usize, value: f32) -> bool {
        self.set_value(index, Value::F32(value)).is_ok()
    }

    pub(crate) fn fast_f64(&self, index: usize) -> Option<f64> {
        self.get_f64(index).ok()
    }

    pub(crate) fn set_fast_f64(&self, index: usize, value: f64) -> bool {
        self.set_value(index, Value::F64(value)).is_ok()
    }

    fn get_value(&self, index: usize) -> Result<Value, Status> {
        let size = self.len();
        if index >= size {
            return Err(out_of_bounds(index, size));
        }
        match self.get(index) {
            Some(Value::Ref(_)) if self.element_type != Type::Variant => {
                Err(Status::failed_precondition("list does not store values"))
            }
            None | Some(Value::Ref(_)) => Err(Status::failed_precondition(format!(
                "variant at index {index} is not a value type"
            ))),
            Some(value) => Ok(value),
        }
    }

    fn set_value(&self, index: usize, value: Value) -> Result<(), Status> {
        let mut elements = self.lock();
        // What most lists hold.
        if let (Elements::I32(vector), Value::I32(value)) = (&mut *elements, &value) {
            let size = vector.len();
            let element = vector.get_mut(index).ok_or_else(|| out_of_bounds(index, size))?;
            *element = *value;
            return Ok(());
        }
        let size = each!(&*elements, vector => vector.len());
        if index >= size {
            return Err(out_of_bounds(index, size));
        }
        let integer = match value {
            Value::I32(value) => value.into(),
            Value::I64(value) => value,
            _ => 0,
        };
        let float = match value {
            Value::F32(value) => value.into(),
            Value::F64(value) => value,
            _ => 0.0,
        };
        match &mut *elements {
            Elements::I8(vector) => vector[index] = integer as i8,
            Elements::I16(vector) => vector[index] = integer as i16,
            Elements::I32(vector) => vector[index] = integer as i32,
            Elements::I64(vector) => vector[index] = integer,
            // Not by way of f64: that would quiet a signalling NaN.
            Elements::F32(vector) => {
                vector[index] = if let Value::F32(value) = value { value } else { float as f32 };
            }
            Elements::F64(vector) => vector[index] = float,
            Elements::Variant(vector) => vector[index] = Some(value),
            Elements::Ref(_) => {
                return Err(Status::failed_precondition("list cannot store values"));
            }
        }
        Ok(())
    }

    /// The ref at `index`; with `take` the element becomes null.
    pub(crate) fn get_ref(&self, index: usize, take: bool) -> Result<Ref, Status> {
        let mut elements = self.lock();
        let size = each!(&*elements, vector => vector.len());
        if index >= size {
            return Err(out_of_bounds(index, size));
        }
        match &mut *elements {
            Elements::Ref(vector) if take => Ok(std::mem::take(&mut vector[index])),
            Elements::Ref(vector) => Ok(vector[index].clone()),
            Elements::Variant(vector) => match &mut vector[index] {
                None => Ok(Ref::Null),
                Some(Value::Ref(value)) if take => {
                    let value = std::mem::take(value);
                    vector[index] = None;
                    Ok(value)
                }
                Some(Value::Ref(value)) => Ok(value.clone()),
                Some(_) => Err(Status::failed_precondition(format!(
                    "variant at index {index} is not a ref type"
                ))),
            },
            _ => Err(Status::failed_precondition("list does not store refs")),
        }
    }

    /// Changes the ref at `index`.
    pub(crate) fn set_ref(&self, index: usize, value: Ref) -> Result<(), Status> {
        let mut elements = self.lock();
        let size = each!(&*elements, vector => vector.len());
        if index >= size {
            return Err(out_of_bounds(index, size));
        }
        // The old element is dropped after the lock is released: it may be the last ref to a list
        // that holds others.
        let _old = match &mut *elements {
            Elements::Ref(vector) => {
                if let Type::Ref(element_type) = &self.element_type {
                    check_ref(element_type, &value)?;
                }
                Some(Value::Ref(std::mem::replace(&mut vector[index], value)))
            }
            Elements::Variant(vector) => vector[index].replace(Value::Ref(value)),
            _ => return Err(Status::failed_precondition("list cannot store refs")),
        };
        drop(elements);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Elements> {
        // Nothing panics while it holds the lock in a state that matters.
        self.elements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists can hold lists, to any depth that a program likes: they are taken apart in a loop, as
/// recursion would end on the host's stack.
impl Drop for List {
    fn drop(&mut self) {
        let mut refs = take_refs(self);
        while let Some(value) = refs.pop() {
            if let Ref::List(list) = value
                && let Some(mut list) = Arc::into_inner(list)
            {
                refs.append(&mut take_refs(&mut list));
            }
        }
    }
}

fn take_refs(list: &mut List) -> Vec<Ref> {
    match list.elements.get_mut().unwrap_or_else(PoisonError::into_inner) {
        Elements::Ref(refs) => std::mem::take(refs),
        Elements::Variant(values) => values
            .drain(..)
            .filter_map(|value| match value {
                Some(Value::Ref(value)) => Some(value),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// That a ref is of a type, in IREE's words.
pub(crate) fn check_ref(ref_type: &RefType, value: &Ref) -> Result<(), Status> {
    if ref_type.accepts(value) {
        return Ok(());
    }
    Err(Status::invalid_argument(format!(
        "source ref type mismatch: a !{} where {ref_type} is expected",
        value.type_name()
    )))
}

fn size_of_element<T>(_vector: &[T]) -> usize {
    size_of::<T>()
}

fn make_room<T>(vector: &mut Vec<T>, capacity: usize) -> Result<(), Status> {
    let additional = capacity.saturating_sub(vector.len());
    vector.try_reserve(additional).map_err(|_| too_large(capacity))
}

#[cold]
fn out_of_bounds(index: usize, size: usize) -> Status {
    Status::out_of_range(format!("index {index} out of bounds ({size})"))
}

#[cold]
fn too_large(size: usize) -> Status {
    Status::resource_exhausted(format!("a list of {size} elements exceeds the memory it may use"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::StatusCode;

    fn list(element_type: &str, size: usize) -> List {
        let list = List::new(Type::parse(element_type).unwrap(), &ExecutionLimits::default());
        list.resize(size).unwrap();
        list
    }

    #[test]
    fn values_convert_within_integers_and_within_floats() {
        let narrow = list("i8", 1);
        narrow.set(0, Value::I32(0x1FF)).unwrap();
        assert_eq!(narrow.get_i32(0), Ok(-1));
        assert_eq!(narrow.get_i64(0), Ok(-1));
        assert_eq!(narrow.get_f32(0), Ok(0.0));
        let float = list("f32", 1);
        float.set(0, Value::F64(0.5)).unwrap();
        assert_eq!((float.get_f32(0), float.get_f64(0)), (Ok(0.5), Ok(0.5)));
        float.set(0, Value::I32(1)).unwrap();
        assert_eq!(float.get_f32(0), Ok(0.0));
    }

    #[test]
    fn variants_keep_what_they_are_given() {
        let variants = list("?", 3);
        variants.set(0, Value::I64(1 << 40)).unwrap();
        assert_eq!(variants.get_i64(0), Ok(1 << 40));
        assert_eq!(variants.get_i32(0), Ok(0));
        assert_eq!(variants.get_i32(1).unwrap_err().code, StatusCode::FailedPrecondition);
        assert!(variants.get_ref(1, false).unwrap().is_null());
        assert_eq!(variants.get_ref(0, false).unwrap_err().code, StatusCode::FailedPrecondition);
        assert_eq!(
            variants.get_i32(3).unwrap_err().to_string(),
            "OUT_OF_RANGE; index 3 out of bounds (3)"
        );
    }

    #[test]
    fn typed_refs_are_checked() {
        let buffers = list("!vm.buffer", 1);
        let other = Ref::List(Arc::new(list("i32", 0)));
        assert_eq!(buffers.set_ref(0, other).unwrap_err().code, StatusCode::InvalidArgument);
        assert_eq!(buffers.get_i32(0).unwrap_err().code, StatusCode::FailedPrecondition);
    }

    #[test]
    fn a_long_chain_of_lists_is_dropped_without_recursion() {
        let mut chain = Ref::Null;
        let length = if cfg!(miri) { 200 } else { 200_000 };
        for _ in 0..length {
            let link = list("?", 1);
            link.set(0, Value::Ref(chain)).unwrap();
            chain = Ref::List(Arc::new(link));
        }
        drop(chain);
    }

    #[test]
    fn a_hostile_size_is_refused() {
        let list = list("i64", 0);
        assert_eq!(list.resize(usize::MAX).unwrap_err().code, StatusCode::ResourceExhausted);
        assert_eq!(list.reserve(1 << 40).unwrap_err().code, StatusCode::ResourceExhausted);
    }
}
