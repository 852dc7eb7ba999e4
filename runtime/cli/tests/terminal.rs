//! Golden sessions of the terminal debugger on the embedded example.
//!
//! A case is a script in `tests/terminal`, with its expected output beside it. To add one, write
//! the script. To accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use std::path::Path;
use std::process::Command;

fn output_of(script: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
        .args(["debug", "--batch", "-x"])
        .arg(script)
        .output()
        .expect("the debugger starts");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text.push_str(&format!("exit status {}\n", output.status.code().unwrap_or(-1)));
    text
}

#[test]
fn sessions_print_what_they_printed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal");
    let mut scripts: Vec<_> = std::fs::read_dir(&directory)
        .expect("the directory of scripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "script"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty(), "no scripts in {}", directory.display());
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut changed = Vec::new();
    for script in scripts {
        let expected_path = script.with_extension("expected");
        let actual = output_of(&script);
        if is_update {
            std::fs::write(&expected_path, &actual).expect("the expected output is written");
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if expected != actual {
            changed.push(format!(
                "{}\n--- expected\n{expected}\n--- actual\n{actual}",
                script.display()
            ));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
