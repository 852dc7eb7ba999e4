//! `!vm.list`: a growable sequence, typed or variant.
//!
//! Rules and messages are IREE's (`vm/list.c`): values convert between integer widths and between
//! float widths when they are read or written as another type; any other conversion gives 0. A
//! variant list keeps values as they are. A list is shared by reference, possibly between threads.
//! Numbers need no lock (see `number_list` and `atomic_cells`); refs and variants are under one,
//! which is never contended while one invocation runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::number_list::Numbers;
use super::types::{ScalarType, Type};
use super::value::{Ref, Value, check_ref};
use crate::errors::Status;
use crate::limits::{Charge, ExecutionLimits};

/// The type of a list's elements.
pub type ElementType = Type;

/// A list.
#[derive(Debug)]
pub struct List {
    element_type: ElementType,
    maximum_size: usize,
    element_size: usize,
    charge: Charge,
    elements: Elements,
}

/// The elements.
#[derive(Debug)]
enum Elements {
    Numbers(Numbers),
    Refs(Mutex<Vec<Ref>>),
    Variants(Mutex<Vec<Option<Value>>>),
}

impl List {
    /// An empty list.
    #[must_use]
    pub fn new(element_type: ElementType, limits: &ExecutionLimits) -> Self {
        let (elements, element_size) = match &element_type {
            Type::Scalar(scalar) => {
                let size = match scalar {
                    ScalarType::I64 | ScalarType::F64 => size_of::<u64>(),
                    _ => size_of::<u32>(),
                };
                (Elements::Numbers(Numbers::new(*scalar)), size)
            }
            Type::Ref(_) => (Elements::Refs(Mutex::default()), size_of::<Ref>()),
            Type::Variant => (Elements::Variants(Mutex::default()), size_of::<Option<Value>>()),
        };
        let maximum_size = limits.allocation_bytes / element_size;
        let charge = limits.memory.charge_anyway(size_of::<Self>());
        Self { element_type, maximum_size, element_size, charge, elements }
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> &ElementType {
        &self.element_type
    }

    /// The number of elements.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match &self.elements {
            Elements::Numbers(numbers) => numbers.len(),
            Elements::Refs(refs) => lock(refs).len(),
            Elements::Variants(variants) => lock(variants).len(),
        }
    }

    /// Whether the list has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index` in its own type (narrow integers widened); `None` past the end and
    /// for a variant element that was never set.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value> {
        match &self.elements {
            Elements::Numbers(numbers) => numbers.get(index).map(Value::from),
            Elements::Refs(refs) => lock(refs).get(index).cloned().map(Value::Ref),
            Elements::Variants(variants) => lock(variants).get(index).cloned().flatten(),
        }
    }

    /// Changes the element at `index`; values convert to the list's element type.
    ///
    /// # Errors
    /// The index is out of bounds or the list does not hold values of that type.
    pub fn set(&self, index: usize, value: Value) -> Result<(), Status> {
        match value {
            Value::Ref(value) => self.set_ref(index, value),
            value => self.set_value(index, value),
        }
    }

    /// Adds an element at the end.
    ///
    /// # Errors
    /// The list may not grow or does not hold values of that type.
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
        let is_there = match &self.elements {
            _ if capacity > self.maximum_size => None,
            Elements::Numbers(numbers) => self.make_room_for_numbers(numbers, capacity),
            Elements::Refs(refs) => {
                self.pay_for(capacity).and_then(|()| make_room(&mut lock(refs), capacity))
            }
            Elements::Variants(variants) => {
                self.pay_for(capacity).and_then(|()| make_room(&mut lock(variants), capacity))
            }
        };
        is_there.ok_or_else(|| self.too_large(capacity))
    }

    /// Cuts the list short, or extends it with zeros, nulls or unset variants.
    ///
    /// # Errors
    /// There is no room.
    pub fn resize(&self, size: usize) -> Result<(), Status> {
        let is_there = match &self.elements {
            _ if size > self.maximum_size => None,
            Elements::Numbers(numbers) => self.resize_numbers(numbers, size),
            _ if size > self.len() && self.pay_for(size).is_none() => None,
            Elements::Refs(refs) => resize(refs, size),
            Elements::Variants(variants) => resize(variants, size),
        };
        is_there.ok_or_else(|| self.too_large(size))
    }

    fn resize_numbers(&self, numbers: &Numbers, size: usize) -> Option<()> {
        if numbers.resize_within(size) {
            return Some(());
        }
        // Reserves more than is asked for, within the limit, for lists that grow one by one.
        let roomy = numbers.roomy(size).min(self.maximum_size);
        self.make_room_for_numbers(numbers, roomy)
            .or_else(|| self.make_room_for_numbers(numbers, size))?;
        numbers.resize_within(size).then_some(())
    }

    fn make_room_for_numbers(&self, numbers: &Numbers, capacity: usize) -> Option<()> {
        self.pay(numbers.bytes_with(capacity))?;
        numbers.reserve(capacity)
    }

    /// Pays for the memory of `size` refs or variants, rounded up like the capacity of a growing
    /// list, unless that is more than the limit allows.
    fn pay_for(&self, size: usize) -> Option<()> {
        let bytes = |elements: usize| elements.saturating_mul(self.element_size);
        let rounded = size.checked_next_power_of_two().unwrap_or(size);
        self.pay(bytes(rounded)).or_else(|| self.pay(bytes(size)))
    }

    #[cold]
    fn too_large(&self, size: usize) -> Status {
        self.charge.limit().too_much(format_args!("a list of {size} elements"))
    }

    /// Pays for `bytes` of elements, until the list is dropped.
    fn pay(&self, bytes: usize) -> Option<()> {
        self.charge.grow_to(bytes.saturating_add(size_of::<Self>())).then_some(())
    }

    /// The numbers, if it holds numbers.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> Option<&Numbers> {
        match &self.elements {
            Elements::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The element at `index` as an i32.
    pub(crate) fn get_i32(&self, index: usize) -> Result<i32, Status> {
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
        let size = self.len();
        if index >= size {
            return Err(out_of_bounds(index, size));
        }
        match &self.elements {
            Elements::Numbers(numbers) => {
                if let Some(number) = value.as_scalar() {
                    numbers.set(index, number);
                }
            }
            Elements::Variants(variants) => {
                if let Some(element) = lock(variants).get_mut(index) {
                    *element = Some(value);
                }
            }
            Elements::Refs(_) => {
                return Err(Status::failed_precondition("list cannot store values"));
            }
        }
        Ok(())
    }

    /// The ref at `index`; with `take` the element becomes null.
    pub(crate) fn get_ref(&self, index: usize, take: bool) -> Result<Ref, Status> {
        match &self.elements {
            Elements::Refs(refs) => {
                let mut refs = lock(refs);
                let size = refs.len();
                let element = refs.get_mut(index).ok_or_else(|| out_of_bounds(index, size))?;
                Ok(if take { std::mem::take(element) } else { element.clone() })
            }
            Elements::Variants(variants) => {
                let mut variants = lock(variants);
                let size = variants.len();
                let element = variants.get_mut(index).ok_or_else(|| out_of_bounds(index, size))?;
                match element {
                    None => Ok(Ref::Null),
                    Some(Value::Ref(value)) if take => {
                        let value = std::mem::take(value);
                        *element = None;
                        Ok(value)
                    }
                    Some(Value::Ref(value)) => Ok(value.clone()),
                    Some(_) => Err(Status::failed_precondition(format!(
                        "variant at index {index} is not a ref type"
                    ))),
                }
            }
            Elements::Numbers(numbers) if index >= numbers.len() => {
                Err(out_of_bounds(index, numbers.len()))
            }
            Elements::Numbers(_) => Err(Status::failed_precondition("list does not store refs")),
        }
    }

    /// Changes the ref at `index`.
    pub(crate) fn set_ref(&self, index: usize, value: Ref) -> Result<(), Status> {
        // The old element is dropped after the lock is released: it may be the last ref to a list
        // with further lists in it.
        let _old = match &self.elements {
            Elements::Refs(refs) => {
                let mut refs = lock(refs);
                let size = refs.len();
                let element = refs.get_mut(index).ok_or_else(|| out_of_bounds(index, size))?;
                if let Type::Ref(element_type) = &self.element_type {
                    check_ref(element_type, &value)?;
                }
                Some(Value::Ref(std::mem::replace(element, value)))
            }
            Elements::Variants(variants) => {
                let mut variants = lock(variants);
                let size = variants.len();
                let element = variants.get_mut(index).ok_or_else(|| out_of_bounds(index, size))?;
                element.replace(Value::Ref(value))
            }
            Elements::Numbers(numbers) if index >= numbers.len() => {
                return Err(out_of_bounds(index, numbers.len()));
            }
            Elements::Numbers(_) => {
                return Err(Status::failed_precondition("list cannot store refs"));
            }
        };
        Ok(())
    }
}

fn lock<T>(elements: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds the lock panics halfway through a change.
    elements.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lists can be nested to any depth. They are taken apart in a loop, as recursion would overflow
/// the host's stack.
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
    match &mut list.elements {
        Elements::Refs(refs) => {
            std::mem::take(refs.get_mut().unwrap_or_else(PoisonError::into_inner))
        }
        Elements::Variants(values) => values
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
            .filter_map(|value| match value {
                Some(Value::Ref(value)) => Some(value),
                _ => None,
            })
            .collect(),
        Elements::Numbers(_) => Vec::new(),
    }
}

fn make_room<T>(vector: &mut Vec<T>, capacity: usize) -> Option<()> {
    let additional = capacity.saturating_sub(vector.len());
    vector.try_reserve(additional).ok()
}

fn resize<T: Default>(elements: &Mutex<Vec<T>>, size: usize) -> Option<()> {
    let removed = {
        let mut vector = lock(elements);
        if size > vector.len() {
            make_room(&mut vector, size)?;
            vector.resize_with(size, T::default);
            return Some(());
        }
        vector.split_off(size)
    };
    // Dropped without the lock, as in `set_ref`.
    drop(removed);
    Some(())
}

#[cold]
fn out_of_bounds(index: usize, size: usize) -> Status {
    Status::out_of_range(format!("index {index} out of bounds ({size})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::StatusCode;

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
