//! Calls of native code: converts VM values to descriptors (or bare pointers) and scalars, and
//! results to VM values.

use std::fmt::Display;
use std::sync::Arc;

use abi::element_type::ElementType;
use abi::mlir::descriptor::{Descriptor, byte_count};
use abi::mlir::llvm::Llvm;
use abi::mlir::lowering::{Lowered, Signature, convert};
use abi::mlir::types::{ArrayKeyword, write};
use abi::signature::{Array, Function, Layout, ScalarType, Type, Unrepresentable};
use abi::tensor::{Tensor, TensorType};
use hal::{BufferView, Host};
use vm::{Access, Ref, Status, Value};

use super::error::PassError;
use super::function::{Form, LibraryFunction};
use super::memory::{free, gather, invoke, read};
use crate::call::{Argument, Returns};

/// The `allocated` pointer that MLIR gives to constants, which are not freed.
const CONSTANT: u64 = 0xdead_beef;
/// The most bytes that are copied from one result.
const LARGEST: usize = 16 << 30;

/// A result as a buffer view of the host.
fn imported(host: &Host, tensor: &Tensor) -> Result<Ref, Status> {
    host.import_tensor(&tensor.tensor_type(), &tensor.bytes).map(Ref::object)
}

/// Refuses types that cannot be passed by this crate.
pub(super) fn check(function: &Function, lowered: &Lowered, form: Form) -> Result<(), PassError> {
    let signature = signature(lowered, form)?;
    if form == Form::BarePointers && function.results.len() > 1 {
        return Err(PassError::SeveralBareResults);
    }
    for slot in function.arguments.iter().chain(&function.results) {
        match &slot.ty {
            Type::Array(array) => {
                element(array)?;
                if array.memory_space.is_some() {
                    return Err(PassError::OtherMemory(slot.ty.to_string()));
                }
            }
            Type::Scalar(scalar) if register(scalar).is_some() => {}
            other => return Err(PassError::Type(other.to_string())),
        }
    }
    let placeholders: Vec<Argument> = signature
        .parameters
        .iter()
        .map(|parameter| match parameter.ty {
            Llvm::Float(_) => Argument::Float(0),
            _ => Argument::Integer(0),
        })
        .collect();
    if crate::call::can_pass(&placeholders) {
        return Ok(());
    }
    Err(if crate::call::IS_SUPPORTED { PassError::TooManyArguments } else { PassError::Platform })
}

/// The signature of the called function.
fn signature(lowered: &Lowered, form: Form) -> Result<&Signature, Unrepresentable> {
    match (form, &lowered.bare_pointers) {
        (Form::Descriptors, _) => Ok(&lowered.c_interface),
        (Form::BarePointers, Ok(signature)) => Ok(signature),
        (Form::BarePointers, Err(error)) => Err(error.clone()),
    }
}

/// The element type of buffer views for a memref.
fn element(array: &Array) -> Result<ElementType, PassError> {
    let Type::Scalar(scalar) = &*array.element else {
        return Err(PassError::Elements(array.element.to_string()));
    };
    let parsed = scalar.element_type().ok_or_else(|| PassError::Elements(scalar.to_string()))?;
    if parsed.is_packed() {
        return Err(PassError::Packed(scalar.to_string()));
    }
    Ok(parsed)
}

fn expected(expected: impl Display, found: impl Display) -> PassError {
    PassError::Expected { expected: expected.to_string(), found: found.to_string() }
}

/// The text of a type: `memref<?xf32>`.
fn memref(array: &Array) -> String {
    let mut text = String::new();
    let ty = Type::Array(array.clone());
    match write(&mut text, &ty, ArrayKeyword::Memref) {
        Ok(()) => text,
        Err(_) => ty.to_string(),
    }
}

/// How a scalar is passed and returned.
fn register(scalar: &ScalarType) -> Option<Returns> {
    match scalar {
        ScalarType::Index => Some(Returns::Integer),
        ScalarType::Integer(_, bits) if *bits <= 64 => Some(Returns::Integer),
        ScalarType::Float(16 | 32 | 64) => Some(Returns::Float),
        scalar if *scalar == ScalarType::BF16 => Some(Returns::Float),
        _ => None,
    }
}

/// Memory that must stay alive until the call is over.
#[derive(Default)]
struct Kept {
    /// Descriptors, boxed so that their addresses do not change.
    descriptors: Vec<Box<[u64]>>,
    /// The memory of arguments, as ranges of addresses. Results in it are not freed.
    ranges: Vec<(u64, u64)>,
    buffers: Vec<Arc<vm::Buffer>>,
}

impl Kept {
    fn keep(&mut self, words: Vec<u64>) -> u64 {
        self.descriptors.push(words.into_boxed_slice());
        self.descriptors.last().map_or(0, |words| words.as_ptr() as u64)
    }
}

/// Calls a function with VM values.
pub(super) fn call(
    host: &Host,
    called: &LibraryFunction,
    values: &[Value],
) -> Result<Vec<Value>, Status> {
    let LibraryFunction { name, function, lowered, form, address, .. } = called;
    let signature =
        signature(lowered, *form).map_err(|error| Status::unimplemented(error.to_string()))?;
    let mut kept = Kept::default();
    let mut arguments = Vec::new();
    let result_size = match (form, &lowered.expanded.result) {
        (Form::Descriptors, result @ Llvm::Struct(_)) => {
            result.size_and_alignment().map(|(size, _)| size as usize)
        }
        _ => None,
    };
    // In words, for the alignment.
    let mut result = vec![0_u64; result_size.unwrap_or(0).div_ceil(8)];
    if result_size.is_some() {
        arguments.push(Argument::Integer(result.as_mut_ptr() as u64));
    }
    for (index, (slot, value)) in function.arguments.iter().zip(values).enumerate() {
        let argument = match (&slot.ty, value) {
            (Type::Array(array), Value::Ref(reference)) => lend(&mut kept, array, reference, *form),
            (Type::Scalar(scalar), value) => scalar_argument(scalar, value),
            (ty, value) => Err(expected(ty, value.value_type())),
        };
        let argument = argument.map_err(|reason| {
            Status::invalid_argument(format!("@{name} args[{index}]: {reason}"))
        })?;
        arguments.push(argument);
    }
    let returns = match (&signature.result, function.results.first().map(|slot| &slot.ty)) {
        (Llvm::Void, _) => Returns::Nothing,
        (_, Some(Type::Scalar(scalar))) => register(scalar).unwrap_or(Returns::Integer),
        _ => Returns::Integer,
    };
    // SAFETY: the library has the function under the name of a C interface, or under its own name
    // if its text says that it takes bare pointers, and the user's text says that these are its
    // types. The caller keeps the library loaded, and `kept` keeps the memory that the arguments
    // point to.
    let returned = unsafe { invoke(*address, &arguments, returns) }.ok_or_else(|| {
        Status::unimplemented(format!("@{name} takes more arguments than can be passed"))
    })?;
    if let ([slot], Form::BarePointers) = (function.results.as_slice(), form)
        && let Type::Array(array) = &slot.ty
    {
        let tensor = bare_result(array, returned)
            .map_err(|reason| Status::internal(format!("@{name} results[0]: {reason}")))?;
        return Ok(vec![Value::Ref(imported(host, &tensor)?)]);
    }
    let bytes: Vec<u8> = result.iter().flat_map(|word| word.to_le_bytes()).collect();
    results(host, name, function, lowered, returned, &bytes, &kept)
}

/// A descriptor of a buffer view's memory; of a copy, if that may not be written.
fn lend(
    kept: &mut Kept,
    array: &Array,
    reference: &Ref,
    form: Form,
) -> Result<Argument, PassError> {
    let Some(view) = reference.downcast::<BufferView>() else {
        return Err(expected("a buffer view", format_args!("!{}", reference.type_name())));
    };
    let wanted = element(array)?;
    let found = ElementType::from_any_code(view.element_code());
    let tensor_type = TensorType { shape: view.shape().to_vec(), element_type: found };
    let fits = array.has_shape(view.shape());
    if wanted.bits != found.bits || !fits {
        return Err(expected(memref(array), tensor_type));
    }
    if let Layout::Strided { strides, offset } = &array.layout
        && (strides.iter().any(Option::is_some) || offset.is_some_and(|offset| offset != 0))
    {
        let shape: Vec<Option<u64>> = view.shape().iter().copied().map(Some).collect();
        let dense = Descriptor::dense(0, &sizes(&shape)?);
        let is_dense = dense
            .strides
            .iter()
            .zip(strides)
            .all(|(dense, wanted)| wanted.is_none_or(|wanted| wanted == *dense));
        if !is_dense || offset.is_some_and(|offset| offset != 0) {
            return Err(PassError::NotDense(memref(array)));
        }
    }
    let length = view.byte_length().ok_or(PassError::Uncountable)?;
    let buffer = view.buffer().view(0, length)?;
    let buffer = if buffer.access() == Access::ReadWrite {
        buffer
    } else {
        Arc::new(vm::Buffer::from_bytes(&buffer.read(0, length))?)
    };
    let address = buffer.address() as u64;
    let shape: Vec<Option<u64>> = view.shape().iter().copied().map(Some).collect();
    let words = Descriptor::dense(address, &sizes(&shape)?).words();
    kept.ranges.push((address, address + length as u64));
    kept.buffers.push(buffer);
    if form == Form::BarePointers {
        return Ok(Argument::Integer(address));
    }
    let descriptor = kept.keep(words);
    Ok(Argument::Integer(match array.shape {
        Some(_) => descriptor,
        None => kept.keep(vec![view.shape().len() as u64, descriptor]),
    }))
}

fn sizes(shape: &[Option<u64>]) -> Result<Vec<i64>, PassError> {
    let lengths = shape.iter().map(|length| i64::try_from(length.unwrap_or(0)).ok());
    lengths.collect::<Option<_>>().ok_or(PassError::Dimension)
}

fn scalar_argument(scalar: &ScalarType, value: &Value) -> Result<Argument, PassError> {
    let bits = scalar.bits();
    Ok(match (register(scalar), value) {
        // Narrow integers are extended, as some callees read the whole register.
        (Some(Returns::Integer), Value::I32(value)) => Argument::Integer(if bits == 1 {
            (*value & 1).cast_unsigned().into()
        } else {
            i64::from(*value).cast_unsigned()
        }),
        (Some(Returns::Integer), Value::I64(value)) => Argument::Integer(value.cast_unsigned()),
        (Some(Returns::Float), Value::F32(value)) if bits == 32 => {
            Argument::Float(value.to_bits().into())
        }
        (Some(Returns::Float), Value::F64(value)) if bits == 64 => Argument::Float(value.to_bits()),
        (Some(Returns::Float), Value::I32(raw)) if bits == 16 => {
            Argument::Float(u64::from(*raw as u16))
        }
        _ => return Err(expected(scalar, value.value_type())),
    })
}

fn scalar_result(scalar: &ScalarType, raw: u64) -> Value {
    let bits = scalar.bits();
    match scalar {
        ScalarType::Float(32) => Value::F32(f32::from_bits(raw as u32)),
        ScalarType::Float(64) => Value::F64(f64::from_bits(raw)),
        ScalarType::Float(_) | ScalarType::SpecialFloat(_) => Value::I32(i32::from(raw as u16)),
        _ if bits > 32 => Value::I64(raw.cast_signed()),
        ScalarType::Integer(_, 1) => Value::I32((raw & 1) as i32),
        _ => {
            let unused = 32 - bits.min(32);
            Value::I32((raw as u32).cast_signed() << unused >> unused)
        }
    }
}

fn results(
    host: &Host,
    name: &str,
    function: &Function,
    lowered: &Lowered,
    returned: u64,
    bytes: &[u8],
    kept: &Kept,
) -> Result<Vec<Value>, Status> {
    let single = function.results.len() == 1;
    if let (true, Some(Type::Scalar(scalar))) =
        (single, function.results.first().map(|slot| &slot.ty))
    {
        return Ok(vec![scalar_result(scalar, returned)]);
    }
    let offsets = match &lowered.expanded.result {
        result @ Llvm::Struct(_) if !single => {
            result.field_offsets().map(|(offsets, ..)| offsets).unwrap_or_default()
        }
        _ => vec![0; function.results.len()],
    };
    let mut values = Vec::new();
    let mut blocks = Vec::new();
    let mut failure = None;
    for (index, (slot, offset)) in function.results.iter().zip(offsets).enumerate() {
        let field = bytes.get(offset as usize..).unwrap_or_default();
        match &slot.ty {
            Type::Scalar(scalar) => {
                let size = convert(&slot.ty)
                    .ok()
                    .and_then(|llvm| llvm.size_and_alignment())
                    .map_or(0, |(size, _)| size);
                let raw = field
                    .iter()
                    .take(size as usize)
                    .rev()
                    .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
                values.push(scalar_result(scalar, raw));
            }
            Type::Array(array) => match take(array, field, kept, &mut blocks) {
                Ok(tensor) => values.push(Value::Ref(imported(host, &tensor)?)),
                Err(reason) => {
                    failure.get_or_insert(format!("@{name} results[{index}]: {reason}"));
                }
            },
            _ => {}
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    for block in blocks {
        // SAFETY: by convention, the receiver of a memref frees its allocated block. The block is
        // not an argument's memory or a constant, its elements were copied, and it is in the list
        // only once.
        unsafe { free(block) };
    }
    match failure {
        Some(message) => Err(Status::internal(message)),
        None => Ok(values),
    }
}

/// Copies the tensor at a returned pointer, whose type gives the whole shape.
fn bare_result(array: &Array, address: u64) -> Result<Tensor, PassError> {
    let element_type = element(array)?;
    let sizes = sizes(array.shape.as_deref().unwrap_or_default())?;
    let mut descriptor = Descriptor::dense(address, &sizes);
    if let Layout::Strided { strides, offset } = &array.layout {
        descriptor.strides = strides.iter().map(|stride| stride.unwrap_or(0)).collect();
        descriptor.offset = offset.unwrap_or(0);
    }
    let count = descriptor.element_count()?;
    let bytes = elements(&descriptor, count, element_type.byte_count())?;
    Ok(Tensor { shape: lengths(&sizes), element_type, bytes })
}

/// Copies the elements of a descriptor.
fn elements(descriptor: &Descriptor, count: usize, size: usize) -> Result<Vec<u8>, PassError> {
    if count > LARGEST / size.max(1) {
        return Err(PassError::Implausible(count));
    }
    let mut bytes = Vec::new();
    if descriptor.span()?.is_some() {
        // SAFETY: the library has returned the descriptor, and so vouches for its elements; their
        // number is plausible, and their span does not overflow.
        unsafe { gather(descriptor.aligned, size, descriptor.positions(count), &mut bytes) };
    }
    Ok(bytes)
}

fn lengths(sizes: &[i64]) -> Vec<u64> {
    sizes.iter().map(|size| size.cast_unsigned()).collect()
}

/// Copies the tensor of a returned descriptor, and adds the blocks to free to `blocks`.
fn take(
    array: &Array,
    field: &[u8],
    kept: &Kept,
    blocks: &mut Vec<u64>,
) -> Result<Tensor, PassError> {
    let element_type = element(array)?;
    let descriptor = match &array.shape {
        Some(shape) => Descriptor::read(field, shape.len())?,
        None => {
            let (rank, address) = Descriptor::read_unranked(field)?;
            let is_ours = kept.descriptors.iter().any(|words| words.as_ptr() as u64 == address);
            // SAFETY: the library has returned the address of a descriptor of this rank.
            let bytes = unsafe { read(address, byte_count(rank)) };
            if address != 0 && !is_ours {
                blocks.push(address);
            }
            Descriptor::read(&bytes, rank)?
        }
    };
    let count = descriptor.element_count()?;
    let bytes = elements(&descriptor, count, element_type.byte_count())?;
    let block = descriptor.allocated;
    let is_lent = kept.ranges.iter().any(|(start, end)| (*start..=*end).contains(&block));
    if block != 0 && block != CONSTANT && !is_lent {
        blocks.push(block);
    }
    Ok(Tensor { shape: lengths(&descriptor.sizes), element_type, bytes })
}
