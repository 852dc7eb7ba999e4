//! `iree-dbg view` of programs: their constants, as the source writes them and as the module has
//! them. It needs iree-compile.

use serde_json::{Value, json};

use crate::program::IREE_DBG;

/// The elements of a constant, and its digits.
fn weights(seed: u32) -> (Vec<u8>, String) {
    let value = |at: u32| (at.wrapping_mul(seed) % 1000) as f32 / 8.0 - 60.0;
    let bytes: Vec<u8> = (0..64 * 64).flat_map(|at| value(at).to_le_bytes()).collect();
    let digits = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    (bytes, digits)
}

/// Answers of `view --questions` about a file.
fn answers(directory: &std::path::Path, file: &str, questions: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = questions.iter().map(Value::to_string).collect();
    let input = lines.join("\n") + "\n";
    std::fs::write(directory.join("questions"), input).expect("the questions are written");
    let asked = std::fs::File::open(directory.join("questions")).expect("they are there");
    let mut command = IREE_DBG.command();
    command.current_dir(directory).args(["view", "--questions", file]).stdin(asked);
    let text = support::succeeded(&command.output().expect("it starts"));
    text.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect()
}

#[test]
fn constants_of_a_source_and_of_its_module() {
    let directory = tempfile::tempdir().expect("a scratch folder");
    let directory = directory.path();
    let ((first, inline), (second, listed)) = (weights(7919), weights(104_729));
    let source = format!(
        "\
util.global private @w = dense_resource<the_weights> : tensor<64x64xf32>
func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %c = arith.constant dense<\"0x{inline}\"> : tensor<64x64xf32>
  %w = util.global.load @w : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.matmul ins(%x, %c : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%s, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}}
{{-#
  dialect_resources: {{ builtin: {{ the_weights: \"0x04000000{listed}\" }} }}
#-}}
"
    );
    std::fs::write(directory.join("model.mlir"), source).expect("the source is written");
    IREE_DBG.compile(directory, "model.mlir", "model.vmfb", &[]);

    let in_source = [("@w", &second, json!(1)), ("%c", &first, json!(3))];
    let in_module = [("the_weights = @w", &second, Value::Null), ("%c", &first, Value::Null)];
    for (file, constants) in [("model.mlir", in_source), ("model.vmfb", in_module)] {
        let list = &answers(directory, file, &[json!({"id": 1, "list": true})])[0]["body"];
        let list = list["tensors"].as_array().unwrap_or_else(|| panic!("{file}: {list}"));
        assert_eq!(list.len(), 2, "{file}: {list:?}");
        for (name, bytes, line) in constants {
            let listed = list.iter().find(|it| it["name"] == name);
            let listed = listed.unwrap_or_else(|| panic!("{file}: {list:?}"));
            let told = (&listed["type"], &listed["bytes"], &listed["line"]);
            assert_eq!(told, (&json!("64x64xf32"), &json!(bytes.len()), &line), "{file}");
            let save = directory.join("saved.npy");
            let [row, saved] =
                [json!({"name": name, "row": true}), json!({"name": name, "save": save})];
            let told = answers(directory, file, &[row, saved]);
            let row = told[0]["body"]["row"].as_str().unwrap_or_else(|| panic!("{told:?}"));
            assert!(row.starts_with("64x64xf32 · μ "), "{row}");
            assert!(told[1]["error"].is_null(), "{told:?}");
            let saved = std::fs::read(&save).expect("it is saved");
            assert!(saved.ends_with(bytes), "{file}: {name} has other bytes");
        }
    }

    // Other bytes are not shown under a name.
    let module = directory.join("model.vmfb");
    let whole = std::fs::read(&module).expect("the module is there");
    let at = whole.windows(64).position(|it| it == &first[..64]).expect("the module has them");
    let mut changed = whole.clone();
    changed[at] ^= 1;
    std::fs::write(&module, changed).expect("the module is written");
    let printed = support::printed(&IREE_DBG.run(directory, &["view", "model.vmfb"]));
    assert!(printed.contains("is of another module and is not used"), "{printed}");
    std::fs::write(&module, whole).expect("the module is written");
    std::fs::remove_file(directory.join("model.vmfb.debug")).expect("the debug file is there");
    let output = IREE_DBG.run(directory, &["view", "model.vmfb"]);
    let printed = support::printed(&output);
    assert!(printed.contains("has no debug file beside it"), "{printed}");
    assert_eq!(output.status.code(), Some(1), "{printed}");
}
