//! Tensors that dispatches leave and that no proof gives a name, recognised by their elements.
//!
//! The source says, in float64, what its tensors are ([`super::source_evaluation`]). A tensor that
//! a dispatch has left and that is nearly that, element by element, is taken for it if no other one
//! is. That is no proof, so it is marked, with the difference. What is shown then is what the
//! program has computed, and what follows is computed from it: the bounds of a long chain of
//! operations begin anew.

use abi::element_type::NumericalKind;
use abi::tensor::Tensor;
use reference::Output;

use super::source_evaluation::computed_floats;

/// The most bytes that are kept of tensors without names.
const MOST_BYTES: usize = 2 << 30;
/// The fewest different elements by which a tensor can be told from others.
const FEWEST: usize = 8;

/// What dispatches have left without names.
#[derive(Default)]
pub(super) struct UnnamedTensors {
    left: Vec<Tensor>,
    bytes: usize,
}

impl UnnamedTensors {
    /// Keeps one, unless too many are kept.
    pub(super) fn keep(&mut self, tensor: Tensor) {
        let bytes = self.bytes.saturating_add(tensor.bytes.len());
        if bytes <= MOST_BYTES {
            self.bytes = bytes;
            self.left.push(tensor);
        }
    }

    /// The one that has the elements of a tensor of the source, in that one's shape, and by how
    /// much they differ at most. None if several do that are not the same.
    pub(super) fn like(&self, computed: &Output) -> Option<(Tensor, f64)> {
        let count = computed.values.len() as u64;
        let is_like = |it: &&Tensor| {
            it.element_type == computed.element_type && it.shape.iter().product::<u64>() == count
        };
        let mut alike = self.left.iter().filter(is_like).peekable();
        alike.peek()?;
        let expected = computed_floats(computed)?;
        if !has_different(&expected) {
            return None;
        }
        let size = expected.iter().filter(|it| it.is_finite()).fold(0.0, |a, b| b.abs().max(a));
        let most = size * tolerance(computed)?;
        let mut found: Option<(&Tensor, f64)> = None;
        for tensor in alike {
            let Some(values) = tensor.element_type.float_values(&tensor.bytes) else { continue };
            let Some(difference) = difference(&values, &expected, most) else { continue };
            if found.is_some_and(|(other, _)| other.bytes != tensor.bytes) {
                return None;
            }
            found = Some((tensor, difference));
        }
        let (tensor, difference) = found?;
        let shape = computed.shape.iter().map(|it| *it as u64).collect();
        Some((Tensor { shape, ..tensor.clone() }, difference))
    }
}

/// How far two right results may be apart, of the largest element.
fn tolerance(computed: &Output) -> Option<f64> {
    match (computed.element_type.kind, computed.element_type.bits) {
        (NumericalKind::Float, 64) => Some(1e-9),
        (NumericalKind::Float, 32) => Some(2e-5),
        (NumericalKind::Float | NumericalKind::BrainFloat, 16) => Some(2e-2),
        _ => None,
    }
}

/// Whether a tensor has enough elements to be told from others by them.
fn has_different(elements: &[f64]) -> bool {
    let mut seen: Vec<u64> = Vec::new();
    for element in elements {
        let bits = element.to_bits();
        if !seen.contains(&bits) {
            seen.push(bits);
        }
        if seen.len() == FEWEST {
            return true;
        }
    }
    false
}

/// The largest difference, if it is not too large. NaN is like NaN, an infinity like itself.
fn difference(values: &[f64], expected: &[f64], most: f64) -> Option<f64> {
    if values.len() != expected.len() {
        return None;
    }
    let mut largest = 0.0_f64;
    for (value, expected) in values.iter().zip(expected) {
        if value == expected || value.is_nan() && expected.is_nan() {
            continue;
        }
        let apart = (value - expected).abs();
        // What is no number is not near to one.
        if apart.is_nan() || apart > most {
            return None;
        }
        largest = largest.max(apart);
    }
    Some(largest)
}

#[cfg(test)]
mod tests {
    use reference::Elements;

    use super::*;

    fn computed(values: &[f64]) -> Output {
        Output {
            parameter: None,
            shape: vec![2, values.len() / 2],
            element_type: "f32".parse().unwrap(),
            values: Elements::Floats(values.to_vec()),
            bounds: vec![f64::INFINITY; values.len()],
            written: Vec::new(),
            reason: String::new(),
        }
    }

    #[test]
    fn the_only_tensor_with_these_elements_is_taken() {
        let mut left = UnnamedTensors::default();
        let of = |text: &str| Tensor::parse(text, 99).unwrap();
        left.keep(of("8xf32=1 2 3 4 5 6 7 8.00001"));
        left.keep(of("8xf32=1 2 3 4 5 6 7 9"));
        left.keep(of("4xf32=1 2 3 4"));
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let (found, difference) = left.like(&computed(&values)).unwrap();
        assert_eq!(found, of("2x4xf32=1 2 3 4 5 6 7 8.00001"));
        assert!((1e-6..1e-4).contains(&difference), "{difference}");
        let other = values.map(|it| it + 0.5);
        assert_eq!(left.like(&computed(&other)), None, "none has these");
        left.keep(of("8xf32=1 2 3 4 5 6 7 8"));
        assert_eq!(left.like(&computed(&values)), None, "which of two is not known");
        let zeros = computed(&[0.0; 8]);
        left.keep(of("8xf32=0"));
        assert_eq!(left.like(&zeros), None, "many tensors are zero");
    }
}
