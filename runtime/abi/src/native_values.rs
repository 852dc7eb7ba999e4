//! Values of native conventions in memory, for debuggers: a tagged value of TVM FFI with the
//! objects that it points to, and the tensor of a memref descriptor.
//!
//! Addresses may be invalid, so every read goes through [`Memory`] and may fail; lengths are
//! limited to what is worth showing.

use std::cell::Cell;
use std::fmt;

use crate::conventions::mlir::descriptor::{Descriptor, DescriptorError, byte_count};
use crate::conventions::mlir::types;
use crate::conventions::tvm::any::{AnyError, AnyValue};
use crate::conventions::tvm::index;
use crate::conventions::tvm::layout::{Any, CPU, DlDataType};
use crate::signature::{Array, NoForm, ScalarType, Signedness, Type};
use crate::text::SyntaxError;
use crate::values::element_type::ElementType;
use crate::values::tensor::Tensor;

/// Readable memory.
pub trait Memory {
    /// The bytes from an address on, `length` of them; `None` if one of them cannot be read.
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>>;
}

/// Memory without any valid address.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _address: u64, _length: usize) -> Option<Vec<u8>> {
        None
    }
}

/// A value in the form in which it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The name of its type: `ffi.String`, `memref<?xf32>`.
    pub type_name: String,
    /// Its value in one line.
    pub text: String,
    /// Its parts, with names.
    pub items: Vec<(String, Shown)>,
    /// The tensor that it is or points to.
    pub tensor: Option<Tensor>,
}

/// Why bytes cannot be shown as a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotShown {
    /// The text of the type is malformed.
    #[error("`{text}`: {source}")]
    TypeText {
        /// The text.
        text: String,
        /// Where, and why.
        source: SyntaxError,
    },
    /// Values of the type are not in foreign memory.
    #[error(
        "`{0}` is no type of values in foreign memory; those are `any` (a tagged value of TVM FFI) \
         and memrefs, such as memref<?xf32>"
    )]
    OtherType(String),
    /// The bytes are no tagged value.
    #[error(transparent)]
    Any(#[from] AnyError),
    /// The bytes are no descriptor.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    /// The type of the memref cannot be written.
    #[error(transparent)]
    NoForm(#[from] NoForm),
    /// Tensors have no such elements.
    #[error("elements of type {0} have no form as a tensor")]
    Elements(String),
    /// Elements that are no bytes of their own.
    #[error("elements of type {0} share bytes")]
    Packed(ElementType),
    /// The descriptor that an unranked memref points to.
    #[error("the descriptor of rank {rank} at {address:#x} cannot be read")]
    DescriptorUnreadable {
        /// Its rank.
        rank: usize,
        /// Where it would be.
        address: u64,
    },
    /// The descriptor has another size than the type says.
    #[error("dimension {dimension} has size {size}; this is no {type_name}")]
    OtherSize {
        /// Which.
        dimension: usize,
        /// What the descriptor says.
        size: i64,
        /// The type.
        type_name: String,
    },
    /// More elements than are copied.
    #[error("{0} elements are too many to be shown")]
    TooMany(usize),
    /// Elements with more memory between them than is read.
    #[error("its elements lie too far apart to be shown")]
    TooFarApart,
    /// No memory is there.
    #[error("its {length} bytes at {address:#x} cannot be read")]
    Unreadable {
        /// Where.
        address: u64,
        /// How many bytes.
        length: usize,
    },
}

/// The most bytes of a text that are shown.
const LONGEST_TEXT: usize = 1024;
/// The most items of a sequence that are shown.
const MOST_ITEMS: usize = 256;
/// The most items of a nested sequence that are shown.
const MOST_ITEMS_IN_ALL: usize = 2048;
/// The deepest nesting of sequences that is shown.
const DEEPEST: usize = 8;
/// The most bytes of a tensor that are copied.
const LARGEST_TENSOR: usize = 64 << 20;
/// The most elements of a tensor that are shown in one line.
const PRINTED_ELEMENTS: usize = 64;
/// The size of an object's header in bytes.
const HEADER: u64 = 24;

impl Shown {
    fn plain(type_name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { type_name: type_name.into(), text: text.into(), items: Vec::new(), tensor: None }
    }
}

/// The value, items in brackets.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A value of the type in `type_text`, as the user writes it: `any` for a tagged value, or an MLIR
/// memref.
///
/// # Errors
/// [`NotShown`]: the type is another, or the bytes are no such value.
pub fn show(bytes: &[u8], type_text: &str, memory: &dyn Memory) -> Result<Shown, NotShown> {
    match type_text.trim() {
        "any" | "Any" | "ffi.Any" | "TVMFFIAny" => any(bytes, memory),
        text => match types::parse(text) {
            Err(source) => Err(NotShown::TypeText { text: text.to_owned(), source }),
            Ok(Type::Array(array)) => memref(bytes, &array, memory),
            Ok(_) => Err(NotShown::OtherType(text.to_owned())),
        },
    }
}

/// A tagged value of TVM FFI, from its 16 bytes.
///
/// # Errors
/// [`NotShown::Any`]: the bytes are no tagged value.
pub fn any(bytes: &[u8], memory: &dyn Memory) -> Result<Shown, NotShown> {
    let head = bytes.get(..16).unwrap_or(bytes);
    let any = Any::from_bytes(head)?;
    FieldReader { memory, left: Cell::new(MOST_ITEMS_IN_ALL) }.any(any, 0)
}

/// Reads structs field by field.
struct FieldReader<'a> {
    memory: &'a dyn Memory,
    /// The number of items that may still be shown; lists may contain one another many times.
    left: Cell<usize>,
}

impl FieldReader<'_> {
    fn any(&self, any: Any, depth: usize) -> Result<Shown, NotShown> {
        let value = any.decode()?;
        let type_name = index::describe(any.type_index);
        let AnyValue::Address(address) = value else {
            return Ok(Shown::plain(type_name, value.to_string()));
        };
        let found = self.object(any.type_index, address, depth);
        Ok(found.map_or_else(
            || Shown::plain(&type_name, format!("{address:#x}, which cannot be read")),
            |found| Shown { type_name: type_name.clone(), ..found },
        ))
    }

    fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.memory.read(address, 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn words(&self, address: u64, count: usize) -> Option<Vec<i64>> {
        let bytes = self.memory.read(address, count.checked_mul(8)?)?;
        let words = bytes.chunks_exact(8);
        words.map(|word| Some(i64::from_le_bytes(word.try_into().ok()?))).collect()
    }

    /// The bytes of a byte array, whose address and length are the 16 bytes at `place`; at most as
    /// many as are shown.
    fn bytes(&self, place: u64) -> Option<(Vec<u8>, bool)> {
        let (data, size) = (self.word(place)?, self.word(place + 8)?);
        let shown = usize::try_from(size).unwrap_or(usize::MAX).min(LONGEST_TEXT);
        let bytes = if shown == 0 { Vec::new() } else { self.memory.read(data, shown)? };
        Some((bytes, size > shown as u64))
    }

    fn text(&self, place: u64) -> Option<String> {
        let (bytes, is_cut) = self.bytes(place)?;
        Some(String::from_utf8_lossy(&bytes).into_owned() + if is_cut { "…" } else { "" })
    }

    fn object(&self, type_index: i32, address: u64, depth: usize) -> Option<Shown> {
        let cell = address.checked_add(HEADER)?;
        Some(match type_index {
            index::STR => Shown::plain("", format!("{:?}", self.text(cell)?)),
            index::BYTES => Shown::plain("", quoted(self.bytes(cell)?)),
            index::BYTE_ARRAY_PTR => Shown::plain("", quoted(self.bytes(address)?)),
            index::RAW_STR => Shown::plain("", format!("{:?}", self.c_string(address)?)),
            index::ERROR => {
                let (kind, message) = (self.text(cell)?, self.text(cell + 16)?);
                let frames = self.text(cell + 32)?;
                let frames = frames.lines().enumerate().map(|(number, frame)| {
                    (format!("[{number}]"), Shown::plain("frame", frame.trim()))
                });
                Shown { items: frames.collect(), ..Shown::plain("", format!("{kind}: {message}")) }
            }
            index::FUNCTION => Shown::plain("", format!("function at {:#x}", self.word(cell)?)),
            index::SHAPE => {
                let (data, size) = (self.word(cell)?, usize::try_from(self.word(cell + 8)?).ok()?);
                let shown = size.min(MOST_ITEMS);
                let lengths = if shown == 0 { Vec::new() } else { self.words(data, shown)? };
                let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
                Shown::plain("", list(&lengths, size))
            }
            index::TENSOR => self.tensor(cell)?,
            index::DL_TENSOR_PTR => self.tensor(address)?,
            index::ARRAY | index::LIST => self.sequence(cell, depth)?,
            _ => Shown::plain("", format!("{address:#x}")),
        })
    }

    /// A text that ends with a zero byte, read in pieces, as memory may end after each of them.
    fn c_string(&self, address: u64) -> Option<String> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST_TEXT {
            let at = address.checked_add(bytes.len() as u64)?;
            // Each piece ends at an aligned address, so that no page is read that the text does not
            // reach.
            let piece = self.memory.read(at, 16 - (at % 16) as usize)?;
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                bytes.extend(&piece[..end]);
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
            bytes.extend(piece);
        }
        Some(String::from_utf8_lossy(&bytes).into_owned() + "…")
    }

    fn sequence(&self, cell: u64, depth: usize) -> Option<Shown> {
        let (data, size) = (self.word(cell)?, usize::try_from(self.word(cell + 8)?).ok()?);
        if depth >= DEEPEST {
            return Some(Shown::plain("", format!("[{size} items]")));
        }
        let mut items = Vec::new();
        let shown = size.min(MOST_ITEMS).min(self.left.get());
        self.left.set(self.left.get() - shown);
        for number in 0..shown {
            let bytes = self.memory.read(data.checked_add(number as u64 * 16)?, 16)?;
            let any = Any::from_bytes(&bytes).ok()?;
            let item = self
                .any(any, depth + 1)
                .unwrap_or_else(|error| Shown::plain("?", format!("<{error}>")));
            items.push((format!("[{number}]"), item));
        }
        let texts: Vec<String> = items.iter().map(|(_, item)| item.text.clone()).collect();
        Some(Shown { items, ..Shown::plain("", list(&texts, size)) })
    }

    /// A tensor of DLPack.
    fn tensor(&self, address: u64) -> Option<Shown> {
        let data = self.word(address)?;
        let device = self.word(address + 8)?;
        let rank_and_type = self.word(address + 16)?.to_le_bytes();
        let (shape, strides) = (self.word(address + 24)?, self.word(address + 32)?);
        let offset = self.word(address + 40)?;
        let [r0, r1, r2, r3, code, bits, l0, l1] = rank_and_type;
        let dtype = DlDataType { code, bits, lanes: u16::from_le_bytes([l0, l1]) };
        let rank = usize::try_from(i32::from_le_bytes([r0, r1, r2, r3])).ok()?;
        if rank > crate::conventions::mlir::descriptor::HIGHEST_RANK {
            return None;
        }
        let sizes = if rank == 0 { Vec::new() } else { self.words(shape, rank)? };
        let mut descriptor = Descriptor::dense(data.wrapping_add(offset), &sizes);
        if strides != 0 && rank > 0 {
            descriptor.strides = self.words(strides, rank)?;
        }
        let lengths: String = sizes.iter().map(|size| format!("{size}x")).collect();
        let head = format!("{lengths}{}", dtype.name());
        let kind = device as u32 as i32;
        if kind != CPU {
            return Some(Shown::plain("", format!("{head} on device type {kind}")));
        }
        Some(
            match element_of(dtype).ok_or(head.clone()).and_then(|element| {
                elements(&descriptor, element, self.memory)
                    .map_err(|error| format!("{head}, {error}"))
            }) {
                Ok(tensor) => of_tensor(tensor),
                Err(text) => Shown::plain("", text),
            },
        )
    }
}

fn element_of(dtype: DlDataType) -> Option<ElementType> {
    match dtype.scalar()? {
        ScalarType::Integer(Signedness::Signed, bits) => ScalarType::signless(bits),
        other => other,
    }
    .element_type()
}

fn of_tensor(tensor: Tensor) -> Shown {
    let text = tensor.format(PRINTED_ELEMENTS);
    Shown { tensor: Some(tensor), ..Shown::plain("", text) }
}

fn quoted((bytes, is_cut): (Vec<u8>, bool)) -> String {
    format!("b\"{}{}\"", bytes.escape_ascii(), if is_cut { "…" } else { "" })
}

fn list(items: &[String], count: usize) -> String {
    let more = if items.len() < count { ", …" } else { "" };
    format!("[{}{more}]", items.join(", "))
}

/// The tensor that a descriptor of this type points to.
///
/// # Errors
/// [`NotShown`]: the bytes are no such descriptor, or point to memory that cannot be read.
pub fn memref(bytes: &[u8], array: &Array, memory: &dyn Memory) -> Result<Shown, NotShown> {
    let mut type_name = String::new();
    types::write(&mut type_name, &Type::Array(array.clone()), types::ArrayKeyword::Memref)?;
    let Type::Scalar(scalar) = &*array.element else {
        return Err(NotShown::Elements(array.element.to_string()));
    };
    let element = scalar.element_type().ok_or_else(|| NotShown::Elements(scalar.to_string()))?;
    let descriptor = match &array.shape {
        Some(shape) => Descriptor::read(bytes, shape.len()),
        None => {
            let (rank, address) = Descriptor::read_unranked(bytes)?;
            let found = memory.read(address, byte_count(rank));
            let found = found.ok_or(NotShown::DescriptorUnreadable { rank, address })?;
            Descriptor::read(&found, rank)
        }
    }?;
    let numbers = |items: &[i64]| {
        let items: Vec<String> = items.iter().map(ToString::to_string).collect();
        list(&items, items.len())
    };
    let parts = [
        ("allocated", "ptr", format!("{:#x}", descriptor.allocated)),
        ("aligned", "ptr", format!("{:#x}", descriptor.aligned)),
        ("offset", "i64", descriptor.offset.to_string()),
        ("sizes", "i64", numbers(&descriptor.sizes)),
        ("strides", "i64", numbers(&descriptor.strides)),
    ];
    let items = parts
        .into_iter()
        .map(|(name, ty, text)| (name.to_owned(), Shown::plain(ty, text)))
        .collect();
    let shape = array.shape.iter().flatten().zip(&descriptor.sizes);
    let mismatch = shape.enumerate().find(|(_, (wanted, size))| {
        wanted.is_some_and(|wanted| i64::try_from(wanted).ok() != Some(**size))
    });
    if let Some((dimension, (_, &size))) = mismatch {
        return Err(NotShown::OtherSize { dimension, size, type_name });
    }
    let found = elements(&descriptor, element, memory)?;
    Ok(Shown { type_name, items, ..of_tensor(found) })
}

/// Copies the elements, dense.
fn elements(
    descriptor: &Descriptor,
    element: ElementType,
    memory: &dyn Memory,
) -> Result<Tensor, NotShown> {
    let size = element.byte_count();
    if size == 0 || element.is_packed() {
        return Err(NotShown::Packed(element));
    }
    let count = descriptor.element_count()?;
    if count > LARGEST_TENSOR / size {
        return Err(NotShown::TooMany(count));
    }
    let shape = descriptor.sizes.iter().map(|size| size.cast_unsigned()).collect();
    let Some((low, high)) = descriptor.span()? else {
        return Ok(Tensor { shape, element_type: element, bytes: Vec::new() });
    };
    let reach = usize::try_from(i128::from(high) - i128::from(low) + 1)
        .ok()
        .and_then(|reach| reach.checked_mul(size))
        .filter(|reach| *reach <= LARGEST_TENSOR)
        .ok_or(NotShown::TooFarApart)?;
    let address = descriptor.aligned.wrapping_add_signed(low.wrapping_mul(size as i64));
    let block = memory
        .read(address, reach)
        .filter(|block| block.len() == reach)
        .ok_or(NotShown::Unreadable { address, length: reach })?;
    let mut bytes = Vec::with_capacity(count * size);
    for position in descriptor.positions(count) {
        let at = (position - low) as usize * size;
        bytes.extend_from_slice(&block[at..at + size]);
    }
    Ok(Tensor { shape, element_type: element, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory made of blocks at given addresses.
    struct Blocks(Vec<(u64, Vec<u8>)>);

    impl Memory for Blocks {
        fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
            self.0.iter().find_map(|(start, bytes)| {
                let from = usize::try_from(address.checked_sub(*start)?).ok()?;
                bytes.get(from..from.checked_add(length)?).map(<[u8]>::to_vec)
            })
        }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn object(cell: &[u64]) -> Vec<u8> {
        words(&[&[1, 0, 0], cell].concat())
    }

    fn value(type_index: i32, payload: u64) -> Vec<u8> {
        Any { type_index, small_len: 0, payload }.to_bytes().to_vec()
    }

    #[test]
    fn tagged_values() {
        let floats: Vec<u8> = [1_f32, 2.0, 3.0].iter().flat_map(|it| it.to_le_bytes()).collect();
        let items =
            [value(index::INT, 7), value(index::STR, 0x100), value(index::NONE, 0)].concat();
        let rank_and_type = 1 | 2 << 32 | 32 << 40 | 1 << 48;
        let tensor = [0x500, 1, rank_and_type, 0x600, 0x608, 0];
        let memory = Blocks(vec![
            (0x100, object(&[0x180, 11])),
            (0x180, b"hello there\0\0\0\0\0".to_vec()),
            (0x200, object(&[0x280, 3, 3, 0])),
            (0x280, items),
            (0x300, object(&[0x180, 5, 0x186, 5, 0x380, 18])),
            (0x380, b"  File \"a\", line 1".to_vec()),
            (0x400, object(&tensor)),
            (0x500, floats),
            (0x600, words(&[2, 2])),
            (0x700, object(&[0x600, 2])),
            (0x800, object(&[0x500, 2, rank_and_type, 0x600, 0x608, 0])),
        ]);
        for (type_index, payload, type_name, text) in [
            (index::INT, 5, "int", "5"),
            (index::STR, 0x100, "ffi.String", "\"hello there\""),
            (index::BYTES, 0x100, "ffi.Bytes", "b\"hello there\""),
            (index::RAW_STR, 0x186, "const char*", "\"there\""),
            (index::ARRAY, 0x200, "ffi.Array", "[7, \"hello there\", None]"),
            (index::ERROR, 0x300, "ffi.Error", "hello: there"),
            (index::TENSOR, 0x400, "ffi.Tensor", "2xf32=1 3"),
            (index::DL_TENSOR_PTR, 0x418, "DLTensor*", "2xf32=1 3"),
            (index::TENSOR, 0x800, "ffi.Tensor", "2xfloat32 on device type 2"),
            (index::SHAPE, 0x700, "ffi.Shape", "[2, 2]"),
            (index::STR, 0x999, "ffi.String", "0x999, which cannot be read"),
            (index::STR, u64::MAX, "ffi.String", "0xffffffffffffffff, which cannot be read"),
        ] {
            let shown = any(&value(type_index, payload), &memory).unwrap();
            assert_eq!((shown.type_name.as_str(), shown.text.as_str()), (type_name, text));
        }
        let error = any(&value(index::ERROR, 0x300), &memory).unwrap();
        assert_eq!(error.items[0].1.text, "File \"a\", line 1");
        assert!(any(&[0; 15], &memory).is_err());
        assert!(any(&value(63, 0), &memory).is_err());
    }

    #[test]
    fn a_list_within_itself_ends() {
        let memory =
            Blocks(vec![(0x200, object(&[0x280, 1, 1, 0])), (0x280, value(index::LIST, 0x200))]);
        let shown = any(&value(index::LIST, 0x200), &memory).unwrap();
        assert_eq!(shown.text, "[[[[[[[[[1 items]]]]]]]]]");
    }

    #[test]
    fn lists_that_hold_each_other_cost_no_more_than_is_shown() {
        let items = value(index::LIST, 0x200).repeat(256);
        let memory = Blocks(vec![(0x200, object(&[0x280, 256, 256, 0])), (0x280, items)]);
        let shown = any(&value(index::LIST, 0x200), &memory).unwrap();
        assert!(shown.text.len() < 100_000);
    }

    #[test]
    fn descriptors() {
        let numbers: Vec<u8> = (0..12_i32).flat_map(i32::to_le_bytes).collect();
        let ranked = words(&[0x100, 0x100, 1, 2, 2, 4, 2]);
        let memory = Blocks(vec![(0x100, numbers), (0x200, ranked.clone())]);
        for (bytes, ty, text) in [
            (ranked.clone(), "memref<?x?xi32>", "2x2xi32=[1 3][5 7]"),
            (ranked.clone(), "memref<2x2xi32, strided<[4, 2], offset: 1>>", "2x2xi32=[1 3][5 7]"),
            (words(&[2, 0x200]), "memref<*xi32>", "2x2xi32=[1 3][5 7]"),
            (words(&[0, 0x100, 3]), "memref<i32>", "i32=3"),
            // From the end backwards.
            (words(&[0, 0x100, 11, 3, (-5_i64).cast_unsigned()]), "memref<?xi32>", "3xi32=11 6 1"),
            (words(&[0, 0, 0, 0, 1]), "memref<?xi32>", "0xi32="),
        ] {
            let shown = show(&bytes, ty, &memory).unwrap();
            assert_eq!((shown.type_name.as_str(), shown.text.as_str()), (ty, text));
        }
        for (bytes, ty, error) in [
            (ranked.clone(), "memref<3x?xi32>", "dimension 0 has size 2"),
            (
                ranked.clone(),
                "memref<?x?x?xi32>",
                "a descriptor of rank 3 has 72 bytes, here are 56",
            ),
            (words(&[0, 0x100, 0, 13, 1]), "memref<?xi32>", "its 52 bytes at 0x100 cannot be read"),
            (words(&[0, 0x100, 0, 1 << 62, 1]), "memref<?xi32>", "too many"),
            (words(&[0, 0x100, 0, 2, 1 << 40]), "memref<?xi32>", "too far apart"),
            (words(&[0, 0x100, 0, 2, 1 << 62]), "memref<?x?xi32>", "here are 40"),
            (words(&[9, 0x200]), "memref<*xi32>", "cannot be read"),
            (words(&[900, 0x200]), "memref<*xi32>", "rank 900 is not believable"),
            (ranked.clone(), "i32", "is no type of values in foreign memory"),
            (ranked, "memref<", "`memref<`: "),
        ] {
            let found = show(&bytes, ty, &memory).unwrap_err();
            assert!(found.to_string().contains(error), "{ty}: {found}");
        }
    }
}
