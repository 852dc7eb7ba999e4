//! The values of the VM program at an instruction, and its globals, by the companion's names.

use std::sync::Arc;

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::tables::DebugInfo;
use crate::bytecode::RegisterSlot;
use crate::companion::{CompanionGlobal, Definition};

/// A value of the VM program that can be read where the program is stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalValue {
    /// Its SSA name, unique in the function: `%0`, `%bb1_arg0`.
    pub name: String,
    /// Its name in the VM program's text, if that is another one: `%1` for `%bb1_arg0`.
    pub listing_name: Option<String>,
    /// Its MLIR type.
    pub mlir_type: Arc<str>,
    /// The register that holds it.
    pub register: RegisterSlot,
    /// Its index among the arguments of the function, if it is one.
    pub argument: Option<u32>,
}

impl DebugInfo {
    /// The values of the VM program that can be read before the instruction at an offset executes,
    /// with the companion's names; none without a companion.
    #[must_use]
    pub fn live_values(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Vec<LocalValue> {
        let Some(info) = self.function(function) else { return Vec::new() };
        let Some(index) = info.code.index_at(offset) else { return Vec::new() };
        let Some(companion) = &info.companion else { return Vec::new() };
        let values = companion.live_before(index, &info.code).into_iter().filter_map(|value| {
            Some(LocalValue {
                name: value.name.clone(),
                listing_name: value.printed_name.clone(),
                mlir_type: value.mlir_type.clone(),
                register: value.register?,
                argument: match value.definition {
                    Definition::Argument { index } => Some(index),
                    _ => None,
                },
            })
        });
        values.collect()
    }

    /// The global variables of the module; none without a companion.
    #[must_use]
    pub fn globals(&self) -> &[CompanionGlobal] {
        &self.globals
    }

    /// The symbol of the global variable that an instruction uses, if it does.
    #[must_use]
    pub fn global_used_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<&str> {
        let info = self.function(function)?;
        let companion = info.companion.as_ref()?;
        let operation = companion.operations.get(info.code.index_of(offset)?)?;
        let globals = &companion.function.globals;
        let found = globals.binary_search_by_key(operation, |(operation, _)| *operation).ok()?;
        Some(&globals[found].1)
    }
}
