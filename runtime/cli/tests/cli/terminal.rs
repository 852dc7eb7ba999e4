//! Golden sessions of the terminal debugger on the embedded example.
//!
//! A case is a script in `tests/terminal`, with its expected output beside it. To add one, write
//! the script. To accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use std::ffi::OsStr;
use std::path::Path;

use support::{Expected, printed};

use crate::program::{IREE_DBG, data};

fn output_of(script: &Path) -> String {
    let [debug, batch, flag] = ["debug", "--batch", "-x"].map(OsStr::new);
    let output = IREE_DBG.run(&data("terminal"), &[debug, batch, flag, script.as_os_str()]);
    format!("{}exit status {}\n", printed(&output), output.status.code().unwrap_or(-1))
}

#[test]
fn sessions_print_what_they_printed() {
    let directory = data("terminal");
    let mut scripts: Vec<_> = std::fs::read_dir(&directory)
        .expect("the directory of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "script"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty(), "no scripts in {}", directory.display());
    let mut expected = Expected::default();
    for script in scripts {
        expected.compare(&script.with_extension("expected"), &output_of(&script));
    }
    expected.finish();
}
