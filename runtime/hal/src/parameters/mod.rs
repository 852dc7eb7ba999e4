//! Parameters: named bytes outside of modules, in archives. Large archives are mapped and never
//! read as a whole. Nothing here knows programs or devices.
//!
//! ```text
//! Parameters   scope → Index          --parameters=[scope=]file, several files to a scope
//! Index        key → Entry            in the order of the files; the first of a key counts
//! Entry        length, and a range of a mapped file or a pattern to repeat
//! ```
//!
//! | file | format |
//! | --- | --- |
//! | `irpa` | IREE's own archive, the only one with splats |
//! | `gguf` | llama.cpp |
//! | `safetensors` | Hugging Face |
//! | `raw` | one parameter a file: `.npy`, `.bin`, `.raw` |
//! | `reader` | checked access to the tables of untrusted files |
//!
//! `modules::io_parameters` hands them to programs.

mod archives;
mod gguf;
mod index;
mod irpa;
mod raw;
mod reader;
mod safetensors;

pub use archives::Parameters;
pub(crate) use index::{Contents, Index, Splat};
pub use index::{Entry, Source};
