//! The program that is tested, and where its tests have their files.

use std::path::{Path, PathBuf};

use support::Program;

/// The program, as Cargo has built it for these tests.
pub(crate) const IREE_DBG: Program = Program::at(env!("CARGO_BIN_EXE_iree-dbg"));

/// The data of a test, in the folder `tests` of this crate.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Where a test may leave files, under a name that no other test has.
pub(crate) fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
