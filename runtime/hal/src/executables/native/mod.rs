//! Machine code: executables that `llvm-cpu` compiles, embedded or as system libraries.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `formats` | which formats run here, and whether any may run |
//! | `elf` | loading embedded ELF files without the system's loader |
//! | `system` | loading system libraries with the system's loader |
//! | `image` | code in memory, and checked reads of its description |
//! | `library` | the description, checked and converted to plain data |
//! | `abi`, `processor` | the structures of a call, and the features of the processor |
//! | `plugin` | libraries of the user whose functions the code imports |
//! | `code` | loaded code with its description |
//! | `call` | calls of dispatches, on a stack of their own, so that they can be paused and may fault |
//! | `executable` | the executable: loading it, and running its workgroups |
//!
//! Machine code runs with all rights of this process, which may be one for it alone
//! ([`super::sandboxed`]). Parsing is safe for any bytes; calling the
//! code means trusting it, which [`NativeCode`] decides.

mod abi;
mod call;
mod code;
mod elf;
mod executable;
mod formats;
mod image;
mod library;
mod plugin;
mod processor;
mod system;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use call::prepare_thread;
pub use executable::examine_machine_code;
pub(crate) use executable::{NativeExecutable, export_for};
pub(crate) use formats::{EMBEDDED, FORMATS, refusal};
pub use formats::{NativeCode, NoSandboxChoice, SandboxChoice};
pub use plugin::Plugins;
pub(crate) use processor::processor_feature;
