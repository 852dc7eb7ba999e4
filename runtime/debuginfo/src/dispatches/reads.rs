//! Which elements of its tensors a dispatch loads, by its text.
//!
//! A dispatch that writes a slice of a tensor declares the tensor as read and written, as the rest
//! of it stays. What it reads is what it loads:
//!
//! ```text
//! %3 = iree_tensor_ext.dispatch.tensor.load %1, offsets = [0, 6], sizes = [4, 1], strides = [1, 1] : …
//! ```

use std::collections::{HashMap, HashSet};

use mlir::table::{Meaning, Tensor};

use super::interface::OperandAccess;
use super::statements::operands;

/// The elements of a tensor that a dispatch reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperandReads {
    /// Any of them.
    Any,
    /// Those of some parts, each with a range for each axis. Parts of which the text does not say
    /// where they begin are left out.
    Parts(Vec<Vec<AxisRange>>),
}

/// Indices along an axis: `count` of them from `start`, every `step`th.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AxisRange {
    /// The first.
    pub start: u64,
    /// How many.
    pub count: u64,
    /// From each to the next.
    pub step: u64,
}

impl AxisRange {
    /// All of the indices.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |it| (self.start + it * self.step) as usize)
    }
}

/// What a text does with its tensors.
#[derive(Clone, Default, Debug)]
pub(super) struct TensorUses {
    loads: Vec<Load>,
    /// Tensors that are used in another way than being loaded and stored.
    others: HashSet<String>,
    /// Whether an index is computed from data.
    pub(super) indexes_by_data: bool,
}

#[derive(Clone, Debug)]
struct Load {
    tensor: String,
    offsets: Vec<String>,
    sizes: Vec<String>,
    strides: Vec<String>,
}

impl TensorUses {
    /// Takes the next statement: an operation, and the text after its name.
    pub(super) fn add(&mut self, operation: &str, rest: &str, is_tensor: impl Fn(&str) -> bool) {
        self.indexes_by_data |= mlir::meaning(operation) == Some(Meaning::Tensor(Tensor::Extract))
            || operation == "tensor.gather"
            || operation.starts_with("iree_linalg_ext.") && operation.ends_with("gather");
        let mut used = operands(rest).filter(|name| is_tensor(name));
        if operation.ends_with("dispatch.tensor.load") {
            let Some(tensor) = used.next() else { return };
            match Load::of(&tensor, rest) {
                Some(load) => self.loads.push(load),
                None => {
                    self.others.insert(tensor);
                }
            }
        } else if !operation.ends_with("dispatch.tensor.store") {
            self.others.extend(used);
        }
    }

    /// What is read of a tensor, given the values that are known.
    pub(super) fn of(
        &self,
        tensor: &str,
        access: OperandAccess,
        values: &HashMap<&str, u64>,
    ) -> OperandReads {
        if access == OperandAccess::Write {
            return OperandReads::Parts(Vec::new());
        }
        if self.others.contains(tensor) {
            return OperandReads::Any;
        }
        let loads = self.loads.iter().filter(|load| load.tensor == tensor);
        OperandReads::Parts(loads.filter_map(|load| load.part(values)).collect())
    }
}

impl Load {
    fn of(tensor: &str, rest: &str) -> Option<Self> {
        let tensor = tensor.to_owned();
        let list = |name: &str| {
            let (_, list) = rest.split_once(name)?;
            let (list, _) = list.strip_prefix(" = [")?.split_once(']')?;
            let numbers = list.split(',').map(|it| it.trim().to_owned());
            Some(numbers.filter(|it| !it.is_empty()).collect::<Vec<_>>())
        };
        let (offsets, sizes, strides) = (list("offsets")?, list("sizes")?, list("strides")?);
        let is_whole = offsets.len() == sizes.len() && sizes.len() == strides.len();
        is_whole.then_some(Self { tensor, offsets, sizes, strides })
    }

    fn part(&self, values: &HashMap<&str, u64>) -> Option<Vec<AxisRange>> {
        let number = |text: &String| match text.strip_prefix('%') {
            Some(name) => values.get(name).copied(),
            None => text.parse().ok(),
        };
        let axes = self.offsets.iter().zip(&self.sizes).zip(&self.strides);
        let ranges = axes.map(|((offset, size), stride)| {
            Some(AxisRange { start: number(offset)?, count: number(size)?, step: number(stride)? })
        });
        ranges.collect()
    }
}
