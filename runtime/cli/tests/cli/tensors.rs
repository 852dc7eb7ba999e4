//! `iree-dbg tensors`: the log of a run is the one that a program prints that was compiled for it,
//! and lines are printed while the program runs.
//!
//! Needs iree-compile and iree-run-module: `pip install iree-base-compiler iree-base-runtime`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use debuginfo::DebugFile;
use support::text;

use crate::program::IREE_DBG;

const SOURCE: &str = "\
func.func @layers(%x: tensor<3x5xf32>, %w: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %dot = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x2xf32>)
    outs(%fill : tensor<3x2xf32>) -> tensor<3x2xf32>
  %again = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x2xf32>)
    outs(%dot : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %again : tensor<3x2xf32>
}
func.func @repeat(%count: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = scf.for %i = %zero to %count step %one iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.addf %a, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %end : tensor<4xf32>
}
";

const TARGET: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

const CALL: [&str; 3] =
    ["--function=layers", "--input=3x5xf32=0.5,1,-2,3,4,5,6,7,8,9,1,2,3,4,5", "--input=5x2xf32=2"];

fn said(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = text(&[output.stdout, output.stderr].concat());
    assert!(output.status.success(), "{program}: {text}");
    text
}

fn compiled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.mlir"), SOURCE).expect("the source is written");
    let ours = IREE_DBG.path();
    let compile = ["compile", "model.mlir", "-o", "model.vmfb", "--"];
    said(folder.path(), ours, &[&compile[..], &TARGET].concat());
    folder
}

/// The blocks of a log, without the names of executables, in which ours has none.
fn blocks(log: &str) -> Vec<Vec<String>> {
    let blocks = log.split("=== ").skip(1).map(|block| {
        let lines = block.lines().take_while(|line| !line.is_empty());
        let bare = |line: &str| line.split_once("::").map_or(line, |(_, rest)| rest).to_owned();
        lines.map(bare).collect()
    });
    blocks.collect()
}

#[test]
fn a_trace_is_that_of_a_program_compiled_for_it() {
    let folder = compiled();
    let traced = ["model.mlir", "--iree-flow-trace-dispatch-tensors", "-o", "traced.vmfb"];
    said(folder.path(), "iree-compile", &[&traced[..], &TARGET].concat());
    let run = [&["--module=traced.vmfb", "--device=local-sync"], &CALL[..]].concat();
    let theirs = blocks(&said(folder.path(), "iree-run-module", &run));
    let run = [&["tensors", "model.vmfb", "--format=trace"], &CALL[..]].concat();
    let ours = blocks(&said(folder.path(), IREE_DBG.path(), &run));
    assert!(theirs.len() >= 2, "{theirs:?}");
    assert_eq!(ours, theirs);
}

#[test]
fn a_table_is_printed_while_the_program_runs() {
    let folder = compiled();
    // It would take hours; the first lines are there at once, or this test never ends.
    let mut child = IREE_DBG
        .command()
        .current_dir(folder.path())
        .args(["tensors", "model.vmfb", "--function=repeat"])
        .args(["--input=100000000", "--input=4xf32=1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let lines: Vec<String> = lines.take(4).map(|line| line.expect("a line")).collect();
    child.kill().expect("it still runs");
    child.wait().expect("it ends");
    // Columns stand under their headings.
    let column = lines[0].find("hash").expect("a heading");
    for line in &lines[1..] {
        let hash = line.get(column..).unwrap_or_default();
        let is_digest = hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit());
        assert!(is_digest, "{lines:#?}");
    }
}

/// The debug file keeps a long source without its constants, which are most of it: the module has
/// them, other than `%v`, of which it has only what the compiler has computed from it.
#[test]
fn a_module_that_was_moved_has_all_that_it_has_beside_its_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, at) = (env!("CARGO_BIN_EXE_iree-dbg"), |name: &str| folder.path().join(name));
    let digits = |it: u16| format!("{:08X}", f32::from(it).to_bits().swap_bytes());
    let long: String = (0..1 << 15).cycle().take(1 << 18).map(digits).collect();
    let short: String = (0..64 * 64).rev().map(digits).collect();
    let source = format!(
        "func.func @scaled(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {{\n  \
           %w = arith.constant dense<\"0x{long}\"> : tensor<4096x64xf32>\n  \
           %rows = tensor.extract_slice %w[7, 0] [4, 64] [1, 1] \
           : tensor<4096x64xf32> to tensor<4x64xf32>\n  \
           %v = arith.constant dense<\"0x{short}\"> : tensor<64x64xf32>\n  \
           %double = arith.addf %v, %v : tensor<64x64xf32>\n  \
           %first = tensor.extract_slice %double[0, 0] [4, 64] [1, 1] \
           : tensor<64x64xf32> to tensor<4x64xf32>\n  \
           %sum = arith.addf %x, %rows : tensor<4x64xf32>\n  \
           %scaled = arith.mulf %sum, %first : tensor<4x64xf32>\n  \
           return %scaled : tensor<4x64xf32>\n}}\n"
    );
    std::fs::write(at("model.mlir"), source).expect("the source is written");
    let compile = ["compile", "model.mlir", "-o", "model.vmfb", "--"];
    said(folder.path(), ours, &[&compile[..], &TARGET].concat());
    let run = ["tensors", "model.vmfb", "--input=4x64xf32=0.5", "--all"];
    let whole = said(folder.path(), ours, &run);
    for name in ["%rows", "%double", "%first", "%sum", "%scaled"] {
        let row = whole.lines().find(|it| it.contains(name)).unwrap_or_else(|| panic!("{whole}"));
        assert!(row.split_whitespace().nth(3).is_some_and(|it| it.parse::<f64>().is_ok()), "{row}");
    }
    std::fs::remove_file(at("model.mlir")).expect("it is there");
    let moved = said(folder.path(), ours, &run);
    assert_eq!(moved, whole);
    let debug_file = DebugFile::open(&at("model.vmfb.debug")).expect("it is there");
    let (constants, members) = (&debug_file.manifest().constants, debug_file.names());
    let kept: Vec<_> = members.iter().filter(|it| it.starts_with("constants/")).collect();
    assert_eq!((constants.len(), kept.len()), (1, 1), "{constants:?} {kept:?}");
    std::fs::remove_file(at("model.vmfb.debug")).expect("it is there");
    let bare = said(folder.path(), ours, &run);
    assert!(
        bare.contains("the operations of the source are not known, which --all goes by"),
        "{bare}"
    );
}

#[test]
fn what_the_machine_lays_out_its_own_way_is_said_to_be_encoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = env!("CARGO_BIN_EXE_iree-dbg");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/classifier.mlir");
    std::fs::copy(source, folder.path().join("model.mlir")).expect("the source is written");
    let compile = ["compile", "model.mlir", "-o", "tiled.vmfb", "--"];
    let tiled = [&compile[..], &TARGET, &["--iree-opt-data-tiling=true"]].concat();
    said(folder.path(), ours, &tiled);
    let run = ["tensors", "tiled.vmfb", "--input=1x16xf32=0.5", "--format=json"];
    let rows = said(folder.path(), ours, &run);
    let rows = rows.lines().filter_map(|line| serde_json::from_str(line).ok());
    let rows: Vec<serde_json::Value> = rows.collect();
    let (shown, withheld): (Vec<_>, Vec<_>) = rows.iter().partition(|it| it["missing"].is_null());
    // The dispatch between the two layers leaves encoded tensors only. What it leaves was once
    // listed as its memory, `32xf32`, with the statistics of whatever lies there.
    let shown: Vec<_> = shown.iter().map(|it| (&it["names"][0], &it["type"])).collect();
    assert_eq!(
        shown,
        [
            (&"%exponentials".into(), &"1x4xf32".into()),
            (&"%total".into(), &"f32".into()),
            (&"%probabilities".into(), &"4xf32".into()),
        ],
        "{rows:#?}"
    );
    let of_layer = |row: &&&serde_json::Value| {
        row["dispatch"] == "classify_dispatch_0_matmul_1x8x16_f32" && row["type"] == "1x8xf32"
    };
    assert_eq!(withheld.iter().filter(of_layer).count(), 1, "{rows:#?}");
    for row in &withheld {
        let reason = "<encoded: its elements lie in an order of the machine's own>";
        assert_eq!((&row["missing"], row["hash"].is_null()), (&reason.into(), true), "{row}");
    }
}
