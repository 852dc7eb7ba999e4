//! Hover against modules that iree-compile wrote: the derived convention must equal the one in the
//! module.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ide::{Document, Language, Modules, hover};

/// iree-compile on the `PATH`, or the program that `IREE_COMPILE` names.
fn iree_compile() -> PathBuf {
    std::env::var_os("IREE_COMPILE").map_or_else(|| PathBuf::from("iree-compile"), PathBuf::from)
}

struct Compiled {
    source: PathBuf,
    module: PathBuf,
    text: String,
    _folder: tempfile::TempDir,
}

fn compiled(text: &str) -> Compiled {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (source, module) = (folder.path().join("x.mlir"), folder.path().join("x.vmfb"));
    std::fs::write(&source, text).expect("to write the source");
    let output = Command::new(iree_compile())
        .arg(&source)
        .arg("-o")
        .arg(&module)
        .args(["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"])
        .output()
        .expect(
            "iree-compile: install it with `pip install iree-base-compiler`, or set IREE_COMPILE",
        );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Compiled { source, module, text: text.to_owned(), _folder: folder }
}

impl Compiled {
    fn document(&self) -> Document {
        Document::new(Language::Mlir, Some(self.source.clone()), Arc::new(self.text.clone()))
    }

    fn hover(&self, place: &str) -> String {
        let at = self.text.find(place).expect("the place") + 1;
        hover(&self.document(), &Modules::default(), at).expect("a hover").markdown
    }
}

const SOURCE: &str = r#"func.func @scalars(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f16, %g: bf16, %h: f32, %i: f64, %j: index) -> (f64, i8, index, f16) {
  return %i, %b, %j, %f : f64, i8, index, f16
}
func.func @tensors(%t: tensor<4xf32>, %n: i32) -> tensor<4xf32> attributes {iree.reflection = {hello = "world"}} {
  %0 = arith.addf %t, %t : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @refs(%b: !hal.buffer_view, %l: !util.list<i32>) -> !hal.buffer_view {
  return %b : !hal.buffer_view
}
"#;

#[test]
fn derived_conventions_are_the_real_ones() {
    let compiled = compiled(SOURCE);
    for name in ["@scalars", "@tensors", "@refs"] {
        let shown = compiled.hover(name);
        let (derived, real) = shown.split_once("**Compiled module** `x.vmfb`").expect("both parts");
        let convention = |part: &str, before: &str| {
            let rest = part.split_once(before).expect(before).1;
            rest.split_once('`').expect("an end").0.to_owned()
        };
        let derived = convention(derived, "**VM calling convention** `");
        assert_eq!(derived, convention(real, "calling convention `"), "{shown}");
        assert!(real.contains("`iree.abi.declaration`"), "{shown}");
        assert!(!real.contains("Stale") && !real.contains("This is not what"), "{shown}");
    }
    assert!(compiled.hover("@tensors").contains("`hello` = `world`"));
}

#[test]
fn modules_that_do_not_fit_are_called_so() {
    let mut compiled = compiled("func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n");
    // The text changes, the module does not.
    compiled.text = compiled.text.replace("i32", "i64") + "func.func @new() {\n  return\n}\n";
    std::fs::write(&compiled.source, &compiled.text).expect("to write the source");
    let later = SystemTime::now() + Duration::from_secs(10);
    let file = std::fs::File::options().append(true).open(&compiled.source).expect("the source");
    file.set_modified(later).expect("to set its time");
    let shown = compiled.hover("@f");
    assert!(
        shown.contains("Stale") && shown.contains("`0i_i`") && shown.contains("(`0I_I`)"),
        "{shown}"
    );
    assert!(compiled.hover("@new").contains("exports no `new`"));
    // A file that is not a module gets an answer too.
    std::fs::write(&compiled.module, b"junk").expect("to write the module");
    assert!(compiled.hover("@f").contains("cannot be read"));
    std::fs::remove_file(&compiled.module).expect("to remove the module");
    assert!(!compiled.hover("@f").contains("Compiled module"));
}

#[test]
fn modules_elsewhere_are_found_where_configured() {
    let compiled = compiled("func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let moved = folder.path().join("x.vmfb");
    std::fs::copy(&compiled.module, &moved).expect("to copy the module");
    std::fs::remove_file(&compiled.module).expect("to remove the module");
    let at = compiled.text.find("@f").expect("the place") + 1;
    for configured in [folder.path().to_owned(), moved] {
        let modules = Modules::new(vec![configured]);
        let shown = hover(&compiled.document(), &modules, at).expect("a hover").markdown;
        assert!(shown.contains("**Compiled module** `x.vmfb`"), "{shown}");
    }
}
