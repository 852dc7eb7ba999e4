//! The names that the disassembly gives to functions, imports, types and blocks.
//!
//! The names are those of `iree-dump-module`, which takes internal names from the debug database by
//! ordinal. That is wrong for compilers since 3.11, whose databases hold one function at index 0
//! (see [`crate::debug_database`]). The text still has to agree, because it is compared and
//! breakpoints are set in it. Crate `debuginfo` knows the true names.

use std::collections::HashMap;
use std::fmt::{self, Write};

use crate::decode::instructions;
use crate::isa::Op;
use crate::module::Module;
use crate::ordinals::{BytecodeOffset, Callee, FunctionOrdinal, TypeOrdinal};

/// The names of a module's functions, looked up once.
pub struct DisplayNames<'m> {
    module: &'m Module,
    exported: Vec<Option<&'m str>>,
    internal: Vec<Option<&'m str>>,
}

impl<'m> DisplayNames<'m> {
    /// Reads the module's exports and debug database.
    #[must_use]
    pub fn new(module: &'m Module) -> Self {
        let mut exported = vec![None; module.functions().len()];
        for export in module.exports() {
            if let Some(slot) = exported.get_mut(export.function.index()) {
                slot.get_or_insert(export.name.as_str());
            }
        }
        let mut internal = vec![None; module.functions().len()];
        let maps = module.debug_database().map_or(&[][..], |database| &database.functions);
        for (slot, map) in internal.iter_mut().zip(maps) {
            *slot = Some(map.local_name.as_str()).filter(|name| !name.is_empty());
        }
        Self { module, exported, internal }
    }

    /// True names, for texts that need not agree with the reference: calls show exported names, and
    /// a truncated debug database is ignored.
    #[must_use]
    pub fn trusted(module: &'m Module) -> Self {
        let mut names = Self::new(module);
        let maps = module.debug_database().map_or(0, |database| database.functions.len());
        let is_whole = maps == module.functions().len();
        for (internal, exported) in names.internal.iter_mut().zip(&names.exported) {
            *internal = exported.or(internal.filter(|_| is_whole));
        }
        names
    }

    /// The names that someone knows, as the debug information of the module has them; for others
    /// the exported ones.
    #[must_use]
    pub fn known(module: &'m Module, name_of: impl Fn(FunctionOrdinal) -> Option<&'m str>) -> Self {
        let mut names = Self::new(module);
        let exported = names.exported.iter();
        let known = module.functions_with_ordinals().map(|(ordinal, _)| name_of(ordinal));
        names.internal = known.zip(exported).map(|(known, exported)| known.or(*exported)).collect();
        names
    }

    /// The name in `vm.func @name`: the first export, otherwise the internal name, otherwise `fnN`.
    #[must_use]
    pub fn definition(&self, ordinal: FunctionOrdinal) -> String {
        let at = |names: &[Option<&'m str>]| names.get(ordinal.index()).copied().flatten();
        at(&self.exported)
            .or_else(|| at(&self.internal))
            .map_or_else(|| format!("fn{}", ordinal.0), str::to_owned)
    }

    /// Writes the name that a call has: `module.function`, `module:ordinal`, or the import's name.
    pub(super) fn write_callee(&self, out: &mut String, callee: Callee) -> fmt::Result {
        match callee {
            Callee::Internal(ordinal) => {
                let module = self.module.name();
                match self.internal.get(ordinal.index()).copied().flatten() {
                    Some(name) => write!(out, "{module}.{name}"),
                    // Function ordinals are 16 bits wide in the reference's function handles.
                    None => write!(out, "{module}:{}", ordinal.0 as u16),
                }
            }
            Callee::Import(ordinal) => match self.module.import(ordinal) {
                Some(import) => out.write_str(&import.full_name),
                None => write!(out, "import:{}", ordinal.0),
            },
        }
    }

    /// Writes a type as the type table spells it; `*` for an ordinal outside the table.
    pub(super) fn write_type(&self, out: &mut String, ordinal: TypeOrdinal) -> fmt::Result {
        out.write_str(self.module.type_def(ordinal).map_or("*", |def| def.full_name.as_str()))
    }
}

/// The labels of a function's blocks: `^bb0`, `^bb1`, … in order of their offsets.
pub struct BlockLabels(HashMap<BytecodeOffset, usize>);

impl BlockLabels {
    /// Finds the block markers in a function's bytecode, as far as it decodes.
    #[must_use]
    pub fn new(code: &[u8]) -> Self {
        let markers = instructions(code)
            .map_while(Result::ok)
            .filter(|instruction| instruction.op == Op::Block)
            .enumerate()
            .map(|(index, instruction)| (instruction.offset, index));
        Self(markers.collect())
    }

    /// Writes the label of the block at `offset`; `^00000010` where no block starts.
    pub(super) fn write(&self, out: &mut String, offset: BytecodeOffset) -> fmt::Result {
        match self.0.get(&offset) {
            Some(index) => write!(out, "^bb{index}"),
            None => write!(out, "^{offset}"),
        }
    }
}
