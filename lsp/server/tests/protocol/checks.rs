//! Texts that are tests: variables and labels of their directives, `RUN:` lines, and what their
//! run finds.

use serde_json::{Value, json};

use crate::client::{Client, at, markdown, place, range};

const URI: &str = "file:///t.mlir";

const TEXT: &str = "\
// RUN: iree-opt --canonicalize %s | FileCheck %s --enable-var-scope
// CHECK-LABEL: func.func @first(
//  CHECK-SAME:     %[[A:.+]]: i32, %[[B:.+]]: i32
//       CHECK:   %[[S:.+]] = arith.addi %[[A]], %[[B]]
//       CHECK:   call @second(%[[S]])
func.func @first(%a: i32, %b: i32) -> i32 {
  %s = arith.addi %a, %b : i32
  %r = func.call @second(%s) : (i32) -> i32
  return %r : i32
}
// CHECK-LABEL: func.func @second
//  CHECK-SAME:     %[[A:.+]]: i32
//       CHECK:   return %[[A]]
func.func @second(%a: i32) -> i32 {
  return %a : i32
}
";

fn here(needle: &str) -> Value {
    let (line, character) = at(TEXT, needle);
    place(URI, line, character)
}

#[tokio::test]
async fn variables_of_directives_are_symbols() {
    let mut client = Client::plain().await;
    client.open(URI, TEXT).await;
    for (needle, expected) in [
        ("addi %[[‸A]]", range((2, 23), (2, 24))),
        ("return %[[A‸]]", range((11, 23), (11, 24))),
        ("second(%[[‸S]])", range((3, 21), (3, 22))),
    ] {
        let answer = client.ask("textDocument/definition", here(needle)).await;
        assert_eq!(answer["result"]["range"], expected, "{needle}");
    }
    let mut params = here("addi %[[‸A]]");
    params["context"] = json!({"includeDeclaration": true});
    let answer = client.ask("textDocument/references", params.clone()).await;
    assert_eq!(answer["result"].as_array().map(Vec::len), Some(2), "{answer}");
    let answer = client.ask("textDocument/documentHighlight", here("%[[‸S]])")).await;
    assert_eq!(answer["result"].as_array().map(Vec::len), Some(2), "{answer}");
    let (line, character) = at(TEXT, "addi %[[‸A]]");
    let hover = client.hover(URI, line, character).await;
    assert!(markdown(&hover).contains("CHECK-SAME:     %[[A:.+]]: i32"), "{hover}");
    let answer = client.ask("textDocument/prepareRename", here("addi %[[‸A]]")).await;
    assert_eq!(answer["result"]["placeholder"], "A");
    params["newName"] = json!("LEFT");
    let answer = client.ask("textDocument/rename", params.clone()).await;
    let edits = answer["result"]["changes"][URI].as_array().cloned().unwrap_or_default();
    assert_eq!(edits.len(), 2, "{answer}");
    assert!(edits.iter().all(|edit| edit["newText"] == "LEFT"));
    for (name, why) in [("B", "already"), ("a b", "no name"), ("", "no name")] {
        params["newName"] = json!(name);
        let answer = client.ask("textDocument/rename", params.clone()).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(why), "{name}: {answer}");
    }
}

#[tokio::test]
async fn labels_lead_to_their_functions_and_back() {
    let mut client = Client::plain().await;
    client.open(URI, TEXT).await;
    for (needle, expected) in [
        ("func.func @‸first(\n", range((5, 10), (5, 16))),
        ("//       CHECK:   call @‸second", range((13, 10), (13, 17))),
        // A definition leads to its label.
        ("func.func @‸second(%a", range((10, 26), (10, 33))),
        ("func.call @‸second", range((13, 10), (13, 17))),
    ] {
        let answer = client.ask("textDocument/definition", here(needle)).await;
        assert_eq!(answer["result"]["range"], expected, "{needle} {answer}");
    }
    let (line, character) = at(TEXT, "func.func @‸first(\n");
    let hover = client.hover(URI, line, character).await;
    assert!(markdown(&hover).contains("func.func @first(%a: i32, %b: i32) -> i32"), "{hover}");
    // The test stays right when its function gets another name.
    let mut params = here("func.func @‸second(%a");
    params["newName"] = json!("other");
    let answer = client.ask("textDocument/rename", params).await;
    let edits = answer["result"]["changes"][URI].as_array().cloned().unwrap_or_default();
    let lines: Vec<_> = edits.iter().map(|edit| edit["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [4, 7, 10, 13], "{answer}");
}
