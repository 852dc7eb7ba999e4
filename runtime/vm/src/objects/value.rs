//! Values: what functions take and return, and the refs that registers, globals and lists hold.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use abi::cconv::ValueType;
use abi::scalar::Scalar;

use super::buffer::Buffer;
use super::list::List;
use super::types::{RefType, Type};
use crate::errors::Status;

/// An object of a native module: a HAL buffer, a fence, … The machine moves refs to it and compares
/// their identity; everything else is up to the module that made it.
pub trait Object: Any + Send + Sync + fmt::Debug {
    /// The type's name without `!`, such as `hal.buffer_view`.
    fn type_name(&self) -> &str;

    /// The object as `Any`, to get back to its Rust type.
    fn as_any(&self) -> &dyn Any;

    /// Its contents, as command lines print them below its type, with at most `max_element_count`
    /// elements.
    fn contents(&self, max_element_count: usize) -> Option<String> {
        let _ = max_element_count;
        None
    }

    /// What brings the object back to its present state, for going back in time.
    fn keep(&self) -> Kept {
        Kept::Constant
    }

    /// The memory of the object that bytecode can get at and write.
    fn storage(&self) -> Option<Arc<Buffer>> {
        None
    }
}

/// What an object keeps of its state.
pub enum Kept {
    /// Nothing: it never changes, or its owner keeps what changes.
    Constant,
    /// It is in a state that it cannot return to, such as half of a recording.
    Busy,
    /// What brings it back to the present state.
    State(Restore),
}

/// Brings an object back to an earlier state.
pub type Restore = Box<dyn Fn() + Send + Sync>;

/// A counted reference, or null.
#[derive(Clone, Default)]
pub enum Ref {
    /// Refers to nothing; is of every type.
    #[default]
    Null,
    /// `!vm.buffer`
    Buffer(Arc<Buffer>),
    /// `!vm.list`
    List(Arc<List>),
    /// An object of a native module.
    Object(Arc<dyn Object>),
}

impl Ref {
    /// A ref to an object of a native module.
    pub fn object(object: impl Object) -> Self {
        Self::Object(Arc::new(object))
    }

    /// Whether the ref is null.
    #[must_use]
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether both refer to the same object, or both are null.
    #[must_use]
    #[inline]
    pub fn is_same(&self, other: &Ref) -> bool {
        self.address() == other.address()
    }

    /// The address of the object, 0 for null: an identity, not for access.
    #[must_use]
    pub fn address(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Buffer(buffer) => Arc::as_ptr(buffer) as usize,
            Self::List(list) => Arc::as_ptr(list) as usize,
            Self::Object(object) => Arc::as_ptr(object).cast::<u8>() as usize,
        }
    }

    /// The number of refs to the object; 0 for null.
    #[must_use]
    pub fn reference_count(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Buffer(buffer) => Arc::strong_count(buffer),
            Self::List(list) => Arc::strong_count(list),
            Self::Object(object) => Arc::strong_count(object),
        }
    }

    /// The type's name without `!`; `null` for null.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Buffer(_) => "vm.buffer",
            Self::List(_) => "vm.list",
            Self::Object(object) => object.type_name(),
        }
    }

    /// The native object, if it is of Rust type `T`.
    #[must_use]
    #[inline]
    pub fn downcast<T: Object>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Object(object) => object.fmt(f),
            _ => write!(f, "!{}/0x{:x}", self.type_name(), self.address()),
        }
    }
}

/// An argument or a result of a function, or an element of a list.
#[derive(Clone, Debug)]
pub enum Value {
    /// A 32-bit integer; narrower integers are widened to it.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A reference.
    Ref(Ref),
}

impl Value {
    /// The calling-convention type.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::I32(_) => ValueType::I32,
            Self::I64(_) => ValueType::I64,
            Self::F32(_) => ValueType::F32,
            Self::F64(_) => ValueType::F64,
            Self::Ref(_) => ValueType::Ref,
        }
    }

    /// The number, if it is one.
    pub(super) fn as_scalar(&self) -> Option<Scalar> {
        match *self {
            Self::I32(value) => Some(Scalar::I32(value)),
            Self::I64(value) => Some(Scalar::I64(value)),
            Self::F32(value) => Some(Scalar::F32(value)),
            Self::F64(value) => Some(Scalar::F64(value)),
            Self::Ref(_) => None,
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::I32(value) => Self::I32(value),
            Scalar::I64(value) => Self::I64(value),
            Scalar::F32(value) => Self::F32(value),
            Scalar::F64(value) => Self::F64(value),
        }
    }
}

impl RefType {
    /// Whether `value` is null or of this type.
    #[must_use]
    pub fn accepts(&self, value: &Ref) -> bool {
        match (self, value) {
            (_, Ref::Null) | (Self::Any, _) => true,
            (Self::Buffer, Ref::Buffer(_)) | (Self::List, Ref::List(_)) => true,
            (Self::Object(name), Ref::Object(object)) => **name == *object.type_name(),
            _ => false,
        }
    }
}

/// Fails, in IREE's words, if a ref is of another type.
pub(crate) fn check_ref(ref_type: &RefType, value: &Ref) -> Result<(), Status> {
    if ref_type.accepts(value) {
        return Ok(());
    }
    Err(Status::invalid_argument(format!(
        "source ref type mismatch: a !{} where {ref_type} is expected",
        value.type_name()
    )))
}

/// Fails if a ref is not of the type that an instruction names.
#[inline]
pub(crate) fn check_type(ref_type: &Type, value: &Ref) -> Result<(), Status> {
    match ref_type {
        Type::Ref(ref_type) => check_ref(ref_type, value),
        Type::Variant => Ok(()),
        Type::Scalar(_) if value.is_null() => Ok(()),
        Type::Scalar(_) => Err(Status::invalid_argument("source ref type mismatch")),
    }
}
