//! The embedded example matches its source.
//!
//! If it does not, compile it again; `src/example.rs` has the command.

use std::path::Path;

use debuginfo::DebugFile;

use crate::program::IREE_DBG;

#[test]
fn the_embedded_module_fits_its_source() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let compiled = scratch.path().join("newton.vmfb");
    let compile = IREE_DBG
        .command()
        .args(["compile", "newton.mlir", "-o"])
        .arg(&compiled)
        .current_dir(&example)
        .output()
        .expect("the compiler driver starts");
    assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
    assert_eq!(
        disassembly(&compiled),
        disassembly(&example.join("newton.vmfb")),
        "example/newton.vmfb is not what example/newton.mlir compiles to"
    );
    let file = DebugFile::open(&DebugFile::path_beside(&compiled)).expect("a debug file");
    let made = file.companion().expect("it is whole").expect("a companion");
    assert_eq!(
        String::from_utf8(made).expect("text"),
        std::fs::read_to_string(example.join("newton.companion.mlir")).expect("a companion"),
        "the companion is not what example/newton.mlir compiles to"
    );
}

fn disassembly(module: &Path) -> String {
    let dump = IREE_DBG
        .command()
        .args(["dump", "--output=disassembly"])
        .arg(module)
        .output()
        .expect("the printer starts");
    String::from_utf8(dump.stdout).expect("text")
}
