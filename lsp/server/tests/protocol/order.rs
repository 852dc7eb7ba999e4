//! Requests see the versions that the client meant, however fast it sends.

use serde_json::json;

use crate::client::{Client, markdown, place, range};

const URI: &str = "file:///x.mlir";

/// Edits and hovers interleave without waiting: each hover must show the version just before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_stale_or_too_new() {
    let mut client = Client::plain().await;
    client.open(URI, "func.func @v0000() {\n}\n").await;
    let mut asked = Vec::new();
    for version in 1..=300 {
        let change = json!([{"range": range((0, 12), (0, 16)), "text": format!("{version:04}")}]);
        client.change(URI, version + 1, change).await;
        asked.push((version, client.send("textDocument/hover", place(URI, 0, 13)).await));
    }
    let (mut stale, mut new) = (0, 0);
    for (version, id) in asked {
        let answer = client.answer(id).await;
        let shown = markdown(&answer["result"]);
        let name = shown.split_once("@v").expect("a name").1;
        let seen: i64 = name[..4].parse().expect("a version");
        stale += usize::from(seen < version);
        new += usize::from(seen > version);
    }
    assert_eq!((stale, new), (0, 0));
}

/// A long text takes another way into the server. The messages right after it see it all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_there_for_what_follows() {
    let mut client = Client::plain().await;
    for round in 0..3 {
        let filler: String = (0..40_000)
            .map(|n| format!("func.func @f{n}() attributes {{doc = \"größe\\t😀\"}} {{\n}}\n"))
            .collect();
        let text =
            format!("func.func @v{round}() {{\n}}\n{filler}func.func @last{round}() {{\n}}\n");
        assert!(text.len() > 2 << 20);
        client.open(URI, &text).await;
        let open = client.send("textDocument/hover", place(URI, 0, 12)).await;
        let last = client.send("textDocument/hover", place(URI, 80_002, 12)).await;
        let column = "func.func @f0() attributes {doc = \"größe\\t😀".encode_utf16().count();
        let edit = json!([{"range": range((2, 0), (2, column)), "text": "func.func @new() attributes {doc = \""}]);
        client.change(URI, 2, edit).await;
        let edited = client.send("textDocument/hover", place(URI, 2, 12)).await;
        client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}})).await;
        let closed = client.send("textDocument/hover", place(URI, 0, 12)).await;
        for (id, name) in [
            (open, format!("@v{round}()")),
            (last, format!("@last{round}()")),
            (edited, "@new()".into()),
        ] {
            let answer = client.answer(id).await;
            assert!(markdown(&answer["result"]).contains(&name), "{name}: {answer}");
        }
        assert!(client.answer(closed).await["result"].is_null());
    }
}

/// A document is opened, closed and opened again while requests run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closed_documents_are_gone_for_later_requests_only() {
    let mut client = Client::plain().await;
    for round in 0..50 {
        client.open(URI, &format!("func.func @v{round}() {{\n}}\n")).await;
        let open = client.send("textDocument/hover", place(URI, 0, 12)).await;
        client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}})).await;
        let closed = client.send("textDocument/hover", place(URI, 0, 12)).await;
        assert!(markdown(&client.answer(open).await["result"]).contains(&format!("@v{round}()")));
        assert!(client.answer(closed).await["result"].is_null());
    }
}

/// A slow request does not hold up a quick one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_outlines_do_not_block_hovers() {
    let mut client = Client::plain().await;
    let text: String =
        (0..1000).map(|n| format!("func.func @f{n}(%a: i32) -> i32 {{\n}}\n")).collect();
    client.open(URI, &text).await;
    let document = json!({"textDocument": {"uri": URI}});
    let mut outlines = Vec::new();
    for _ in 0..8 {
        outlines.push(client.send("textDocument/documentSymbol", document.clone()).await);
    }
    let hover = client.send("textDocument/hover", place(URI, 0, 12)).await;
    assert!(client.answer(hover).await["result"].is_object());
    for id in outlines {
        assert_eq!(client.answer(id).await["result"].as_array().map(Vec::len), Some(1000));
    }
}
