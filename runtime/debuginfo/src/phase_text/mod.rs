//! A text that iree-compile prints with locations (a phase, or the program after a pass), as people
//! read it: without locations, and with long constants cut. [`PhaseText`] keeps the locations
//! beside the text, by line: so a line leads to its source, and to the lines of another phase that
//! come from the same place.
//!
//! ```text
//!   printed                                          shown
//!   #loc1 = loc("a.mlir":3:8)
//!   scf.if %c {                                      scf.if %c {              a.mlir:3:8
//!     vm.call @f() : () -> () loc(#loc2)               vm.call @f() : …       a.mlir:4:5
//!   } loc(#loc1)                                     }                        a.mlir:3:8
//! ```
//!
//! - [`reader`]: reading the printed text
//! - [`origins`]: the places of a source that a location names

mod origins;
mod reader;
#[cfg(test)]
mod tests;

use crate::locations::{LocationId, LocationTable};

/// A printed text without its locations, and these by line.
#[derive(Clone, Debug, Default)]
pub struct PhaseText {
    /// The text, as people read it.
    pub text: String,
    /// For each line of the text the location of the operation that begins or ends there.
    pub lines: Vec<Option<LocationId>>,
    /// What the locations mean.
    pub locations: LocationTable,
}

impl PhaseText {
    /// Reads a printed text. What cannot be read as a location stays in the text.
    #[must_use]
    pub fn read(printed: &[u8]) -> Self {
        reader::read(printed)
    }

    /// The places that the operation on a line (from 0) comes from.
    #[must_use]
    pub fn origins(&self, line: usize) -> Vec<Origin> {
        let location = self.lines.get(line).copied().flatten();
        location.map(|location| self.locations.origins(location)).unwrap_or_default()
    }
}

pub use origins::{Origin, OriginKind};
