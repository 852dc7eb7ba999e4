//! Drives iree-compile so that debugging stays possible.
//!
//! [`compile`] runs iree-compile once for the module and the texts of all phases on the way, with
//! large constants left out. A second run goes on from one of these texts and prints the debug
//! companion: from the last phase where dispatches are machine code, from `executable-targets`
//! where they are bytecode, whose text is in the companion, too. The module is byte for byte the
//! one of a plain compilation. Compilers before 3.1 cannot print their phases; they compile three
//! times.
//!
//! All that is kept goes to one file beside the module ([`debuginfo::DebugFile`]). Both are written
//! to a scratch directory beside their destination and renamed into place, so a failed or cancelled
//! run leaves the files of the last one.
//!
//! What these texts mean is [`debuginfo`]'s business; this crate only starts processes and moves
//! files. Each module uses only modules above it in this table:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `cancellation` | a request to stop a compilation |
//! | `scratch` | private folders, which go however the process ends |
//! | `process_group` | processes that end with the process that started them |
//! | `resources` | constants that a phase writes at its end, written where they are used |
//! | `elide_constants` | shortens constants in the companion while it is written |
//! | `flow_constants` | tells by names which constants the phase `flow` has |
//! | `error` | why a compilation failed |
//! | `trust` | the folders whose programs the user trusts |
//! | `find_compiler` | where iree-compile is, and which programs are trusted |
//! | `script` | programs that pip has installed as scripts, without these |
//! | `find_python` | where a Python with some modules is |
//! | `find_importer` | where the importer of ONNX models is |
//! | `flags` | the flags of each run |
//! | `back_end` | [`BackEnd`]: which back end flags name, and flags for another one |
//! | `process` | a running compiler: its messages, its end |
//! | `import` | ONNX models as MLIR, by IREE's importer |
//! | `phases` | the texts of phases that a compilation has printed |
//! | `repair` | takes scratch files out of a companion's locations |
//! | `runs` | the runs of a compilation, and what they print |
//! | `constants` | where the bytes are of constants that texts leave out |
//! | `keep` | what of it the debug file keeps |
//! | `difference` | why a module is not the one that was shipped |
//! | `passes` | the program after each pass: [`print_passes`] |
//! | `installed` | the compiler that is found, and what it calls itself |
//! | `twin` | dispatches as bytecode: [`compile_twin`] |
//! | `request` | what to compile, and [`compile`] itself |

mod back_end;
mod cancellation;
mod constants;
mod difference;
mod elide_constants;
mod error;
mod find_compiler;
mod find_importer;
mod find_python;
mod flags;
mod flow_constants;
mod import;
mod installed;
mod keep;
mod passes;
mod phases;
mod process;
mod process_group;
mod repair;
mod request;
mod resources;
mod runs;
mod scratch;
mod script;
mod trust;
mod twin;

pub use back_end::{BackEnd, for_device, have_target, named_back_ends};
pub use cancellation::Cancellation;
pub use error::{CompileError, NoCompanion};
pub use find_compiler::{find_compiler, waits_for_trust};
pub use find_python::find_python;
pub use import::{is_onnx, is_source};
pub use installed::{InstalledCompiler, installed_compiler};
pub use passes::{PassText, PassesRequest, print_passes};
pub use process_group::ProcessGroup;
pub use request::{CompileOutput, CompileRequest, compile};
pub use scratch::Scratch;
pub use script::without_script;
pub use trust::{TrustError, TrustedFolders, trust_projects};
pub use twin::{TwinOutput, TwinRequest, compile_twin};
