//! Texts and columns through the protocol.

use serde_json::{Value, json};

use crate::client::{Client, at, markdown, place, range};

const URI: &str = "file:///x.mlir";

/// Characters beyond ASCII and the BMP before the token that is asked about, in every encoding.
#[tokio::test]
async fn columns_after_text_outside_ascii() {
    let line = "func.func @\"größe_😀\"() attributes {doc = \"é😀ü日\"} { call @\"größe_😀\"() call @g() }";
    let text = format!("{line}\nfunc.func @g() {{\n}}\n");
    let at = line.find("@g").unwrap();
    let before = &line[..at];
    for (offered, agreed, column) in [
        (json!(null), "utf-16", before.encode_utf16().count()),
        (json!(["utf-16"]), "utf-16", before.encode_utf16().count()),
        (json!(["utf-32"]), "utf-32", before.chars().count()),
        (json!(["utf-16", "utf-8"]), "utf-8", before.len()),
    ] {
        let capabilities = json!({"general": {"positionEncodings": offered}});
        let (mut client, can) = Client::initialized(capabilities, Value::Null).await;
        assert_eq!(can["positionEncoding"], agreed);
        client.open(URI, &text).await;
        for inside in 0..=2 {
            let hover = client.hover(URI, 0, column + inside).await;
            assert!(markdown(&hover).contains("func.func @g()"), "{agreed} +{inside}: {hover}");
            assert_eq!(hover["range"], range((0, column), (0, column + 2)), "{agreed}");
        }
        // One column to the left is another token.
        let beside = client.hover(URI, 0, column - 1).await;
        assert!(!markdown(&beside).contains("func.func @g()"), "{beside}");
        let target = client.ask("textDocument/definition", place(URI, 0, column + 1)).await;
        assert_eq!(target["result"]["range"], range((1, 10), (1, 12)));
        // An edit at that column goes there too.
        client
            .change(
                URI,
                2,
                json!([{"range": range((0, column + 1), (0, column + 2)), "text": "\"größe_😀\""}]),
            )
            .await;
        assert!(markdown(&client.hover(URI, 0, column + 3).await).contains("größe_😀"));
    }
}

/// Paths may have any characters, as clients write them: escaped, or as they are.
#[tokio::test]
async fn documents_whose_path_is_outside_ascii() {
    let mut client = Client::plain().await;
    let text = "func.func @f() {\n  call @f()\n}\n";
    for uri in ["file:///gr%C3%B6%C3%9Fe/%E6%97%A5.mlir", "file:///größe/日本.mlir"] {
        client.open(uri, text).await;
        let (line, column) = at(text, "call @‸f()");
        assert!(markdown(&client.hover(uri, line, column).await).contains("func.func @f()"));
    }
}

#[tokio::test]
async fn edits_outside_the_text_are_clamped() {
    let mut client = Client::plain().await;
    client.open(URI, "func.func @f() {\n}\n").await;
    client
        .change(
            URI,
            2,
            json!([{"range": range((900, 9), (901, 0)), "text": "func.func @g() {\n}\n"}]),
        )
        .await;
    client.change(URI, 3, json!([{"range": range((2, 900), (2, 901)), "text": " // end"}])).await;
    client.change(URI, 4, json!([{"range": range((3, 1), (0, 0)), "text": "!"}])).await;
    assert!(markdown(&client.hover(URI, 2, 12).await).contains("@g()"));
    client.change(URI, 5, json!([{"text": "func.func @whole() {\n}\n"}])).await;
    assert!(markdown(&client.hover(URI, 0, 12).await).contains("@whole()"));
    client.change(URI, 6, json!([{"text": ""}])).await;
    assert!(client.hover(URI, 0, 0).await.is_null());
}

#[tokio::test]
async fn outlines_as_trees_or_lists() {
    let text = "module @m {\n  func.func @f(%a: i32) {\n  }\n}\n";
    let document = json!({"textDocument": {"uri": URI}});
    let tree =
        json!({"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}});
    let (mut client, _) = Client::initialized(tree, Value::Null).await;
    client.open(URI, text).await;
    let answer = client.ask("textDocument/documentSymbol", document.clone()).await;
    let module = &answer["result"][0];
    assert_eq!((&module["name"], &module["range"]), (&json!("m"), &range((0, 0), (3, 1))));
    assert_eq!(module["children"][0]["detail"], "func.func (i32) -> ()");
    assert_eq!(module["children"][0]["selectionRange"], range((1, 13), (1, 14)));
    let mut client = Client::plain().await;
    client.open(URI, text).await;
    let answer = client.ask("textDocument/documentSymbol", document).await;
    assert_eq!(answer["result"][1]["containerName"], "m");
}

#[tokio::test]
async fn definitions_as_links_where_shown() {
    let links = json!({"textDocument": {"definition": {"linkSupport": true}}});
    let (mut client, _) = Client::initialized(links, Value::Null).await;
    client.open(URI, "func.func @f() {\n}\nfunc.func @g() {\n  call @f() : () -> ()\n}\n").await;
    let answer = client.ask("textDocument/definition", place(URI, 3, 8)).await;
    assert_eq!(answer["result"][0]["originSelectionRange"], range((3, 7), (3, 9)));
    assert_eq!(answer["result"][0]["targetRange"], range((0, 0), (1, 1)));
}

#[tokio::test]
async fn vm_assembly_is_understood() {
    let mut client = Client::plain().await;
    let uri = "file:///x.vmasm";
    client.open(uri, "vm.module @m version 0\nvm.export @f\nvm.func @f(%i0: i32) -> (i64) {\n  vm.call @m:0(%i0)\n}\n").await;
    for (line, character) in [(1, 11), (2, 9), (3, 11), (3, 13)] {
        assert!(
            markdown(&client.hover(uri, line, character).await).contains("`0i_I`"),
            "{line}:{character}"
        );
    }
}

/// Diagnostics follow after the text rests, for the last version.
#[tokio::test]
async fn diagnostics_follow_the_text() {
    let mut client = Client::plain().await;
    client.open(URI, "func.func @f() {\n").await;
    client
        .change(URI, 2, json!([{"range": range((1, 0), (1, 0)), "text": "func.func @g() {\n}\n"}]))
        .await;
    while client.notifications.is_empty() {
        client.receive().await;
    }
    let params = client.notifications.remove(0)["params"].clone();
    assert_eq!(params["version"], 2);
    assert_eq!(params["diagnostics"][0]["range"], range((0, 0), (0, 9)));
    client.change(URI, 3, json!([{"text": "func.func @f() {\n  return\n}\n"}])).await;
    while client.notifications.is_empty() {
        client.receive().await;
    }
    assert_eq!(client.notifications[0]["params"]["diagnostics"], json!([]));
}

/// The client's settings say where modules lie, and a module that changes is read again.
#[tokio::test]
async fn configured_modules_are_consulted() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("x.vmfb"), b"no module").expect("to write");
    let (mut client, _) =
        Client::initialized(json!({}), json!({"modulePaths": [folder.path()]})).await;
    let source = folder.path().join("elsewhere/x.mlir");
    let uri = format!("file://{}", source.display());
    client.open(&uri, "func.func @f() {\n}\n").await;
    assert!(markdown(&client.hover(&uri, 0, 12).await).contains("cannot be read"));
    std::fs::remove_file(folder.path().join("x.vmfb")).expect("to remove");
    assert!(!markdown(&client.hover(&uri, 0, 12).await).contains("cannot be read"));
}
