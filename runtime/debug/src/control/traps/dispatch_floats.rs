//! NaN and infinities that a dispatch leaves in its outputs, which are searched before and after
//! it.

use std::cell::LazyCell;

use abi::element_type::NumericalKind;
use hal::ResolvedDispatch;
use vm::FrameIndex;

use super::guarded_memory::at_place;
use super::settings::Traps;
use crate::inspect::dispatch::{DispatchPlace, DispatchUse};
use crate::machine::Machine;
use crate::tensor::{Number, TensorView};

/// Most elements of a tensor that are searched.
const MOST: usize = 1 << 24;

/// Bad elements before a dispatch.
#[derive(Debug)]
pub(super) struct FloatsBefore {
    /// For each tensor that it may write, which elements were bad already.
    written: Vec<Vec<Badness>>,
    /// The operands with bad elements among those that it reads.
    bad_inputs: Vec<String>,
}

/// Whether an element is bad.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Badness {
    Fine,
    Nan,
    Infinite,
}

impl Badness {
    fn of(number: Number) -> Self {
        match number {
            Number::Float(value) if value.is_nan() => Self::Nan,
            Number::Float(value) if value.is_infinite() => Self::Infinite,
            _ => Self::Fine,
        }
    }

    fn name(self) -> &'static str {
        if self == Self::Nan { "NaN" } else { "infinity" }
    }
}

impl FloatsBefore {
    /// Searches the tensors of a dispatch before it runs.
    pub(super) fn look(machine: &Machine, dispatch: &ResolvedDispatch) -> Self {
        let read = machine.operands_used(dispatch, DispatchUse::Reading).into_iter();
        let is_bad = |tensor: &TensorView| badness_of(tensor).iter().any(|it| *it != Badness::Fine);
        let bad_inputs = read.filter(|(_, tensor)| is_bad(tensor));
        // Names are only needed where something is bad.
        let names = LazyCell::new(|| machine.known_operands(FrameIndex(0), dispatch));
        let bad_inputs = bad_inputs
            .map(|(index, tensor)| DispatchPlace::Operand(index).describe(&names, &tensor))
            .collect();
        let written = machine.written_tensors(dispatch);
        let written = written.iter().map(|(_, tensor)| badness_of(tensor)).collect();
        Self { written, bad_inputs }
    }

    /// Whether the outputs of the dispatch are unknown.
    pub(super) fn is_blind(&self) -> bool {
        self.written.is_empty()
    }

    /// A sentence about the elements that the dispatch has made bad, if there are any that the
    /// traps are set for.
    pub(super) fn sentence(
        &self,
        machine: &Machine,
        traps: Traps,
        dispatch: &ResolvedDispatch,
        name: &str,
    ) -> Option<String> {
        let wanted = self.wanted(machine, traps, dispatch);
        let written = machine.written_tensors(dispatch);
        written.iter().zip(&self.written).find_map(|((place, tensor), old)| {
            let found = wanted.iter().find_map(|badness| Found::new(tensor, old, *badness))?;
            let names = machine.known_operands(FrameIndex(0), dispatch);
            let place = place.describe(&names, tensor);
            Some(dispatch_sentence(machine, name, &place, tensor, &found, self))
        })
    }

    /// The bad elements to look for. The instructions of a bytecode dispatch are watched
    /// themselves. A dispatch of machine code is treated as one instruction: bad elements made of
    /// bad inputs are not reported.
    fn wanted(&self, machine: &Machine, traps: Traps, dispatch: &ResolvedDispatch) -> Vec<Badness> {
        let is_opaque = machine.dispatch_function(dispatch).is_none() && self.bad_inputs.is_empty();
        let mut wanted = Vec::new();
        if traps.dispatch_nan || traps.nan && is_opaque {
            wanted.push(Badness::Nan);
        }
        if traps.dispatch_infinity || traps.infinity && is_opaque {
            wanted.push(Badness::Infinite);
        }
        wanted
    }
}

fn dispatch_sentence(
    machine: &Machine,
    name: &str,
    place: &str,
    tensor: &TensorView,
    found: &Found,
    before: &FloatsBefore,
) -> String {
    let at = tensor.index_text(found.first);
    let at = at.map_or_else(String::new, |index| format!("first at [{index}] of "));
    let source = at_place(machine);
    let inputs = match before.bad_inputs.as_slice() {
        [] => String::new(),
        bad => format!("; {} had such elements before", bad.join(", ")),
    };
    format!(
        "dispatch @{name} wrote {}: {at}{place}, {} of {} elements{source}{inputs}",
        found.badness.name(),
        found.count,
        tensor.count()
    )
}

/// Elements that a dispatch has made bad.
struct Found {
    badness: Badness,
    first: usize,
    count: usize,
}

impl Found {
    fn new(tensor: &TensorView, old: &[Badness], badness: Badness) -> Option<Self> {
        let now = badness_of(tensor);
        let is_new = |index: usize| now[index] == badness && old.get(index) != Some(&badness);
        let first = (0..now.len()).find(|index| is_new(*index))?;
        let count = (first..now.len()).filter(|index| is_new(*index)).count();
        Some(Self { badness, first, count })
    }
}

/// The badness of the elements, up to the limit; empty if they are not floats.
fn badness_of(tensor: &TensorView) -> Vec<Badness> {
    let kind = tensor.tensor_type().element_type.kind;
    let mut found = Vec::new();
    if matches!(kind, NumericalKind::Integer | NumericalKind::SignedInteger) {
        return found;
    }
    tensor.each(|number| {
        found.push(Badness::of(number));
        found.len() < MOST
    });
    found
}
