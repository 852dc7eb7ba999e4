//! The programs' own tensors, which no dispatch writes: weights, constants, inputs. They may differ
//! where nothing that depends on them does: a bit of a weight that is rounded away is a difference
//! all the same.

use std::collections::HashSet;
use std::ops::Range;

use debug::{Machine, StandingDispatch, StandingOperand, TensorView};

use crate::allowed::Allowed;
use crate::finding::{TensorFinding, Verdict};
use crate::kept::Keep;
use crate::report::OwnTensor;
use crate::side::names;
use crate::tolerance::Tolerance;

/// What is known of the tensors of two programs.
#[derive(Debug, Default)]
pub(crate) struct OwnTensors {
    /// Memory of side A with what dispatches have left, or copies have moved from there.
    written: HashSet<(usize, usize)>,
    /// The last command of side A whose moves are known.
    seen: u64,
    /// Where the tensors lie that were compared, on both sides, with the length.
    compared: HashSet<(usize, usize, usize)>,
}

impl OwnTensors {
    /// Takes note of what copies of side A have moved.
    pub(crate) fn follow(&mut self, machine: &Machine) {
        let (total, transfers) = machine.transfers_after(self.seen);
        self.seen = total;
        for transfer in transfers {
            if transfer.source.is_some_and(|source| self.is_written(&source)) {
                self.written.insert((transfer.target.start, transfer.target.end));
            }
        }
    }

    /// A dispatch of side A has run.
    pub(crate) fn written(&mut self, dispatch: &StandingDispatch) {
        let written = dispatch.operands.iter().filter(|it| it.is_written);
        let ranges = written.filter_map(|it| Some(it.tensor.as_ref()?.addresses()));
        self.written.extend(ranges.map(|range| (range.start, range.end)));
    }

    /// Those that differ of what two dispatches read, if they read tensors of the same types. Each
    /// is compared once.
    pub(crate) fn compared(
        &mut self,
        a: &StandingDispatch,
        b: &StandingDispatch,
        keep: &Keep,
    ) -> Vec<OwnTensor> {
        if a.operands.len() != b.operands.len() {
            return Vec::new();
        }
        let pairs = a.operands.iter().zip(&b.operands).enumerate();
        let found = pairs.filter_map(|(index, (operand, theirs))| {
            let is_read = |it: &StandingOperand| it.is_read && !it.is_written;
            if !is_read(operand) || !is_read(theirs) {
                return None;
            }
            let (own, other) = (operand.tensor.as_ref()?, theirs.tensor.as_ref()?);
            let place = own.addresses();
            let key = (place.start, other.addresses().start, place.len());
            if own.type_name() != other.type_name()
                || self.is_written(&place)
                || !self.compared.insert(key)
                || has_same_bytes(own, other)
            {
                return None;
            }
            let why = "a program's own tensor is the same on both sides";
            let exact = || Allowed::Tolerance(Tolerance::exact(why));
            let tensor = TensorFinding::of(names(index, operand), [own, other], keep, exact);
            (tensor.verdict == Verdict::Differs).then_some(OwnTensor { reader: a.number, tensor })
        });
        found.collect()
    }

    fn is_written(&self, range: &Range<usize>) -> bool {
        self.written.iter().any(|(start, end)| *start < range.end && range.start < *end)
    }
}

fn has_same_bytes(a: &TensorView, b: &TensorView) -> bool {
    let bytes = |it: &TensorView| it.tensor().map(|it| it.bytes);
    bytes(a).is_some_and(|own| bytes(b).is_some_and(|other| own == other))
}
