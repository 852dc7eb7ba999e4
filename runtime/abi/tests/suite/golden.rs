//! Signature texts, one file per convention in `golden/`: one line per text, and below it the
//! parsed signature or the error.
//!
//! ```text
//! 0rii_r                          the text
//!   = (ref, i32, i32) -> (ref)    as people read it
//!   > 0rii_r                      as it is printed again, where that differs
//! 0x_v
//!   ^ 1: unexpected `x`: …        the byte that is wrong, and why
//! ```
//!
//! To add a case, add its line; `UPDATE_EXPECT=1 cargo test -p abi` fills in the rest.

use std::fmt::Write;
use std::path::Path;

use abi::convention::Convention;

#[test]
fn golden() {
    for convention in Convention::ALL {
        let name = format!("golden/{}.txt", convention.name());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        let found = std::fs::read_to_string(&path).expect("a file of cases");
        let expected = rewritten(convention, &found);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &expected).expect("the file can be written");
        } else {
            assert_eq!(found, expected, "{}: UPDATE_EXPECT=1 rewrites it", path.display());
        }
    }
}

fn rewritten(convention: Convention, text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("  ") {
            continue;
        }
        let _ = writeln!(out, "{line}");
        if line.starts_with('#') {
            continue;
        }
        match convention.parse(line) {
            Ok(function) => {
                let _ = writeln!(out, "  = {function}");
                match convention.print(&function) {
                    Ok(printed) => {
                        if printed.text != line {
                            let _ = writeln!(out, "  > {}", printed.text);
                        }
                        let again = convention.parse(&printed.text);
                        let again = again.map(|function| convention.print(&function));
                        let again = again.map(|printed| printed.map(|printed| printed.text));
                        assert_eq!(again, Ok(Ok(printed.text)), "{line}: printing must settle");
                    }
                    Err(error) => {
                        let _ = writeln!(out, "  ! {error}");
                    }
                }
            }
            Err(error) => {
                let _ = writeln!(out, "  ^ {}: {}", error.position, error.message);
            }
        }
    }
    out
}
