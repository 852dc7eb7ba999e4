//! Which versions of bytecode are supported, which compilers write each, and what changed: the one
//! table from which the loader's checks and messages, the assembler and the tests are made.
//!
//! The numbers are those of IREE's `IREE_VM_BYTECODE_VERSION_MAJOR`. Which compiler writes which
//! was found by compiling with them; `tests/versions` has modules of several.

use std::fmt;

/// A version of bytecode that this crate reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SupportedVersion {
    /// The major version. All supported ones have minor version 0.
    pub major: u16,
    /// The compilers that write it.
    pub compilers: Compilers,
    /// What it changed.
    pub changes: &'static str,
}

/// The compilers that write a version of bytecode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compilers {
    /// Snapshots of a time, none of which is a release.
    Snapshots(&'static str),
    /// Releases, from the first to the last.
    Releases(&'static str, &'static str),
}

/// The supported versions, ascending and without a gap.
pub const VERSIONS: &[SupportedVersion] = &[
    SupportedVersion {
        major: 14,
        compilers: Compilers::Snapshots("early March 2023"),
        changes: "the module table has its fields of today",
    },
    SupportedVersion {
        major: 15,
        compilers: Compilers::Releases("20230404.479", "3.9"),
        changes: "nothing that this crate tells apart",
    },
    SupportedVersion {
        major: 16,
        compilers: Compilers::Releases("3.10", "3.10"),
        changes: "discard.refs, assign.ref; move bits say where a ref is given away",
    },
    SupportedVersion {
        major: 17,
        compilers: Compilers::Releases("3.11", "3.13"),
        changes: "call.yieldable, call.variadic.yieldable",
    },
];

/// The last compiler whose bytecode is too old.
const LAST_TOO_OLD: &str = "20230228.444";

/// The first version whose move bits mean that a ref is given away. Before it, compilers marked
/// every last use.
pub(crate) const FIRST_WITH_MOVES: u16 = 16;

/// The oldest version that is read here.
pub(crate) const OLDEST: u16 = VERSIONS[0].major;

/// Version of the bytecode encoding (`bytecode_version`, not the module's own version).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct BytecodeVersion {
    /// Changes when old readers would misread the bytecode.
    pub major: u16,
    /// Changes when instructions are added.
    pub minor: u16,
}

impl BytecodeVersion {
    /// The newest supported version, which is the one written here.
    pub const NEWEST: Self = Self { major: VERSIONS[VERSIONS.len() - 1].major, minor: 0 };

    /// Splits the FlatBuffer's `bytecode_version` field.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self { major: (bits >> 16) as u16, minor: bits as u16 }
    }

    /// The FlatBuffer's `bytecode_version` field.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }

    /// Whether this crate reads it.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.row().is_some() && self.minor == 0
    }

    fn row(self) -> Option<&'static SupportedVersion> {
        VERSIONS.iter().find(|row| row.major == self.major)
    }

    /// Which compilers write it, for people: `written by compilers 3.11 to 3.13`.
    #[must_use]
    pub fn written_by(self) -> String {
        match self.row().map(|row| row.compilers) {
            Some(Compilers::Snapshots(time)) => format!("written by compiler snapshots of {time}"),
            Some(Compilers::Releases(first, last)) if first == last => {
                format!("written by compiler {first}")
            }
            Some(Compilers::Releases(first, last)) => {
                format!("written by compilers {first} to {last}")
            }
            None if self.major < OLDEST => format!("written by compilers up to {LAST_TOO_OLD}"),
            None => format!("written by a compiler newer than {}", newest_compiler()),
        }
    }

    /// The supported versions and what to do, for messages about one that is not.
    #[must_use]
    pub fn supported() -> String {
        let mut are_named = false;
        let rows = VERSIONS.iter().map(|row| {
            let compilers = match row.compilers {
                Compilers::Snapshots(time) => format!("snapshots of {time}"),
                Compilers::Releases(first, last) => {
                    let range =
                        if first == last { first.to_owned() } else { format!("{first} to {last}") };
                    // Said once, for all that follow.
                    let word =
                        if std::mem::replace(&mut are_named, true) { "" } else { "compilers " };
                    format!("{word}{range}")
                }
            };
            format!("{} ({compilers})", row.major)
        });
        let rows: Vec<String> = rows.collect();
        let [earlier @ .., last] = &rows[..] else { return String::new() };
        let earlier = earlier.join(", ");
        format!("supported are {earlier} and {last}: recompile the model with one of those")
    }
}

/// The newest compiler whose modules are known to load, such as `3.13`.
#[must_use]
pub fn newest_compiler() -> &'static str {
    match VERSIONS[VERSIONS.len() - 1].compilers {
        Compilers::Snapshots(time) => time,
        Compilers::Releases(_, last) => last,
    }
}

impl fmt::Display for BytecodeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_ascend_without_a_gap() {
        assert!(VERSIONS.windows(2).all(|rows| rows[0].major + 1 == rows[1].major));
    }

    #[test]
    fn instructions_come_with_a_version_of_the_table() {
        for op in crate::Op::all() {
            let since = op.info().since;
            assert!(VERSIONS.iter().any(|row| row.major == since), "{}", op.mnemonic());
            let row = VERSIONS.iter().find(|row| row.major == since && since > OLDEST);
            assert!(row.is_none_or(|row| row.changes.contains(op.mnemonic())), "{}", op.mnemonic());
        }
    }

    #[test]
    fn each_version_says_who_wrote_it() {
        let written_by = |major| BytecodeVersion { major, minor: 0 }.written_by();
        assert_eq!(written_by(13), "written by compilers up to 20230228.444");
        assert_eq!(written_by(14), "written by compiler snapshots of early March 2023");
        assert_eq!(written_by(15), "written by compilers 20230404.479 to 3.9");
        assert_eq!(written_by(16), "written by compiler 3.10");
        assert_eq!(written_by(17), "written by compilers 3.11 to 3.13");
        assert_eq!(written_by(18), "written by a compiler newer than 3.13");
        assert_eq!(
            BytecodeVersion::supported(),
            "supported are 14 (snapshots of early March 2023), 15 (compilers 20230404.479 to \
             3.9), 16 (3.10) and 17 (3.11 to 3.13): recompile the model with one of those"
        );
    }
}
