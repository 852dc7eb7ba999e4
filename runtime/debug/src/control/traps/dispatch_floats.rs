//! NaN and infinities that a dispatch leaves behind: what it may write is looked at before and
//! after it.

use abi::element_type::NumericalKind;
use hal::ResolvedDispatch;

use super::guarded_memory::at_place;
use super::settings::Traps;
use crate::inspect::dispatch::DispatchUse;
use crate::machine::Machine;
use crate::tensor::{Number, TensorView};

/// Elements of a tensor that are looked at.
const MOST: usize = 1 << 24;

/// Bad elements that were there before a dispatch.
#[derive(Debug)]
pub(super) struct FloatsBefore {
    /// Of each tensor that it may write, which elements were bad already.
    written: Vec<Vec<Badness>>,
    /// The operands that it reads which had bad elements.
    bad_inputs: Vec<String>,
}

/// What an element is, as far as somebody wants to know.
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
    /// Looks at the tensors of a dispatch before it runs.
    pub(super) fn look(machine: &Machine, dispatch: &ResolvedDispatch) -> Self {
        let read = machine.operands_used(dispatch, DispatchUse::Reading).into_iter();
        let is_bad = |tensor: &TensorView| badness_of(tensor).iter().any(|it| *it != Badness::Fine);
        let bad_inputs = read.filter(|(_, tensor)| is_bad(tensor));
        let bad_inputs = bad_inputs.map(|(index, _)| format!("operand[{index}]")).collect();
        let written = machine.written_tensors(dispatch);
        let written = written.iter().map(|(_, tensor)| badness_of(tensor)).collect();
        Self { written, bad_inputs }
    }

    /// Whether it is not known what the dispatch writes.
    pub(super) fn is_blind(&self) -> bool {
        self.written.is_empty()
    }

    /// What the dispatch has made bad of what the traps are set for, in a sentence.
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
            Some(dispatch_sentence(machine, name, place, tensor, &found, self))
        })
    }

    /// What somebody wants to know of a dispatch. Of one in bytecode the instructions are seen; one
    /// in machine code is like an instruction: what it makes of bad operands is no news.
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

/// What the elements are, as many as are looked at; none where they are no floats.
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
