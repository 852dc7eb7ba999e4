//! What frameworks and NumPy know: the names of an ONNX model, and tensors of a run as arrays.
//! They need iree-compile, and NumPy in the Python on the PATH.

use std::path::Path;
use std::process::Command;

use support::printed;

use crate::program::IREE_DBG;

/// An import as iree-import-onnx writes it.
const IMPORT: &str = r#"module {
  func.func @g(%arg0: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
      attributes {torch.onnx_meta.opset_version = 17 : si64} {
    %none = torch.constant.none
    %0 = torch.operator "onnx.MatMul"(%arg0, %arg0) : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
    %1 = torch.operator "onnx.Softmax"(%0) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
    %2 = torch.operator "onnx.MatMul"(%1, %arg0) : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
    return %2 : !torch.vtensor<[4,4],f32>
  }
}
"#;

/// A field of a protocol buffer with bytes in it.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).ok();
    let mut field = vec![number << 3 | 2];
    match length.filter(|it| *it < 128) {
        Some(length) => field.push(length),
        None => field.extend([bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8]),
    }
    field.extend(bytes);
    field
}

fn node(kind: &str, name: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let inputs = inputs.iter().flat_map(|it| field(1, it.as_bytes()));
    let rest = [(2, output), (3, name), (4, kind)];
    let rest = rest.iter().flat_map(|(number, text)| field(*number, text.as_bytes()));
    field(1, &inputs.chain(rest).collect::<Vec<u8>>())
}

/// The model that it was made from.
fn model(second: &str) -> Vec<u8> {
    let value = |number: u8, name: &str| field(number, &field(1, name.as_bytes()));
    let graph = [
        node("MatMul", "/l1/MatMul", &["in put:0", "in put:0"], "/l1/MatMul_output_0"),
        node(second, "/l1/Soft", &["/l1/MatMul_output_0"], "a \"quoted\" one"),
        node("MatMul", "last", &["a \"quoted\" one", "in put:0"], "out"),
        field(2, b"g"),
        value(11, "in put:0"),
        value(12, "out"),
    ];
    field(7, &graph.concat())
}

fn compiled(directory: &Path, source: &str) {
    std::fs::write(directory.join("model.mlir"), source).expect("the source is written");
    let output = IREE_DBG.run(directory, &["compile", "model.mlir", "-o", "model.vmfb"]);
    assert!(output.status.success(), "{}", printed(&output));
}

fn session(directory: &Path, commands: &str) -> String {
    std::fs::write(directory.join("script"), commands).expect("a script");
    let flags = ["debug", "--batch", "-x", "script", "--input=4x4xf32=0.5", "model.vmfb"];
    printed(&IREE_DBG.run(directory, &flags))
}

#[test]
fn tensors_have_the_names_of_the_onnx_model_beside_an_import() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    compiled(folder.path(), IMPORT);
    let commands = "info dispatches\nbreak dispatch *\nrun\ncontinue\n\
                    p %\"/l1/MatMul_output_0\"\np \"/l1/MatMul\"\np %\"/l1/MatMul\"[0,1]\n\
                    p %\"in put:0\"\n\
                    info name \"/l1/MatMul\"\np \"no such name\"\np %\"no such name\"\nlocals\ntensors\n\
                    continue\np %\"a \\\"quoted\\\" one\"\n";
    std::fs::write(folder.path().join("model.onnx"), model("Softmax")).expect("a model");
    let text = session(folder.path(), commands);
    assert!(text.contains("out %0 = %\"/l1/MatMul_output_0\" 4x4xf32"), "{text}");
    let answer = |command: &str| {
        let (_, rest) = text.split_once(&format!("(iree-dbg) {command}\n")).expect(command);
        rest.split_once("\n(iree-dbg)").map_or(rest, |(answer, _)| answer).to_owned()
    };
    let expected = " = [1, 1, 1, 1, 1, 1, 1, 1, …] : ";
    assert!(answer("p %\"/l1/MatMul_output_0\"").contains(expected), "{text}");
    assert!(answer("p \"/l1/MatMul\"").contains(expected), "{text}");
    assert!(answer("p %\"/l1/MatMul\"[0,1]").contains("= 1"), "{text}");
    assert!(answer("p %\"in put:0\"").contains(" = [0.5, 0.5, "), "{text}");
    let evidence = answer("info name \"/l1/MatMul\"");
    assert!(evidence.starts_with("%0 = [1, 1, "), "{evidence}");
    assert!(evidence.contains("the framework calls it \"/l1/MatMul_output_0\""), "{evidence}");
    assert!(evidence.contains("%0 = torch.operator \"onnx.MatMul\"(%arg0, %arg0)"), "{evidence}");
    assert!(evidence.contains("| left by dispatch @g$async_dispatch_0"), "{evidence}");
    assert!(answer("p \"no such name\"").contains("no such name"), "{text}");
    assert!(answer("p %\"no such name\"").contains("nothing is called"), "{text}");
    assert!(answer("locals").contains(" \"/l1/MatMul_output_0\""), "{text}");
    assert!(answer("tensors").contains("%0 = %\"/l1/MatMul_output_0\""), "{text}");
    let quoted = answer("p %\"a \\\"quoted\\\" one\"");
    assert!(!quoted.contains("nothing is called"), "{text}");
    // A model that is another one from there on names what is before it, and says so.
    std::fs::write(folder.path().join("model.onnx"), model("Relu")).expect("a model");
    let text = session(folder.path(), commands);
    assert!(text.contains("out %0 = %\"/l1/MatMul_output_0\" 4x4xf32"), "{text}");
    assert!(!text.contains("quoted\\\" one\" 4x4"), "{text}");
    let note = "its node \"/l1/Soft\" (Relu) is not what line 6 has";
    assert!(text.contains(note), "{text}");
}

/// An import with a weight in a resource, and one in the operation.
const WEIGHTS: &str = r#"module {
  func.func @g(%arg0: !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
      attributes {torch.onnx_meta.opset_version = 17 : si64} {
    %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<W> : tensor<4x4xf32>} : () -> !torch.vtensor<[4,4],f32>
    %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[2.0, 3.0, 5.0, 7.0]> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32>
    %none = torch.constant.none
    %2 = torch.operator "onnx.MatMul"(%arg0, %0) : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
    %3 = torch.operator "onnx.Add"(%2, %1) : (!torch.vtensor<[4,4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,4],f32>
    return %3 : !torch.vtensor<[4,4],f32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      W: "0x0400000000000041000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"
    }
  }
#-}
"#;

#[test]
fn weights_of_an_import_are_shown_as_the_source_has_them() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    compiled(folder.path(), WEIGHTS);
    let commands = "break dispatch * after\nrun\np %0\np %1[3]\np %0[3,3]\nlocals\nconstants\np %3[0,3]\np @W\n";
    let text = session(folder.path(), commands);
    let answer = |command: &str| {
        let (_, rest) = text.split_once(&format!("(iree-dbg) {command}\n")).expect(command);
        rest.split_once("\n(iree-dbg)").map_or(rest, |(answer, _)| answer).to_owned()
    };
    assert!(answer("p %0").contains(" = [8, 0, 1, 1, 1, 1, 1, 1, …] : "), "{text}");
    assert!(answer("p %1[3]").contains(" = 7 : "), "{text}");
    assert!(answer("p %0[3,3]").contains(" = 2 : "), "{text}");
    let (locals, constants) = (answer("locals"), answer("constants"));
    assert!(constants.contains("%0 = [8, 0,"), "{text}");
    assert!(constants.contains("%1 = [2, 3, 5, 7]"), "{text}");
    assert!(locals.contains("%3 = [") && !locals.contains("%0 = "), "{text}");
    // 0.5 * (1 + 1 + 1 + 2) + 7, which the dispatch has just made.
    assert!(answer("p %3[0,3]").contains(" = 9.5 : "), "{text}");
    assert!(answer("p @W").contains("no global and no exported function is called @W"), "{text}");
}

/// A text whose operations have names for locations.
const NAMED: &str = r#"!t = tensor<4x4xf32>
func.func @main(%x: !t loc("in put")) -> !t {
  %zero = arith.constant dense<0.0> : !t loc("zero")
  %a = linalg.matmul ins(%x, %x : !t, !t) outs(%zero : !t) -> !t loc("layer1/dot")
  %b = linalg.matmul ins(%a, %x : !t, !t) outs(%zero : !t) -> !t loc(#dot)
  %c = linalg.matmul ins(%b, %x : !t, !t) outs(%zero : !t) -> !t loc("twice")
  %d = linalg.matmul ins(%c, %x : !t, !t) outs(%zero : !t) -> !t loc("twice")
  return %d : !t loc("end")
} loc("main")
#dot = loc(fused["layer \22two\22"])
"#;

#[test]
fn operations_with_names_for_locations_have_their_lines_and_names() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    compiled(folder.path(), NAMED);
    let commands = "info dispatches\nbreak model.mlir:5\nrun\np %\"layer1/dot\"\n\
                    p %\"in put\"[0,1]\ntensors\n";
    let text = session(folder.path(), commands);
    let answer = |command: &str| {
        let (_, rest) = text.split_once(&format!("(iree-dbg) {command}\n")).expect(command);
        rest.split_once("\n(iree-dbg)").map_or(rest, |(answer, _)| answer).to_owned()
    };
    let listed = answer("info dispatches");
    assert!(listed.contains("model.mlir:4 ") && listed.contains("model.mlir:5 "), "{text}");
    assert!(listed.contains("out %a = %\"layer1/dot\" 4x4xf32"), "{text}");
    assert!(answer("tensors").contains("%b = %\"layer \\\"two\\\"\""), "{text}");
    // Which of two operations a name means, nothing says.
    assert!(!text.contains("%\"twice\""), "{text}");
    assert!(answer("run").contains("model.mlir:5:8"), "{text}");
    assert!(answer("p %\"layer1/dot\"").contains(" = [1, 1, 1, 1, 1, 1, 1, 1, …] : "), "{text}");
    assert!(answer("p %\"in put\"[0,1]").contains("= 0.5"), "{text}");
}

#[test]
fn tensors_of_a_run_are_arrays_of_numpy() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    compiled(folder.path(), IMPORT);
    std::fs::write(folder.path().join("model.onnx"), model("Softmax")).expect("a model");
    // Debug files may lie elsewhere.
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::fs::rename(folder.path().join("model.vmfb.debug"), elsewhere.join("model.vmfb.debug"))
        .expect("it is moved");
    let tensors = |more: &[&str]| {
        let flags = ["tensors", "model.vmfb", "--input=4x4xf32=0.5"];
        IREE_DBG.run(folder.path(), &[&flags[..], more].concat())
    };
    assert!(!printed(&tensors(&[])).contains("%0"));
    let known = ["--debug-directory=elsewhere"];
    assert!(printed(&tensors(&known)).contains("%0"));
    let formats = [["--format=npz", "--output=run.npz"], ["--format=npz-dir", "-orun"]];
    for format in formats {
        let output = tensors(&[&known[..], &format].concat());
        assert!(output.status.success(), "{}", printed(&output));
        assert_eq!(printed(&output), "");
    }
    let script = "
import json, numpy
run = numpy.load('run.npz')
rows = json.loads(run['tensors.json'])
assert len(rows) > 1
first = rows[0]
assert first['names'] == ['%0', '%\"/l1/MatMul_output_0\"'], first
assert first['key'] == '000000.%0', first
assert (run[first['key']] == numpy.ones((4, 4), numpy.float32)).all()
for row, other in zip(rows, json.load(open('run/tensors.json'))):
    array = numpy.load('run/' + other['npy'])
    assert row['key'] == other['key']
    assert array.dtype == numpy.float32 and (array == run[row['key']]).all(), row
print('equal', len(rows))
";
    let output = Command::new("python3").current_dir(folder.path()).args(["-c", script]).output();
    let output = output.expect("there is a Python");
    assert!(printed(&output).starts_with("equal"), "{}", printed(&output));
    let refused = printed(&tensors(&["--format=npz"]));
    assert!(refused.contains("--output=PATH"), "{refused}");
    let refused = printed(&tensors(&["--output=x"]));
    assert!(refused.contains("--output goes with --format=npz"), "{refused}");
}
