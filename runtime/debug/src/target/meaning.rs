//! Meanings of names at an instruction: a value of the source, or of the VM program.
//!
//! [`debuginfo`] works them out; they do not change while the program runs.

use std::sync::Arc;

use debuginfo::{
    Given, LocalValue, MissingReason, Recipe, RegisterSlot, Scalar, ScopedValue, ValueLocation,
};
use vm::Position;

use super::level::Level;
use super::program::Program;
use crate::view::register;

/// The meaning of a name at an instruction.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    /// A value of the source.
    Scoped(ScopedValue),
    /// A value of the VM program.
    Local(LocalValue),
}

impl Program {
    /// The names of the source that are in scope in the frame to which `calls` inlined calls lead,
    /// or in the innermost frame. None if the source does not say.
    pub(crate) fn scope(
        &self,
        level: Level,
        position: Position,
        calls: Option<usize>,
        given: Given,
    ) -> Option<Arc<[ScopedValue]>> {
        if !level.is_source() {
            return None;
        }
        let innermost = || self.path_at(level, position).len().saturating_sub(1);
        let calls = calls.unwrap_or_else(innermost);
        self.module(position.function.module)?.scope(position, calls, given)
    }

    /// The meaning of a name, without its `%`, at an instruction. At the level of the source, only
    /// names in scope count: the same name in the VM program may be another value.
    pub(crate) fn meaning(
        &self,
        level: Level,
        position: Position,
        calls: Option<usize>,
        name: &str,
        given: Given,
    ) -> Option<Meaning> {
        if let Some(scope) = self.scope(level, position, calls, given) {
            let found = ScopedValue::named(&scope, name);
            return found.cloned().map(Meaning::Scoped);
        }
        let locals = self.module(position.function.module)?.locals(position);
        level.named(&locals, name).cloned().map(Meaning::Local)
    }

    /// The register that a name stands for before an instruction, if it does: a value with a name
    /// in the debug information, or a register by its own name.
    pub(crate) fn name_slot(
        &self,
        level: Level,
        position: Position,
        calls: Option<usize>,
        name: &str,
    ) -> Option<RegisterSlot> {
        let module = self.module(position.function.module)?;
        if let Some(meaning) = self.meaning(level, position, calls, name, Given::Unknown) {
            return meaning.register();
        }
        if position.function == self.entry()
            && self.argument_names().iter().any(|argument| argument == name)
        {
            return None;
        }
        let typed = module.registers(position);
        let named = typed.iter().copied().find(|slot| register::name(*slot) == name);
        named.or_else(|| {
            let function = module.module.function(position.function.function)?;
            register::parse(name).filter(|slot| {
                let end = u32::from(slot.ordinal()) + 1 + u32::from(slot.is_pair());
                let count = if slot.is_ref() {
                    function.ref_register_count
                } else {
                    function.i32_register_count
                };
                end <= u32::from(count)
            })
        })
    }
}

impl Meaning {
    /// The register that holds the value unchanged, if there is one. Where the value has a second
    /// opinion, its contents may be another's.
    pub(crate) fn register(&self) -> Option<RegisterSlot> {
        match self {
            Self::Local(local) => Some(local.register),
            Self::Scoped(value) => match &value.location {
                ValueLocation::Register(slot) if is_whole(value.scalar) => {
                    Some(typed(*slot, value.scalar))
                }
                _ => None,
            },
        }
    }

    /// Whether what the register holds is to be compared with what the operands give.
    pub(crate) fn is_checked(&self) -> bool {
        matches!(self, Self::Scoped(ScopedValue { check: Some(_), .. }))
    }

    /// The recipe of the value from registers, if it is such a number.
    pub(crate) fn computed(&self) -> Option<(Recipe, Scalar)> {
        match self {
            Self::Scoped(value) => value.recipe(),
            Self::Local(_) => None,
        }
    }

    /// The reason why there is no value, if there is none.
    pub(crate) fn missing(&self) -> Option<MissingReason> {
        match self {
            Self::Scoped(ScopedValue { location: ValueLocation::Missing(reason), .. }) => {
                Some(*reason)
            }
            _ => None,
        }
    }

    pub(crate) fn type_name(&self) -> &str {
        match self {
            Self::Scoped(value) => &value.type_text,
            Self::Local(local) => &local.mlir_type,
        }
    }
}

/// Whether a number fills its register.
fn is_whole(scalar: Option<Scalar>) -> bool {
    scalar.is_none_or(|scalar| matches!(scalar.width(), 32 | 64))
}

/// A register as a number of a type.
fn typed(slot: RegisterSlot, scalar: Option<Scalar>) -> RegisterSlot {
    match (slot, scalar) {
        (RegisterSlot::I32(at), Some(Scalar::F32)) => RegisterSlot::F32(at),
        (RegisterSlot::F32(at), Some(Scalar::Int(_))) => RegisterSlot::I32(at),
        (RegisterSlot::I64(at), Some(Scalar::F64)) => RegisterSlot::F64(at),
        (RegisterSlot::F64(at), Some(Scalar::Int(_))) => RegisterSlot::I64(at),
        (slot, _) => slot,
    }
}
