//! Functions in the generic form and back, by iree-opt.

use serde_json::{Value, json};

use crate::client::{Client, at, range};

const TEXT: &str = "#map = affine_map<(d0) -> (d0)>
module @m {
  func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = [\"parallel\"]} \
                    ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4xf32>
    %s = call @two(%r) : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @two(tensor<4xf32>) -> tensor<4xf32>
}
";

/// The action on a function that rewrites it.
async fn action(client: &mut Client, uri: &str, text: &str, name: &str) -> Value {
    let place = at(text, name);
    let params = json!({
        "textDocument": {"uri": uri}, "range": range(place, place), "context": {"diagnostics": []},
    });
    let answer = client.ask("textDocument/codeAction", params).await;
    let actions = answer["result"].as_array().cloned().unwrap_or_default();
    let is_it = |it: &Value| it["command"]["command"] == "iree-dbg.rewriteForm";
    actions.into_iter().find(is_it).unwrap_or_default()
}

/// The text after the edit that the server asks for.
async fn applied(client: &mut Client, action: &Value, text: &str) -> String {
    let asked = json!({
        "command": "iree-dbg.rewriteForm", "arguments": action["command"]["arguments"],
    });
    let id = client.send("workspace/executeCommand", asked).await;
    let answer = client.answer(id).await;
    assert!(answer.get("error").is_none(), "{answer}");
    let is_it = |it: &Value| it["method"] == "workspace/applyEdit";
    while !client.notifications.iter().any(is_it) {
        client.receive().await;
    }
    let index = client.notifications.iter().position(is_it).expect("it is there");
    let request = client.notifications.remove(index);
    let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": true}});
    client.respond(&response).await;
    let edit = &request["params"]["edit"]["documentChanges"][0]["edits"][0];
    let offset = |place: &Value| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + place["character"].as_u64().expect("a character") as usize
    };
    let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
    format!("{}{}{}", &text[..start], edit["newText"].as_str().expect("a text"), &text[end..])
}

#[tokio::test]
async fn a_function_becomes_generic_and_comes_back() {
    let mut client = Client::plain().await;
    client.open("file:///none/a.mlir", TEXT).await;
    let found = action(&mut client, "file:///none/a.mlir", TEXT, "@‸one").await;
    assert!(found["title"].as_str().unwrap_or_default().contains("generic"), "{found}");
    let generic = applied(&mut client, &found, TEXT).await;
    assert!(generic.starts_with("#map = affine_map<(d0) -> (d0)>\nmodule @m {\n  \"func.func\""));
    assert!(generic.contains("\n    ^bb0(%arg0: tensor<4xf32>):\n") || generic.contains("  ^bb0("));
    assert!(generic.contains("\"linalg.generic\"(") && !generic.contains("#map]"), "{generic}");
    assert!(generic.ends_with("\n  func.func private @two(tensor<4xf32>) -> tensor<4xf32>\n}\n"));
    // The edited text is a document that iree-opt reads, and rewrites as it was.
    client.open("file:///none/b.mlir", &generic).await;
    let found = action(&mut client, "file:///none/b.mlir", &generic, "sym_‸name").await;
    assert!(found["title"].as_str().unwrap_or_default().contains("dialects"), "{found}");
    let again = applied(&mut client, &found, &generic).await;
    assert!(
        again.contains("  func.func @one(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"),
        "{again}"
    );
    assert!(again.contains("\n    return %1 : tensor<4xf32>\n  }\n"), "{again}");
    // What iree-opt refuses is said.
    let broken = TEXT.replace("return %s", "return %nothing");
    client.open("file:///none/c.mlir", &broken).await;
    let found = action(&mut client, "file:///none/c.mlir", &broken, "@‸one").await;
    let asked = json!({
        "command": "iree-dbg.rewriteForm", "arguments": found["command"]["arguments"],
    });
    let answer = client.ask("workspace/executeCommand", asked).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("undeclared SSA value"), "{answer}");
}
