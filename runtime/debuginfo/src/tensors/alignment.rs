//! Which instruction records which dispatch of the program.
//!
//! The compiler records the dispatches of a function in the order of the program of tensors, with
//! their locations. Command buffers that are recorded once are recorded by functions of their own,
//! and a module with several variants of its executables records each dispatch once for each.
//! Where the compiler lays tensors out for its machine, it adds dispatches of its own after that
//! (`_encoding_0_encode_2x8xf32_to_2x8xf32`). They are left out, by the names of their exports.

use std::collections::{BTreeMap, HashMap, HashSet};

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::program::{TensorOperation, TensorOperationId, TensorProgram};
use crate::mlir_text::CallChain;

/// An instruction that records a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDispatch {
    /// The function.
    pub function: FunctionOrdinal,
    /// The instruction.
    pub offset: BytecodeOffset,
    /// Its call chain; empty if its location is unknown.
    pub chain: CallChain,
    /// The export, as far as the bytecode names it.
    pub export: Option<String>,
}

/// Why the program of tensors is not of this module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnalignedProgram {
    /// There are too many or too few.
    #[error("the module records {recorded} dispatches, its program of tensors has {written}")]
    Count {
        /// The dispatches that the module records.
        recorded: usize,
        /// The dispatches of the program.
        written: usize,
    },
    /// A dispatch is of other lines.
    #[error(
        "the instruction at {offset:08X} of function {function} records a dispatch that the \
         program of tensors does not have there"
    )]
    Place {
        /// The ordinal of the function that records it.
        function: usize,
        /// The instruction.
        offset: u32,
    },
}

impl TensorProgram {
    /// The operation that each recording instruction stands for. The recordings may be in any
    /// order.
    ///
    /// # Errors
    /// If they are not those of this program.
    pub fn align(
        &self,
        recordings: &[RecordedDispatch],
    ) -> Result<BTreeMap<(FunctionOrdinal, BytecodeOffset), TensorOperationId>, UnalignedProgram>
    {
        self.align_all(&recordings.iter().collect::<Vec<_>>()).or_else(|error| {
            let exports: HashSet<&str> =
                self.dispatches().filter_map(|(_, it)| it.export()).collect();
            let is_own = |it: &&RecordedDispatch| {
                it.export.as_deref().is_none_or(|export| exports.contains(export))
            };
            let own: Vec<&RecordedDispatch> = recordings.iter().filter(is_own).collect();
            if own.len() == recordings.len() { Err(error) } else { self.align_all(&own) }
        })
    }

    fn align_all(
        &self,
        recordings: &[&RecordedDispatch],
    ) -> Result<BTreeMap<(FunctionOrdinal, BytecodeOffset), TensorOperationId>, UnalignedProgram>
    {
        let mut by_function: BTreeMap<FunctionOrdinal, Vec<&RecordedDispatch>> = BTreeMap::new();
        for recording in recordings {
            by_function.entry(recording.function).or_default().push(recording);
        }
        let written: Vec<Written<'_>> = self.dispatches().collect();
        let count = UnalignedProgram::Count { recorded: recordings.len(), written: written.len() };
        if written.is_empty() || !recordings.len().is_multiple_of(written.len()) {
            return if recordings.len() == written.len() {
                Ok(BTreeMap::new())
            } else {
                Err(count)
            };
        }
        let variants = recordings.len() / written.len();
        let mut free: HashMap<usize, Vec<Written<'_>>> = HashMap::new();
        for it in written {
            free.entry(it.0.function).or_default().push(it);
        }
        let mut aligned = BTreeMap::new();
        // Long runs first: a short one fits in more places.
        let mut runs: Vec<Vec<&RecordedDispatch>> = by_function.into_values().collect();
        for run in &mut runs {
            run.sort_by_key(|it| it.offset);
        }
        runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
        for run in runs {
            let groups: Vec<&[&RecordedDispatch]> = run.chunks(variants).collect();
            let found = free.values_mut().find_map(|written| take_run(written, &groups));
            let found = found.or_else(|| self.take_of_initializers(&mut free, &groups));
            let Some(found) = found else {
                let first = run.first().map_or((0, 0), |it| (it.function.index(), it.offset.0));
                return Err(UnalignedProgram::Place { function: first.0, offset: first.1 });
            };
            for (group, id) in groups.iter().zip(found) {
                aligned.extend(group.iter().map(|it| ((it.function, it.offset), id)));
            }
        }
        Ok(aligned)
    }

    /// Takes the operations that a run of recordings stands for out of several initializers, which
    /// the compiler records together, in an order of its own. Each has to be the only one that it
    /// can be.
    fn take_of_initializers(
        &self,
        free: &mut HashMap<usize, Vec<Written<'_>>>,
        groups: &[&[&RecordedDispatch]],
    ) -> Option<Vec<TensorOperationId>> {
        let is_initializer =
            |function: &usize| self.functions().get(*function).is_some_and(|it| it.name.is_empty());
        let written = free.iter().filter(|(function, _)| is_initializer(function));
        let written: Vec<&Written<'_>> = written.flat_map(|(_, it)| it).collect();
        let one = |group: &&[&RecordedDispatch]| {
            let mut found = written.iter().filter(|it| agrees(it, group));
            found.next().filter(|_| found.next().is_none()).map(|it| it.0)
        };
        let found: Vec<TensorOperationId> = groups.iter().map(one).collect::<Option<_>>()?;
        let taken: HashSet<TensorOperationId> = found.iter().copied().collect();
        if taken.len() < found.len() {
            return None;
        }
        for written in free.values_mut() {
            written.retain(|it| !taken.contains(&it.0));
        }
        Some(found)
    }
}

/// A dispatch of the program.
pub(super) type Written<'p> = (TensorOperationId, &'p TensorOperation);

/// Takes the operations that a run of recordings stands for out of those that are left.
fn take_run(
    written: &mut Vec<Written<'_>>,
    groups: &[&[&RecordedDispatch]],
) -> Option<Vec<TensorOperationId>> {
    let start = (0..(written.len() + 1).checked_sub(groups.len())?)
        .find(|start| written[*start..].iter().zip(groups).all(|(it, group)| agrees(it, group)))?;
    let taken = written.drain(start..start + groups.len());
    Some(taken.map(|(id, _)| id).collect())
}

/// Whether the recordings of a group may be a dispatch.
pub(super) fn agrees((_, dispatch): &Written<'_>, group: &[&RecordedDispatch]) -> bool {
    let chain = dispatch.chains.first().map_or(&[][..], Vec::as_slice);
    let is_it = |it: &&RecordedDispatch| {
        is_same(chain, &it.chain)
            && it.export.as_deref().is_none_or(|export| Some(export) == dispatch.export())
    };
    group.iter().all(is_it)
}

/// Whether two chains begin at the same place, and go on alike as far as both go.
fn is_same(
    one: &[crate::mlir_text::NamedPosition],
    other: &[crate::mlir_text::NamedPosition],
) -> bool {
    one.is_empty() == other.is_empty() && one.iter().zip(other).all(|(one, other)| one == other)
}
