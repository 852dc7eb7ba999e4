//! Source files that were compiled in another directory are found.

use std::path::Path;

use debuginfo::{Companion, DebugInfo};
use vmfb::Module;

#[test]
fn files_are_found_under_a_root_by_their_ending() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/example");
    let module = Module::open(example.join("newton.vmfb")).expect("the embedded example");
    let text = std::fs::read_to_string(example.join("newton.companion.mlir"));
    let text = text.expect("its companion").replace("newton.mlir", "/built/in/example/newton.mlir");
    let companion = Companion::parse(text.as_bytes()).expect("a companion");
    let info = DebugInfo::load(&module, Some(&companion));
    let (file, _) = info.files().next().expect("a file");
    assert_eq!(info.source_path(file), None);
    for root in [example.clone(), example.join("..")] {
        let expected = if root == example {
            root.join("newton.mlir")
        } else {
            root.join("example/newton.mlir")
        };
        let info = DebugInfo::load(&module, Some(&companion)).with_source_roots([root]);
        assert_eq!(info.source_path(file), Some(expected));
    }
}
