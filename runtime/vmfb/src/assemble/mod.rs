//! `.vmasm` text to a module: what `iree-as-module` does, for everything that it accepts and for
//! everything that `iree-dump-module --output=disassembly` prints.
//!
//! The text does not say everything that a module holds. Feature bits and register counts follow
//! from the instructions. Names of functions that are not exported become a debug database without
//! locations, which is where printing finds them. Dependencies, attributes and locations are not in
//! the text; a module made from it has none, unless [`Assembly::complete_from`] takes them from the
//! module that was printed. What the bytecode verifier would refuse is assembled all the same, as
//! the reference does, and reported as a warning by [`Assembly::verify`].
//!
//! | file | holds |
//! | --- | --- |
//! | `assembly` | the whole module |
//! | `symbols` | types, globals, imports, functions and exports by name |
//! | `callees` | what a call's name means, quirks of printed text included |
//! | `body` | a function's bytecode |
//! | `requirements` | feature bits |
//! | `original` | what the text does not say, from the module that it was printed of |
//!
//! Problems are in `diagnostic`. Reading the text is the business of `parse`, writing the file that of [`crate::build`].

mod assembly;
mod body;
mod callees;
mod original;
mod requirements;
mod symbols;

pub use assembly::{Assembly, assemble};

pub use crate::diagnostic::{Diagnostic, Severity, render};
