//! The buffer-description oracle of the raw function ABI: decides whether a buffer can be passed
//! unchanged.
//!
//! The design document of 2019 proposed it and no runtime implemented it; this one gives the three
//! answers that the document named. Deferred allocation of results is here too: the arguments of
//! the function that `fbr` names, and the results that can be allocated without it.

use crate::conventions::raw::{Code, RawSignature, RawType};

/// A buffer in memory, as a host language describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDescription {
    /// Its element type.
    pub element: Code,
    /// Its dimensions, outermost first; `None` for an undecided one.
    pub shape: Vec<Option<u32>>,
    /// Its strides in bytes, outermost first; `None` if undecided.
    pub strides: Option<Vec<i64>>,
    /// Its length in bytes, or that of a dense copy if it is not dense; `None` if undecided.
    pub length: Option<u64>,
}

/// The oracle's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The buffer can be passed unchanged.
    Compatible,
    /// Its elements have to be copied into a buffer like this one, and converted if the element
    /// types differ.
    NeedsConversion(BufferDescription),
    /// Undecided parts are filled in: allocate a buffer like this one.
    Completed(BufferDescription),
    /// Shape or length are unknown before the call: pass null, and the function allocates.
    UnderSpecified,
}

/// Why no buffer of this description can ever be passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// Not a buffer.
    #[error("the signature wants {0}, not a buffer")]
    NotABuffer(String),
    /// The wrong number of dimensions.
    #[error("Mismatched buffer rank (received: {received}, expected: {expected})")]
    Rank {
        /// What was given.
        received: usize,
        /// What the signature wants.
        expected: usize,
    },
    /// A dimension of another length than the signature's.
    #[error("Mismatched buffer dim {dimension} (received: {received}, expected: {expected})")]
    Dimension {
        /// Its index.
        dimension: usize,
        /// What was given.
        received: u32,
        /// What the signature wants.
        expected: u32,
    },
    /// The number of strides differs from the number of dimensions.
    #[error("{strides} strides for {dimensions} dimensions")]
    Strides {
        /// Strides given.
        strides: usize,
        /// Dimensions given.
        dimensions: usize,
    },
    /// The length differs from that of the elements.
    #[error("Mismatched buffer length (received: {received}, expected: {expected})")]
    Length {
        /// What was given.
        received: u64,
        /// The length of the elements.
        expected: u64,
    },
    /// The buffer has more bytes than can be addressed.
    #[error("the buffer is larger than the address space")]
    TooLarge,
    /// The element types cannot be converted.
    #[error("Mismatched buffer format (received: {received}, expected: {expected})")]
    Format {
        /// What was given.
        received: &'static str,
        /// What the signature wants.
        expected: &'static str,
    },
}

/// Compares a buffer with a type of a raw signature.
///
/// # Errors
/// No conversion can make it fit.
pub fn describe(wanted: &RawType, buffer: &BufferDescription) -> Result<Verdict, Unsupported> {
    let RawType::Buffer { code, dimensions } = wanted else {
        return Err(Unsupported::NotABuffer(wanted.to_string()));
    };
    if buffer.shape.len() != dimensions.len() {
        return Err(Unsupported::Rank { received: buffer.shape.len(), expected: dimensions.len() });
    }
    let mut shape = Vec::with_capacity(dimensions.len());
    for (dimension, (received, expected)) in buffer.shape.iter().zip(dimensions).enumerate() {
        if let (Some(received), Some(expected)) = (*received, *expected)
            && received != expected
        {
            return Err(Unsupported::Dimension { dimension, received, expected });
        }
        shape.push(received.or(*expected));
    }
    let is_integer = |code: Code| matches!(code.number(), 4..=11);
    if is_integer(*code) != is_integer(buffer.element) {
        return Err(Unsupported::Format { received: buffer.element.name(), expected: code.name() });
    }
    let Some(known) = shape.iter().copied().collect::<Option<Vec<u32>>>() else {
        return Ok(Verdict::UnderSpecified);
    };
    if let Some(strides) = &buffer.strides
        && strides.len() != known.len()
    {
        return Err(Unsupported::Strides { strides: strides.len(), dimensions: known.len() });
    }
    let (strides, length) = dense(&known, code.byte_count())?;
    let (own_strides, own_length) = dense(&known, buffer.element.byte_count())?;
    if let Some(received) = buffer.length
        && received != own_length
    {
        return Err(Unsupported::Length { received, expected: own_length });
    }
    let complete =
        BufferDescription { element: *code, shape, strides: Some(strides), length: Some(length) };
    let is_complete = buffer.shape.iter().all(Option::is_some)
        && buffer.strides.is_some()
        && buffer.length.is_some();
    let is_dense =
        buffer.strides.as_ref().is_none_or(|strides| is_dense(strides, &own_strides, &known));
    Ok(match (buffer.element == *code && is_dense, is_complete) {
        (true, true) => Verdict::Compatible,
        (true, false) => Verdict::Completed(complete),
        (false, _) => Verdict::NeedsConversion(complete),
    })
}

/// The strides in bytes and the length of a dense buffer.
fn dense(shape: &[u32], element: usize) -> Result<(Vec<i64>, u64), Unsupported> {
    let mut strides = vec![0; shape.len()];
    let mut stride = element as u64;
    for (place, length) in strides.iter_mut().zip(shape).rev() {
        *place = i64::try_from(stride).map_err(|_| Unsupported::TooLarge)?;
        stride = stride.checked_mul(u64::from(*length)).ok_or(Unsupported::TooLarge)?;
    }
    Ok((strides, stride))
}

/// A stride only matters if the dimension has more than one element.
fn is_dense(strides: &[i64], wanted: &[i64], shape: &[u32]) -> bool {
    shape.contains(&0)
        || strides
            .iter()
            .zip(wanted)
            .zip(shape)
            .all(|((found, wanted), length)| *length == 1 || found == wanted)
}

/// The arguments of the allocator that `fbr` names: the dimensions that the signature leaves open,
/// in order.
///
/// # Errors
/// A shape of another rank than the signature's, or the wrong number of shapes.
pub fn dynamic_dimensions(
    signature: &RawSignature,
    shapes: &[Vec<u32>],
) -> Result<Vec<u32>, Unsupported> {
    let buffers = signature.inputs.iter().filter_map(|ty| match ty {
        RawType::Buffer { dimensions, .. } => Some(dimensions),
        _ => None,
    });
    let mut found = Vec::new();
    for (wanted, shape) in buffers.zip(shapes) {
        if wanted.len() != shape.len() {
            return Err(Unsupported::Rank { received: shape.len(), expected: wanted.len() });
        }
        let open = wanted.iter().zip(shape).filter(|(wanted, _)| wanted.is_none());
        found.extend(open.map(|(_, length)| *length));
    }
    Ok(found)
}

/// The allocator of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultAllocation {
    /// The host, before the call: a buffer like this one.
    Host(BufferDescription),
    /// The module's allocator, called with the dynamic dimensions; if it returns null, the
    /// function.
    Allocator,
    /// The function, while it runs: pass null.
    Function,
}

/// The allocator of each result of a function, whose module may name one in `fbr`.
///
/// # Errors
/// A static result that no memory can hold.
pub fn result_allocation(
    signature: &RawSignature,
    has_allocator: bool,
) -> Result<Vec<ResultAllocation>, Unsupported> {
    let allocation = |ty: &RawType| {
        let RawType::Buffer { code, dimensions } = ty else {
            return Ok(ResultAllocation::Function);
        };
        let open = BufferDescription {
            element: *code,
            shape: dimensions.clone(),
            strides: None,
            length: None,
        };
        Ok(match describe(ty, &open)? {
            Verdict::Completed(description) => ResultAllocation::Host(description),
            _ if has_allocator => ResultAllocation::Allocator,
            _ => ResultAllocation::Function,
        })
    };
    signature.results.iter().map(allocation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str) -> RawType {
        RawSignature::parse(&format!("I{}!{text}R1!", text.len() + 1)).unwrap().inputs.remove(0)
    }

    fn buffer(
        code: i32,
        shape: &[u32],
        strides: Option<&[i64]>,
        length: Option<u64>,
    ) -> BufferDescription {
        BufferDescription {
            element: Code::new(code).unwrap(),
            shape: shape.iter().copied().map(Some).collect(),
            strides: strides.map(<[i64]>::to_vec),
            length,
        }
    }

    #[test]
    fn verdicts() {
        let matrix = wanted("B6!d-1d3");
        let dense = buffer(0, &[2, 3], Some(&[12, 4]), Some(24));
        assert_eq!(describe(&matrix, &dense), Ok(Verdict::Compatible));
        let columns = buffer(0, &[2, 3], Some(&[4, 8]), Some(24));
        assert_eq!(describe(&matrix, &columns), Ok(Verdict::NeedsConversion(dense.clone())));
        let doubles = buffer(2, &[2, 3], Some(&[24, 8]), Some(48));
        assert_eq!(describe(&matrix, &doubles), Ok(Verdict::NeedsConversion(dense.clone())));
        let open = buffer(0, &[2, 3], None, None);
        assert_eq!(describe(&matrix, &open), Ok(Verdict::Completed(dense)));
        let unknown = BufferDescription { shape: vec![None, Some(3)], ..open };
        assert_eq!(describe(&matrix, &unknown), Ok(Verdict::UnderSpecified));
        let row = buffer(0, &[1, 3], Some(&[999, 4]), Some(12));
        assert_eq!(describe(&matrix, &row), Ok(Verdict::Compatible));
    }

    #[test]
    fn refusals() {
        let matrix = wanted("B6!d-1d3");
        for (description, message) in [
            (buffer(0, &[3], None, None), "Mismatched buffer rank (received: 1, expected: 2)"),
            (buffer(0, &[2, 4], None, None), "Mismatched buffer dim 1 (received: 4, expected: 3)"),
            (
                buffer(6, &[2, 3], None, None),
                "Mismatched buffer format (received: sint32, expected: float32)",
            ),
            (buffer(0, &[2, 3], Some(&[4]), None), "1 strides for 2 dimensions"),
            (
                buffer(0, &[2, 3], None, Some(23)),
                "Mismatched buffer length (received: 23, expected: 24)",
            ),
        ] {
            assert_eq!(describe(&matrix, &description).unwrap_err().to_string(), message);
        }
        let huge = wanted(&format!("B{}!{}", 1 + 11 * 3, "d2147483647".repeat(3)));
        let RawType::Buffer { dimensions, .. } = &huge else { panic!() };
        let description = BufferDescription {
            element: Code::F32,
            shape: dimensions.clone(),
            strides: None,
            length: None,
        };
        assert_eq!(describe(&huge, &description), Err(Unsupported::TooLarge));
        assert!(describe(&wanted("O1!"), &description).is_err());
    }

    #[test]
    fn deferred_allocation() {
        let signature = RawSignature::parse("I15!B11!d-1d128d64R19!B5!d2d3B6!t6d-1O1!").unwrap();
        let host = buffer(0, &[2, 3], Some(&[12, 4]), Some(24));
        assert_eq!(
            result_allocation(&signature, true),
            Ok(vec![
                ResultAllocation::Host(host.clone()),
                ResultAllocation::Allocator,
                ResultAllocation::Function
            ])
        );
        assert_eq!(
            result_allocation(&signature, false),
            Ok(vec![
                ResultAllocation::Host(host),
                ResultAllocation::Function,
                ResultAllocation::Function
            ])
        );
        assert_eq!(dynamic_dimensions(&signature, &[vec![7, 128, 64]]), Ok(vec![7]));
    }
}
