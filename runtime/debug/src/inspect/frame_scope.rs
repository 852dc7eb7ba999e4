//! A frame of the stopped program as a scope of expressions.
//!
//! A name is looked up in this order: values by their names in the source or in the VM program,
//! tensors of the dispatch by the names that it is shown with, arguments of the entry function by
//! their names in the ABI, the workgroup of a dispatch, registers, the results of the operation
//! that is next. Families (`binding[0]`, `rwdata[8]`) are looked up once their index is known.

use debuginfo::{PythonValue, RegisterSlot, ScopedValue};
use vm::{Invocation, Value};

use super::ahead::LineAhead;
use super::tensors::GLOBAL_ELSEWHERE;
use super::variables::plain_of_python;
use crate::expression::{Datum, EvaluationError, Family, Item, Place, Printed, Scope, computed};
use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::meaning::Meaning;
use crate::tensor::Number;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::register;

/// How many times the command of the frame has run; the same as `dispatch.run`.
pub(crate) const RUN: &str = "$run";

/// A frame of a stopped program.
pub(crate) struct FrameScope<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) frame: FrameId,
    /// The level whose names count.
    pub(crate) level: Level,
    /// Whether places are asked for, to be watched or set: they are there before what they are for.
    pub(crate) is_for_places: bool,
    /// The line of the dispatch before which the program stands, if that is meant.
    pub(crate) ahead: Option<LineAhead>,
}

impl FrameScope<'_> {
    fn invocation(&self) -> Option<&Invocation> {
        self.machine.invocation()
    }

    fn register(&self, slot: RegisterSlot, declared: Option<String>) -> Option<Item> {
        let holder = self.machine.holder(self.frame.index);
        let value = register::value(self.invocation()?, holder, slot)?;
        let place = Some(Place::Register(holder, slot));
        Some(Item { datum: Datum::Value(value), place, declared })
    }

    /// A variable of Python, or a value with a name in the debug information, or one of the
    /// dispatch that the frame belongs to.
    pub(super) fn local(&self, name: &str) -> Option<Item> {
        match self.machine.python_variable(self.level, self.frame, name) {
            Some((frame, value)) => self.of_python(frame, value),
            None => self.of_program(name),
        }
    }

    /// A variable of Python, which is a value of a frame of the program.
    fn of_python(&self, frame: FrameId, value: &PythonValue) -> Option<Item> {
        match value {
            // The dispatch may have other tensors of this name: those of functions that the
            // program calls.
            PythonValue::Value(value) => {
                let name = value.trim_start_matches('%');
                let meaning = self.machine.meaning(self.level, frame, name)?;
                FrameScope { frame, ahead: None, ..*self }.meant(&meaning)
            }
            other => Some(plain_of_python(other).into()),
        }
    }

    /// A value with a name in the debug information, or of the dispatch that the frame belongs to.
    fn of_program(&self, name: &str) -> Option<Item> {
        let meaning = self.machine.meaning(self.level, self.frame, name);
        let own = meaning.as_ref().and_then(|it| self.meant(it));
        let is_plain = match (&meaning, &own) {
            // The names of other texts count there, whatever the source calls its tensors.
            (Some(_), _) if !self.level.is_source() => true,
            (_, Some(Item { datum: Datum::Value(Value::Ref(_)), .. })) => false,
            (_, Some(Item { datum: Datum::Value(_), .. })) => true,
            _ => false,
        };
        let operand = || self.machine.operand_named(self.frame, name);
        let Some(operand) = (!is_plain).then(operand).flatten() else { return own };
        match &meaning {
            Some(Meaning::Scoped(value)) => {
                let own = own?;
                self.machine.agreed(self.frame, value, own, &operand, self.is_for_places)
            }
            _ => self.machine.operand_item(self.frame, &operand, self.is_for_places),
        }
    }

    /// What a name means in the debug information.
    fn meant(&self, meaning: &Meaning) -> Option<Item> {
        let declared = Some(meaning.type_name().to_owned()).filter(|it| !it.is_empty());
        let frame = self.frame.index;
        if meaning.register().is_some_and(|slot| self.machine.is_given_to_call(frame, slot)) {
            return Some(Item {
                datum: Datum::Missing(Absent::GivenToCall),
                place: None,
                declared,
            });
        }
        let held = meaning.register().and_then(|slot| self.register(slot, declared.clone()));
        if held.is_some() && !meaning.is_checked() {
            return held;
        }
        let Meaning::Scoped(value) = meaning else { return None };
        // Where the operands give the same, the register is its place.
        if held.is_some() && !self.machine.is_disputed(self.frame, value) {
            return held;
        }
        let datum = self.value_of(value);
        Some(Item { datum, place: None, declared })
    }

    /// The value of a name, computed again if it is not in memory and no place is asked for.
    fn value_of(&self, value: &ScopedValue) -> Datum {
        let known = self.machine.scoped_value(self.frame, value);
        let known = known.or_else(|reason| match self.is_for_places {
            true => Err(reason),
            false => self.machine.elsewhere_here(self.frame, value, reason),
        });
        known.unwrap_or_else(Datum::Missing)
    }

    /// A name that the operation defines at which the frame stands.
    fn defined_next(&self, name: &str) -> Option<Item> {
        let next = self.machine.defined_next(self.level, self.frame);
        let value = ScopedValue::named(&next, name)?;
        let datum = self.machine.scoped_value(self.frame, value).unwrap_or_else(Datum::Missing);
        let declared = Some(value.type_text.clone()).filter(|it| !it.is_empty());
        Some(Item { datum, place: None, declared })
    }

    /// Whether a value has the name in the debug information, or a tensor of the dispatch.
    pub(crate) fn is_local(&self, name: &str) -> bool {
        self.machine.python_variable(self.level, self.frame, name).is_some()
            || self.machine.meaning(self.level, self.frame, name).is_some()
            || self.machine.operand_named(self.frame, name).is_some()
    }

    /// A register by its name in the disassembly. The instructions say whether an i32 is used as a
    /// float.
    fn register_named(&self, name: &str) -> Option<Item> {
        let position = self.machine.position_in(self.frame.index)?;
        let module = self.machine.program().module(position.function.module)?;
        let typed = module.registers(position);
        if let Some(slot) = typed.iter().find(|slot| register::name(**slot) == name) {
            return self.register(*slot, None);
        }
        // Nothing has written it yet, but it exists.
        self.register(register::parse(name)?, None)
    }

    /// The line where the frame stands.
    fn line(&self) -> Option<Item> {
        let machine = self.machine;
        let command = || machine.dispatch_source(self.frame.index);
        let position = machine.position_in(self.frame.index);
        let line = match position {
            Some(position) => machine.program.source_line_at(self.level, position),
            None => command(),
        };
        line.map(|line| Datum::integer(i128::from(line.line)).into())
    }

    /// How many times the command of the frame has run.
    fn run(&self) -> Option<Item> {
        let run = self.machine.run_of(self.frame.index)?;
        Some(Datum::integer(run).into())
    }

    fn workgroup(&self, name: &str) -> Option<Item> {
        let (id, count) = self.machine.workgroup(self.frame.index)?;
        let three = match name {
            "workgroup_id" => id?,
            "workgroup_count" => count,
            _ => return None,
        };
        let numbers = three.map(|number| Number::Integer(number.into()));
        computed(vec![3], &numbers, false).ok().map(Item::from)
    }
}

impl Scope for FrameScope<'_> {
    fn find(&self, name: &str) -> Option<Item> {
        self.local(name)
            .or_else(|| self.machine.argument_named(self.frame, name).map(Item::from))
            .or_else(|| self.workgroup(name))
            .or_else(|| self.register_named(name))
            .or_else(|| self.line().filter(|_| name == "line"))
            .or_else(|| self.run().filter(|_| name == RUN))
            .or_else(|| self.ahead.as_ref()?.find(self.machine, self.frame, name))
            .or_else(|| self.defined_next(name))
    }

    fn node(&self, name: &str) -> Option<Item> {
        let known = match self.machine.meaning(self.level, self.frame, name) {
            Some(Meaning::Scoped(value)) => value.name,
            Some(Meaning::Local(_)) => return None,
            None => self.machine.operand_named(self.frame, name)?.name,
        };
        let is_own = known.strip_prefix('%') == Some(name);
        self.local(name).filter(|_| !is_own)
    }

    fn part(&self, path: &str) -> Option<Item> {
        let (frame, value) = self.machine.python_variable(self.level, self.frame, path)?;
        self.of_python(frame, value)
    }

    fn printed(&self, which: Printed) -> Result<Item, EvaluationError> {
        self.machine.printed.get(which)
    }

    fn dispatch_field(&self, field: &str) -> Option<Datum> {
        let dispatch = self.machine.dispatch(self.frame.index)?;
        match field {
            "name" => {
                let export = dispatch.executable.exports().get(dispatch.dispatch.export)?;
                Some(Datum::Text(export.name.clone()))
            }
            "number" => {
                let number = self.machine.command_number(self.frame.index)?;
                Some(Datum::integer(number))
            }
            "run" => self.run().map(|run| run.datum),
            _ => None,
        }
    }

    fn global(&self, symbol: &str) -> Option<Item> {
        self.machine.global_named(self.frame.index, symbol)
    }

    fn unknown_symbol(&self, symbol: &str) -> EvaluationError {
        let program = &self.machine.program;
        if program.export_names().iter().any(|it| it == symbol) {
            let what = format!("@{symbol} is a function; call it as @{symbol}(…)");
            return EvaluationError::Unknown(what);
        }
        let mut modules = program.modules.iter();
        if modules.any(|it| it.info.has_global(symbol)) {
            return EvaluationError::Unknown(format!("@{symbol} is a global; {GLOBAL_ELSEWHERE}"));
        }
        EvaluationError::Unknown(format!("no global and no exported function is called @{symbol}"))
    }

    fn member(&self, family: Family, index: usize) -> Result<Item, EvaluationError> {
        let is_shown = family == Family::Operand && !self.is_for_places;
        let unwritten = || self.machine.unwritten_operand(self.frame.index, index);
        if let Some(reason) = is_shown.then(unwritten).flatten() {
            return Ok(Datum::Missing(reason).into());
        }
        self.machine.member(self.frame.index, family, index)
    }

    fn suggest(&self, name: &str) -> EvaluationError {
        if name == RUN {
            return EvaluationError::NoDispatchRuns;
        }
        if let Some(reason) = self.machine.why_no_tensor(self.frame, name) {
            let what = format!("%{name} has no value here: {}", reason.words());
            return EvaluationError::Unknown(what);
        }
        let place = self.machine.place_in_source(self.level, self.frame);
        let source = place.and_then(|(module, at)| Some((module.info.source(at.file)?, at.line)));
        if source.is_some_and(|(source, line)| source.binds(line, name)) {
            return EvaluationError::Unknown(format!(
                "which value of {name} this is is not known: it is an argument, is not assigned \
                 yet, or is assigned more than once or in a loop; `tensors` lists the values of \
                 variables"
            ));
        }
        let known = self.machine.names(self.level, self.frame);
        let close = known.iter().filter(|known| is_close(known, name)).min_by_key(|it| it.len());
        EvaluationError::Unknown(match close {
            Some(close) => format!("nothing is called {name:?} here; is it {close:?}?"),
            None => format!(
                "nothing is called {name:?} here; name a value (%x), a register (i0, i2:3, r0) or \
                 a global (@name, rwdata[0])"
            ),
        })
    }

    fn reads_foreign_memory(&self) -> bool {
        self.machine.reads_foreign_memory
    }

    fn call(&mut self, function: &str, _arguments: Vec<Datum>) -> Result<Datum, EvaluationError> {
        Err(EvaluationError::NoCallsHere { name: function.to_owned() })
    }
}

/// Whether two names are similar: one begins with the other, or they differ in one letter.
fn is_close(known: &str, name: &str) -> bool {
    let known = known.trim_start_matches('%');
    if name.len() < 2 {
        return false;
    }
    let differing = known.chars().zip(name.chars()).filter(|(one, other)| one != other).count();
    known.starts_with(name)
        || (known.chars().count() == name.chars().count() && differing == 1)
        || known.eq_ignore_ascii_case(name)
}
