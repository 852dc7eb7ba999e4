//! NaN and infinities that a dispatch leaves behind: what it may write is looked at before and
//! after it.

use abi::element_type::NumericalKind;
use debuginfo::OperandAccess;
use hal::ResolvedDispatch;
use vm::{BoundaryKind, FrameIndex};

use crate::breakpoint::BreakpointId;
use crate::debugger::Debugger;
use crate::number::Number;
use crate::tensor::TensorView;

/// Elements of a tensor that are looked at.
const MOST: usize = 1 << 24;

/// What was there before a dispatch.
#[derive(Debug)]
pub(crate) struct BeforeDispatch {
    /// Of each tensor that it may write, which elements are bad already.
    written: Vec<Vec<Badness>>,
    /// The operands that it reads which have bad elements.
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

impl Debugger {
    /// Looks at the dispatch at whose boundary the program stands; what it did that was asked
    /// about.
    pub(crate) fn trap_dispatch(&mut self, kind: BoundaryKind, name: &str) -> Option<String> {
        if !self.traps().watches_dispatches() || name.is_empty() || kind == BoundaryKind::BeforePart
        {
            return None;
        }
        if kind == BoundaryKind::BeforeStep {
            self.look_before_dispatch(name);
            return None;
        }
        let before = self.before_dispatch.take()?;
        let dispatch = self.dispatch(FrameIndex(0))?;
        let written = self.written_tensors(&dispatch);
        for ((place, tensor), old) in written.iter().zip(&before.written) {
            for badness in self.wanted(&dispatch, &before) {
                if let Some(found) = Found::new(tensor, old, badness)
                    && self.is_first_catch(name)
                {
                    return Some(self.dispatch_sentence(name, place, tensor, &found, &before));
                }
            }
        }
        None
    }

    /// What somebody wants to know of a dispatch. Of one in bytecode the instructions are seen; one
    /// in machine code is like an instruction: what it makes of bad operands is no news.
    fn wanted(&self, dispatch: &ResolvedDispatch, before: &BeforeDispatch) -> Vec<Badness> {
        let traps = self.traps();
        let is_opaque = self.dispatch_function(dispatch).is_none() && before.bad_inputs.is_empty();
        let mut wanted = Vec::new();
        if traps.dispatch_nan || traps.nan && is_opaque {
            wanted.push(Badness::Nan);
        }
        if traps.dispatch_infinity || traps.infinity && is_opaque {
            wanted.push(Badness::Infinite);
        }
        wanted
    }

    /// Whether a dispatch, at its line, was not caught before.
    pub(crate) fn is_first_catch(&mut self, name: &str) -> bool {
        let line = self.dispatch_source(FrameIndex(0)).map(|source| source.line);
        let is_new = self.caught_dispatches.insert((name.to_owned(), line));
        is_new || self.traps().every
    }

    /// Looks anew if the program stands before a dispatch: somebody may have changed what it reads.
    pub(crate) fn recount_before_dispatch(&mut self) {
        let boundary = self.invocation().and_then(vm::Invocation::boundary).cloned();
        let before = boundary.filter(|it| it.kind == BoundaryKind::BeforeStep);
        if let Some(boundary) = before.filter(|_| self.traps().watches_dispatches()) {
            self.look_before_dispatch(&boundary.name);
        }
    }

    fn look_before_dispatch(&mut self, name: &str) {
        self.before_dispatch = None;
        let Some(dispatch) = self.dispatch(FrameIndex(0)) else { return };
        let traps = self.traps();
        let is_native = self.dispatch_function(&dispatch).is_none();
        if !is_native && !traps.dispatch_nan && !traps.dispatch_infinity {
            return;
        }
        let written = self.written_tensors(&dispatch);
        if written.is_empty() && self.opaque_dispatches.insert(name.to_owned()) {
            let text = format!(
                "note: what dispatch @{name} writes is not known (`iree-dbg compile` writes that down), so bad \
                 floats in it are not seen"
            );
            self.notice(BreakpointId(0), text);
        }
        let operands = self.operands(&dispatch).into_iter().enumerate();
        let read = operands.filter_map(|(index, (operand, tensor))| {
            let is_read = operand.access != OperandAccess::Write;
            Some((format!("operand[{index}]"), tensor.filter(|_| is_read)?))
        });
        let bad_inputs = read
            .filter(|(_, tensor)| badness_of(tensor).iter().any(|it| *it != Badness::Fine))
            .map(|(name, _)| name)
            .collect();
        let written = written.iter().map(|(_, tensor)| badness_of(tensor)).collect();
        self.before_dispatch = Some(BeforeDispatch { written, bad_inputs });
    }

    fn dispatch_sentence(
        &self,
        name: &str,
        place: &str,
        tensor: &TensorView,
        found: &Found,
        before: &BeforeDispatch,
    ) -> String {
        let at = tensor.index_text(found.first);
        let at = at.map_or_else(String::new, |index| format!("first at [{index}] of "));
        let source = self.dispatch_source(FrameIndex(0));
        let source = source.map_or_else(String::new, |it| format!(", {}:{}", it.file, it.line));
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
