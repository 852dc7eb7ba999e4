//! What a source of ONNX computes from constants and shapes alone: `onnx.Range`, `onnx.Expand` of a
//! constant, sizes that are put together for an `onnx.Reshape`. Importer and compiler leave no
//! operation of these, so nothing else knows their elements.
//!
//! Only what every way of computing has alike is folded: elements that move ([`moves`]), and
//! arithmetic without rounding ([`arithmetic`]). A shape that the source's type contradicts is
//! refused, and so is what grows beyond [`MOST_ELEMENTS`].

mod arithmetic;
mod moves;

pub(crate) use arithmetic::integers;

use std::collections::HashMap;
use std::sync::Arc;

use abi::tensor::{Tensor, TensorType};

use super::constants::{Resources, WrittenTensor, constant, written_by};
use super::functions::{LineColumn, SourceFunction, ValueIndex};
use super::imported;

/// The most elements of a tensor that is folded, and of all that leads to it.
const MOST_ELEMENTS: u64 = 1 << 25;
/// The longest chain of operations that is followed.
const DEEPEST: usize = 256;

/// A function of a source, and what is known of its values.
pub(super) struct Folding<'t> {
    text: &'t str,
    resources: &'t Resources,
    function: &'t SourceFunction,
    known: HashMap<ValueIndex, Option<WrittenTensor>>,
    left: u64,
    depth: usize,
}

/// An operation whose operands are known, as a rule sees it.
struct Operation<'o> {
    kind: &'o str,
    head: &'o str,
    operands: Vec<Arc<Tensor>>,
    /// The type that the source declares for the result.
    declared: Declared,
    /// The attribute `value`.
    value: Option<Arc<Tensor>>,
}

/// A type of the source, whose sizes may be open.
struct Declared {
    sizes: Vec<Option<u64>>,
    element: abi::element_type::ElementType,
}

impl Declared {
    /// Reads `!torch.vtensor<[1,?],f32>`.
    fn read(text: &str) -> Option<Self> {
        let text = imported::types(text)?.into_iter().next()?;
        let (sizes, element) = text.rsplit_once('x').unwrap_or(("", &text));
        let size = |it: &str| if it == "?" { Some(None) } else { it.parse().ok().map(Some) };
        let sizes = sizes.split('x').filter(|it| !it.is_empty()).map(size);
        Some(Self { sizes: sizes.collect::<Option<_>>()?, element: element.parse().ok()? })
    }

    /// All sizes, if none is open.
    fn shape(&self) -> Option<Vec<u64>> {
        self.sizes.iter().copied().collect()
    }

    fn allows(&self, tensor: &Tensor) -> bool {
        let sizes = self.sizes.iter().zip(&tensor.shape);
        self.element == tensor.element_type
            && self.sizes.len() == tensor.shape.len()
            && sizes.into_iter().all(|(declared, size)| declared.is_none_or(|it| it == *size))
    }
}

impl Operation<'_> {
    fn operand(&self, index: usize) -> Option<&Tensor> {
        self.operands.get(index).map(Arc::as_ref)
    }

    /// The integers of an operand of one axis or none: axes, sizes, indices.
    fn integers(&self, index: usize) -> Option<Vec<i64>> {
        arithmetic::integers(self.operand(index)?)
    }

    /// The text of an attribute, up to its type: `1` of `torch.onnx.axis = 1 : si64`.
    fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.head.split_once(&format!("torch.onnx.{name} = "))?;
        let end = match rest.strip_prefix('[') {
            Some(list) => return Some(&list[..list.find(']')?]),
            None => rest.find([' ', ',', '}'])?,
        };
        Some(&rest[..end])
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.parse().ok()
    }

    /// An attribute that counts axes, of a tensor with `rank`, from the end if it is negative.
    fn axis(&self, rank: usize) -> Option<usize> {
        moves::axis(self.integer("axis")?, rank)
    }

    /// `[0 : si64, 2 : si64]`
    fn list(&self, name: &str) -> Option<Vec<i64>> {
        let items = self.attribute(name)?.split(',');
        items.map(|it| it.trim().split(' ').next()?.parse().ok()).collect()
    }
}

impl<'t> Folding<'t> {
    pub(super) fn new(
        text: &'t str,
        resources: &'t Resources,
        function: &'t SourceFunction,
    ) -> Self {
        let known = HashMap::new();
        Self { text, resources, function, known, left: MOST_ELEMENTS, depth: 0 }
    }

    /// Whether an operation is one that may be folded, by its head.
    pub(super) fn is_folded(head: &str) -> bool {
        imported::kind(head).is_some_and(|(kind, _)| {
            matches!(kind, "Identity" | "Shape")
                || moves::KINDS.contains(&kind)
                || arithmetic::KINDS.contains(&kind)
        })
    }

    /// A value as the source writes it, or as it follows from what the source writes.
    pub(super) fn value(&mut self, value: ValueIndex) -> Option<WrittenTensor> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = self.define(value);
        self.depth -= 1;
        self.known.insert(value, found.clone());
        found
    }

    fn define(&mut self, value: ValueIndex) -> Option<WrittenTensor> {
        let (operation, _) = self.function.values.get(value)?.definition?;
        let name = self.function.operations.get(operation)?.name.as_str();
        let head = self.function.head_text(operation)?;
        if name == "torch.operator" && Self::is_folded(head) {
            return self.fold(value, head).map(WrittenTensor::Tensor);
        }
        written_by(self.text, self.resources, name, head)
    }

    /// The tensor that an operation makes of what is known.
    fn fold(&mut self, value: ValueIndex, head: &str) -> Option<Arc<Tensor>> {
        let (kind, _) = imported::kind(head)?;
        let result = self.function.values.get(value)?;
        let declared = Declared::read(result.type_text.as_deref()?)?;
        let operands = &self.function.operations.get(result.definition?.0)?.operands;
        if kind == "Shape" {
            let operand = self.function.values.get(*operands.first()?)?;
            let operation = Operation { kind, head, operands: Vec::new(), declared, value: None };
            return shape_of(&operation, operand.type_text.as_deref()?).map(Arc::new);
        }
        let mut tensors = Vec::with_capacity(operands.len());
        for operand in operands {
            let WrittenTensor::Tensor(tensor) = self.value(*operand)? else { return None };
            tensors.push(tensor);
        }
        if kind == "Identity" {
            return tensors.pop().filter(|it| declared.allows(it));
        }
        let value = match head.contains("torch.onnx.value = ") {
            true => Some(constant(self.text, self.resources, head)?),
            false => None,
        };
        let operation = Operation { kind, head, operands: tensors, declared, value };
        let most = self.left;
        let found = moves::fold(&operation, most).or_else(|| arithmetic::fold(&operation, most))?;
        self.left = self.left.checked_sub(found.tensor_type().element_count()? as u64)?;
        operation.declared.allows(&found).then(|| Arc::new(found))
    }
}

/// The tensor that a name stands for at a place of a function, where the name is in scope or
/// defined.
pub(super) fn written(
    text: &str,
    resources: &Resources,
    function: &SourceFunction,
    place: LineColumn,
    name: &str,
) -> Option<WrittenTensor> {
    let here = function.operation_at(place)?;
    let own = function.operations.get(here)?.results.iter().copied();
    let mut known = function.in_scope(here);
    known.extend(own);
    let value = known.into_iter().rev().find(|it| function.values[*it].name == name)?;
    Folding::new(text, resources, function).value(value)
}

/// The names of tensors that follow from what a function writes, without the constants themselves,
/// each with the place of its operation and its type.
pub(super) fn folded_constants(
    text: &str,
    resources: &Resources,
    function: &SourceFunction,
) -> Vec<(String, LineColumn, String)> {
    let mut folding = Folding::new(text, resources, function);
    let values = function.values.iter().enumerate().filter_map(|(index, value)| {
        let operation = value.definition?.0;
        if !Folding::is_folded(function.head_text(operation)?) {
            return None;
        }
        match folding.value(index)? {
            WrittenTensor::Tensor(tensor) => {
                let place = function.operations.get(operation)?.place;
                Some((value.name.clone(), place, tensor.tensor_type().to_string()))
            }
            _ => None,
        }
    });
    values.collect()
}

/// The sizes of a tensor as a tensor, if its type has them all.
fn shape_of(operation: &Operation<'_>, of: &str) -> Option<Tensor> {
    let sizes = Declared::read(of)?.shape()?;
    let rank = i64::try_from(sizes.len()).ok()?;
    let place = |it: i64| usize::try_from(if it < 0 { it + rank } else { it }.clamp(0, rank)).ok();
    let start = place(operation.integer("start").unwrap_or(0))?;
    let end = place(operation.integer("end").unwrap_or(rank))?;
    let sizes = sizes.get(start..end.max(start))?;
    let bytes = sizes.iter().flat_map(|it| it.to_le_bytes()).collect();
    let element_type = TensorType::parse("i64").ok()?.element_type;
    let tensor = Tensor { shape: vec![sizes.len() as u64], element_type, bytes };
    operation.declared.allows(&tensor).then_some(tensor)
}

#[cfg(test)]
mod tests;
