//! Golden sessions of the terminal debugger on modules of older compilers. The modules are
//! committed, so that this needs none of the compilers.
//!
//! `stops.script` runs on each module; its expected output is beside it, by the module's name. To
//! accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use std::path::Path;
use std::process::Command;

#[test]
fn stops_are_on_their_lines_and_know_what_a_dispatch_reads() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older");
    for release in ["3.1.0", "3.10.0"] {
        let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
            .current_dir(&directory)
            .args(["debug", "--batch", "--input=4x4xf32=2", "-x", "stops.script"])
            .arg(format!("program-{release}.vmfb"))
            .output()
            .expect("the debugger starts");
        let mut actual = String::from_utf8_lossy(&output.stdout).into_owned();
        actual.push_str(&String::from_utf8_lossy(&output.stderr));
        let expected_path = directory.join(format!("program-{release}.expected"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected_path, &actual).expect("the expected output is written");
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        assert_eq!(expected, actual, "{release}");
    }
}
