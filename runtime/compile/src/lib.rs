//! Drives iree-compile so that debugging stays possible.
//!
//! [`compile`] runs iree-compile three times with the same flags: one run writes the module, the
//! other two print its debug companion and the sources of its dispatches. Compiling to the `vm`
//! phase once and finishing twice from that text would be less work, but it loses the text of
//! nested VMVX executables and passes constants through text. Dumping the sources of dispatches on
//! the way would make the module's locations lead to the dump. The runs overlap as far as there are
//! processors for them and the source is small; they run one after the other where both would write
//! the same listing.
//!
//! The companion ([`debuginfo::Companion::path_beside`]) and the sources of dispatches
//! ([`debuginfo::DispatchInterfaces::path_beside`]) lie beside the module. All three are written to
//! a scratch directory beside their destination and renamed into place, so a failed or cancelled
//! run leaves the files of the last one.
//!
//! What these texts mean is [`debuginfo`]'s business; this crate only starts processes and moves
//! files. Each module uses only modules above it in this table:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `cancellation` | a request to stop a compilation |
//! | `process_group` | processes that end with the process that started them |
//! | `elide_constants` | shortens constants in the companion while it is written |
//! | `error` | why a compilation failed |
//! | `find_compiler` | where iree-compile is, and which ones are trusted |
//! | `flags` | the flags of each run |
//! | `runs` | the three runs: their processes, messages and outputs |
//! | `twin` | one dispatch as bytecode: [`compile_twin`] |
//! | `request` | what to compile, and [`compile`] itself |

mod cancellation;
mod elide_constants;
mod error;
mod find_compiler;
mod flags;
mod process_group;
mod request;
mod runs;
mod twin;

pub use cancellation::Cancellation;
pub use error::CompileError;
pub use process_group::ProcessGroup;
pub use request::{CompileOutput, CompileRequest, compile};
pub use twin::{TwinOutput, TwinRequest, compile_twin};
