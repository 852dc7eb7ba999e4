//! What names mean in a frame of the stopped program.
//!
//! In this order: values by their names in the source and in the VM program, arguments of the entry
//! function by the names of its ABI, what a dispatch works on, registers. Families (`binding[0]`,
//! `rwdata[8]`) are looked up when their index is known.

use debuginfo::RegisterSlot;
use vm::{Invocation, Value};

use super::datum::{Datum, Family, Item, Place};
use super::evaluate::Scope;
use super::operators::computed;
use crate::debugger::Debugger;
use crate::inlined::FrameId;
use crate::inspect;
use crate::number::Number;
use crate::scope::Meaning;

/// A frame of a program that stands still.
pub(crate) struct FrameScope<'d> {
    pub(crate) debugger: &'d Debugger,
    pub(crate) frame: FrameId,
}

impl FrameScope<'_> {
    fn invocation(&self) -> Option<&Invocation> {
        self.debugger.invocation()
    }

    fn register(&self, slot: RegisterSlot, declared: Option<String>) -> Option<Item> {
        let value = inspect::register_value(self.invocation()?, self.frame.index, slot)?;
        let place = Some(Place::Register(self.frame.index, slot));
        Some(Item { datum: Datum::Value(value), place, declared })
    }

    /// A value that the debug information names.
    pub(super) fn local(&self, name: &str) -> Option<Item> {
        let meaning = self.debugger.meaning(self.frame, name)?;
        let declared = Some(meaning.type_name().to_owned()).filter(|it| !it.is_empty());
        if let Some(slot) = meaning.register() {
            return self.register(slot, declared);
        }
        let Meaning::Scoped(value) = &meaning else { return None };
        let datum = match self.debugger.scoped_value(self.frame.index, value) {
            Ok(value) => Datum::Value(value),
            Err(reason) => Datum::Missing(reason),
        };
        Some(Item { datum, place: None, declared })
    }

    /// A register, as the disassembly writes it; typed by the instructions where it is an i32 that
    /// they use as a float.
    fn register_named(&self, name: &str) -> Option<Item> {
        let position = self.debugger.position_in(self.frame.index)?;
        let module = self.debugger.program().module(position.function.module)?;
        let typed = module.registers(position);
        if let Some(slot) = typed.iter().find(|slot| inspect::register_name(**slot) == name) {
            return self.register(*slot, None);
        }
        // Nothing was written to it yet; it exists all the same.
        self.register(parse_register(name)?, None)
    }

    fn workgroup(&self, name: &str) -> Option<Item> {
        let (id, count) = self.debugger.workgroup(self.frame.index)?;
        let three = match name {
            "workgroup_id" => id?,
            "workgroup_count" => count,
            _ => return None,
        };
        let numbers = three.map(|number| Number::Integer(number.into()));
        computed(vec![3], &numbers, false).ok().map(Item::from)
    }
}

/// A register by its name.
pub(crate) fn parse_register(name: &str) -> Option<RegisterSlot> {
    if let Some(digits) = name.strip_prefix('r').or_else(|| name.strip_prefix('R')) {
        return digits.parse().ok().map(RegisterSlot::Ref);
    }
    let digits = name.strip_prefix('i')?;
    match digits.split_once(':') {
        None => digits.parse().ok().map(RegisterSlot::I32),
        Some((low, high)) => {
            let low: u16 = low.parse().ok()?;
            let is_pair = low.is_multiple_of(2) && high.parse() == Ok(u32::from(low) + 1);
            is_pair.then_some(RegisterSlot::I64(low))
        }
    }
}

impl Scope for FrameScope<'_> {
    fn find(&self, name: &str) -> Option<Item> {
        self.local(name)
            .or_else(|| self.debugger.argument_named(self.frame, name).map(Item::from))
            .or_else(|| self.workgroup(name))
            .or_else(|| self.register_named(name))
    }

    fn global(&self, symbol: &str) -> Option<Item> {
        self.debugger.global_named(self.frame.index, symbol)
    }

    fn member(&self, family: Family, index: usize) -> Result<Item, String> {
        self.debugger.member(self.frame.index, family, index)
    }

    fn suggest(&self, name: &str) -> String {
        let known = self.debugger.names(self.frame);
        let close = known.iter().filter(|known| is_close(known, name)).min_by_key(|it| it.len());
        match close {
            Some(close) => format!("nothing is called {name:?} here; is it {close:?}?"),
            None => format!(
                "nothing is called {name:?} here; name a value (%x), a register (i0, i2:3, r0) or a \
                 global (@name, rwdata[0])"
            ),
        }
    }

    fn reads_foreign_memory(&self) -> bool {
        self.debugger.foreign_memory
    }

    fn call(&mut self, function: &str, _arguments: Vec<Datum>) -> Result<Datum, String> {
        Err(format!(
            "there is no function {function}() here; functions of the program are called in the \
             console only"
        ))
    }
}

/// Whether one of two names begins with the other, or they differ in one letter.
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

impl Debugger {
    /// The program's own copy of a value, for a call: numbers and references, as the callee takes
    /// them.
    pub(crate) fn call_argument(
        datum: &Datum,
        wanted: &abi::cconv::ValueType,
    ) -> Result<Value, String> {
        use abi::cconv::ValueType;
        let number = || datum.number().ok_or_else(|| format!("{} is no number", datum.kind()));
        let integer = || match number()? {
            Number::Integer(value) => Ok(value),
            Number::Float(value) => Err(format!("{value} is no integer")),
        };
        let too_large = |_| "the number is too large for the argument".to_owned();
        Ok(match wanted {
            ValueType::I32 => Value::I32(i32::try_from(integer()?).map_err(too_large)?),
            ValueType::I64 => Value::I64(i64::try_from(integer()?).map_err(too_large)?),
            ValueType::F32 => Value::F32(number()?.float() as f32),
            ValueType::F64 => Value::F64(number()?.float()),
            ValueType::Span(_) => {
                return Err(
                    "the function takes spans, and can be called by bytecode only".to_owned()
                );
            }
            ValueType::Ref => match datum {
                Datum::Value(value @ Value::Ref(_)) => value.clone(),
                other => return Err(format!("{} is no reference", other.kind())),
            },
        })
    }
}
