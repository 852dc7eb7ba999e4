//! `.vmasm` text to a module: what `iree-as-module` does, for everything that it accepts and for
//! everything that `iree-dump-module --output=disassembly` prints.
//!
//! The text does not hold everything in a module. Feature bits and register counts follow from the
//! instructions. Names of functions that are not exported become a debug database without
//! locations, where the printer finds them. Dependencies, attributes and locations are not in the
//! text; an assembled module has none, unless [`Assembly::complete_from`] takes them from the
//! module that was printed. Code that the bytecode verifier would refuse is still assembled, as the
//! reference does, and [`Assembly::verify`] reports it as warnings.
//!
//! | file | holds |
//! | --- | --- |
//! | `assembly` | the whole module |
//! | `symbols` | types, globals, imports, functions and exports by name |
//! | `callees` | the names of calls, including quirks of printed text |
//! | `body` | a function's bytecode |
//! | `requirements` | feature bits |
//! | `original` | parts that the text lacks, from the module that it was printed from |
//!
//! Diagnostics are in `diagnostic`. `parse` reads the text; [`crate::build`] writes the file.

mod assembly;
mod body;
mod callees;
mod original;
mod requirements;
mod symbols;

pub use assembly::{Assembly, assemble};

pub use crate::diagnostic::{Diagnostic, Severity, render};
