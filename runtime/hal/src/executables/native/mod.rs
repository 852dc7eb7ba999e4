//! Machine code: executables that `llvm-cpu` compiles, embedded or as system libraries.
//!
//! | file | holds |
//! | --- | --- |
//! | `elf` | loading embedded ELF files without the system's loader |
//! | `system` | loading system libraries with it |
//! | `image` | code in memory, and reading what it says about itself |
//! | `library` | that description, checked and made plain data |
//! | `abi`, `processor` | what dispatches are called with, and what they are told of the machine |
//! | `call` | calling them: on a stack of their own, so that they can be paused and may fault |
//!
//! Machine code runs with all rights of this program. Loading is safe for any bytes as far as they
//! are data; calling the code is trusting it, which [`super::NativeCode`] decides.

mod abi;
mod call;
mod code;
mod elf;
mod executable;
mod formats;
mod image;
mod library;
mod processor;
mod system;

pub(crate) use executable::NativeExecutable;
pub use executable::examine_machine_code;
pub use formats::NativeCode;
pub(crate) use formats::{FORMATS, refusal};
pub(crate) use processor::processor_feature;
