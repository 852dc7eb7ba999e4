//! Operations that move elements and compute nothing: other shapes, order, parts and copies.

use abi::tensor::Tensor;

use super::Operation;

/// The operations of this file.
pub(super) const KINDS: [&str; 11] = [
    "Concat",
    "ConstantOfShape",
    "Expand",
    "Flatten",
    "Gather",
    "Reshape",
    "Slice",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
    "Where",
];

/// The result of an operation of [`KINDS`], if it has at most so many elements.
pub(super) fn fold(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let first = || operation.operand(0);
    match operation.kind {
        "Concat" => concatenate(operation, most),
        "ConstantOfShape" => fill(operation, most),
        "Expand" => {
            let to = sizes(&operation.integers(1)?)?;
            let shape = broadcast(&[&first()?.shape, &to])?;
            spread(first()?, &shape, most)
        }
        "Gather" => gather(operation, most),
        "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" => reshape(operation),
        "Slice" => slice(operation, most),
        "Transpose" => transpose(operation),
        "Where" => select(operation, most),
        _ => None,
    }
}

/// An axis, from the end if it is negative.
pub(super) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis + rank } else { axis };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

fn sizes(numbers: &[i64]) -> Option<Vec<u64>> {
    numbers.iter().map(|it| u64::try_from(*it).ok()).collect()
}

/// The number of elements of a shape, if it is at most so many.
fn count(shape: &[u64], most: u64) -> Option<usize> {
    let count = shape.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))?;
    usize::try_from(count).ok().filter(|_| count <= most)
}

/// The shape to which shapes broadcast: from the last axis, equal sizes or 1.
pub(super) fn broadcast(shapes: &[&[u64]]) -> Option<Vec<u64>> {
    let rank = shapes.iter().map(|it| it.len()).max()?;
    let size = |axis: usize| {
        let of = |shape: &&[u64]| (axis + shape.len()).checked_sub(rank).map(|it| shape[it]);
        let others = shapes.iter().filter_map(of).filter(|it| *it != 1);
        let mut others = others.collect::<Vec<_>>();
        others.dedup();
        match others[..] {
            [] => Some(1),
            [size] => Some(size),
            _ => None,
        }
    };
    (0..rank).map(size).collect()
}

/// A tensor whose element at each index of a shape is that of `of` at the place `place` gives.
fn moved(
    of: &Tensor,
    shape: &[u64],
    most: u64,
    mut place: impl FnMut(&[u64]) -> Option<u64>,
) -> Option<Tensor> {
    let total = count(shape, most)?;
    let width = whole_bytes(of)?;
    let mut bytes = Vec::with_capacity(total.checked_mul(width)?);
    let mut index = vec![0_u64; shape.len()];
    for _ in 0..total {
        let at = usize::try_from(place(&index)?).ok()?.checked_mul(width)?;
        bytes.extend_from_slice(of.bytes.get(at..at + width)?);
        for (digit, size) in index.iter_mut().zip(shape).rev() {
            *digit += 1;
            if *digit < *size {
                break;
            }
            *digit = 0;
        }
    }
    Some(Tensor { shape: shape.to_vec(), element_type: of.element_type, bytes })
}

/// The bytes of an element, if it shares none with another.
pub(super) fn whole_bytes(tensor: &Tensor) -> Option<usize> {
    let element = tensor.element_type;
    (element.bits > 0 && !element.is_packed()).then(|| element.byte_count())
}

/// The distance in elements between neighbours along each axis.
fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1_u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// A tensor copied along the axes that broadcast.
pub(super) fn spread(tensor: &Tensor, shape: &[u64], most: u64) -> Option<Tensor> {
    let added = shape.len().checked_sub(tensor.shape.len())?;
    let strides = strides(&tensor.shape);
    moved(tensor, shape, most, |index| {
        let own = index[added..].iter().zip(&tensor.shape).zip(&strides);
        Some(own.map(|((at, size), stride)| if *size == 1 { 0 } else { at * stride }).sum())
    })
}

fn concatenate(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let first = operation.operand(0)?;
    let axis = operation.axis(first.shape.len())?;
    let mut shape = first.shape.clone();
    shape[axis] = 0;
    for part in &operation.operands {
        let mut other = part.shape.clone();
        shape[axis] = shape[axis].checked_add(*other.get(axis)?)?;
        other[axis] = shape[axis];
        if other != shape || part.element_type != first.element_type {
            return None;
        }
    }
    let width = whole_bytes(first)?;
    count(&shape, most)?;
    let outer = count(&shape[..axis], most)?;
    let mut bytes = Vec::new();
    for at in 0..outer {
        for part in &operation.operands {
            let run = count(&part.shape[axis..], most)? * width;
            bytes.extend_from_slice(part.bytes.get(at * run..(at + 1) * run)?);
        }
    }
    Some(Tensor { shape, element_type: first.element_type, bytes })
}

/// Zeros of the declared type, or copies of the attribute's element.
fn fill(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let shape = sizes(&operation.integers(0)?)?;
    let element_type = operation.declared.element;
    let zero = || vec![0; element_type.byte_count()];
    let bytes = operation.value.as_ref().map_or_else(zero, |it| it.bytes.clone());
    let one = Tensor { shape: Vec::new(), element_type, bytes };
    moved(&one, &shape, most, |_| Some(0))
}

fn gather(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let data = operation.operand(0)?;
    let axis = match operation.integer("axis") {
        Some(_) => operation.axis(data.shape.len())?,
        None => axis(0, data.shape.len())?,
    };
    let indices = operation.operand(1)?;
    let size = i64::try_from(data.shape[axis]).ok()?;
    let at = |it: i64| u64::try_from(if it < 0 { it + size } else { it }).ok();
    let numbers = super::arithmetic::integers(indices)?;
    let numbers: Vec<u64> = numbers.into_iter().map(at).collect::<Option<_>>()?;
    if numbers.iter().any(|it| *it >= data.shape[axis]) {
        return None;
    }
    let (before, after) = (&data.shape[..axis], &data.shape[axis + 1..]);
    let shape = [before, &indices.shape, after].concat();
    let (strides, of_indices) = (strides(&data.shape), strides(&indices.shape));
    let rank = indices.shape.len();
    moved(data, &shape, most, |index| {
        let chosen = index[axis..axis + rank].iter().zip(&of_indices);
        let chosen: u64 = chosen.map(|(at, stride)| at * stride).sum();
        let chosen = *numbers.get(usize::try_from(chosen).ok()?)?;
        let outer = index[..axis].iter().chain([&chosen]).chain(&index[axis + rank..]);
        Some(outer.zip(&strides).map(|(at, stride)| at * stride).sum())
    })
}

/// The same elements in another shape: the declared one, or where that is open, that of the
/// operand's sizes or axes.
fn reshape(operation: &Operation<'_>) -> Option<Tensor> {
    let tensor = operation.operand(0)?;
    let shape = match (operation.declared.shape(), operation.kind) {
        (Some(shape), _) => shape,
        (None, "Reshape") => reshaped(operation)?,
        (None, "Unsqueeze") => {
            let rank = operation.declared.sizes.len();
            let axes = operation.integers(1)?;
            let axes: Vec<usize> = axes.iter().map(|it| axis(*it, rank)).collect::<Option<_>>()?;
            let mut own = tensor.shape.iter().copied();
            let size = |at: usize| if axes.contains(&at) { Some(1) } else { own.next() };
            (0..rank).map(size).collect::<Option<_>>()?
        }
        (None, "Squeeze") => {
            let rank = tensor.shape.len();
            let axes = operation.integers(1)?;
            let axes: Vec<usize> = axes.iter().map(|it| axis(*it, rank)).collect::<Option<_>>()?;
            let own = tensor.shape.iter().enumerate();
            own.filter(|(at, _)| !axes.contains(at)).map(|(_, size)| *size).collect()
        }
        (None, _) => return None,
    };
    let all = u64::MAX;
    (count(&shape, all)? == count(&tensor.shape, all)?).then(|| Tensor { shape, ..tensor.clone() })
}

/// The shape that the operand of `onnx.Reshape` asks for: 0 keeps a size, -1 is what is left.
fn reshaped(operation: &Operation<'_>) -> Option<Vec<u64>> {
    let tensor = operation.operand(0)?;
    let keeps = operation.integer("allowzero").unwrap_or(0) == 0;
    let asked = operation.integers(1)?;
    let size = |(at, it): (usize, &i64)| match it {
        0 if keeps => tensor.shape.get(at).copied(),
        -1 => Some(1),
        it => u64::try_from(*it).ok(),
    };
    let mut shape: Vec<u64> = asked.iter().enumerate().map(size).collect::<Option<_>>()?;
    if let Some(open) = asked.iter().position(|it| *it == -1) {
        let all = count(&tensor.shape, u64::MAX)? as u64;
        shape[open] = all.checked_div(count(&shape, u64::MAX)? as u64)?;
    }
    Some(shape)
}

fn slice(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let tensor = operation.operand(0)?;
    let rank = tensor.shape.len();
    let (starts, ends) = (operation.integers(1)?, operation.integers(2)?);
    let axes = match operation.operand(3) {
        Some(_) => operation.integers(3)?,
        None => (0..i64::try_from(starts.len()).ok()?).collect(),
    };
    let steps = match operation.operand(4) {
        Some(_) => operation.integers(4)?,
        None => vec![1; starts.len()],
    };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return None;
    }
    let mut shape = tensor.shape.clone();
    let mut ways = vec![(0_i64, 1_i64); rank];
    for (number, at) in axes.iter().enumerate() {
        let at = axis(*at, rank)?;
        let size = i64::try_from(tensor.shape[at]).ok()?;
        let step = Some(steps[number]).filter(|it| *it != 0)?;
        let from_end = |it: i64| if it < 0 { it.saturating_add(size) } else { it };
        let (start, end) = (from_end(starts[number]), from_end(ends[number]));
        let (start, end) = match step > 0 {
            true => (start.clamp(0, size), end.clamp(0, size)),
            false => (start.clamp(0, (size - 1).max(0)), end.clamp(-1, size - 1)),
        };
        let length = (i128::from(end) - i128::from(start)).unsigned_abs();
        let is_empty = (step > 0) != (end > start) || start == end;
        let length = if is_empty { 0 } else { length.div_ceil(step.unsigned_abs().into()) };
        shape[at] = u64::try_from(length).ok()?;
        ways[at] = (start, step);
    }
    let strides = strides(&tensor.shape);
    moved(tensor, &shape, most, |index| {
        let mut place = 0;
        for ((at, (start, step)), stride) in index.iter().zip(&ways).zip(&strides) {
            let own = i64::try_from(*at).ok()?.checked_mul(*step)?.checked_add(*start)?;
            place += u64::try_from(own).ok()? * stride;
        }
        Some(place)
    })
}

fn transpose(operation: &Operation<'_>) -> Option<Tensor> {
    let tensor = operation.operand(0)?;
    let rank = tensor.shape.len();
    let order: Vec<usize> = match operation.list("perm") {
        Some(order) => order.iter().map(|it| axis(*it, rank)).collect::<Option<_>>()?,
        None => (0..rank).rev().collect(),
    };
    if order.len() != rank || (0..rank).any(|it| !order.contains(&it)) {
        return None;
    }
    let shape: Vec<u64> = order.iter().map(|it| tensor.shape[*it]).collect();
    let strides = strides(&tensor.shape);
    moved(tensor, &shape, u64::MAX, |index| {
        Some(index.iter().zip(&order).map(|(at, axis)| at * strides[*axis]).sum())
    })
}

/// `onnx.Where`: the second operand's elements where the first is true, else the third's.
fn select(operation: &Operation<'_>, most: u64) -> Option<Tensor> {
    let [condition, yes, no] = [0, 1, 2].map(|it| operation.operand(it));
    let (condition, yes, no) = (condition?, yes?, no?);
    let shape = broadcast(&[&condition.shape, &yes.shape, &no.shape])?;
    if yes.element_type != no.element_type || condition.element_type.bits != 8 {
        return None;
    }
    let width = whole_bytes(yes)?;
    let [condition, yes, no] = [condition, yes, no].map(|it| spread(it, &shape, most));
    let (condition, mut yes, no) = (condition?, yes?, no?);
    for (at, is_true) in condition.bytes.iter().enumerate() {
        if *is_true == 0 {
            let place = at * width..(at + 1) * width;
            yes.bytes.get_mut(place.clone())?.copy_from_slice(no.bytes.get(place)?);
        }
    }
    Some(yes)
}
