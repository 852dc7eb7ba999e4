//! The names of the source in a frame, each with its value or with the reason why it has none.
//!
//! [`debuginfo`] works out what a name means, which does not change while the program runs; this
//! file reads the registers. If a source is not available, the values of the VM program take its
//! place, under their own names.

use std::sync::Arc;

use abi::cconv::ValueType;
use debuginfo::{
    Given, LocalValue, MissingReason, PythonValue, RecipeInput, RegisterSlot, Scalar, ScopedValue,
    ValueLocation,
};
use hal::Span;
use vm::{FrameFunction, FrameIndex, Invocation, Value};
use vmfb::{Callee, Instruction};

use crate::expression::Datum;
use crate::machine::Machine;
use crate::target::calls::callee;
use crate::target::level::Level;
use crate::target::registers::registers_read;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::register;
use crate::view::symbol::quoted_name;
use crate::view::tensor_memory::CommandUses;
use crate::view::value::variable;
use crate::view::variable::Variable;

/// A number of a type from its bits.
fn number(scalar: Scalar, bits: u64) -> Value {
    match scalar {
        Scalar::F32 => Value::F32(f32::from_bits(bits as u32)),
        Scalar::F64 => Value::F64(f64::from_bits(bits)),
        // Truth is 1, not -1.
        Scalar::Int(1) => Value::I32((bits & 1) as i32),
        Scalar::Int(width) if width <= 32 => Value::I32(scalar.signed(bits) as i32),
        Scalar::Int(_) => Value::I64(scalar.signed(bits)),
    }
}

/// The bits in a register.
fn bits(invocation: &Invocation, frame: FrameIndex, slot: RegisterSlot) -> Option<u64> {
    Some(match slot {
        RegisterSlot::I32(at) | RegisterSlot::F32(at) => {
            invocation.register_i32(frame, at)?.cast_unsigned().into()
        }
        RegisterSlot::I64(at) | RegisterSlot::F64(at) => {
            invocation.register_i64(frame, at)?.cast_unsigned()
        }
        RegisterSlot::Ref(_) => return None,
    })
}

impl Machine {
    /// The value of a source name in a frame, or why there is none.
    pub(crate) fn scoped_value(
        &self,
        frame: FrameId,
        value: &ScopedValue,
    ) -> Result<Datum, Absent> {
        self.own_value(frame, value).or_else(|reason| match self.outside(frame, value) {
            Some((around, value)) => self.own_value(around, &value),
            None => Err(reason),
        })
    }

    /// The same, as far as the frame itself knows it.
    fn own_value(&self, frame: FrameId, value: &ScopedValue) -> Result<Datum, Absent> {
        let invocation = self.invocation().ok_or(Absent::OptimizedOut)?;
        let holder = self.holder(frame.index);
        let read = |given| self.input(frame, given);
        let found = match (&value.location, value.scalar) {
            (ValueLocation::Missing(MissingReason::Tensor), _) => {
                return match self.tensor_argument(frame, value) {
                    Some(argument) => argument.map(Datum::Value),
                    None => self.source_tensor(frame, value),
                };
            }
            (ValueLocation::Missing(reason), _) => return Err((*reason).into()),
            (ValueLocation::Register(slot), None) if self.is_given_to_call(frame.index, *slot) => {
                return Err(Absent::GivenToCall);
            }
            (ValueLocation::Register(slot), None) => register::value(invocation, holder, *slot),
            (ValueLocation::Register(slot), Some(scalar)) => {
                let known = match value.check.as_ref().filter(|_| self.is_disputed(frame, value)) {
                    Some(check) if check.is_sure => check.recipe.evaluate(&read),
                    Some(_) => return Err(Absent::Disputed),
                    None => bits(invocation, holder, *slot),
                };
                known.map(|bits| number(scalar, bits))
            }
            (ValueLocation::Computed(recipe), scalar) => {
                let computed = recipe.evaluate(&read);
                scalar.zip(computed).map(|(scalar, bits)| number(scalar, bits))
            }
        };
        found.map(Datum::Value).ok_or(Absent::OptimizedOut)
    }

    /// Whether a register seems to hold a value and the value's operands give another one.
    pub(crate) fn is_disputed(&self, frame: FrameId, value: &ScopedValue) -> bool {
        let read = |given| self.input(frame, given);
        let (ValueLocation::Register(slot), Some(scalar), Some(check)) =
            (&value.location, value.scalar, &value.check)
        else {
            return false;
        };
        let held = read(RecipeInput::Register(*slot));
        let given = check.recipe.evaluate(&read);
        held.zip(given).is_some_and(|(held, given)| !scalar.is_same(held, given))
    }

    /// What a register holds and what the operands of its value give, as text.
    pub(super) fn opinions(
        &self,
        frame: FrameId,
        value: &ScopedValue,
    ) -> (Option<String>, Option<String>) {
        let read = |given| self.input(frame, given);
        let (ValueLocation::Register(slot), Some(scalar), Some(check)) =
            (&value.location, value.scalar, &value.check)
        else {
            return (None, None);
        };
        let held = read(RecipeInput::Register(*slot)).map(|bits| scalar.text(scalar.cut(bits)));
        (held, check.recipe.evaluate(&read).map(|bits| scalar.text(scalar.cut(bits))))
    }

    /// An input of a recipe in a frame.
    fn input(&self, frame: FrameId, input: RecipeInput) -> Option<u64> {
        match input {
            RecipeInput::Register(slot) => bits(self.invocation()?, self.holder(frame.index), slot),
            RecipeInput::Argument(index) => self.argument_bits(self.holder(frame.index), index),
        }
    }

    /// What is known of the values that the function of a frame was called with: the arguments of
    /// the program, or what the frame around it has in the registers of its call.
    pub(crate) fn given(&self, frame: FrameIndex) -> Given {
        let Some(position) = self.position_in(frame) else { return Given::Unknown };
        // A recursive function has other frames with other arguments.
        if self.depth() == frame.0 + 1 {
            return match position.function == self.program.entry() {
                true => Given::Program,
                false => Given::Unknown,
            };
        }
        match self.by_hand.has_set_registers {
            true => Given::Unknown,
            false => self.call_of(frame).map_or(Given::Unknown, |_| Given::Call),
        }
    }

    /// The instruction before which a frame stands, or the call that it waits for.
    fn instruction_of(&self, frame: FrameIndex) -> Option<Instruction<'_>> {
        let at = self.position_in(frame)?;
        let module = self.program.module(at.function.module)?;
        let code = module.module.function_bytecode(at.function.function);
        vmfb::decode(code, at.offset).ok()
    }

    /// The registers that the frame around another one has called its function with. They are as
    /// they were, as that frame waits.
    fn call_of(&self, frame: FrameIndex) -> Option<Vec<RegisterSlot>> {
        let around = FrameIndex(frame.0 + 1);
        let (called, at) = (self.position_in(frame)?, self.position_in(around)?);
        let instruction = self.instruction_of(around)?;
        let is_it = called.function.module == at.function.module
            && callee(&instruction) == Some(Callee::Internal(called.function.function));
        let given = registers_read(&instruction);
        // The instruction does not say how wide they are.
        let types = self.context.signature(called.function)?.arguments;
        if !is_it || types.len() != given.len() {
            return None;
        }
        let wide = |(slot, value_type): (&RegisterSlot, &ValueType)| match value_type {
            ValueType::I64 | ValueType::F64 => RegisterSlot::I64(slot.ordinal()),
            _ => *slot,
        };
        Some(given.iter().zip(&types).map(wide).collect())
    }

    /// Whether the registers of a frame have lost a reference to the call that it waits for.
    pub(super) fn is_given_to_call(&self, frame: FrameIndex, slot: RegisterSlot) -> bool {
        if !slot.is_ref() {
            return false;
        }
        let holder = self.holder(frame);
        let call = (holder.0 > 0).then(|| self.instruction_of(holder)).flatten();
        call.is_some_and(|call| {
            let mut used = call.register_uses().map(|it| it.register);
            used.any(|it| it.is_ref() && it.is_move() && it.ordinal() == slot.ordinal())
        })
    }

    fn argument_bits(&self, frame: FrameIndex, index: usize) -> Option<u64> {
        if let Some(given) = self.call_of(frame) {
            return bits(self.invocation()?, FrameIndex(frame.0 + 1), *given.get(index)?);
        }
        Some(match self.program.arguments().get(index)? {
            Value::I32(value) => value.cast_unsigned().into(),
            Value::I64(value) => value.cast_unsigned(),
            Value::F32(value) => value.to_bits().into(),
            Value::F64(value) => value.to_bits(),
            Value::Ref(_) => return None,
        })
    }

    /// A tensor among the program's arguments. Its memory may have become that of another tensor:
    /// a dispatch may leave its result where it has read an argument.
    fn tensor_argument(
        &self,
        frame: FrameId,
        value: &ScopedValue,
    ) -> Option<Result<Value, Absent>> {
        let argument = self.argument_of_name(frame, value)?;
        Some(match self.overwritten_argument(&argument) {
            Some(reason) => Err(reason),
            None => Ok(argument),
        })
    }

    /// The argument of the program that a name of the source stands for, if it is an object.
    pub(super) fn argument_of_name(&self, frame: FrameId, value: &ScopedValue) -> Option<Value> {
        let holder = self.holder(frame.index);
        let is_entry = self.given(holder) == Given::Program && !self.is_inlined(frame);
        let index = value.argument.filter(|_| is_entry)?;
        let arguments = self.program.arguments();
        arguments.get(index).filter(|it| matches!(it, Value::Ref(_))).cloned()
    }

    /// If a command has written where an argument is: the reason why it has no value any more.
    pub(super) fn overwritten_argument(&self, argument: &Value) -> Option<Absent> {
        let Value::Ref(argument) = argument else { return None };
        self.overwriter_of(argument.downcast()?, |by| by.overwrites(self))
    }

    /// Something of the first command that has written where an argument is.
    pub(super) fn overwriter_of<T>(
        &self,
        view: &hal::BufferView,
        of: impl FnOnce(&CommandUses) -> T,
    ) -> Option<T> {
        let span = Span::of(view.buffer());
        let memory = self.tensor_memory();
        let running = self.running_uses();
        let mut uses = memory.commands.iter().chain(&running);
        uses.find(|it| it.may_have_written(&span)).map(of)
    }

    /// The frame whose registers hold what is known in a frame: the function that has submitted a
    /// command, for the command.
    pub(crate) fn holder(&self, frame: FrameIndex) -> FrameIndex {
        let Some(invocation) = self.invocation() else { return frame };
        let is_part = |index: &FrameIndex| {
            let function = invocation.frame(&self.context, *index).map(|it| it.function);
            !matches!(function, Some(FrameFunction::Bytecode(_)) | None)
        };
        let mut frames = (frame.0..invocation.depth()).map(FrameIndex);
        frames.find(|index| !is_part(index)).unwrap_or(frame)
    }

    /// Whether a frame is an inlined call, whose arguments are those of the call.
    pub(super) fn is_inlined(&self, frame: FrameId) -> bool {
        let at = match self.command(frame.index) {
            Some(step) => step.recorded_at,
            None => self.position_in(frame.index),
        };
        let path = at.map_or(0, |at| self.program.path_at(self.level, at).len());
        frame.calls.unwrap_or(path.saturating_sub(1)) > 0
    }

    /// The names of the source in a frame. In a dispatch that several operations share, they are
    /// the names of the operation for which it runs; their registers are not known.
    pub(crate) fn scope_of(&self, level: Level, frame: FrameId) -> Option<Arc<[ScopedValue]>> {
        let Some(position) = self.position_in(frame.index) else {
            return self.scope_of_command(level, frame);
        };
        if let Some((module, path)) = self.own_path(level, frame.index, position) {
            return Some(module.info.names_at(path.last()?, MissingReason::Shared).into());
        }
        let given = self.given(frame.index);
        self.program.scope(level, position, frame.calls, given)
    }

    /// The names of the source where a command was recorded.
    fn scope_of_command(&self, level: Level, frame: FrameId) -> Option<Arc<[ScopedValue]>> {
        let recorded_at = self.command(frame.index)?.recorded_at.filter(|_| level.is_source())?;
        let module = self.program.module(recorded_at.function.module)?;
        let path = self.program.path_at(level, recorded_at);
        let calls = frame.calls.unwrap_or(path.len().saturating_sub(1));
        let holder = self.holder(frame.index);
        if self.runs_late(frame.index) {
            let names = module.info.names_at(path.get(calls)?, MissingReason::Late);
            return Some(names.into());
        }
        let submits = self.position_in(holder).filter(|it| it.function == recorded_at.function);
        let known = submits.and_then(|at| {
            let place = (at.function.function, at.offset);
            let given = self.given(holder);
            module.scope_along(place, &path, calls, given)
        });
        let unproven = || Some(module.info.unproven(path.get(calls)?)?.into());
        let known = known.or_else(unproven)?;
        if calls + 1 != path.len() || !self.has_just_run(frame.index) {
            return Some(known);
        }
        let mut known = known.to_vec();
        for made in self.made_by_command(frame) {
            known.retain(|it| it.name != made.name);
            known.push(made);
        }
        Some(known.into())
    }

    /// The names that the command of a frame gives a value: those of its operation, and of what a
    /// dispatch leaves that does several operations.
    pub(super) fn made_by_command(&self, frame: FrameId) -> Vec<ScopedValue> {
        let find = || {
            let index = self.is_innermost_call(frame).then_some(frame.index)?;
            let recorded_at = self.command(index)?.recorded_at?;
            let module = self.program.module(recorded_at.function.module)?;
            let path = self.program.path_at(self.level, recorded_at);
            let mut made = module.info.results_at(path.last()?);
            let stand = self.stand(frame)?;
            let id = stand.tensors.recorded_at(recorded_at)?;
            for value in &stand.tensors.operation(id)?.results {
                for tensor in stand.tensors.tensors(id.function, *value) {
                    let Some(at) = module.place_of(&tensor.at) else { continue };
                    let is_new = made.iter().all(|it| it.name != tensor.name);
                    // Either list of calls may have more of what is around them.
                    let is_here = tensor.calls.is_empty() != (path.len() > 1)
                        && (stand.calls.starts_with(&tensor.calls)
                            || tensor.calls.starts_with(&stand.calls));
                    if is_new && is_here {
                        let named = module.info.results_at(&at).into_iter();
                        made.extend(named.filter(|it| it.name == tensor.name));
                    }
                }
            }
            Some(made)
        };
        find().unwrap_or_default()
    }

    /// The names of the source in a frame that are wanted, with their values.
    pub(crate) fn scope_variables(
        &self,
        level: Level,
        frame: FrameId,
        is_wanted: &dyn Fn(&ScopedValue) -> bool,
    ) -> Option<Vec<Variable>> {
        let scope = self.scope_of(level, frame)?;
        // A model has hundreds of tensors without a value here. They come last, so that they do not
        // hide the rest.
        let is_absent = |value: &ScopedValue, shown: &Variable| {
            let is_tensor = matches!(value.location, ValueLocation::Missing(MissingReason::Tensor));
            is_tensor && shown.absent.is_some()
        };
        let mut values = self.listed_values(frame);
        let shown =
            scope.iter().filter(|it| is_wanted(it)).map(|it| (it, variable_of(it, values(it))));
        let (last, first): (Vec<_>, Vec<_>) = shown.partition(|(it, shown)| is_absent(it, shown));
        let shown = first.into_iter().chain(last);
        Some(shown.map(|(_, shown)| shown).collect())
    }

    /// The values of names of the source in a frame, one after the other: what is computed again
    /// for one is there for the next.
    fn listed_values(
        &self,
        frame: FrameId,
    ) -> impl FnMut(&ScopedValue) -> Result<Datum, Absent> + '_ {
        let mut by = self.recomputation_of_list(frame);
        let submitted = self.submitted(frame);
        move |it| {
            let around = submitted.as_ref().and_then(|around| Some((around, around.value(it)?)));
            let known = self.own_value(frame, it).or_else(|reason| match around {
                Some((around, value)) => self.own_value(around.frame, value),
                None => Err(reason),
            });
            known.or_else(|reason| self.elsewhere(frame, it, reason, &mut by))
        }
    }

    /// The variables of a frame of Python, with their values; `None` where it is none.
    pub(super) fn shown_in_python(&self, level: Level, frame: FrameId) -> Option<Vec<Variable>> {
        let (frame, variables) = self.python_variables(level, frame)?;
        let scope = self.scope_of(level, frame);
        let mut values = self.listed_values(frame);
        let shown = variables.into_iter().map(|(name, value)| {
            let found = match value {
                PythonValue::Value(value) => {
                    let found = scope.iter().flat_map(|it| it.iter()).rfind(|it| it.name == *value);
                    found.map(|it| (values(it), it.type_text.as_str()))
                }
                other => Some((Ok(plain_of_python(other)), "")),
            };
            let (known, type_text) = found.unwrap_or((Err(Absent::NotYetComputed), ""));
            let shown = match known {
                Ok(known) => known.variable(&name),
                Err(reason) => Variable::without_value(&name, reason, ""),
            };
            let type_name = match type_text {
                "" => shown.type_name,
                known => known.to_owned(),
            };
            let is_plain = name.chars().all(|it| it.is_alphanumeric() || it == '_');
            let expression = if is_plain { name.clone() } else { expression_of(&name) };
            Variable { type_name, evaluate_name: Some(expression), ..shown }
        });
        Some(shown.collect())
    }

    /// The live values of the VM program in a frame that `is_wanted` selects and that no name of
    /// the source stands for.
    pub(crate) fn vm_values(
        &self,
        level: Level,
        frame: FrameId,
        is_wanted: &dyn Fn(&LocalValue) -> bool,
    ) -> Vec<Variable> {
        let (Some(invocation), Some(position)) = (self.invocation(), self.position_in(frame.index))
        else {
            return Vec::new();
        };
        let Some(module) = self.program.module(position.function.module) else {
            return Vec::new();
        };
        let scope = self.scope_of(level, frame);
        let is_named = |local: &LocalValue| {
            let mut scope = scope.iter().flat_map(|scope| scope.iter());
            scope.any(|it| match it.location {
                ValueLocation::Register(slot) => {
                    slot.ordinal() == local.register.ordinal()
                        && slot.is_ref() == local.register.is_ref()
                }
                _ => false,
            })
        };
        let locals = module.locals(position);
        let wanted = locals.iter().filter(|local| is_wanted(local) && !is_named(local));
        let variables = wanted.filter_map(|local| {
            let value = register::value(invocation, frame.index, local.register)?;
            // Where it is shown as a register, it is null.
            let is_given = scope.is_none() && self.is_given_to_call(frame.index, local.register);
            let name = level.name_of(local);
            // The same name may mean another value in the source.
            let expression = match scope {
                Some(_) => register::name(local.register),
                None => expression_of(name),
            };
            let type_name = local.mlir_type.to_string();
            let mut shown = match is_given {
                true => Variable::without_value(name, Absent::GivenToCall, type_name),
                false => Variable { type_name, ..variable(name, &value) },
            };
            shown.evaluate_name = Some(expression);
            Some(shown)
        });
        variables.collect()
    }
}

/// A name of the source as it is shown, with its value or with the reason why it has none.
fn variable_of(value: &ScopedValue, known: Result<Datum, Absent>) -> Variable {
    // The framework's name stands beside the type, as a note on it.
    let node = value.node.as_ref().filter(|it| !it.tensor.is_empty());
    let type_name = match node {
        Some(node) => format!("{} {}", value.type_text, quoted_name(&node.tensor)),
        None => value.type_text.clone(),
    };
    let expression = expression_of(&value.name);
    match known {
        Ok(known) => {
            let shown = known.variable(&value.name);
            let type_name = if type_name.is_empty() { shown.type_name } else { type_name };
            Variable { type_name, evaluate_name: Some(expression), ..shown }
        }
        Err(reason) => Variable {
            evaluate_name: Some(expression),
            ..Variable::without_value(&value.name, reason, type_name)
        },
    }
}

/// A variable of Python that is no value of the program.
pub(super) fn plain_of_python(value: &PythonValue) -> Datum {
    match value {
        PythonValue::Absent(why) => Datum::Missing(Absent::OfFramework { why: why.clone() }),
        PythonValue::Text(text) => match (text.parse::<i128>(), text.parse::<f64>()) {
            (Ok(integer), _) => Datum::integer(integer),
            (_, Ok(float)) => Datum::float(float),
            _ => Datum::Text(text.clone()),
        },
        PythonValue::Value(name) => Datum::Text(name.clone()),
        PythonValue::Parts(type_name, _) => Datum::Text(type_name.clone()),
    }
}

/// The name as an expression spells it.
fn expression_of(name: &str) -> String {
    let bare = name.trim_start_matches('%');
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
    if bare.chars().all(is_plain) { format!("%{bare}") } else { format!("%{}", quoted_name(bare)) }
}
