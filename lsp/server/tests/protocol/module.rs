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

fn compiled(folder: &Path, source: &str) -> String {
    let (input, output) = (folder.join("two.mlir"), folder.join("two.vmfb"));
    std::fs::write(&input, source).expect("to write the source");
    let request = CompileRequest { input, output: output.clone(), ..CompileRequest::default() };
    compile(&request, &Cancellation::default(), &mut |_| {}).expect("it compiles");
    tower_lsp::lsp_types::Url::from_file_path(&output).expect("a path").to_string()
}

/// The weights of a module have the names of the source, and what is no weight is the rest.
#[tokio::test]
async fn weights_have_their_names() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let digits: String = (0..48 * 64_u32).map(|at| format!("{:08X}", at * 7919)).collect();
    let source = format!(
        "\
func.func @weighted(%x: tensor<4x48xf32>) -> tensor<4x64xf32> {{
  %c = arith.constant dense<\"0x{digits}\"> : tensor<48x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %m = linalg.matmul ins(%x, %c : tensor<4x48xf32>, tensor<48x64xf32>)
      outs(%f : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %m : tensor<4x64xf32>
}}
"
    );
    let uri = compiled(&folder.path().canonicalize().expect("a path"), &source);
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    let answer = client.ask("iree-dbg/module", json!({"uri": uri})).await["result"].clone();
    let sizes = answer["sizes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let constants = sizes.iter().filter(|it| it["kind"] == "constant" && it["type"].is_string());
    let told: Vec<_> = constants.map(|it| (&it["name"], &it["type"], &it["bytes"])).collect();
    assert_eq!(told, [(&json!("%c"), &json!("48x64xf32"), &json!(48 * 64 * 4))]);
    let total: u64 = sizes.iter().filter_map(|it| it["bytes"].as_u64()).sum();
    assert!(total <= answer["bytes"].as_u64().unwrap(), "{answer}");
    assert_eq!(client.hang_up().await, 1);
}

/// Two layers of two products each, as an exporter names their operations. Their weight is too
/// large for the compiler to write it into the dispatches.
fn layers() -> String {
    let names = ["0/attention", "0/output", "1/attention", "1/output"];
    let row = |row: i32| (0..16).map(|it| format!("{}.5", (it * 7 + row) % 5)).collect::<Vec<_>>();
    let rows = (0..16).map(|it| format!("[{}]", row(it).join(", "))).collect::<Vec<_>>();
    let mut text = format!(
        "func.func @layers(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {{\n  \
         %w = stablehlo.constant dense<[{}]> : tensor<16x16xf32>\n",
        rows.join(", ")
    );
    for (at, name) in names.iter().enumerate() {
        let from = at.checked_sub(1).map_or("%x".to_owned(), |it| format!("%m{it}"));
        text += &format!(
            "  %m{at} = stablehlo.dot_general {from}, %w, contracting_dims = [1] x [0] : \
             (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32> \
             loc(\"/model/layer.{name}/MatMul\")\n"
        );
    }
    text + "  return %m3 : tensor<4x16xf32>\n}\n"
}

#[tokio::test]
async fn names_of_operations_are_groups_of_the_graph() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().canonicalize().expect("a path");
    let uri = compiled(&path, &layers());
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    let shown = async |client: &mut Client, view: Value| -> Vec<(String, String)> {
        let mut params = json!({"uri": uri, "weights": false});
        params["open"] = view;
        let graph = client.ask("iree-dbg/dispatchGraph", params).await["result"].clone();
        let function = &graph["functions"][0];
        assert_eq!(function["groupedBy"], "names", "{graph}");
        let nodes = function["nodes"].as_array().unwrap().iter();
        let seen = nodes.filter(|it| it["isHidden"].is_null() && it["isOpen"].is_null());
        let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
        let seen = seen.map(|it| (text(it, "kind"), text(it, "title")));
        seen.filter(|(kind, _)| kind == "dispatch" || kind == "group").collect()
    };
    let group = |name: &str| ("group".to_owned(), name.to_owned());
    let layers = [group("layer.0"), group("layer.1")];
    assert_eq!(shown(&mut client, json!([])).await, layers);
    // By default, a small graph is open.
    for all in [Value::Null, json!("all")] {
        let boxes = shown(&mut client, all).await;
        assert!(boxes.len() == 4 && boxes.iter().all(|it| it.0 == "dispatch"), "{boxes:?}");
    }
    let one = shown(&mut client, json!(["g0.model/layer.1"])).await;
    assert_eq!(one.len(), 3, "{one:?}");
    assert_eq!(one[2], layers[0]);

    // The constant is a box, if that is asked for.
    for weights in [true, false] {
        let view = json!({"uri": uri, "open": "all", "weights": weights});
        let shown = client.ask("iree-dbg/dispatchGraph", view).await["result"].clone();
        let nodes = shown["functions"][0]["nodes"].as_array().unwrap().clone();
        let weight = nodes.iter().find(|it| it["kind"] == "weight");
        let weight = weight.unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(weight["isHidden"].is_null(), weights, "{weight}");
        let tensor = &weight["outputs"][0];
        assert_eq!((&tensor["type"], &tensor["bytes"]), (&json!("16x16xf32"), &json!(1024)));
        assert_eq!(tensor["origin"], "global @__constant_tensor_16x16xf32");
        assert_eq!(weight["title"], "@__constant_tensor_16x16xf32");
    }
    assert_eq!(client.hang_up().await, 1);
}

#[tokio::test]
async fn a_module_at_a_glance_and_as_a_graph() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().canonicalize().expect("a path");
    let uri = compiled(&path, SOURCE);
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

    // Groups are not made up.
    assert_eq!((&graph["version"], &function["groupedBy"]), (&json!(2), &Value::Null));
    let refused = client.ask("iree-dbg/dispatchGraph", json!({"uri": uri, "open": 3})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("open"), "{refused}");

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
