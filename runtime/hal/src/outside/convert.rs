//! Values as plain data, and back.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use twox_hash::XxHash3_64;
use vm::{ExecutionLimits, Kept, List, Ref, Restore, Status, Type, Value};

use super::plain::{Change, Given, Place, Plain, PlainMemory, Write};
use super::seen::{DEEPEST, Known, Seen, addresses, elements_of, memory_of, plain_number};
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::memory::{Allocator, Buffer, BufferParameters, BufferView, Encoding};

/// What an argument is.
pub(super) fn given(value: &Value) -> Given {
    match value {
        Value::I32(value) => Given::I32(*value),
        Value::I64(value) => Given::I64(*value),
        Value::F32(value) => Given::F32(value.to_bits()),
        Value::F64(value) => Given::F64(value.to_bits()),
        Value::Ref(Ref::Null) => Given::Null,
        Value::Ref(reference) => {
            let mut digest = XxHash3_64::new();
            digest_object(&mut digest, reference, 0);
            Given::Contents(digest.finish())
        }
    }
}

fn digest_object(digest: &mut XxHash3_64, reference: &Ref, depth: usize) {
    digest.write(reference.type_name().as_bytes());
    if let Some(view) = reference.downcast::<BufferView>() {
        view.shape().iter().for_each(|length| digest.write_u64(*length));
        digest.write_u32(view.element_code());
    }
    if let Some(memory) = memory_of(reference) {
        digest.write(&memory.read(0, memory.len()));
    }
    match reference {
        Ref::Buffer(buffer) => digest.write(&buffer.read(0, buffer.len())),
        Ref::List(list) if depth < DEEPEST => {
            for element in elements_of(list) {
                match element {
                    Some(Value::Ref(element)) => digest_object(digest, &element, depth + 1),
                    Some(Value::I32(value)) => digest.write_i32(value),
                    Some(Value::I64(value)) => digest.write_i64(value),
                    Some(Value::F32(value)) => digest.write_u32(value.to_bits()),
                    Some(Value::F64(value)) => digest.write_u64(value.to_bits()),
                    None => digest.write_u8(0),
                }
            }
        }
        _ => {}
    }
}

/// An object that is given again itself: it belongs to something outside, or nothing but itself can
/// say what it is.
pub(super) struct KeptObject {
    path: Vec<u32>,
    object: Ref,
    restore: Option<Restore>,
}

/// Why a result cannot be given again, as what the call does.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum NotAgain {
    /// The object may be gone then.
    #[error("returns what it has kept of an earlier call")]
    Kept,
    #[error("returns lists that are nested more than {DEEPEST} levels deep")]
    TooDeep,
    /// The object, of this type, does something that nothing can repeat.
    #[error("returns a !{0}, which cannot be given again")]
    Busy(String),
}

/// Whether an object belongs to something outside, not to the program.
fn is_foreign(reference: &Ref) -> bool {
    match reference {
        Ref::Buffer(buffer) => buffer.is_foreign(),
        Ref::Object(_) => {
            memory_of(reference).is_none_or(|it| it.allocation().storage().is_foreign())
        }
        Ref::Null | Ref::List(_) => false,
    }
}

/// Results as plain data.
#[derive(Default)]
pub(super) struct Results {
    pub(super) plain: Vec<Plain>,
    pub(super) kept: Vec<KeptObject>,
    /// Where the device memory is that came with them.
    pub(super) addresses: Vec<Range<usize>>,
}

impl Results {
    /// The results of a call, which are seen by it.
    ///
    /// # Errors
    /// [`NotAgain`]: one of them cannot be given again.
    pub(super) fn of(call: u64, values: &[Value], seen: &mut Seen) -> Result<Self, NotAgain> {
        let mut results = Self::default();
        for (index, value) in values.iter().enumerate() {
            let place = Place { call, is_result: true, path: vec![index as u32] };
            let plain = results.plain_of(value, &place, seen)?;
            results.plain.push(plain);
        }
        Ok(results)
    }

    fn plain_of(
        &mut self,
        value: &Value,
        place: &Place,
        seen: &mut Seen,
    ) -> Result<Plain, NotAgain> {
        let reference = match plain_number(value) {
            Ok(plain) => return Ok(plain),
            Err(reference) => reference,
        };
        match seen.place_of(reference, place.call) {
            Known::There(place) => return Ok(Plain::Same(place)),
            Known::Perhaps if !is_foreign(reference) => return Err(NotAgain::Kept),
            _ => {}
        }
        if place.path.len() > DEEPEST {
            return Err(NotAgain::TooDeep);
        }
        match reference {
            Ref::List(list) => {
                seen.note(place, reference, false);
                let elements = elements_of(list).into_iter().enumerate().map(|(index, element)| {
                    let mut place = place.clone();
                    place.path.push(index as u32);
                    element.map(|element| self.plain_of(&element, &place, seen)).transpose()
                });
                let elements = elements.collect::<Result<_, NotAgain>>()?;
                Ok(Plain::List { element_type: list.element_type().to_string(), elements })
            }
            Ref::Buffer(buffer) => {
                if buffer.is_foreign() {
                    self.keep(reference, place)?;
                }
                seen.note(place, reference, buffer.is_foreign());
                Ok(Plain::Buffer(buffer.read(0, buffer.len())))
            }
            _ => {
                let count = self.kept.len();
                let plain = self.plain_object(reference, place, seen)?;
                seen.note(place, reference, self.kept.len() > count);
                Ok(plain)
            }
        }
    }

    fn plain_object(
        &mut self,
        reference: &Ref,
        place: &Place,
        seen: &Seen,
    ) -> Result<Plain, NotAgain> {
        let Some(buffer) = memory_of(reference) else {
            self.keep(reference, place)?;
            return Ok(Plain::Object(reference.type_name().to_owned()));
        };
        let memory = match seen.around(buffer, place.call) {
            Known::Perhaps => return Err(NotAgain::Kept),
            Known::There((place, offset)) => {
                let (offset, length) = (offset as u64, buffer.len() as u64);
                PlainMemory::Part { place, offset, length }
            }
            Known::Not => {
                if buffer.allocation().storage().is_foreign() {
                    self.keep(reference, place)?;
                }
                self.addresses.push(addresses(buffer));
                let BufferParameters { memory_type, usage, access } = *buffer.parameters();
                PlainMemory::Own {
                    bytes: buffer.read(0, buffer.len()),
                    memory_type: memory_type.0,
                    usage: usage.0,
                    access: access.0,
                }
            }
        };
        Ok(match reference.downcast::<BufferView>() {
            Some(view) => Plain::BufferView {
                memory,
                shape: view.shape().to_vec(),
                element_type: view.element_code(),
                encoding: view.encoding().0,
            },
            None => Plain::DeviceBuffer(memory),
        })
    }

    fn keep(&mut self, reference: &Ref, place: &Place) -> Result<(), NotAgain> {
        let restore = match reference {
            Ref::Object(object) => match object.keep() {
                Kept::Constant => None,
                Kept::State(restore) => Some(restore),
                Kept::Busy => {
                    return Err(NotAgain::Busy(reference.type_name().to_owned()));
                }
            },
            _ => None,
        };
        self.kept.push(KeptObject { path: place.path.clone(), object: reference.clone(), restore });
        Ok(())
    }
}

/// Makes values of plain data.
pub(super) struct Maker<'a> {
    pub(super) allocator: &'a Allocator,
    pub(super) limits: &'a ExecutionLimits,
    pub(super) seen: &'a mut Seen,
    pub(super) kept: &'a [KeptObject],
    /// Where device memory was made or changed.
    pub(super) addresses: Vec<Range<usize>>,
}

impl Maker<'_> {
    /// The results of a call, which are seen by it.
    ///
    /// # Errors
    /// There is no memory, or they are of another program.
    pub(super) fn results(&mut self, call: u64, plain: &[Plain]) -> Result<Vec<Value>, Status> {
        let results = plain.iter().enumerate().map(|(index, plain)| {
            let place = Place { call, is_result: true, path: vec![index as u32] };
            self.value(plain, &place)
        });
        results.collect()
    }

    fn value(&mut self, plain: &Plain, place: &Place) -> Result<Value, Status> {
        Ok(match plain {
            Plain::I32(value) => Value::I32(*value),
            Plain::I64(value) => Value::I64(*value),
            Plain::F32(bits) => Value::F32(f32::from_bits(*bits)),
            Plain::F64(bits) => Value::F64(f64::from_bits(*bits)),
            Plain::Null => Value::Ref(Ref::Null),
            Plain::Same(place) => Value::Ref(self.seen.object_at(place).ok_or_else(gone)?),
            Plain::List { element_type, elements } => {
                Value::Ref(self.list(element_type, elements, place)?)
            }
            _ => {
                let kept = self.kept.iter().find(|it| it.path == place.path);
                let object = match kept {
                    Some(kept) => again(kept, plain)?,
                    None => self.object(plain)?,
                };
                let is_own = |memory: &PlainMemory| matches!(memory, PlainMemory::Own { .. });
                if let Plain::DeviceBuffer(memory) | Plain::BufferView { memory, .. } = plain
                    && is_own(memory)
                {
                    self.addresses.extend(memory_of(&object).map(addresses));
                }
                self.seen.note(place, &object, kept.is_some());
                Value::Ref(object)
            }
        })
    }

    fn list(
        &mut self,
        element_type: &str,
        elements: &[Option<Plain>],
        place: &Place,
    ) -> Result<Ref, Status> {
        let element_type = Type::parse(element_type)
            .ok_or_else(|| Status::internal(format!("no lists have elements of {element_type}")))?;
        let list = Arc::new(List::new(element_type, self.limits));
        let reference = Ref::List(list.clone());
        self.seen.note(place, &reference, false);
        list.resize(elements.len())?;
        for (index, element) in elements.iter().enumerate() {
            let Some(element) = element else { continue };
            let mut place = place.clone();
            place.path.push(index as u32);
            list.set(index, self.value(element, &place)?)?;
        }
        Ok(reference)
    }

    fn object(&self, plain: &Plain) -> Result<Ref, Status> {
        match plain {
            Plain::Buffer(bytes) => Ok(Ref::Buffer(Arc::new(vm::Buffer::from_bytes(bytes)?))),
            Plain::DeviceBuffer(memory) => Ok(Ref::object(self.memory(memory)?)),
            Plain::BufferView { memory, shape, element_type, encoding } => {
                let (buffer, encoding) = (self.memory(memory)?, Encoding(*encoding));
                Ok(Ref::object(BufferView::new(buffer, shape.clone(), *element_type, encoding)))
            }
            Plain::Object(name) => Err(Status::failed_precondition(format!(
                "a !{name} came from outside, which cannot be made again"
            ))),
            _ => Err(gone()),
        }
    }

    fn memory(&self, memory: &PlainMemory) -> Result<Buffer, Status> {
        match memory {
            PlainMemory::Own { bytes, memory_type, usage, access } => {
                let parameters = BufferParameters {
                    memory_type: MemoryType(*memory_type),
                    usage: BufferUsage(*usage),
                    access: MemoryAccess(*access),
                };
                self.allocator.import(bytes, parameters, self.limits)
            }
            PlainMemory::Part { place, offset, length } => {
                self.seen.memory_at(place).ok_or_else(gone)?.subspan(*offset, *length)
            }
        }
    }

    /// Makes a change again. What is gone needs none.
    ///
    /// # Errors
    /// The object cannot take it.
    pub(super) fn change(&mut self, write: &Write) -> Result<(), Status> {
        match &write.change {
            Change::Bytes { offset, bytes } => {
                if let Some(memory) = self.seen.memory_at(&write.place) {
                    let start = addresses(&memory).start + *offset as usize;
                    self.addresses.push(start..start + bytes.len());
                    return memory.write(*offset as usize, bytes);
                }
                match self.seen.object_at(&write.place) {
                    Some(Ref::Buffer(buffer)) => buffer.write(*offset as usize, bytes),
                    _ => Ok(()),
                }
            }
            Change::Elements(elements) => {
                let Some(Ref::List(list)) = self.seen.object_at(&write.place) else {
                    return Ok(());
                };
                list.resize(0)?;
                list.resize(elements.len())?;
                for (index, element) in elements.iter().enumerate() {
                    let value = match element {
                        None => continue,
                        Some(Plain::I32(value)) => Value::I32(*value),
                        Some(Plain::I64(value)) => Value::I64(*value),
                        Some(Plain::F32(bits)) => Value::F32(f32::from_bits(*bits)),
                        Some(Plain::F64(bits)) => Value::F64(f64::from_bits(*bits)),
                        Some(_) => Value::Ref(Ref::Null),
                    };
                    list.set(index, value)?;
                }
                Ok(())
            }
        }
    }
}

/// A kept object, as it was when it was given first.
fn again(kept: &KeptObject, plain: &Plain) -> Result<Ref, Status> {
    if let Some(restore) = &kept.restore {
        restore();
    }
    match (plain, &kept.object) {
        (Plain::Buffer(bytes), Ref::Buffer(buffer)) if buffer.read(0, buffer.len()) != *bytes => {
            buffer.write(0, bytes)?;
        }
        (
            Plain::DeviceBuffer(PlainMemory::Own { bytes, .. })
            | Plain::BufferView { memory: PlainMemory::Own { bytes, .. }, .. },
            object,
        ) => {
            if let Some(buffer) = memory_of(object).filter(|it| it.read(0, it.len()) != *bytes) {
                buffer.write(0, bytes)?;
            }
        }
        _ => {}
    }
    Ok(kept.object.clone())
}

fn gone() -> Status {
    Status::internal("something outside has returned an object that is gone")
}
