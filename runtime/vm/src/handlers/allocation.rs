//! The slow half of instructions on refs: finding an object, making one, reporting what is wrong.

use std::sync::Arc;

use crate::errors::Status;
use crate::limits::ExecutionLimits;
use crate::objects::{Buffer, List, Makes, Ref, Type};

/// The buffer that a ref refers to. As in IREE, a ref of another type is as good as null here.
#[inline(always)]
pub(crate) fn buffer<'a>(value: &'a Ref, role: &str) -> Result<&'a Buffer, Status> {
    match value {
        Ref::Buffer(buffer) => Ok(buffer),
        _ => Err(is_null(role)),
    }
}

/// The list that a ref refers to.
#[inline(always)]
pub(crate) fn list(value: &Ref) -> Result<&List, Status> {
    match value {
        Ref::List(list) => Ok(list),
        _ => Err(is_null("list")),
    }
}

#[cold]
fn is_null(role: &str) -> Status {
    Status::invalid_argument(format!("{role} is null"))
}

/// How much memory a program may have, and what it has made.
type Memory<'a> = (&'a ExecutionLimits, &'a Makes);

/// `vm.buffer.alloc`
pub(crate) fn new_buffer(
    length: i64,
    alignment: i32,
    (limits, makes): Memory<'_>,
) -> Result<Ref, Status> {
    let (length, alignment) = (size(length), alignment.cast_unsigned() as usize);
    let fresh = || Buffer::alloc(length, alignment, limits);
    Ok(Ref::Buffer(Arc::new(makes.make(length, fresh)?)))
}

/// `vm.buffer.clone`
pub(crate) fn clone_buffer(
    source: &Buffer,
    (offset, length): (i64, i64),
    alignment: i32,
    (limits, makes): Memory<'_>,
) -> Result<Ref, Status> {
    let (offset, length) = (size(offset), size(length));
    source.check(offset, length)?;
    let alignment = alignment.cast_unsigned() as usize;
    let fresh = || Buffer::alloc(length, alignment, limits);
    let copy = makes.make(length, fresh)?;
    copy.copy_from(0, source, offset, length)?;
    Ok(Ref::Buffer(Arc::new(copy)))
}

/// `vm.list.alloc`
pub(crate) fn new_list(
    element_type: Type,
    capacity: usize,
    (limits, makes): Memory<'_>,
) -> Result<Ref, Status> {
    let list = makes.make_list(element_type, |of| List::new(of, limits));
    list.reserve(capacity)?;
    Ok(Ref::List(list))
}

/// A size that a program gives; one too large for the host exceeds any limit.
fn size(value: i64) -> usize {
    usize::try_from(value.cast_unsigned()).unwrap_or(usize::MAX)
}
