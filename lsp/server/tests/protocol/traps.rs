//! Known faults of servers on this framework, each tried: clients that never answer or never read,
//! unrequested answers, cancelled work, bursts of edits, endless answers.

use serde_json::{Value, json};

use crate::client::{Client, place, range};

const URI: &str = "file:///x.mlir";

fn functions(count: usize) -> String {
    (0..count)
        .map(|n| format!("func.func @f{n}(%a: i32) -> i32 {{\n  %b = arith.addi %a, %a : i32\n  return %b : i32\n}}\n"))
        .collect()
}

/// The server sends requests (to watch files, to show progress). This client never answers them and
/// sends hundreds of messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_answers() {
    let able = json!({
        "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}, "textDocumentContent": {}},
        "window": {"workDoneProgress": true},
    });
    let (mut client, _) = Client::initialized(
        able,
        json!({"checkOnSave": true, "checkCommand": ["no-such-program"]}),
    )
    .await;
    client.open(URI, "func.func @f() {\n  return\n}\n").await;
    for version in 2..200 {
        client.change(URI, version, json!([{"range": range((0, 0), (0, 0)), "text": " "}])).await;
        client.notify("textDocument/didSave", json!({"textDocument": {"uri": URI}})).await;
        let changed = json!({"changes": [{"uri": "file:///x.vmfb", "type": 2}]});
        client.notify("workspace/didChangeWatchedFiles", changed).await;
    }
    let mut asked = Vec::new();
    for _ in 0..200 {
        asked.push(client.send("textDocument/hover", place(URI, 0, 210)).await);
    }
    for id in asked {
        assert!(client.answer(id).await["result"].is_object());
    }
}

/// Answers to requests that were never made, or were abandoned, are ignored.
#[tokio::test]
async fn unrequested_answers_are_ignored() {
    let mut client = Client::plain().await;
    for id in [json!(0), json!(1), json!(99), json!("x"), Value::Null] {
        client.respond(&json!({"jsonrpc": "2.0", "id": id, "result": null})).await;
        client
            .respond(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}}))
            .await;
    }
    client.open(URI, "func.func @f() {\n  return\n}\n").await;
    assert!(client.hover(URI, 0, 12).await.is_object());
}

/// A long request does not delay short ones, and it can be cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_work_holds_up_nothing_and_can_be_cancelled() {
    let mut client = Client::plain().await;
    client.open(URI, &functions(20_000)).await;
    let whole = json!({"textDocument": {"uri": URI}, "range": range((0, 0), (80_000, 0))});
    let mut slow = Vec::new();
    for _ in 0..6 {
        slow.push(client.send("textDocument/semanticTokens/range", whole.clone()).await);
    }
    let hover = client.send("textDocument/hover", place(URI, 0, 12)).await;
    for id in &slow {
        client.notify("$/cancelRequest", json!({"id": id})).await;
    }
    assert!(client.answer(hover).await["result"].is_object());
    let mut given_up = 0;
    for id in slow {
        let answer = client.answer(id).await;
        given_up += usize::from(answer["error"]["code"] == -32800);
        assert!(answer["result"].is_object() || answer["error"]["code"] == -32800);
    }
    assert!(given_up > 0, "no request was cancelled while it ran");
}

/// A burst of edits gives one publication.
#[tokio::test]
async fn a_burst_of_edits_is_one_publication() {
    let mut client = Client::plain().await;
    client.open(URI, "func.func @f() {\n").await;
    for version in 2..=40 {
        client.change(URI, version, json!([{"range": range((1, 0), (1, 0)), "text": "\n"}])).await;
    }
    loop {
        while client.notifications.is_empty() {
            client.receive().await;
        }
        let params = client.notifications.remove(0)["params"].clone();
        // An early rest may be published too, but never each version.
        if params["version"] == 40 {
            break;
        }
    }
    assert!(client.notifications.is_empty());
}

/// An outline has a limit and says how many symbols it leaves out.
#[tokio::test]
async fn answers_have_a_limit() {
    let mut client = Client::plain().await;
    client.open(URI, &"func.func private @f()\n".repeat(25_000)).await;
    let document = json!({"textDocument": {"uri": URI}});
    let answer = client.ask("textDocument/documentSymbol", document.clone()).await;
    let symbols = answer["result"].as_array().expect("symbols");
    assert_eq!(symbols.len(), 20_001);
    assert!(
        symbols[20_000]["name"].as_str().is_some_and(|name| name.contains("5000 more")),
        "{}",
        symbols[20_000]
    );
    // All tokens of five megabytes are not even started.
    client.open("file:///y.mlir", &functions(60_000)).await;
    let answer = client
        .ask("textDocument/semanticTokens/full", json!({"textDocument": {"uri": "file:///y.mlir"}}))
        .await;
    assert!(answer["result"].is_null() && answer["error"].is_null());
}

/// A client that sends many requests before it reads anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_late() {
    let mut client = Client::plain().await;
    client.open(URI, "func.func @f() {\n  return\n}\n").await;
    let mut asked = Vec::new();
    for _ in 0..100 {
        asked.push(client.send("textDocument/hover", place(URI, 0, 12)).await);
    }
    for id in asked.into_iter().rev() {
        assert!(client.answer(id).await["result"].is_object());
    }
}

/// Bytes that are not UTF-8, not JSON, or not a message: the messages after them are answered.
#[tokio::test]
async fn malformed_messages_are_answered() {
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    client.open(URI, "func.func @f() {\n  return\n}\n").await;
    for body in [
        &b"\xff\xfe"[..],
        b"{\"jsonrpc\": \"2.0\", \"method\": \"\xc3\"}",
        b"{",
        b"[]",
        &[0x80; 2 << 20],
    ] {
        client.body(body).await;
        let id = client.send("textDocument/hover", place(URI, 0, 12)).await;
        assert!(client.answer(id).await["result"].is_object(), "{:?}", &body[..body.len().min(9)]);
    }
    // What is no JSON is a parse error, and what is no message an invalid request. The second has
    // damage only in a string.
    let said = client.notifications.iter().filter(|sent| sent.get("error").is_some());
    let codes: Vec<_> =
        said.map(|sent| (sent["id"].clone(), sent["error"]["code"].clone())).collect();
    let expected = [-32700, -32600, -32700, -32600, -32700];
    assert_eq!(codes, expected.map(|code| (Value::Null, json!(code))));
}
