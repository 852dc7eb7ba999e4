//! Names of the tensors of a dispatch, in the frames of the dispatch: what is shown under a name as
//! a tensor of the dispatch is what the name means in expressions.
//!
//! The scope of the line where a frame stands has other names: it ends before the operation that
//! the dispatch was made for, and is that of the innermost call. A name may mean one tensor there
//! and another one as an operand; unless they are proven to be one, there is no value.

use debuginfo::{Fate, NamedPosition, OperandAccess, ScopedValue, TensorValueId};

use super::progress::Progress;
use super::tensor_memory::OperandName;
use crate::expression::{Datum, Item};
use crate::machine::Machine;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::symbol::quoted_name;

/// An operand of a dispatch that has a name.
pub(super) struct NamedOperand {
    /// Its name in the source.
    pub(super) name: String,
    tensor_type: String,
    index: usize,
    value: TensorValueId,
    /// An operand that is another tensor of the same name.
    other: Option<usize>,
    /// Where the source defines it.
    at: NamedPosition,
}

impl NamedOperand {
    /// Its index in the interface of the dispatch.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// The value of the program of tensors that it is.
    pub(super) fn value(&self) -> TensorValueId {
        self.value
    }

    /// Another operand of the same name, which is another tensor.
    pub(super) fn other(&self) -> Option<usize> {
        self.other
    }
}

impl Machine {
    /// The operand of a frame's dispatch with a name of the source, or of the framework. A function
    /// whose inlined call leads to the dispatch sees its own names only.
    pub(super) fn operand_named(&self, frame: FrameId, name: &str) -> Option<NamedOperand> {
        let (id, frame) = (frame, frame.index);
        let dispatch = self.dispatch(frame)?;
        let node = format!("%{}", quoted_name(name));
        let by_name = |it: &OperandName| !it.is_derived && it.name.strip_prefix('%') == Some(name);
        // Names of other calls' variables mean nothing in a frame of Python.
        let is_python = self.is_python(self.level, id);
        let by_node = |it: &OperandName| !is_python && it.node.as_deref() == Some(node.as_str());
        let known = self.known_operands(frame, &dispatch);
        let known =
            || known.iter().enumerate().filter_map(|(index, it)| Some((index, it.as_ref()?)));
        let sees = self.seen_places(id);
        let known = || known().filter(|(_, it)| sees(&it.at));
        let (index, found) =
            known().find(|(_, it)| by_name(it)).or_else(|| known().find(|(_, it)| by_node(it)))?;
        let OperandName { name, tensor_type, value, at, .. } = found.clone();
        let mut others = known().filter(|(_, it)| it.name == name && it.value != value);
        let other = others.next().map(|(index, _)| index);
        Some(NamedOperand { name, tensor_type, index, value, other, at })
    }

    /// The tensor that such an operand is. One that the dispatch is yet to write has no value, but
    /// it is a place.
    pub(super) fn operand_item(
        &self,
        frame: FrameId,
        operand: &NamedOperand,
        is_place: bool,
    ) -> Option<Item> {
        let declared = Some(format!("tensor<{}>", operand.tensor_type));
        let missing = |reason: Absent| {
            let datum = Datum::Missing(reason);
            Some(Item { datum, place: None, declared: declared.clone() })
        };
        let index = operand.index;
        if let Some(other) = operand.other {
            return missing(Absent::SameName { operands: [index, other] });
        }
        if self.is_of_another(frame, operand) {
            return missing(Absent::NameOfAnother { operand: index });
        }
        if let Some(reason) = self.unwritten_operand(frame.index, index).filter(|_| !is_place) {
            return missing(reason);
        }
        let dispatch = self.dispatch(frame.index)?;
        let (it, tensor) = self.operands(&dispatch).into_iter().nth(index)?;
        let in_shape = || {
            let stand = self.stand(frame)?;
            let known = stand.tensors.tensors(stand.function, operand.value);
            Some(self.value_at(&stand, operand.value, known.first().copied()))
        };
        let in_shape = in_shape();
        let is_changed = it.access == OperandAccess::ReadWrite
            && self.progress_of(frame.index) != Progress::Done;
        if let (Some(Err(reason)), true, false) = (&in_shape, is_changed, is_place) {
            return missing(reason.clone());
        }
        let Some(tensor) = tensor else {
            return missing(Absent::OutsideMemory { binding: Some(it.binding) });
        };
        let in_shape = in_shape.and_then(Result::ok);
        let in_shape = in_shape.filter(|it| it.addresses() == tensor.addresses());
        let datum = Datum::Tensor(in_shape.unwrap_or(tensor));
        Some(Item { datum, place: None, declared })
    }

    /// At which places names of a dispatch are defined that a frame sees: at all of them as the
    /// innermost call, otherwise at those of its own function.
    fn seen_places(&self, frame: FrameId) -> impl Fn(&NamedPosition) -> bool {
        let is_innermost = self.is_innermost_call(frame);
        let own = self.place_in_source(self.level, frame).filter(|_| !is_innermost);
        move |at| {
            let is_own = own.and_then(|(module, around)| {
                Some(module.info.are_in_one_function(around, module.place_of(at)?))
            });
            is_innermost || is_own == Some(true)
        }
    }

    /// Whether the function around a frame gives the name of an operand to another value: one of
    /// another region, which is yet to come, or of its own where the operand is a caller's.
    fn is_of_another(&self, frame: FrameId, operand: &NamedOperand) -> bool {
        let Some((module, around)) = self.place_in_source(self.level, frame) else { return false };
        let Some(at) = module.place_of(&operand.at) else { return false };
        module.info.names_another(around, &operand.name, &at)
    }

    /// What a name means that the scope of a frame has, and a dispatch, too.
    pub(super) fn agreed(
        &self,
        frame: FrameId,
        value: &ScopedValue,
        own: Item,
        operand: &NamedOperand,
        is_place: bool,
    ) -> Option<Item> {
        let Item { declared, .. } = &own;
        if !self.is_operand(frame, value, operand) {
            let reason = Absent::NotProvenSame { operand: operand.index };
            let declared = declared.clone();
            return Some(Item { datum: Datum::Missing(reason), place: None, declared });
        }
        let is_unwritten = self.unwritten_operand(frame.index, operand.index).is_some();
        if !matches!(own.datum, Datum::Missing(_)) && !is_unwritten {
            return Some(own);
        }
        let item = self.operand_item(frame, operand, is_place)?;
        Some(Item { declared: declared.clone(), ..item })
    }

    /// Whether a value of the source in a frame is an operand of its dispatch.
    pub(super) fn is_operand(
        &self,
        frame: FrameId,
        value: &ScopedValue,
        operand: &NamedOperand,
    ) -> bool {
        let Some(stand) = self.stand(frame) else { return false };
        let root = |it| stand.tensors.root(stand.function, it);
        match self.fate(&stand, frame, value) {
            Some(Fate::Value(found)) => root(found) == root(operand.value),
            _ => false,
        }
    }
}
