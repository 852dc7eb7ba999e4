//! Tensors that lie tile by tile in memory, as data tiling leaves them. The evaluator knows what
//! they hold; where each element lies, the sources of dispatches say.

use abi::tensor::Tensor;
use debuginfo::TiledOperand;
use reference::{Elements, Output};

/// The tensor whose tiles these are; `None` if they are not, or if elements are parts of bytes.
pub(super) fn unpacked(tiles: &Tensor, tiled: &TiledOperand) -> Option<Tensor> {
    let size = tiles.element_type.byte_count();
    if tiles.element_type.is_packed() || size == 0 {
        return None;
    }
    let mut bytes = Vec::new();
    for place in tiled.places()? {
        bytes.extend_from_slice(tiles.bytes.get(place * size..(place + 1) * size)?);
    }
    let shape = tiled.shape.iter().map(|size| *size as u64).collect();
    Some(Tensor { shape, element_type: tiles.element_type, bytes })
}

/// What is said of each tile, for the elements in their own order.
pub(super) fn unpacked_numbers(numbers: &[f64], tiled: &TiledOperand) -> Option<Vec<f64>> {
    tiled.places()?.into_iter().map(|place| numbers.get(place).copied()).collect()
}

/// An output as its tiles. What is beyond the end of the tensor is padding, of which there is no
/// opinion: it counts as not written.
pub(super) fn packed(output: &Output, tiled: &TiledOperand) -> Option<Output> {
    let places = tiled.places()?;
    let shape = tiled.tiles.packed(&tiled.shape)?;
    let count: usize = shape.iter().product();
    if places.len() != output.values.len() {
        return None;
    }
    let values = match &output.values {
        Elements::Floats(values) => Elements::Floats(scattered(values, &places, count, 0.0)),
        Elements::Integers(values) => Elements::Integers(scattered(values, &places, count, 0)),
    };
    let bounds = match output.bounds.is_empty() {
        true => Vec::new(),
        false => scattered(&output.bounds, &places, count, 0.0),
    };
    let written: Vec<bool> = (0..places.len()).map(|at| output.is_written(at)).collect();
    let written = scattered(&written, &places, count, false);
    Some(Output { shape, values, bounds, written, ..output.clone() })
}

fn scattered<T: Copy>(all: &[T], places: &[usize], count: usize, padding: T) -> Vec<T> {
    let mut scattered = vec![padding; count];
    for (it, place) in all.iter().zip(places) {
        if let Some(to) = scattered.get_mut(*place) {
            *to = *it;
        }
    }
    scattered
}
