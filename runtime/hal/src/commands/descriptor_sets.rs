//! Descriptor sets and pipeline layouts: how compilers before the summer of 2024 passed memory and
//! constants to dispatches.
//!
//! They pushed both into the command buffer before the dispatch, in sets with a declared layout;
//! newer compilers name them in the dispatch. [`Pushed`] translates: it collects what is pushed,
//! and a dispatch takes the part that the last layout declares.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use vm::{Object, Status};

use super::command::BufferRange;

/// The most push constants of a layout.
const MAXIMUM_CONSTANTS: usize = 64;

/// `!hal.descriptor_set_layout`: the numbers of a set's bindings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DescriptorSetLayout(pub Vec<u32>);

/// `!hal.pipeline_layout`: the constants and bindings of a dispatch.
#[derive(Clone, Debug)]
pub(crate) struct PipelineLayout(Arc<Layout>);

#[derive(PartialEq, Eq, Debug, Default)]
struct Layout {
    constant_count: usize,
    /// Set and number of each binding, in order.
    bindings: Vec<(u32, u32)>,
}

impl PipelineLayout {
    /// A layout of `constant_count` 32-bit constants and these sets.
    ///
    /// # Errors
    /// There are more constants than the limit.
    pub(crate) fn new(constant_count: usize, sets: &[DescriptorSetLayout]) -> Result<Self, Status> {
        if constant_count > MAXIMUM_CONSTANTS {
            return Err(Status::out_of_range(format!(
                "layout push constant count {constant_count} over the limit of {MAXIMUM_CONSTANTS}"
            )));
        }
        let numbered = sets.iter().zip(0..);
        let mut bindings: Vec<(u32, u32)> = numbered
            .flat_map(|(set, number)| set.0.iter().map(move |binding| (number, *binding)))
            .collect();
        bindings.sort_unstable();
        bindings.dedup();
        Ok(Self(Arc::new(Layout { constant_count, bindings })))
    }
}

/// Everything that was pushed into a command buffer so far.
#[derive(Debug, Default)]
pub(crate) struct Pushed {
    layout: Arc<Layout>,
    constants: Vec<u32>,
    bindings: BTreeMap<(u32, u32), BufferRange>,
}

impl Pushed {
    /// Pushes constants, the first of them as constant `first`.
    ///
    /// # Errors
    /// There are more than the limit.
    pub(crate) fn push_constants(
        &mut self,
        layout: &PipelineLayout,
        first: usize,
        constants: &[u32],
    ) -> Result<(), Status> {
        let end = first.saturating_add(constants.len());
        if end > MAXIMUM_CONSTANTS {
            return Err(Status::out_of_range(format!(
                "push constant range {first} (length={}) out of range",
                constants.len()
            )));
        }
        self.layout = layout.0.clone();
        if self.constants.len() < end {
            self.constants.resize(end, 0);
        }
        self.constants[first..end].copy_from_slice(constants);
        Ok(())
    }

    /// Pushes bindings of a set; other bindings of the set stay.
    pub(crate) fn push_set(
        &mut self,
        layout: &PipelineLayout,
        set: u32,
        bindings: impl IntoIterator<Item = (u32, BufferRange)>,
    ) {
        self.layout = layout.0.clone();
        let numbered = bindings.into_iter().map(|(number, range)| ((set, number), range));
        self.bindings.extend(numbered);
    }

    /// The constants and bindings of a dispatch that is recorded now.
    ///
    /// # Errors
    /// A binding of the layout was never pushed.
    pub(crate) fn of_dispatch(&self) -> Result<(Vec<u32>, Vec<BufferRange>), Status> {
        let mut constants = self.constants.clone();
        constants.resize(self.layout.constant_count, 0);
        let bindings = self.layout.bindings.iter().map(|place| {
            self.bindings.get(place).cloned().ok_or_else(|| {
                let (set, number) = place;
                Status::failed_precondition(format!(
                    "dispatch without binding {number} of descriptor set {set}: nothing was pushed \
                     there"
                ))
            })
        });
        Ok((constants, bindings.collect::<Result<_, _>>()?))
    }
}

macro_rules! objects {
    ($($type:ty: $name:literal;)*) => {$(
        impl Object for $type {
            fn type_name(&self) -> &str {
                $name
            }

            fn as_any(&self) -> &dyn Any {
                self
            }
        }
    )*};
}

objects! {
    DescriptorSetLayout: "hal.descriptor_set_layout";
    PipelineLayout: "hal.pipeline_layout";
}

#[cfg(test)]
mod tests {
    use super::super::command::BufferReference;
    use super::*;

    fn slot(slot: u32) -> BufferRange {
        BufferRange { buffer: BufferReference::Slot(slot), offset: 0, length: 4 }
    }

    #[test]
    fn a_dispatch_takes_what_its_layout_declares() {
        let set = |bindings: &[u32]| DescriptorSetLayout(bindings.to_vec());
        let wide = PipelineLayout::new(3, &[set(&[1, 0]), set(&[4])]).unwrap();
        let narrow = PipelineLayout::new(1, &[set(&[0])]).unwrap();
        let mut pushed = Pushed::default();
        pushed.push_constants(&wide, 1, &[7, 8]).unwrap();
        pushed.push_set(&wide, 0, [(0, slot(10)), (1, slot(11))]);
        assert!(pushed.of_dispatch().is_err());
        pushed.push_set(&wide, 1, [(4, slot(14))]);
        let slots = |pushed: &Pushed| {
            let (constants, bindings) = pushed.of_dispatch().unwrap();
            let slots = bindings.iter().map(|range| match range.buffer {
                BufferReference::Slot(slot) => slot,
                BufferReference::Direct(_) => u32::MAX,
            });
            (constants, slots.collect::<Vec<_>>())
        };
        assert_eq!(slots(&pushed), (vec![0, 7, 8], vec![10, 11, 14]));
        pushed.push_set(&narrow, 0, [(0, slot(20))]);
        assert_eq!(slots(&pushed), (vec![0], vec![20]));
        assert!(pushed.push_constants(&wide, 63, &[1, 2]).is_err());
        assert!(pushed.push_constants(&wide, usize::MAX, &[1, 2]).is_err());
        assert!(PipelineLayout::new(65, &[]).is_err());
    }
}
