//! Where the elements of a tensor come from, which a mark after them tells.

use std::fmt;

/// Where the elements of a tensor come from.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Origin {
    /// They are in the memory of the program.
    #[default]
    Memory,
    /// They were computed again in float64, as no dispatch leaves them in memory: how far a correct
    /// program may be away from them.
    Recomputed(f64),
    /// They are what a dispatch has left that no proof gives the name, and nearly those that the
    /// source has in float64: by how much they differ at most.
    Recognised(f64),
    /// They were in the memory of the program, which has something else by now.
    Past(AsOf),
}

/// A time in a run: next to a command, by its number among all that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AsOf {
    /// Right before the command.
    Before(u64),
    /// Right after it.
    After(u64),
}

impl Origin {
    /// The mark after the elements; none for those in memory.
    pub(crate) fn mark(self) -> String {
        match self {
            Self::Memory => String::new(),
            Self::Recomputed(0.0) => " recomputed (exact)".to_owned(),
            Self::Recomputed(bound) => format!(" recomputed (float64, ±{bound:.1e})"),
            Self::Recognised(difference) => {
                format!(" recognised by its elements (float64 ±{difference:.1e})")
            }
            Self::Past(as_of) => format!(" from {as_of}"),
        }
    }
}

impl AsOf {
    /// The number of the command.
    #[must_use]
    pub fn command(self) -> u64 {
        match self {
            Self::Before(command) | Self::After(command) => command,
        }
    }

    /// On which side of the command, for programs: `before` or `after`.
    #[must_use]
    pub fn side(self) -> &'static str {
        match self {
            Self::Before(_) => "before",
            Self::After(_) => "after",
        }
    }
}

/// What a command has left is from it.
impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(command) => write!(f, "before command {command}"),
            Self::After(command) => write!(f, "command {command}"),
        }
    }
}
