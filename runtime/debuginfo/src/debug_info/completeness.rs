//! [`Completeness`]: which functions of a module have debug information, in data and in sentences
//! for the user that say how to get the rest.

use std::fmt;

use vmfb::FunctionOrdinal;

use crate::alignment::Mismatch;

/// The source of a function's debug information.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapSource {
    /// The debug companion: locations, names, types and liveness.
    Companion,
    /// The module's own debug database: locations.
    Database,
    /// There is none.
    Nothing,
}

/// A function of the module, and where its debug information comes from.
#[derive(Clone, Debug)]
pub struct FunctionCompleteness {
    /// The function.
    pub function: FunctionOrdinal,
    /// Its name, or `function N` if it is unknown.
    pub name: String,
    /// The source of its debug information.
    pub source: MapSource,
    /// Why the companion was not used, if it was given and was not.
    pub mismatch: Option<Mismatch>,
}

/// How complete the debug information of a module is.
#[derive(Clone, Debug)]
pub struct Completeness {
    /// Every function of the module.
    pub functions: Vec<FunctionCompleteness>,
    /// Whether a companion was given.
    pub has_companion: bool,
    /// The number of functions in the companion.
    pub companion_functions: usize,
    /// The number of functions with a map in the debug database; `None` if the module has no
    /// database.
    pub database_maps: Option<usize>,
}

impl Completeness {
    /// Whether every function has debug information.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.functions.iter().all(|function| function.source != MapSource::Nothing)
    }

    /// The number of functions with debug information from this source.
    #[must_use]
    pub fn count(&self, source: MapSource) -> usize {
        self.functions.iter().filter(|function| function.source == source).count()
    }

    /// Sentences for the user: what is missing and how to get it. Empty if nothing is missing.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let mut messages = Vec::new();
        if self.has_companion {
            self.companion_messages(&mut messages);
        }
        if self.is_complete() {
            return messages;
        }
        messages.push(self.what_is_missing());
        if !self.has_companion {
            messages.push(
                "make a debug file for it: `iree-dbg compile INPUT.mlir -o MODULE.vmfb` writes \
                 the module and MODULE.vmfb.debug; `--for=MODULE.vmfb -- FLAGS` instead of `-o` \
                 makes the debug file of a module that is there"
                    .to_owned(),
            );
        }
        messages
    }

    fn companion_messages(&self, messages: &mut Vec<String>) {
        let total = self.functions.len();
        if self.companion_functions != total {
            messages.push(format!(
                "the debug companion has {} functions, the module {total}: they are not from the same compilation",
                self.companion_functions
            ));
        }
        let mismatches: Vec<_> =
            self.functions.iter().filter_map(FunctionCompleteness::mismatch_text).collect();
        if mismatches.len() == total && total > 0 {
            messages.push(format!(
                "the debug companion does not belong to this module and is not used ({}); compile both again with \
                 `iree-dbg compile`",
                mismatches[0]
            ));
        } else {
            messages.extend(
                mismatches
                    .into_iter()
                    .map(|text| format!("the debug companion is not used for {text}")),
            );
        }
    }

    fn what_is_missing(&self) -> String {
        let without = self.count(MapSource::Nothing);
        let total = self.functions.len();
        match self.database_maps {
            None => format!(
                "no debug information for {without} of {total} functions: the module has no debug database"
            ),
            Some(0) => format!(
                "no debug information for {without} of {total} functions: the debug database is empty"
            ),
            Some(maps) if maps < total => format!(
                "no debug information for {without} of {total} functions: the debug database is cut short, as \
                 compilers since 3.11 write it ({maps} of {total} functions)"
            ),
            Some(_) => format!(
                "no debug information for {without} of {total} functions: the debug database does not fit"
            ),
        }
    }
}

impl FunctionCompleteness {
    fn mismatch_text(&self) -> Option<String> {
        self.mismatch.as_ref().map(|mismatch| format!("@{}: {mismatch}", self.name))
    }
}

impl fmt::Display for Completeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages().join("\n"))
    }
}
