//! The memory layout of a calling convention's values when a native function is called, and how any
//! signature is lowered to a calling convention.
//!
//! ```text
//! i f    4 bytes
//! I F    8 bytes
//! r      16 bytes, {address, type}
//! C…D    a count of 4 bytes, then that many tuples
//! ```
//!
//! Since runtime 3.10, each value is aligned to its size (refs to 8), a span's tuples to the
//! largest of their values, and the whole is padded to the largest alignment. Before, values
//! followed one another without gaps.

use crate::cconv::{Signature, ValueType};
use crate::conventions::iree_abi::wire_results;
use crate::signature::{
    Function, NoForm, ScalarType, Slot, Type, Unrepresentable, each_slot, note,
};

/// How values are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As runtimes do since 3.10.
    Aligned,
    /// As runtimes did before 3.10.
    Packed,
}

/// The place of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The offset in bytes from the start, or from the start of a tuple; `None` after a span, whose
    /// length differs from call to call.
    pub offset: Option<usize>,
    /// The size in bytes; for a span, of one tuple.
    pub size: usize,
    /// The values of a span's tuple.
    pub tuple: Vec<ValuePlace>,
}

/// Arguments or results in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The values, in order.
    pub places: Vec<ValuePlace>,
    /// The size in bytes; `None` if there is a span.
    pub size: Option<usize>,
}

fn size_and_alignment(value: &ValueType) -> (usize, usize) {
    match value {
        ValueType::I32 | ValueType::F32 | ValueType::Span(_) => (4, 4),
        ValueType::I64 | ValueType::F64 => (8, 8),
        ValueType::Ref => (16, 8),
    }
}

/// Lays out arguments or results.
#[must_use]
pub fn layout(values: &[ValueType], packing: Packing) -> Layout {
    let (mut end, mut largest, mut places) = (Some(0_usize), 4, Vec::new());
    for value in values {
        let (size, alignment) = size_and_alignment(value);
        let start = |end: Option<usize>, alignment: usize| match packing {
            Packing::Aligned => end.map(|end| end.next_multiple_of(alignment)),
            Packing::Packed => end,
        };
        let offset = start(end, alignment);
        if let ValueType::Span(tuple) = value {
            let inner = layout(tuple, packing);
            let tuple_alignment = tuple.iter().map(|item| size_and_alignment(item).1).max();
            largest = largest.max(tuple_alignment.unwrap_or(4));
            let last = inner.places.last().and_then(|place| Some(place.offset? + place.size));
            places.push(ValuePlace { offset, size: last.unwrap_or(0), tuple: inner.places });
            end = None;
        } else {
            largest = largest.max(alignment);
            places.push(ValuePlace { offset, size, tuple: Vec::new() });
            end = offset.map(|offset| offset + size);
        }
    }
    let size = match packing {
        Packing::Aligned => end.map(|end| end.next_multiple_of(largest)),
        Packing::Packed => end,
    };
    Layout { places, size }
}

/// Lowers a function to the VM's calling convention, as iree-compile does. A structure that is the
/// only result is passed as its values.
///
/// # Errors
/// A type that the VM cannot pass.
pub fn lower(function: &Function) -> Result<(Signature, Vec<String>), Unrepresentable> {
    let mut notes = Vec::new();
    let mut wire = function.clone();
    if let [Slot { ty: Type::Sequence(..) | Type::Dictionary(_), .. }] = wire.results.as_slice() {
        note(&mut notes, "a structure that is the only result travels as its values");
        let types = wire_results(function).into_iter().cloned();
        wire.results = types.map(|ty| Slot::of(ty).owned()).collect();
    }
    let (arguments, results) = each_slot(&wire, |slot, path| {
        lower_type(&slot.ty, &mut notes).map_err(|reason| reason.at(path))
    })?;
    Ok((Signature { arguments, results }, notes))
}

/// Lowers a type to the VM's. Remarks for the reader are added to `notes`.
///
/// # Errors
/// [`NoForm`]: why the VM cannot pass it.
pub fn lower_type(ty: &Type, notes: &mut Vec<String>) -> Result<ValueType, NoForm> {
    Ok(match ty {
        Type::Scalar(scalar) => lower_scalar(scalar, notes)?,
        Type::Array(_) => {
            note(notes, "a tensor travels as a ref to a `!hal.buffer_view`");
            ValueType::Ref
        }
        Type::Sequence(..) | Type::Dictionary(_) | Type::List(_) | Type::Map(..) => {
            note(notes, "structures travel as refs to lists");
            ValueType::Ref
        }
        Type::String | Type::Bytes | Type::Reference(_) | Type::Null => ValueType::Ref,
        Type::Unknown | Type::Any => {
            note(notes, "a value of unknown type is taken for a ref");
            ValueType::Ref
        }
        Type::Variadic(items) => {
            let tuple = items.iter().map(|item| match lower_type(item, notes)? {
                ValueType::Span(_) => Err(NoForm::SpanInSpan),
                scalar => Ok(scalar),
            });
            ValueType::Span(tuple.collect::<Result<_, _>>()?)
        }
        Type::Position(_) => return Err(NoForm::PositionOnly),
        other => return Err(NoForm::Vm(other.to_string())),
    })
}

fn lower_scalar(scalar: &ScalarType, notes: &mut Vec<String>) -> Result<ValueType, NoForm> {
    Ok(match scalar {
        ScalarType::Index => {
            note(notes, "`index` travels as `i64`");
            ValueType::I64
        }
        ScalarType::Integer(_, bits) => match bits {
            32 => ValueType::I32,
            64 => ValueType::I64,
            1 | 8 | 16 => {
                note(notes, "integers narrower than 32 bits travel as `i32`");
                ValueType::I32
            }
            _ => return Err(NoForm::VmInteger(*bits)),
        },
        ScalarType::Float(32) => ValueType::F32,
        ScalarType::Float(64) => ValueType::F64,
        scalar
            if scalar.bits() == 16
                && matches!(scalar, ScalarType::Float(_) | ScalarType::SpecialFloat(_)) =>
        {
            note(notes, "16-bit floats travel as their raw bits in an `i32`");
            ValueType::I32
        }
        other => return Err(NoForm::VmScalar(other.to_string())),
    })
}

/// Converts a calling convention to the model.
#[must_use]
pub fn to_function(signature: &Signature) -> Function {
    let slots = |values: &[ValueType]| values.iter().map(to_type).map(Slot::of).collect::<Vec<_>>();
    Function {
        name: None,
        arguments: slots(&signature.arguments),
        results: slots(&signature.results).into_iter().map(Slot::owned).collect(),
    }
}

fn to_type(value: &ValueType) -> Type {
    match value {
        ValueType::I32 => Type::scalar("i32"),
        ValueType::I64 => Type::scalar("i64"),
        ValueType::F32 => Type::scalar("f32"),
        ValueType::F64 => Type::scalar("f64"),
        ValueType::Ref => Type::Reference(None),
        ValueType::Span(items) => Type::Variadic(items.iter().map(to_type).collect()),
    }
}

/// Parses a calling convention of any age: until February 2021, `[` and `]` enclosed a span, and
/// `.` came before the results. Also returns whether the text has that form.
///
/// # Errors
/// As [`Signature::parse`].
pub fn parse_any_age(text: &str) -> Result<(Signature, bool), crate::cconv::CconvError> {
    match Signature::parse(text) {
        Ok(signature) => Ok((signature, false)),
        Err(error) => {
            let is_old = text.contains(['.', '[', ']']) && !text.contains(['_', 'C', 'D']);
            if !is_old {
                return Err(error);
            }
            // Each character is replaced by one character, so that positions stay valid.
            let today: String = text
                .chars()
                .map(|c| match c {
                    '[' => 'C',
                    ']' => 'D',
                    '.' => '_',
                    c => c,
                })
                .collect();
            Signature::parse(&today).map(|signature| (signature, true))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(text: &str, packing: Packing) -> (Vec<Option<usize>>, Option<usize>) {
        let signature = Signature::parse(text).unwrap();
        let layout = layout(&signature.arguments, packing);
        (layout.places.iter().map(|place| place.offset).collect(), layout.size)
    }

    #[test]
    fn places() {
        for (text, packing, expected, size) in [
            ("0v_v", Packing::Aligned, vec![], Some(0)),
            ("0iIf_v", Packing::Aligned, vec![Some(0), Some(8), Some(16)], Some(24)),
            ("0iIf_v", Packing::Packed, vec![Some(0), Some(4), Some(12)], Some(16)),
            ("0iri_v", Packing::Aligned, vec![Some(0), Some(8), Some(24)], Some(32)),
            ("0iCiIDr_v", Packing::Aligned, vec![Some(0), Some(4), None], None),
        ] {
            assert_eq!(offsets(text, packing), (expected, size), "{text}");
        }
        let spans = layout(&Signature::parse("0CiID_v").unwrap().arguments, Packing::Aligned);
        assert_eq!(spans.places[0].size, 16);
        assert_eq!(spans.places[0].tuple[1].offset, Some(8));
    }

    #[test]
    fn old_spelling() {
        let (signature, is_old) = parse_any_age("0r[ii].i").unwrap();
        assert!(is_old);
        assert_eq!(signature.to_cconv(), "0rCiiD_i");
        assert_eq!(parse_any_age("0i.x").unwrap_err().position, 3);
        assert_eq!(parse_any_age("0r.[r]_").unwrap_err().position, 2);
    }

    #[test]
    fn a_structure_alone_travels_as_its_values() {
        let json = r#"{"a":[["slist","i32"]],"r":[["sdict",["a","i64"],["b",["stuple","f32"]]]]}"#;
        let function = crate::conventions::iree_abi::parse(json).unwrap().function;
        assert_eq!(lower(&function).unwrap().0.to_cconv(), "0r_Ir");
    }

    #[test]
    fn types_travel() {
        for (text, cconv) in [
            ("(i1, i8, i16, i32, i64, index) -> (f16, bf16, f32, f64)", "0iiiiII_iifF"),
            ("(tensor<4xf32>, !hal.fence, !util.list<?>) -> ()", "0rrr_v"),
        ] {
            let function = crate::conventions::mlir::function::parse(text).unwrap().function;
            assert_eq!(lower(&function).unwrap().0.to_cconv(), cconv, "{text}");
        }
        for text in ["(i128) -> ()", "(f8E5M2) -> ()", "(complex<f32>) -> ()"] {
            let function = crate::conventions::mlir::function::parse(text).unwrap().function;
            assert!(
                lower(&function).unwrap_err().to_string().starts_with("args[0]: the VM passes no")
            );
        }
    }
}
