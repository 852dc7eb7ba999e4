//! Options of printing a module.

/// How to print rodata.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rodata {
    /// Segments over 64 bytes as their size and their XXH3 hash.
    #[default]
    Elide,
    /// Every byte, like `iree-dump-module`: twice as much text as data.
    Full,
}

/// Options of a disassembly.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DisassemblyOptions {
    /// Begin every instruction with its bytecode offset in brackets.
    pub bytecode_offsets: bool,
    /// Print this function only: an ordinal or the name in its header.
    pub function: Option<String>,
    /// How to print rodata.
    pub rodata: Rodata,
}
