//! `run --values` and the language server: what is shown on a line of a source is what NumPy
//! computes of the same tensor, and only on the text that ran.
//!
//! Needs iree-compile and NumPy: `pip install iree-base-compiler numpy`.

use std::io::BufReader;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use serde_json::{Value, json};
use support::text;

use crate::lsp::{receive, send};
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
";

/// Prints the label of each tensor. The numbers are whole, so float32 has them exactly.
const NUMPY: &str = "
import json, numpy
x = numpy.array([1, 1, -2, 3, 4, 5, 6, 7, 8, 9, 1, 2, numpy.nan, 4, 5], numpy.float32)
x = x.reshape(3, 5)
w = numpy.full((5, 2), 2, numpy.float32)
def label(it):
    nans = int(numpy.isnan(it).sum())
    text = f'min {numpy.nanmin(it):g}, max {numpy.nanmax(it):g}'
    return text + (f', {nans} NaN' if nans else '')
print(json.dumps({'%x': label(x), '%w': label(w), '%again': label(x @ w + x @ w)}))
";

const CALL: [&str; 3] =
    ["--function=layers", "--input=3x5xf32=1,1,-2,3,4,5,6,7,8,9,1,2,nan,4,5", "--input=5x2xf32=2"];

fn said(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = text(&[output.stdout.clone(), output.stderr].concat());
    assert!(output.status.success(), "{program}: {text}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What the language server answers for each of some texts of one document, after another.
fn answers(cache: &Path, texts: &[&str], method: &str) -> Vec<Value> {
    let mut server = IREE_DBG
        .command()
        .args(["lsp", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program to start");
    let mut input = server.stdin.take().expect("its input");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let uri = "file:///m.mlir";
    let mut asked = 0;
    // Each answer is there before the next message: an edit would make a request moot.
    let mut ask = |input: &mut ChildStdin, method: &str, params: Value| -> Value {
        asked += 1;
        let body = json!({"jsonrpc": "2.0", "id": asked, "method": method, "params": params});
        send(input, &body.to_string());
        loop {
            let answer: Value = serde_json::from_str(&receive(&mut output)).expect("JSON");
            if answer["id"] == asked && answer.get("method").is_none() {
                return answer;
            }
        }
    };
    let tell = |input: &mut ChildStdin, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
        send(input, &body.to_string());
    };
    let options = json!({"lastRunValues": true, "cacheFolder": cache});
    let params = json!({"capabilities": {}, "initializationOptions": options});
    ask(&mut input, "initialize", params);
    tell(&mut input, "initialized", json!({}));
    let document = json!({"uri": uri, "languageId": "mlir", "version": 0, "text": ""});
    tell(&mut input, "textDocument/didOpen", json!({"textDocument": document}));
    let mut found = Vec::new();
    for (version, text) in (1..).zip(texts) {
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        tell(&mut input, "textDocument/didChange", params);
        let start = json!({"line": 0, "character": 0});
        let range = json!({"start": start, "end": {"line": 99, "character": 0}});
        let params = json!({"textDocument": {"uri": uri}, "range": range});
        found.push(ask(&mut input, method, params)["result"].clone());
    }
    drop(input);
    server.wait().expect("the process to end");
    found
}

/// The hints with values: line from 0, and label.
fn labels(hints: &Value) -> Vec<(u64, &str)> {
    let hints = hints.as_array().map(Vec::as_slice).unwrap_or_default();
    let labels = hints.iter().map(|it| (it["position"]["line"].as_u64(), it["label"].as_str()));
    let labels = labels.map(|(line, label)| (line.expect("a line"), label.expect("a label")));
    labels.filter(|(_, label)| label.starts_with("min ")).collect()
}

#[test]
fn values_on_lines_are_those_of_numpy_and_of_this_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, ours) = (folder.path(), IREE_DBG.path());
    std::fs::write(path.join("model.mlir"), SOURCE).expect("the source is written");
    let target = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];
    said(path, ours, &[&["compile", "model.mlir", "-o", "model.vmfb", "--"][..], &target].concat());
    let run = |more: &[&str]| {
        said(path, ours, &[&["run", "--module=model.vmfb"], &CALL[..], more].concat())
    };
    // The results are those of a run without it, and nothing is kept of one.
    let cache = path.join("cache");
    let without = run(&[]);
    assert!(!cache.exists());
    assert_eq!(run(&[&format!("--values={}", cache.display())]), without);

    let numpy: Value =
        serde_json::from_str(&said(path, "python3", &["-c", NUMPY])).expect("JSON of NumPy");
    let of = |name: &str| numpy[name].as_str().expect("a label");
    let expected = [(0, of("%x")), (0, of("%w")), (6, of("%again"))];
    // A blank at the end makes another text, on which nothing is known.
    let edited = format!("{SOURCE} ");
    let hints = answers(&cache, &[SOURCE, &edited, SOURCE], "textDocument/inlayHint");
    assert_eq!(labels(&hints[0]), expected, "{}", hints[0]);
    assert_eq!(labels(&hints[1]), []);
    assert_eq!(labels(&hints[2]), expected);
    let lenses = answers(&cache, &[SOURCE, &edited], "textDocument/codeLens");
    let title = "last run: 3 NaN in 2 of 3 tensors";
    assert!(lenses[0].to_string().contains(title), "{}", lenses[0]);
    assert!(!lenses[1].to_string().contains("last run"), "{}", lenses[1]);

    // A later run takes the place of this one.
    let other = ["run", "--module=model.vmfb", CALL[0], "--input=3x5xf32=1", "--input=5x2xf32=1"];
    let kept = format!("--values={}", cache.display());
    said(path, ours, &[&other[..], &[&kept]].concat());
    let hints = answers(&cache, &[SOURCE], "textDocument/inlayHint");
    let ones = [(0, "min 1, max 1"), (0, "min 1, max 1"), (6, "min 10, max 10")];
    assert_eq!(labels(&hints[0]), ones);
}
