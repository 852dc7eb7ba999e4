//! A module at a glance, and its dispatches as a graph, of a module that iree-compile has made.

use std::path::Path;

use compile::{Cancellation, CompileRequest, compile};
use serde_json::{Value, json};

use crate::client::Client;

const SOURCE: &str = r#"func.func @two(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant dense<2.0> : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = linalg.matmul ins(%x, %c : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = linalg.matmul ins(%m, %c : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}
"#;

fn compiled(folder: &Path) -> String {
    let (input, output) = (folder.join("two.mlir"), folder.join("two.vmfb"));
    std::fs::write(&input, SOURCE).expect("to write the source");
    let request = CompileRequest { input, output: output.clone(), ..CompileRequest::default() };
    compile(&request, &Cancellation::default(), &mut |_| {}).expect("it compiles");
    tower_lsp::lsp_types::Url::from_file_path(&output).expect("a path").to_string()
}

#[tokio::test]
async fn a_module_at_a_glance_and_as_a_graph() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().canonicalize().expect("a path");
    let uri = compiled(&path);
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    let answer = client.ask("iree-dbg/module", json!({"uri": uri})).await["result"].clone();
    assert_eq!(answer["version"], 1, "{answer}");
    let export = &answer["exports"][0];
    assert_eq!((&export["name"], &export["callingConvention"]), (&json!("two"), &json!("0r_r")));
    assert_eq!(export["arguments"], json!([{"name": "input0", "type": "tensor<4x8xf32>"}]));
    assert_eq!(export["results"][0]["type"], "tensor<4x8xf32>");
    let source = &answer["sources"][0];
    let name = path.join("two.mlir").display().to_string();
    assert_eq!((&source["name"], &source["state"]), (&json!(name), &json!("unchanged")));
    assert!(answer["imports"].as_array().unwrap().iter().any(|it| it["module"] == "hal"));
    assert!(answer["compiler"].as_str().is_some_and(|it| it.starts_with("3.")), "{answer}");
    let sizes = answer["sizes"].as_array().unwrap();
    let total: u64 = sizes.iter().filter_map(|it| it["bytes"].as_u64()).sum();
    assert!(total > 0 && total <= answer["bytes"].as_u64().unwrap(), "{answer}");
    assert!(sizes.iter().any(|it| it["kind"] == "executable"), "{answer}");

    let graph = client.ask("iree-dbg/dispatchGraph", json!({"uri": uri})).await["result"].clone();
    let function = &graph["functions"][0];
    let nodes = function["nodes"].as_array().unwrap_or_else(|| panic!("{graph}"));
    let dispatches: Vec<&Value> = nodes.iter().filter(|it| it["kind"] == "dispatch").collect();
    let told: Vec<(&Value, &Value, &Value, &Value)> = dispatches
        .iter()
        .map(|it| (&it["title"], &it["line"], &it["bytes"], &it["operations"]))
        .collect();
    // 4x8 read, 4x8 written, four bytes each; a multiplication and an addition for each product.
    let (bytes, operations) = (json!(2 * 4 * 8 * 4), json!(2 * 4 * 8 * 8));
    let (first, second) = (json!(6), json!(8));
    assert_eq!(
        told,
        [(&json!("%m"), &first, &bytes, &operations), (&json!("%n"), &second, &bytes, &operations)]
    );
    let edges = function["edges"].as_array().unwrap();
    let edge = edges.iter().find(|it| it["tensor"]["name"] == "%m");
    let edge = edge.unwrap_or_else(|| panic!("{graph}"));
    let end = |end: &str| nodes[usize::try_from(edge[end].as_u64().unwrap()).unwrap()].clone();
    assert_eq!((end("from"), end("to")), (dispatches[0].clone(), dispatches[1].clone()));

    // A source that has changed says so.
    std::fs::write(path.join("two.mlir"), "// another\n").expect("to write the source");
    let answer = client.ask("iree-dbg/module", json!({"uri": uri})).await["result"].clone();
    assert_eq!(answer["sources"][0]["state"], "changed");
    std::fs::remove_file(path.join("two.vmfb.debug")).expect("to remove the debug file");
    let refused = client.ask("iree-dbg/dispatchGraph", json!({"uri": uri})).await;
    let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(message.contains("it has no debug file"), "{message}");
    let answer = client.ask("iree-dbg/module", json!({"uri": uri})).await["result"].clone();
    assert_eq!((&answer["hasGraph"], &answer["compiler"]), (&json!(false), &Value::Null));

    // Nothing is told of other files.
    for other in ["two.mlir", "none.vmfb"] {
        let uri = uri.replace("two.vmfb", other);
        let refused = client.ask("iree-dbg/module", json!({"uri": uri})).await;
        assert!(refused["error"]["message"].is_string(), "{refused}");
    }
    assert_eq!(client.hang_up().await, 1);
}
