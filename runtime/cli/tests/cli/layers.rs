//! Models whose layers share dispatches: every line stops in its own layer, in bytecode and in
//! machine code, and steps go from dispatch to dispatch in the order of the source.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::program::IREE_DBG;

/// A model of equal layers, with a name that MLIR quotes, and the lines of its operations.
fn model(layers: usize) -> (String, Vec<usize>) {
    let square = "tensor<8x8xf32>";
    let mut text = "#id = affine_map<(i, j) -> (i, j)>\n".to_owned();
    let weights: Vec<String> = (0..layers).map(|layer| format!("%w{layer}: {square}")).collect();
    let _ = writeln!(
        text,
        "func.func @\"my \\\"odd\\\" model.\"(%x: {square}, {}) -> {square} {{\n  \
         %zero = arith.constant 0.0 : f32\n  %half = arith.constant 0.5 : f32",
        weights.join(", ")
    );
    let mut current = "%x".to_owned();
    for layer in 0..layers {
        let _ = write!(
            text,
            "  %e{layer} = tensor.empty() : {square}
  %f{layer} = linalg.fill ins(%zero : f32) outs(%e{layer} : {square}) -> {square}
  %m{layer} = linalg.matmul ins({current}, %w{layer} : {square}, {square}) \
outs(%f{layer} : {square}) -> {square}
  %o{layer} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\", \"parallel\"]}} \
             ins(%m{layer}, {current} : {square}, {square}) outs(%e{layer} : {square}) {{
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %half : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  }} -> {square}
"
        );
        current = format!("%o{layer}");
    }
    let _ = writeln!(text, "  return {current} : {square}\n}}");
    let operations = ["linalg.matmul", "linalg.generic", "arith.mulf", "arith.addf"];
    let has_one = |line: &str| operations.iter().any(|operation| line.contains(operation));
    let lines = text.lines().enumerate().filter(|(_, line)| has_one(line));
    let lines = lines.map(|(index, _)| index + 1).collect();
    (text, lines)
}

const LAYERS: usize = 3;

/// The number of lines of a layer.
const LAYER_LINES: usize = 9;

/// Compiles the model. Returns the path of its module and the lines of its operations.
fn compiled(folder: &Path, flags: &[&str]) -> (PathBuf, Vec<usize>) {
    let (text, lines) = model(LAYERS);
    std::fs::write(folder.join("model.mlir"), text).expect("the source is written");
    compile(folder, "model", flags);
    (folder.join("model.vmfb"), lines)
}

fn compile(folder: &Path, name: &str, flags: &[&str]) {
    IREE_DBG.compile(folder, format!("{name}.mlir"), format!("{name}.vmfb"), flags);
}

/// The output of a session with these commands.
fn session(module: &Path, inputs: usize, commands: &str) -> String {
    let folder = module.parent().expect("its folder");
    let inputs = std::iter::repeat_n(OsStr::new("--input=8x8xf32=0.25"), inputs);
    IREE_DBG.session(folder, inputs.chain([module.as_os_str()]), commands, &[])
}

/// The line of a frame: `… at model.mlir:12:3`.
fn line_of(frame: &str) -> Option<usize> {
    let (_, place) = frame.rsplit_once("model.mlir:")?;
    place.split(':').next()?.parse().ok()
}

/// The layer of a line; the first layer is 0.
fn layer_of(line: usize) -> usize {
    (line - 5) / LAYER_LINES
}

/// Each line of an operation stops in the dispatch of its layer; in bytecode, on the line itself.
fn check_lines(flags: &[&str], is_bytecode: bool) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (module, lines) = compiled(folder.path(), flags);
    let mut inside = 0;
    for (number, line) in lines.iter().enumerate() {
        let commands = format!("break {line}\nrun\nbt\n");
        let printed = session(&module, 1 + LAYERS, &commands);
        let context = || format!("{flags:?}, operation {number} on line {line}:\n{printed}");
        let backtrace = printed.split("(iree-dbg) bt\n").nth(1).unwrap_or_default();
        let frames: Vec<&str> = backtrace.lines().filter(|it| it.starts_with('#')).collect();
        let command = frames.iter().find(|it| it.contains("command ")).copied();
        let at = command.and_then(line_of).unwrap_or_else(|| panic!("{}", context()));
        assert_eq!(layer_of(at), layer_of(*line), "{}", context());
        // A multiplication may have become part of the addition after it.
        let innermost = frames.first().copied().filter(|it| !it.contains("command "));
        if let Some(innermost) = innermost {
            assert_eq!(line_of(innermost), Some(*line), "{}", context());
            inside += 1;
        }
    }
    assert_eq!(inside >= 2 * LAYERS, is_bytecode, "{inside}");
}

const MACHINE: [&str; 2] =
    ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

#[test]
fn lines_stop_in_their_layer_in_bytecode() {
    check_lines(&[], true);
}

#[test]
fn lines_stop_in_their_layer_in_machine_code() {
    check_lines(&MACHINE, false);
}

#[test]
fn lines_stop_in_the_variant_that_runs() {
    let both = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-hal-local-target-device-backends=vmvx",
        "--iree-llvmcpu-target-cpu=generic",
        "--iree-hal-link-executables=false",
    ];
    check_lines(&both, false);
}

/// Two sums in one dispatch, whose second command means other values by the same names.
const SWAPPED: &str = r#"#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %r: f32, %o: f32):
    %q = arith.addf %p, %r : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s = util.optimization_barrier %a : tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%r: f32, %p: f32, %o: f32):
    %v = arith.addf %r, %p : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}
"#;

/// The second sum overflows, on line 14. Names of the first would have its values in wrong places.
#[test]
fn caught_operations_and_writers_are_of_their_own_command() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("model.mlir"), SWAPPED).expect("the source is written");
    compile(folder.path(), "model", &[]);
    let module = folder.path().join("model.vmfb");
    let inputs = ["--input=8xf32=2e38", "--input=8xf32=1e38"].map(OsStr::new);
    let arguments = inputs.into_iter().chain([module.as_os_str()]);
    let commands = "catch inf\nrun\n";
    let printed = IREE_DBG.session(folder.path(), arguments.clone(), commands, &[]);
    let caught = printed.lines().find(|line| line.starts_with("Caught ")).unwrap_or(&printed);
    assert!(caught.starts_with("Caught %v = arith.addf %r, %p is infinity: i"), "{printed}");
    assert!(caught.contains("= 1e38") && caught.contains("= 3e38"), "{printed}");
    assert!(caught.contains("(model.mlir:14,"), "{printed}");
    let commands = "record\nrun\nreverse-step\nwho-wrote %b\nwho-wrote %a\n";
    let printed = IREE_DBG.session(folder.path(), arguments, commands, &[]);
    for (name, line) in [("%b", 11), ("%a", 4)] {
        let asked = format!("who-wrote {name}\n");
        let answer = printed.split(&asked).nth(1).unwrap_or_default().split("(iree-dbg)").next();
        let named = format!("by linalg.generic at model.mlir:{line}");
        assert!(answer.unwrap_or_default().contains(&named), "{name}: {printed}");
    }
}

#[test]
fn steps_go_from_dispatch_to_dispatch() {
    for flags in [&[][..], &MACHINE] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (module, _) = compiled(folder.path(), flags);
        let printed = session(&module, 1 + LAYERS, &format!("start\n{}", "next\n".repeat(20)));
        let stops: Vec<usize> =
            printed.lines().filter(|it| it.starts_with("#0 ")).filter_map(line_of).collect();
        let (text, _) = model(LAYERS);
        let last = text.lines().count() - 1;
        assert_eq!(stops.first(), Some(&2), "{printed}");
        assert_eq!(stops.last(), Some(&last), "{printed}");
        assert!(stops.is_sorted(), "{stops:?}\n{printed}");
        let layers: Vec<usize> =
            stops[1..stops.len() - 1].iter().map(|line| layer_of(*line)).collect();
        assert_eq!(layers.len() % LAYERS, 0, "{stops:?}\n{printed}");
        for layer in 0..LAYERS {
            let count = layers.iter().filter(|it| **it == layer).count();
            assert_eq!(count, layers.len() / LAYERS, "{stops:?}\n{printed}");
        }
    }
}

#[test]
fn what_has_no_code_says_so_or_stands_for_the_next_operation() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (module, _) = compiled(folder.path(), &[]);
    let printed = session(&module, 1 + LAYERS, "break 15\nbreak 3\nbreak 1\nbreak 0\nbreak -2\n");
    let said: Vec<&str> = printed.lines().filter(|it| !it.starts_with("(iree-dbg) ")).collect();
    let name = "my \"odd\" model._dispatch_0";
    assert!(said[0].contains("model.mlir:16") && said[0].contains(name), "{printed}");
    assert!(said[1].starts_with("note: line 15 has no code of its own"), "{printed}");
    assert!(said[2].contains("model.mlir:7"), "{printed}");
    assert!(said[3].starts_with("note: line 3 has no code of its own"), "{printed}");
    assert_eq!(said[4], "error: line 1 is in no function");
    assert_eq!(said[5..7], ["error: lines are counted from 1"; 2]);
}

#[test]
fn dispatches_of_models_with_odd_names_have_operands() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (module, _) = compiled(folder.path(), &MACHINE);
    let commands = "break dispatch @\"my \\\"odd\\\"*\"\nrun\ninfo dispatch\n";
    let printed = session(&module, 1 + LAYERS, commands);
    assert!(printed.contains("operand[0] = "), "{printed}");
}

/// A model with its weights in the text.
#[test]
fn long_sources_have_lines_and_names() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let comment = "x".repeat(65 << 20);
    let text = format!(
        "func.func @main(%a: i32) -> i32 {{\n  %b = arith.addi %a, %a : i32 // {comment}\n  \
         %one = arith.constant 1 : i32\n  %c = arith.muli %b, %a : i32\n  return %c : i32\n}}\n"
    );
    std::fs::write(folder.path().join("long.mlir"), text).expect("the source is written");
    compile(folder.path(), "long", &[]);
    std::fs::write(folder.path().join("script"), "start\nbreak 3\ncontinue\nlist 4\np %b\n")
        .expect("a script");
    let output = IREE_DBG
        .command()
        .current_dir(folder.path())
        .args(["debug", "--batch", "-x", "script", "--input=3", "long.vmfb"])
        .output()
        .expect("the debugger starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("2\t  %b = arith.addi %a, %a : i32 // xxx"), "{printed:.2000}");
    assert!(printed.contains("xxx…\n"), "{printed:.2000}");
    assert!(printed.contains("the next line of its block that has code is 4"), "{printed:.2000}");
    assert!(printed.contains("=> 4\t  %c = arith.muli %b, %a : i32"), "{printed:.2000}");
    assert!(printed.contains("%b = 6 : i32\n"), "{printed:.2000}");
    assert!(printed.len() < 4000, "{}", printed.len());
}
