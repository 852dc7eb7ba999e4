//! A frame of the stopped program as a scope of expressions.
//!
//! A name is looked up in this order: values by their names in the source or in the VM program,
//! arguments of the entry function by their names in the ABI, the workgroup of a dispatch,
//! registers. Families (`binding[0]`, `rwdata[8]`) are looked up once their index is known.

use debuginfo::RegisterSlot;
use vm::Invocation;

use crate::expression::{Datum, Family, Item, Place, Printed, Scope, computed};
use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::meaning::Meaning;
use crate::tensor::Number;
use crate::view::frame::FrameId;
use crate::view::register;

/// A frame of a stopped program.
pub(crate) struct FrameScope<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) frame: FrameId,
    /// The level whose names count.
    pub(crate) level: Level,
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

    /// A value with a name in the debug information.
    pub(super) fn local(&self, name: &str) -> Option<Item> {
        let meaning = self.machine.meaning(self.level, self.frame, name)?;
        let declared = Some(meaning.type_name().to_owned()).filter(|it| !it.is_empty());
        let held = meaning.register().and_then(|slot| self.register(slot, declared.clone()));
        if held.is_some() && !meaning.is_checked() {
            return held;
        }
        let Meaning::Scoped(value) = &meaning else { return None };
        // Where the operands give the same, the register is its place.
        if held.is_some() && !self.machine.is_disputed(self.frame, value) {
            return held;
        }
        let datum = self.machine.scoped_value(self.frame, value).unwrap_or_else(Datum::Missing);
        Some(Item { datum, place: None, declared })
    }

    /// Whether a value has the name in the debug information.
    pub(crate) fn is_local(&self, name: &str) -> bool {
        self.machine.meaning(self.level, self.frame, name).is_some()
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
    }

    fn node(&self, name: &str) -> Option<Item> {
        let meaning = self.machine.meaning(self.level, self.frame, name)?;
        let Meaning::Scoped(value) = &meaning else { return None };
        let is_own = value.name.strip_prefix('%') == Some(name);
        self.local(name).filter(|_| !is_own)
    }

    fn printed(&self, which: Printed) -> Result<Item, String> {
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
            _ => None,
        }
    }

    fn global(&self, symbol: &str) -> Option<Item> {
        self.machine.global_named(self.frame.index, symbol)
    }

    fn member(&self, family: Family, index: usize) -> Result<Item, String> {
        self.machine.member(self.frame.index, family, index)
    }

    fn suggest(&self, name: &str) -> String {
        if let Some(reason) = self.machine.why_no_tensor(self.frame, name) {
            return format!("%{name} has no value here: {reason}");
        }
        let known = self.machine.names(self.level, self.frame);
        let close = known.iter().filter(|known| is_close(known, name)).min_by_key(|it| it.len());
        match close {
            Some(close) => format!("nothing is called {name:?} here; is it {close:?}?"),
            None => format!(
                "nothing is called {name:?} here; name a value (%x), a register (i0, i2:3, r0) or \
                 a global (@name, rwdata[0])"
            ),
        }
    }

    fn reads_foreign_memory(&self) -> bool {
        self.machine.reads_foreign_memory
    }

    fn call(&mut self, function: &str, _arguments: Vec<Datum>) -> Result<Datum, String> {
        Err(format!(
            "there is no function {function}() here; functions of the program are called in the \
             console only"
        ))
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
