//! One dispatch of a run as a folder that needs nothing else: its operations as a function over
//! tensors, its inputs and outputs as they were in the run, a test, and a script that runs it with
//! IREE's own tools and compares bits.
//!
//! ```text
//!   Debugger ──capture──> DispatchRun ──folder──> DIR/dispatch.mlir, run.sh, check.mlir, README.md
//!                                                        │ trial: sh run.sh
//!                                                        v
//!                                                 Same, Different, NotRun
//! ```
//!
//! Each module uses only modules above it in this table:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `target_flags` | which of a compilation's flags one dispatch alone needs |
//! | `dispatch_run` | [`DispatchRun`]: a dispatch with its tensors before and after it |
//! | `capture` | [`capture()`], [`Capturer`]: taking that from a program under the debugger |
//! | `tensor_files` | tensors as files, and as flags of iree-run-module |
//! | `script` | `run.sh` |
//! | `check_test` | `check.mlir`, a test for iree-check-module |
//! | `trial` | [`Trial`]: running a folder's script, and what came of it |
//! | `staged` | a folder that appears whole, or not at all |
//! | `readme` | `README.md` |
//! | `folder` | [`write_folder`]: all of it |
//! | `reduce` | [`reduce()`]: fewer operations that still fail |
//! | `reduced_folder` | [`write_reduced`]: the folder of these |

mod capture;
mod check_test;
mod dispatch_run;
mod folder;
mod readme;
mod reduce;
mod reduced_folder;
mod script;
mod staged;
mod target_flags;
mod tensor_files;
mod trial;

pub use capture::{
    Capturer, NotCaptured, Wanted, WantedDispatch, after_the_fact, capture, capture_numbered,
};
pub use dispatch_run::{DispatchRun, Origin, Unusable};
pub use folder::{FolderError, FolderOptions, WrittenFolder, write_folder};
pub use reduce::{Failure, NotJudged, NotReduced, ReduceProgress, Reduced, reduce};
pub use reduced_folder::write_reduced;
pub use staged::{Staged, is_empty};
pub use trial::{NoTools, Tools, Trial};
