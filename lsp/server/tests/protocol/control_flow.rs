//! The control-flow graph of a function.

use serde_json::{Value, json};

use crate::client::{Client, at, range};

const TEXT: &str = "func.func @f(%n: i32) -> i32 {
  cf.br ^head(%n : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^head(%n : i32), ^end
^end:
  return %i : i32
}
func.func @g() {
  return
}
";

async fn commands(client: &mut Client, needle: &str) -> Vec<Value> {
    let place = at(TEXT, needle);
    let params = json!({
        "textDocument": {"uri": "file:///none/a.mlir"}, "range": range(place, place),
        "context": {"diagnostics": []},
    });
    let answer = client.ask("textDocument/codeAction", params).await;
    let actions = answer["result"].as_array().cloned().unwrap_or_default().into_iter();
    let commands = actions.map(|it| it["command"].clone());
    commands.filter(|it| it["command"] == "iree-dbg.controlFlow").collect()
}

#[tokio::test]
async fn functions_of_several_blocks_are_drawn() {
    let options = json!({"commands": ["iree-dbg.controlFlow"]});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    client.open("file:///none/a.mlir", TEXT).await;
    assert!(commands(&mut client, "@‸g").await.is_empty());
    let [command] = &commands(&mut client, "@‸f").await[..] else { panic!("one action") };
    let answer = client.ask("workspace/executeCommand", command.clone()).await;
    let svg = answer["result"]["svg"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!((svg.matches("<rect ").count(), svg.matches("marker-end").count()), (3, 3));
    assert!(svg.contains("cf.cond_br %more, ^head(%n : i32), ^end"), "{svg}");
}

#[tokio::test]
async fn a_client_without_the_command_is_told_of_a_file() {
    let mut client = Client::plain().await;
    client.open("file:///none/a.mlir", TEXT).await;
    let [command] = &commands(&mut client, "@‸f").await[..] else { panic!("one action") };
    let answer = client.ask("workspace/executeCommand", command.clone()).await;
    let uri = answer["result"]["uri"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let path = uri.strip_prefix("file://").expect("a file");
    assert_eq!(std::fs::read_to_string(path).ok().as_deref(), answer["result"]["svg"].as_str());
    std::fs::remove_file(path).expect("it is there");
}
