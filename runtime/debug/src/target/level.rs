//! Levels: the ways in which a program is shown and stepped. These are Python (the files of Python
//! that made the model, if that is known), the model (the source that the compiler has read, as a
//! program of tensors), the source (with all that the VM program does on its
//! lines), the VM program that the compiler made of it, and the instructions.
//!
//! A level decides where instructions are (and so what frames show, and where steps end) and which
//! names values have. Everything else is the same at all levels; in particular, breakpoints stay
//! where they were set. The level may change while the program is stopped.
//!
//! Where a level has no text for an instruction, the instruction itself is shown.

use std::fmt;
use std::str::FromStr;

use debuginfo::LocalValue;

/// A way in which a program is shown and stepped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Level {
    /// The Python that made the model: one step is one operation that runs.
    Python,
    /// The source, as a program of tensors: one step is one operation that runs.
    Model,
    /// The source, with every line that the VM program stands on.
    #[default]
    Source,
    /// The VM program as text, one operation per line.
    Vm,
    /// Instructions.
    Disassembly,
}

impl Level {
    /// All levels, from the user's to the machine's.
    pub const ALL: [Self; 5] =
        [Self::Python, Self::Model, Self::Source, Self::Vm, Self::Disassembly];

    /// Whether the text is the source, or Python on top of it.
    pub(crate) fn is_source(self) -> bool {
        matches!(self, Self::Python | Self::Model | Self::Source)
    }

    /// Whether the program is one of tensors.
    pub(crate) fn is_model(self) -> bool {
        matches!(self, Self::Python | Self::Model)
    }

    /// The name of the level in commands and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Model => "model",
            Self::Source => "source",
            Self::Vm => "vm",
            Self::Disassembly => "disassembly",
        }
    }

    /// The name of a value of the VM program.
    pub(crate) fn name_of(self, local: &LocalValue) -> &str {
        let in_listing = local.listing_name.as_deref().filter(|_| self == Self::Vm);
        in_listing.unwrap_or(&local.name)
    }

    /// The value of the VM program with a name, which is given without its `%`.
    pub(crate) fn named<'l>(self, locals: &'l [LocalValue], name: &str) -> Option<&'l LocalValue> {
        let is_it = |text: &str| text.trim_start_matches('%') == name;
        let is_in_listing = |it: &LocalValue| is_it(it.listing_name.as_ref().unwrap_or(&it.name));
        let in_listing = || locals.iter().find(|it| is_in_listing(it));
        let unique = || locals.iter().find(|it| is_it(&it.name));
        match self {
            Self::Python | Self::Model | Self::Source => unique().or_else(in_listing),
            Self::Vm | Self::Disassembly => in_listing().or_else(unique),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no level.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no level {0:?}; the levels are python, model, source, vm and disassembly")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert!("asm".parse::<Level>().unwrap_err().to_string().contains("disassembly"));
    }
}
