//! What the assembler says about texts that are wrong or dubious: each `.vmasm` file in `assemble/`
//! beside the diagnostics that it gets. `UPDATE_EXPECT=1` rewrites the latter.

use std::path::{Path, PathBuf};

use vmfb::Module;
use vmfb::assemble::{assemble, render};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/assemble");
    let entries = std::fs::read_dir(folder).expect("the folder of cases is there");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "vmasm"))
        .collect();
    cases.sort();
    cases
}

#[test]
fn diagnostics() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are cases");
    for path in cases {
        let source = std::fs::read(&path).expect("a readable case");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let diagnostics = match assemble(&source) {
            Ok(assembly) => {
                let bytes = assembly.image.to_bytes().expect("the module can be written");
                let module = Module::from_bytes(bytes).expect("the module can be loaded");
                let doubts = assembly.verify(module);
                assembly.warnings.into_iter().chain(doubts).collect()
            }
            Err(diagnostics) => diagnostics,
        };
        let expected = expect_test::expect_file![path.with_extension("expected")];
        expected.assert_eq(&render(&diagnostics, &source, &name));
    }
}
