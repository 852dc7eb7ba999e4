//! Assignments in the stopped program.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::Tensor;
use debuginfo::RegisterSlot;
use vm::{FrameIndex, Ref, Value};
use vmfb::isa::Bank;

use super::by_hand::{Changed, HandChange, HandWrite};
use crate::expression::{Datum, EvaluationError, Expression, ExpressionError, Place};
use crate::machine::{Machine, Phase};
use crate::tensor::{Number, TensorView};
use crate::view::frame::FrameId;
use crate::view::variable::Variable;

/// An assignment that makes sense, and is not made yet.
pub(crate) struct Assignment {
    frame: FrameId,
    name: String,
    target: Expression,
    /// The new value as it was typed, and where it is in that.
    value: String,
    span: Range<usize>,
    change: Change,
}

enum Change {
    One(Place, Datum),
    /// All elements, and their bytes.
    All(TensorView, Vec<u8>),
}

impl Assignment {
    /// What it changes, so that this can be done again.
    pub(crate) fn change(&self) -> HandChange {
        let what = match &self.change {
            Change::One(place, new) => match (place, new.number()) {
                (Place::Element(tensor), Some(number)) => {
                    Changed::Memory(HandWrite::Element(tensor.clone(), number))
                }
                _ => Changed::Value(place.clone(), new.clone()),
            },
            Change::All(tensor, bytes) => {
                Changed::Memory(HandWrite::All(tensor.clone(), bytes.clone()))
            }
        };
        HandChange { what, text: format!("{} = {}", self.name, self.value) }
    }
}

impl Machine {
    /// What it is to set what one expression names to the value of another.
    ///
    /// # Errors
    /// One of them is not an expression or does not make sense here, or the first names nothing
    /// that can be changed.
    pub(crate) fn assignment(
        &mut self,
        frame: impl Into<FrameId>,
        target: &str,
        value: &str,
    ) -> Result<Assignment, ExpressionError> {
        let (frame, name) = (frame.into(), target.trim().to_owned());
        let (target, text) = (Expression::parse(target)?, value.trim().to_owned());
        let item = self.place_item(frame, &target)?;
        if item.place.is_none()
            && let Some(tensor) = item.datum.tensor()
        {
            let value = Expression::parse_without_format(value)?;
            let bytes = self.bytes_for(frame, &tensor, &value)?;
            return Ok(Assignment {
                frame,
                name,
                target,
                value: text,
                span: value.span(),
                change: Change::All(tensor, bytes),
            });
        }
        let Some(place) = item.place else {
            let reason = EvaluationError::NotSettable(format!(
                "{name} cannot be set; a register, global or element can"
            ));
            return Err(ExpressionError::new(target.span(), reason));
        };
        let value = Expression::parse_without_format(value)?;
        let new = self.item(frame, &value)?.datum;
        let span = value.span();
        let change = Change::One(place, new);
        Ok(Assignment { frame, name, target, value: text, span, change })
    }

    /// What it is to set all elements of what an expression names.
    ///
    /// # Errors
    /// It is no expression, names no tensor, or one of another type.
    pub(crate) fn assignment_of_elements(
        &self,
        frame: impl Into<FrameId>,
        target: &str,
        new: Tensor,
    ) -> Result<Assignment, ExpressionError> {
        let (frame, name) = (frame.into(), target.trim().to_owned());
        let target = Expression::parse(target)?;
        let span = target.span();
        let refused =
            |what: String| ExpressionError::new(span.clone(), EvaluationError::NotSettable(what));
        let tensor = self.place_item(frame, &target)?.datum.tensor();
        let tensor = tensor.ok_or_else(|| refused(format!("{name} is no tensor")))?;
        if *tensor.tensor_type() != new.tensor_type() {
            let (is, wanted) = (new.tensor_type(), tensor.tensor_type());
            return Err(refused(format!("it is {wanted}, and {is} was given")));
        }
        let value = "other elements".to_owned();
        let change = Change::All(tensor, new.bytes);
        Ok(Assignment { frame, name, target, value, span, change })
    }

    /// Makes an assignment, and returns the new value as it is shown.
    ///
    /// # Errors
    /// The place cannot take the value.
    pub(crate) fn assign(&mut self, assignment: Assignment) -> Result<Variable, ExpressionError> {
        let Assignment { frame, name, target, span, change, .. } = assignment;
        let changed = match change {
            Change::One(place, new) => self.set(place, &new),
            Change::All(tensor, bytes) => tensor.set_all(&bytes).map_err(EvaluationError::View),
        };
        changed.map_err(|reason| ExpressionError::new(span, reason))?;
        let changed = self.place_item(frame, &target)?;
        Ok(Variable { evaluate_name: Some(name.clone()), ..changed.variable(&name) })
    }

    /// The elements of a tensor that another one of its type is to get, such as those of a file.
    fn bytes_for(
        &mut self,
        frame: FrameId,
        target: &TensorView,
        value: &Expression,
    ) -> Result<Vec<u8>, ExpressionError> {
        let at =
            |what: String| ExpressionError::new(value.span(), EvaluationError::NotSettable(what));
        let new = self.console_item(frame, value)?.datum;
        let tensor = new.tensor().ok_or_else(|| {
            at(format!("{} is no tensor; all elements are set from one", new.kind()))
        })?;
        if tensor.tensor_type() != target.tensor_type() {
            let (is, wanted) = (tensor.type_name(), target.type_name());
            return Err(at(format!("it is {is}, and {wanted} is needed")));
        }
        let data = tensor.tensor().ok_or_else(|| at("its elements cannot be copied".to_owned()))?;
        Ok(data.bytes)
    }

    /// Gives a place another value.
    ///
    /// # Errors
    /// It cannot take the value.
    pub(crate) fn set(&mut self, place: Place, new: &Datum) -> Result<(), EvaluationError> {
        if let Place::Element(tensor) = &place {
            let number = new.number().ok_or_else(|| new.is_no("number"))?;
            return Ok(tensor.set_scalar(number)?);
        }
        if matches!(self.phase, Phase::Failed(_)) && matches!(place, Place::Register(..)) {
            return Err(not_settable(
                "the program has failed; its registers will not be used again",
            ));
        }
        match place {
            Place::Register(frame, slot) => {
                self.by_hand.has_set_registers = true;
                self.set_register(frame, slot, new)
            }
            Place::GlobalBytes(module, at, bank) => {
                let bytes = bytes_of(new, bank)?;
                let globals = self.context.global_bytes_mut(module);
                let place = globals.get_mut(at..at + bytes.len());
                place
                    .ok_or_else(|| not_settable("there is no such global"))?
                    .copy_from_slice(&bytes);
                Ok(())
            }
            Place::GlobalRef(module, index) => {
                let value = reference(new)?;
                let refs = self.context.global_refs_mut(module);
                *refs.get_mut(index).ok_or_else(|| not_settable("there is no such global"))? =
                    value;
                Ok(())
            }
            Place::ListElement(list, index) => {
                let current = list.get(index);
                let value = match current {
                    Some(Value::F32(_)) => Value::F32(float(new)? as f32),
                    Some(Value::F64(_)) => Value::F64(float(new)?),
                    Some(Value::I64(_)) => Value::I64(integer(new)?),
                    Some(Value::I32(_)) => Value::I32(narrow(new)?),
                    Some(Value::Ref(_)) => Value::Ref(reference(new)?),
                    None => return Err(not_settable("the element has no type before it is set")),
                };
                list.set(index, value).map_err(|status| not_settable(&status.to_string()))
            }
            Place::Element(_) => Ok(()),
        }
    }

    fn set_register(
        &mut self,
        frame: FrameIndex,
        slot: RegisterSlot,
        new: &Datum,
    ) -> Result<(), EvaluationError> {
        let invocation = self.running().ok_or_else(|| not_settable("nothing runs"))?;
        let is_set = match slot {
            RegisterSlot::I32(ordinal) => invocation.set_register_i32(frame, ordinal, narrow(new)?),
            RegisterSlot::F32(ordinal) => {
                let bits = (float(new)? as f32).to_bits().cast_signed();
                invocation.set_register_i32(frame, ordinal, bits)
            }
            RegisterSlot::I64(ordinal) => {
                invocation.set_register_i64(frame, ordinal, integer(new)?)
            }
            RegisterSlot::F64(ordinal) => {
                invocation.set_register_i64(frame, ordinal, float(new)?.to_bits().cast_signed())
            }
            RegisterSlot::Ref(ordinal) => {
                let value = reference(new)?;
                let old = invocation.register_ref(frame, ordinal);
                let is_alike = value.is_null()
                    || old.is_none_or(|old| old.is_null() || old.type_name() == value.type_name());
                if !is_alike {
                    return Err(not_settable(&format!(
                        "the register holds a !{}, the program expects no !{} there",
                        old.map_or("", Ref::type_name),
                        value.type_name()
                    )));
                }
                invocation.set_register_ref(frame, ordinal, value)
            }
        };
        if is_set { Ok(()) } else { Err(not_settable("the frame has no such register")) }
    }
}

fn not_settable(why: &str) -> EvaluationError {
    EvaluationError::NotSettable(why.to_owned())
}

fn float(datum: &Datum) -> Result<f64, EvaluationError> {
    datum.number().map(Number::float).ok_or_else(|| datum.is_no("number"))
}

/// An integer of 64 bits, signed or unsigned.
fn integer(datum: &Datum) -> Result<i64, EvaluationError> {
    match datum.number() {
        Some(Number::Integer(value)) => i64::try_from(value)
            .or_else(|_| u64::try_from(value).map(u64::cast_signed))
            .map_err(|_| EvaluationError::DoesNotFit { value, bits: 64 }),
        Some(Number::Float(value)) if value.fract() == 0.0 && value.abs() < 9e18 => {
            Ok(value as i64)
        }
        Some(Number::Float(value)) => {
            Err(EvaluationError::NotA { is: value.to_string(), wanted: "integer" })
        }
        None => Err(datum.is_no("number")),
    }
}

/// An integer of 32 bits, signed or unsigned.
fn narrow(datum: &Datum) -> Result<i32, EvaluationError> {
    let value = integer(datum)?;
    i32::try_from(value)
        .or_else(|_| u32::try_from(value).map(u32::cast_signed))
        .map_err(|_| EvaluationError::DoesNotFit { value: value.into(), bits: 32 })
}

fn reference(datum: &Datum) -> Result<Ref, EvaluationError> {
    match datum {
        Datum::Value(Value::Ref(value)) => Ok(value.clone()),
        Datum::Buffer(buffer, _) => Ok(Ref::Buffer(Arc::clone(buffer))),
        other => Err(other.is_no("reference")),
    }
}

fn bytes_of(datum: &Datum, bank: Bank) -> Result<Vec<u8>, EvaluationError> {
    Ok(match bank {
        Bank::I64 => integer(datum)?.to_le_bytes().to_vec(),
        Bank::F64 => float(datum)?.to_le_bytes().to_vec(),
        Bank::F32 => (float(datum)? as f32).to_le_bytes().to_vec(),
        _ => narrow(datum)?.to_le_bytes().to_vec(),
    })
}
