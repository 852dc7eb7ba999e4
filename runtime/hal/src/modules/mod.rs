//! The native modules of IREE's runtime: glue from VM signatures to the other rooms of this crate.
//!
//! Each native module is a file, or a folder with a file for each group of functions (`hal`). A
//! function is declared with its name, its calling convention and its body:
//!
//! ```text
//! .function("fence.query", "0r_i", |call| …)
//! ```
//!
//! - A new function of `hal` is declared in the file of its group in `hal/`: `fence.query` in
//!   `hal/fence.rs`. Its body reads arguments with `arguments::HalArguments` and calls the room
//!   that does the work.
//! - An import is matched by name *and* calling convention, so each older signature is declared
//!   beside the newest one, as a further `.function` with the same name, or as a loop over the
//!   calling conventions if the bodies are the same. Functions that only compilers before 3.1
//!   import are in `hal/descriptor_sets.rs`.
//! - A function that yields returns `NativeReturn::Pending` (`fence.await` in `hal/fence.rs`). A
//!   function whose work can be watched and interrupted returns `NativeReturn::Activity`
//!   (`hal/queue.rs`, `hal/executable.rs`, `hal_loader.rs`).
//! - A new native module is added to the list in `provided.rs`.
//!
//! This room may use all others; no other room uses it.

mod arguments;
pub mod check;
mod hal;
mod hal_inline;
mod hal_loader;
mod io_parameters;
mod provided;
mod yieldable_test;

pub use provided::modules_for;
