//! Modules as text: the disassembly (`.vmasm`) and the metadata report.
//!
//! The texts equal those of `iree-dump-module` byte for byte, quirks included, for every module
//! that it accepts; hostile modules print as far as they can be read. The one difference is the
//! default [`Rodata::Elide`]. A [`Disassembly`] also says which instruction each of its lines is,
//! so that editors can show the text and set breakpoints in it.
//!
//! | file | holds |
//! | --- | --- |
//! | `options` | what to print |
//! | `disassembly` | the disassembly, and which instruction each of its lines shows |
//! | `directives` | lines that are not instructions |
//! | `instruction` | one instruction |
//! | `display_names` | what functions, types and blocks are called |
//! | `metadata` | the metadata report |
//! | `model_json` | the model as JSON, for scripts |
//! | `pretty` | JSON with line breaks, as `iree-dump-module --pretty` prints it |
//! | `flatbuffer_json` | the FlatBuffer as JSON, with the keys of IREE's schema |

mod directives;
mod disassembly;
mod display_names;
mod flatbuffer_json;
mod instruction;
mod metadata;
mod model_json;
mod options;
mod pretty;

pub use disassembly::{Disassembly, LineOrigin, disassemble};
pub use display_names::{BlockLabels, DisplayNames};
pub use flatbuffer_json::{flatbuffer as flatbuffer_json, pretty_flatbuffer};
pub use instruction::{InstructionPrinter, RegisterValues};
pub use metadata::metadata;
pub use model_json::model as model_json;
pub use options::{DisassemblyOptions, Rodata};
