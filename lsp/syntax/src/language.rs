//! The languages that this crate reads.

/// A language that this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// MLIR, any dialect, pretty or generic form.
    Mlir,
    /// The VM's assembly text, as `iree-dump-module --output=disassembly` prints it.
    Vmasm,
}

impl Language {
    /// The language of a file by its name: `.vmasm`, else MLIR.
    pub fn of_path(path: &str) -> Self {
        if path.ends_with(".vmasm") { Self::Vmasm } else { Self::Mlir }
    }
}
