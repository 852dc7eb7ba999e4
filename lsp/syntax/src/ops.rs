//! The operations whose shape the scanner must know.
//!
//! This is no registry of dialects: an unlisted operation is still read, listed when it defines a
//! symbol, and hovered. The table only says which names open a container, so that the scan descends
//! into it, and which words must begin a new symbol, so that a forgotten brace ends there.

/// The class of a symbol-level operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// A module: a container of symbols.
    Module,
    /// An executable, a variant, or a binary.
    Executable,
    /// A function with or without a body.
    Function,
    /// A function that another module provides.
    Import,
    /// The external name of a function or dispatch entry.
    Export,
    /// A global variable.
    Global,
    /// Constant data.
    Rodata,
    /// Code that runs when the module is loaded.
    Initializer,
    /// An entry of a type table.
    Type,
    /// `#name = …` or `!name = …`.
    Alias,
    /// `{-# … #-}`.
    Resources,
    /// Any other operation.
    Other,
}

/// Name, class, and whether its region holds symbols.
const TABLE: &[(&str, OpClass, bool)] = &[
    ("builtin.module", OpClass::Module, true),
    ("flow.executable", OpClass::Executable, true),
    ("flow.executable.export", OpClass::Export, false),
    ("flow.func", OpClass::Function, false),
    ("func", OpClass::Function, false),
    ("func.func", OpClass::Function, false),
    ("gpu.func", OpClass::Function, false),
    ("gpu.module", OpClass::Module, true),
    ("hal.executable", OpClass::Executable, true),
    ("hal.executable.binary", OpClass::Executable, false),
    ("hal.executable.export", OpClass::Export, false),
    ("hal.executable.source", OpClass::Executable, true),
    ("hal.executable.variant", OpClass::Executable, true),
    ("llvm.func", OpClass::Function, false),
    ("llvm.mlir.global", OpClass::Global, false),
    ("memref.global", OpClass::Global, false),
    ("ml_program.func", OpClass::Function, false),
    ("ml_program.global", OpClass::Global, false),
    ("ml_program.subgraph", OpClass::Function, false),
    ("module", OpClass::Module, true),
    ("spirv.func", OpClass::Function, false),
    ("spirv.module", OpClass::Module, true),
    ("stream.async.func", OpClass::Function, false),
    ("stream.cmd.func", OpClass::Function, false),
    ("stream.executable", OpClass::Executable, true),
    ("stream.executable.export", OpClass::Export, false),
    ("transform.named_sequence", OpClass::Function, false),
    ("util.func", OpClass::Function, false),
    ("util.global", OpClass::Global, false),
    ("util.initializer", OpClass::Initializer, false),
    ("vm.export", OpClass::Export, false),
    ("vm.func", OpClass::Function, false),
    ("vm.global.f32", OpClass::Global, false),
    ("vm.global.f64", OpClass::Global, false),
    ("vm.global.i32", OpClass::Global, false),
    ("vm.global.i64", OpClass::Global, false),
    ("vm.global.ref", OpClass::Global, false),
    ("vm.import", OpClass::Import, false),
    ("vm.initializer", OpClass::Initializer, false),
    ("vm.module", OpClass::Module, true),
    ("vm.rodata", OpClass::Rodata, false),
    ("vm.type", OpClass::Type, false),
];

fn find(name: &str) -> Option<&'static (&'static str, OpClass, bool)> {
    TABLE.binary_search_by_key(&name, |row| row.0).ok().map(|index| &TABLE[index])
}

/// The class of the operation with this name.
pub fn class_of(name: &str) -> OpClass {
    match find(name) {
        Some(row) => row.1,
        None if name.ends_with(".module") => OpClass::Module,
        None if name.ends_with(".func") => OpClass::Function,
        None if name.ends_with(".global") => OpClass::Global,
        None => OpClass::Other,
    }
}

/// Whether the region of this operation holds symbols, each a chunk of its own.
pub(crate) fn is_container(name: &str) -> bool {
    find(name).map_or_else(|| name.ends_with(".module"), |row| row.2)
}

/// Whether a line that begins with this word, indented no deeper than an open operation, must lie
/// outside it.
pub(crate) fn is_anchor(name: &str) -> bool {
    find(name).is_some()
}

/// Longer words cannot be anchors, so the scanner reads no further.
pub(crate) const LONGEST_ANCHOR: usize = 32;

#[cfg(test)]
mod tests {
    use super::{LONGEST_ANCHOR, OpClass, TABLE, class_of, is_anchor, is_container};

    #[test]
    fn table_is_sorted_and_found() {
        assert!(TABLE.is_sorted_by_key(|row| row.0));
        assert!(TABLE.iter().all(|row| row.0.len() < LONGEST_ANCHOR && is_anchor(row.0)));
        assert_eq!(class_of("emitc.func"), OpClass::Function);
        assert!(is_container("wasm.module") && !is_container("func.func"));
    }
}
