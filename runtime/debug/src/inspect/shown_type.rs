//! The type in which a tensor in memory is shown: the source's, though the compiler may have
//! dropped signs of elements, collapsed dimensions and left out those of size 1. Sizes that the
//! source leaves open come from the memory where that leaves no doubt; [`super::source_shapes`]
//! knows more.

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::TensorType;

/// The type in which a tensor is shown: the source's, with sizes from the tensor itself.
pub(super) fn shown_type(declared: Option<&str>, actual: &str) -> Option<TensorType> {
    let actual = TensorType::parse(actual).ok()?;
    let Some(declared) = declared else { return Some(actual) };
    let fits = |shown: &TensorType| {
        is_same_but_for_sign(shown.element_type, actual.element_type)
            && shown.element_count() == actual.element_count()
    };
    if !declared.contains('?') {
        return TensorType::parse(declared).ok().filter(fits).or(Some(actual));
    }
    if let Some(shown) = with_only_size(declared, &actual).filter(fits) {
        return Some(shown);
    }
    let parts: Vec<&str> = declared.split('x').collect();
    let (element_type, dimensions) = parts.split_last()?;
    let open: Option<Vec<Option<u64>>> = dimensions
        .iter()
        .map(|it| if *it == "?" { Some(None) } else { it.parse().ok().map(Some) })
        .collect();
    let open = open?;
    let shape = of_same_rank(&open, &actual.shape).or_else(|| with_units(&open, &actual.shape));
    let Some(shape) = shape else { return Some(actual) };
    let text: String = shape.iter().map(|it| format!("{it}x")).collect();
    TensorType::parse(&(text + element_type)).ok().filter(fits).or(Some(actual))
}

fn of_same_rank(open: &[Option<u64>], actual: &[u64]) -> Option<Vec<u64>> {
    let is_of = |(size, actual): (&Option<u64>, &u64)| size.is_none_or(|it| it == *actual);
    let is_same = open.len() == actual.len() && open.iter().zip(actual).all(is_of);
    is_same.then(|| actual.to_vec())
}

/// Dimensions of size 1 may be missing on either side; which, must be clear.
fn with_units(open: &[Option<u64>], actual: &[u64]) -> Option<Vec<u64>> {
    let sizes: Vec<u64> = actual.iter().copied().filter(|size| *size != 1).collect();
    let mut ways = Vec::new();
    ways_to_fill(open, &sizes, &mut Vec::new(), &mut ways);
    match ways.as_slice() {
        [shape] => Some(shape.clone()),
        _ => None,
    }
}

/// The ways, two at most, in which sizes other than 1 can be those of dimensions, in their order.
fn ways_to_fill(
    open: &[Option<u64>],
    sizes: &[u64],
    so_far: &mut Vec<u64>,
    ways: &mut Vec<Vec<u64>>,
) {
    let Some((dimension, rest)) = open.split_first() else {
        if sizes.is_empty() {
            ways.push(so_far.clone());
        }
        return;
    };
    // The first size may be that of this dimension, or a 1 is missing.
    let first = sizes.first().copied().filter(|it| dimension.is_none_or(|size| size == *it));
    let one = Some(1).filter(|_| dimension.is_none_or(|size| size == 1));
    for (size, left) in [(first, sizes.get(1..)), (one, Some(sizes))] {
        if let (Some(size), Some(left)) = (size, left)
            && ways.len() < 2
        {
            so_far.push(size);
            ways_to_fill(rest, left, so_far, ways);
            so_far.pop();
        }
    }
}
/// Whether elements of both types have the same bits, of which one may have no sign, or be truth
/// values, which are bytes in memory.
fn is_same_but_for_sign(declared: ElementType, actual: ElementType) -> bool {
    let unsigned = ElementType { kind: NumericalKind::UnsignedInteger, ..declared };
    let plain = ElementType { kind: NumericalKind::Integer, ..declared };
    let is_truth = declared.kind == NumericalKind::Boolean;
    declared == actual || ((declared == unsigned || is_truth) && actual == plain)
}

/// A type of which one size is not declared: it follows from how many elements the tensor has.
fn with_only_size(declared: &str, actual: &TensorType) -> Option<TensorType> {
    let (before, after) = declared.split_once('?').filter(|(_, after)| !after.contains('?'))?;
    let with = |size: u64| TensorType::parse(&format!("{before}{size}{after}")).ok();
    let (count, inside) = (actual.element_count()?, with(1)?.element_count()?);
    let size = count.checked_div(inside).filter(|size| size * inside == count)?;
    with(u64::try_from(size).ok()?)
}

#[cfg(test)]
mod tests {
    use super::shown_type;

    fn shown(declared: &str, actual: &str) -> String {
        shown_type(Some(declared), actual).unwrap().to_string()
    }

    #[test]
    fn open_sizes_come_from_the_memory_where_that_leaves_no_doubt() {
        assert_eq!(shown("?x8xf32", "3x8xf32"), "3x8xf32");
        assert_eq!(shown("?x8x3xf32", "24x2xf32"), "2x8x3xf32");
        assert_eq!(shown("?x8x?x?xf32", "1x8x24x48xf32"), "1x8x24x48xf32");
        assert_eq!(shown("?x8x?x?xf32", "8x24x48xf32"), "1x8x24x48xf32");
        assert_eq!(shown("?x?xui8", "2x3xi8"), "2x3xui8");
        assert_eq!(shown("1x?xi1", "3xi8"), "1x3xi1");
    }

    #[test]
    fn what_may_be_two_shapes_is_shown_as_it_is_in_memory() {
        // 1x24x24x48, or 24x24x48x1, or 24x24x1x48.
        assert_eq!(shown("?x24x?x?xf32", "24x24x48xf32"), "24x24x48xf32");
        assert_eq!(shown("?x8x?x?xf32", "8x1152xf32"), "8x1152xf32");
        assert_eq!(shown("?x8x?x?xf32", "1x8x1152xf32"), "1x8x1152xf32");
    }
}
