//! NaN and infinities that a dispatch leaves in its outputs.
//!
//! Before a dispatch, what it may overwrite is kept; that is all that it costs, with a look at the
//! outputs after it. Only where they have a bad float does more happen: the memory is put back as
//! it was, its inputs are searched, and the dispatch runs again (`control/float_search.rs`).
//! NaN and infinities are told apart throughout: a NaN that is made of infinities is made there.

use std::cell::LazyCell;

use abi::element_type::{ElementType, NumericalKind};
use debuginfo::OperandAccess;
use hal::ResolvedDispatch;
use vm::{Buffer, FrameIndex};

use super::guarded_memory::at_place;
use super::settings::Traps;
use crate::control::stop::{TrapKind, Trapped};
use crate::inspect::dispatch::{DispatchPlace, DispatchUse};
use crate::machine::Machine;
use crate::tensor::TensorView;

/// A kind of bad float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bad {
    Nan,
    Infinity,
}

impl Bad {
    pub(crate) const ALL: [Self; 2] = [Self::Nan, Self::Infinity];

    /// The stop for it.
    pub(crate) fn trapped(self, text: String) -> Trapped {
        let kind = match self {
            Self::Nan => TrapKind::Nan,
            Self::Infinity => TrapKind::Infinity,
        };
        Trapped { kind, text }
    }

    pub(crate) fn is(self, value: f64) -> bool {
        match self {
            Self::Nan => value.is_nan(),
            Self::Infinity => value.is_infinite(),
        }
    }

    /// Whether traps are set for operations that make it.
    pub(crate) fn is_trapped(self, traps: Traps) -> bool {
        match self {
            Self::Nan => traps.nan,
            Self::Infinity => traps.infinity,
        }
    }

    /// Whether traps are set for dispatches that leave more of it.
    fn is_trapped_in_results(self, traps: Traps) -> bool {
        match self {
            Self::Nan => traps.dispatch_nan,
            Self::Infinity => traps.dispatch_infinity,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinity => "infinity",
        }
    }

    /// Whether an element of these bytes is such a float.
    fn is_in(self, element_type: ElementType, bytes: &[u8]) -> bool {
        // With the sign shifted out, NaN are greater than infinity, and nothing else is.
        macro_rules! any {
            ($word:ty, $infinity:expr) => {{
                let infinity: $word = $infinity << 1;
                let mut words = bytes.as_chunks().0.iter();
                match self {
                    Self::Nan => words.any(|it| <$word>::from_le_bytes(*it) << 1 > infinity),
                    Self::Infinity => words.any(|it| <$word>::from_le_bytes(*it) << 1 == infinity),
                }
            }};
        }
        match (element_type.kind, element_type.bits) {
            (NumericalKind::Float, 32) => any!(u32, 0x7F80_0000),
            (NumericalKind::Float, 16) => any!(u16, 0x7C00),
            (NumericalKind::BrainFloat, 16) => any!(u16, 0x7F80),
            (NumericalKind::Float, 64) => any!(u64, 0x7FF0_0000_0000_0000),
            (_, bits) => {
                let elements = bytes.chunks_exact(usize::from(bits.div_ceil(8)).max(1));
                let mut values = elements.filter_map(|it| element_type.float_value(it));
                values.any(|value| self.is(value))
            }
        }
    }

    /// Whether a tensor has such a float.
    pub(super) fn is_in_tensor(self, tensor: &TensorView) -> bool {
        let tensor_type = tensor.tensor_type();
        let Some(length) = length_of_floats(tensor) else { return false };
        let chunks = (0..length).step_by(CHUNK);
        chunks.into_iter().any(|start| {
            let bytes = tensor.buffer().read(start, CHUNK.min(length - start));
            self.is_in(tensor_type.element_type, &bytes)
        })
    }
}

/// Bytes that are searched at once, whole elements of any type.
const CHUNK: usize = 1 << 16;

/// The length in bytes of a tensor of floats.
pub(super) fn length_of_floats(tensor: &TensorView) -> Option<usize> {
    let tensor_type = tensor.tensor_type();
    tensor_type.element_type.float_value(&[0; 8])?;
    tensor_type.byte_length(usize::MAX).ok()
}

/// A tensor that a dispatch may write.
#[derive(Debug)]
struct Written {
    place: DispatchPlace,
    tensor: TensorView,
    /// Whether the dispatch may leave parts of it as they were.
    keeps_parts: bool,
    /// Its bytes before.
    before: Vec<u8>,
}

impl Written {
    /// The bad elements that the dispatch has left; without those that were there before, unless
    /// the dispatch has certainly written them.
    fn found(&self, bad: Bad, with_old: bool) -> Option<Found> {
        let element_type = self.tensor.tensor_type().element_type;
        let size = element_type.byte_count().max(1);
        let is_bad = |bytes: &[u8]| element_type.float_value(bytes).is_some_and(|it| bad.is(it));
        let now = self.tensor.buffer().read(0, length_of_floats(&self.tensor)?);
        let counts_old = with_old && !self.keeps_parts;
        let elements = now.chunks_exact(size).zip(self.before.chunks_exact(size)).enumerate();
        let mut new = elements
            .filter(|(_, (now, old))| is_bad(now) && (counts_old || !is_bad(old)))
            .map(|(index, _)| index);
        let first = new.next()?;
        Some(Found { bad, first, count: 1 + new.count() })
    }
}

/// Elements that a dispatch has left bad.
#[derive(Clone, Copy, Debug)]
struct Found {
    bad: Bad,
    first: usize,
    count: usize,
}

/// The operands with bad floats among those that a dispatch reads, by name.
#[derive(Clone, Default, Debug)]
pub(crate) struct BadInputs {
    nan: Vec<String>,
    infinite: Vec<String>,
}

impl BadInputs {
    pub(crate) fn of(&self, bad: Bad) -> &[String] {
        match bad {
            Bad::Nan => &self.nan,
            Bad::Infinity => &self.infinite,
        }
    }

    /// Searches what a dispatch reads.
    fn look(machine: &Machine, dispatch: &ResolvedDispatch) -> Self {
        // Names are only needed where something is bad.
        let names = LazyCell::new(|| machine.known_operands(FrameIndex(0), dispatch));
        let mut found = Self::default();
        for (index, tensor) in machine.operands_used(dispatch, DispatchUse::Reading) {
            let name = || DispatchPlace::Operand(index).describe(&names, &tensor);
            if Bad::Nan.is_in_tensor(&tensor) {
                found.nan.push(name());
            }
            if Bad::Infinity.is_in_tensor(&tensor) {
                found.infinite.push(name());
            }
        }
        found
    }

    /// The end of a sentence about NaN or infinities: what of it was there before.
    fn text(&self, bad: Bad) -> String {
        match (bad, self.nan.as_slice(), self.infinite.as_slice()) {
            (Bad::Nan, [], []) | (Bad::Infinity, _, []) => String::new(),
            (Bad::Nan, [], infinite) => format!("; {} had infinities", infinite.join(", ")),
            (Bad::Nan, nan, _) => format!("; {} had NaN before", nan.join(", ")),
            (Bad::Infinity, _, infinite) => format!("; {} had some before", infinite.join(", ")),
        }
    }
}

/// How a dispatch runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Run {
    /// As always.
    First,
    /// Again, checked by operation, as it has left bad floats.
    Search,
}

/// A dispatch in progress: what it overwrites, and how it runs.
#[derive(Debug)]
pub(crate) struct FloatsBefore {
    written: Vec<Written>,
    /// Whether what it leaves tells enough: its outputs are known, and have floats.
    pub(crate) is_telling: bool,
    pub(crate) run: Run,
    /// Whether the program has stopped in its second run,
    pub(crate) is_seen: bool,
    /// as yet for a pause alone.
    pub(crate) is_seen_paused: bool,
    /// Whether a pause came before its second run could begin.
    pub(crate) awaits_search: bool,
    /// Whether all of its instructions that ran on the program's stack were observed.
    pub(crate) is_observed: bool,
    /// Whether nothing has changed what it works on since it began.
    pub(crate) may_run_again: bool,
    /// Why it was not checked by operation.
    pub(crate) why_not: Option<String>,
    /// Known once it was needed.
    inputs: Option<BadInputs>,
}

impl FloatsBefore {
    /// Keeps what a dispatch may overwrite.
    pub(crate) fn keep(machine: &Machine, dispatch: &ResolvedDispatch) -> Self {
        let operands = machine.operands(dispatch);
        let is_known = !operands.is_empty();
        let written = operands.into_iter().enumerate();
        let written = written.filter(|(_, (operand, _))| operand.access != OperandAccess::Read);
        let mut is_whole = is_known;
        let mut tensors = Vec::new();
        for (index, (operand, tensor)) in written {
            let Some(tensor) = tensor else {
                is_whole = false;
                continue;
            };
            let keeps_parts = operand.access == OperandAccess::ReadWrite;
            tensors.push((DispatchPlace::Operand(index), tensor, keeps_parts));
        }
        if !is_known {
            let guessed = machine.written_tensors(dispatch).into_iter();
            tensors.extend(guessed.map(|(place, tensor)| (place, tensor, true)));
        }
        let has_floats = tensors.iter().any(|(_, it, _)| length_of_floats(it).is_some());
        let written = tensors.into_iter().map(|(place, tensor, keeps_parts)| {
            let length = tensor.tensor_type().byte_length(usize::MAX).unwrap_or(0);
            let before = tensor.buffer().read(0, length);
            Written { place, tensor, keeps_parts, before }
        });
        Self {
            written: written.collect(),
            is_telling: is_whole && has_floats,
            run: Run::First,
            is_seen: false,
            is_seen_paused: false,
            awaits_search: false,
            is_observed: true,
            may_run_again: true,
            why_not: None,
            inputs: None,
        }
    }

    /// Whether the outputs of the dispatch are unknown.
    pub(crate) fn is_blind(&self) -> bool {
        self.written.is_empty()
    }

    /// The tensors that it may write.
    pub(super) fn outputs(&self) -> Vec<TensorView> {
        self.written.iter().map(|it| it.tensor.clone()).collect()
    }

    /// The first kind of bad float that the dispatch has left, of those that are trapped.
    pub(crate) fn left(&self, traps: Traps) -> Option<Bad> {
        let mut trapped = Bad::ALL.into_iter().filter(|bad| bad.is_trapped(traps));
        trapped.find(|bad| self.has(*bad))
    }

    /// Whether the dispatch has left such a float.
    pub(crate) fn has(&self, bad: Bad) -> bool {
        self.written.iter().any(|it| bad.is_in_tensor(&it.tensor))
    }

    /// Whether one of the outputs with such a float is narrower than what its dispatch computes
    /// with. The conversion to it is no operation on floats in bytecode.
    pub(crate) fn has_in_narrow(&self, bad: Bad) -> bool {
        let narrow = self.written.iter().filter(|it| it.tensor.element_width() < 4);
        narrow.into_iter().any(|it| bad.is_in_tensor(&it.tensor))
    }

    /// Whether a bad element of the outputs is none in another run of the dispatch, where `other`
    /// gives its tensors.
    pub(crate) fn has_unlike(
        &self,
        bad: Bad,
        other: impl Fn(&TensorView) -> Option<TensorView>,
    ) -> bool {
        self.written.iter().any(|it| {
            let Some(other) = other(&it.tensor) else { return false };
            let element_type = it.tensor.tensor_type().element_type;
            let size = element_type.byte_count().max(1);
            let length = length_of_floats(&it.tensor).unwrap_or(0);
            let is_bad =
                |bytes: &[u8]| element_type.float_value(bytes).is_some_and(|it| bad.is(it));
            let start = other.first() * size;
            let (now, other) =
                (it.tensor.buffer().read(0, length), other.buffer().read(start, length));
            let mut pairs = now.chunks_exact(size).zip(other.chunks_exact(size));
            pairs.any(|(now, other)| is_bad(now) && !is_bad(other))
        })
    }

    /// Exchanges what memory holds with what is kept of it. Returns whether that could be written;
    /// if not, memory is as it was.
    pub(crate) fn exchange(&mut self) -> bool {
        for index in 0..self.written.len() {
            if !self.written[index].exchange() {
                self.written[..index].iter_mut().rev().for_each(|it| {
                    it.exchange();
                });
                return false;
            }
        }
        // Tensors may share memory: the next exchange goes back.
        self.written.reverse();
        true
    }

    /// Does something while memory is as it was before the dispatch, where it may write what the
    /// dispatch writes. Afterwards memory is as it was. `None`: it cannot be put back.
    pub(super) fn while_put_back<T>(&mut self, act: impl FnOnce() -> T) -> Option<T> {
        let before: Vec<Vec<u8>> = self.written.iter().map(|it| it.before.clone()).collect();
        if !self.exchange() {
            return None;
        }
        let done = act();
        let is_as_it_was = self.exchange();
        for (it, before) in self.written.iter_mut().zip(before) {
            it.before = before;
        }
        is_as_it_was.then_some(done)
    }

    /// Memory is again as it was before the dispatch, which runs once more from here.
    pub(crate) fn begin_search(&mut self) {
        for it in &mut self.written {
            it.before = it.tensor.buffer().read(0, it.before.len());
        }
        self.written.sort_by_key(|it| it.place);
        (self.run, self.is_observed) = (Run::Search, true);
    }

    /// The bad floats in what the dispatch has read; looked up where memory is as it was before.
    pub(crate) fn note_inputs(&mut self, machine: &Machine, dispatch: &ResolvedDispatch) {
        self.inputs = Some(BadInputs::look(machine, dispatch));
    }

    /// The same after the dispatch.
    pub(crate) fn inputs(&mut self, machine: &Machine, dispatch: &ResolvedDispatch) -> BadInputs {
        if self.inputs.is_none() {
            // Where it cannot be exchanged, nothing but constants was written.
            let was_exchanged = self.exchange();
            self.note_inputs(machine, dispatch);
            if was_exchanged {
                self.exchange();
            }
        }
        self.inputs.clone().unwrap_or_default()
    }

    /// A sentence about the bad floats that the dispatch has left where there were none, if there
    /// are any for which traps are set.
    pub(crate) fn results_sentence(
        &mut self,
        machine: &Machine,
        traps: Traps,
        dispatch: &ResolvedDispatch,
        name: &str,
    ) -> Option<Trapped> {
        let mut wanted = Bad::ALL.into_iter().filter(|bad| bad.is_trapped_in_results(traps));
        wanted
            .find_map(|bad| Some(bad.trapped(self.sentence(machine, dispatch, name, bad, false)?)))
    }

    /// A sentence about the bad floats that the dispatch has left, if there are any.
    pub(crate) fn sentence(
        &mut self,
        machine: &Machine,
        dispatch: &ResolvedDispatch,
        name: &str,
        bad: Bad,
        with_old: bool,
    ) -> Option<String> {
        let found = |it: &Written| Some((it.place, it.tensor.clone(), it.found(bad, with_old)?));
        let (place, tensor, found) = self.written.iter().find_map(found)?;
        let names = machine.known_operands(FrameIndex(0), dispatch);
        let place = place.describe(&names, &tensor);
        let at = tensor.index_text(found.first);
        let at = at.map_or_else(String::new, |index| format!("first at [{index}] of "));
        let source = at_place(machine);
        let inputs = self.inputs(machine, dispatch).text(bad);
        Some(format!(
            "dispatch @{name} wrote {}: {at}{place}, {} of {} elements{source}{inputs}",
            found.bad.name(),
            found.count,
            tensor.count()
        ))
    }
}

impl Written {
    fn exchange(&mut self) -> bool {
        let buffer: &Buffer = self.tensor.buffer();
        let now = buffer.read(0, self.before.len());
        if now == self.before {
            return true;
        }
        if buffer.write(0, &self.before).is_err() {
            return false;
        }
        self.before = now;
        true
    }
}

#[cfg(test)]
mod tests {
    use abi::tensor::TensorType;

    use super::*;

    fn of(name: &str, value: impl AsRef<[u8]>) -> [bool; 2] {
        let element_type = TensorType::parse(&format!("1x{name}")).expect("a type").element_type;
        Bad::ALL.map(|bad| bad.is_in(element_type, value.as_ref()))
    }

    #[test]
    fn nan_and_infinities_are_told_apart_in_all_types() {
        let (nan, infinite, fine) = ([true, false], [false, true], [false, false]);
        for sign in [1.0_f32, -1.0] {
            assert_eq!(of("f32", f32::NAN.copysign(sign).to_le_bytes()), nan);
            assert_eq!(of("f32", (sign * f32::INFINITY).to_le_bytes()), infinite);
            for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.0] {
                assert_eq!(of("f32", (sign * value).to_le_bytes()), fine);
            }
            let wide = f64::from(sign);
            assert_eq!(of("f64", f64::NAN.copysign(wide).to_le_bytes()), nan);
            assert_eq!(of("f64", (wide * f64::INFINITY).to_le_bytes()), infinite);
            assert_eq!(of("f64", (wide * f64::MAX).to_le_bytes()), fine);
        }
        let halves = [(0x7C01, nan), (0xFE00, nan), (0x7C00, infinite), (0xFC00, infinite)];
        for (bits, expected) in halves {
            assert_eq!(of("f16", u16::to_le_bytes(bits)), expected, "{bits:x}");
        }
        assert_eq!(of("f16", 0x7BFF_u16.to_le_bytes()), fine);
        for (bits, expected) in [(0x7F81_u16, nan), (0xFF80, infinite), (0x7F7F, fine)] {
            assert_eq!(of("bf16", bits.to_le_bytes()), expected, "{bits:x}");
        }
        assert_eq!(of("f8E5M2", [0x7C]), infinite);
        assert_eq!(of("f8E5M2", [0x00, 0x7F]), nan);
        assert_eq!(of("f32", [1.0, 2.0, f32::NAN].map(f32::to_le_bytes).concat()), nan);
    }
}
