//! The beginning and end of a session, and messages that the server does not understand.

use serde_json::{Value, json};

use crate::client::{Client, place};

#[tokio::test]
async fn exit_after_shutdown_is_zero_while_input_stays_open() {
    let mut client = Client::plain().await;
    client.open("file:///x.mlir", "func.func @f() {\n}\n").await;
    // Everything sent earlier is answered, even if the client does not wait for it.
    let hover = client.send("textDocument/hover", place("file:///x.mlir", 0, 12)).await;
    let shutdown = client.send("shutdown", Value::Null).await;
    client.notify("exit", Value::Null).await;
    assert!(client.answer(hover).await["result"].is_object());
    assert!(client.answer(shutdown).await["result"].is_null());
    assert_eq!(client.exit_code().await, 0);
}

#[tokio::test]
async fn exit_without_shutdown_is_one() {
    let mut client = Client::plain().await;
    client.notify("exit", Value::Null).await;
    assert_eq!(client.exit_code().await, 1);
    // Even before `initialize`.
    let mut client = Client::raw();
    client.notify("exit", Value::Null).await;
    assert_eq!(client.exit_code().await, 1);
}

#[tokio::test]
async fn a_client_that_dies_ends_the_server() {
    assert_eq!(Client::plain().await.hang_up().await, 1);
}

#[tokio::test]
async fn what_is_not_known_is_an_error_and_the_session_lives() {
    let mut client = Client::plain().await;
    for method in ["textDocument/unheardOf", "workspace/unheardOf", "$/unheardOfRequest"] {
        let answer = client.ask(method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    client.notify("textDocument/didUnheardOf", json!({})).await;
    client.notify("$/unheardOf", json!({})).await;
    // Malformed parameters.
    client.notify("textDocument/didOpen", json!({"textDocument": 5})).await;
    client.notify("textDocument/didChange", json!([])).await;
    assert_eq!(
        client.ask("textDocument/hover", json!({"position": "here"})).await["error"]["code"],
        -32602
    );
    // A document that was never opened.
    client.change("file:///none.mlir", 2, json!([{"text": "x"}])).await;
    assert!(client.hover("file:///none.mlir", 0, 0).await.is_null());
    client.open("file:///x.mlir", "func.func @f() {\n}\n").await;
    assert!(client.hover("file:///x.mlir", 0, 12).await.is_object());
}

#[tokio::test]
async fn requests_before_initialize_are_refused() {
    let mut client = Client::raw();
    assert_eq!(
        client.ask("textDocument/hover", place("file:///x.mlir", 0, 0)).await["error"]["code"],
        -32002
    );
}

#[tokio::test]
async fn a_cancelled_request_is_answered_as_such_or_done() {
    let mut client = Client::plain().await;
    client.open("file:///x.mlir", "func.func @f() {\n}\n").await;
    for _ in 0..50 {
        let id = client.send("textDocument/hover", place("file:///x.mlir", 0, 12)).await;
        client.notify("$/cancelRequest", json!({"id": id})).await;
        let answer = client.answer(id).await;
        assert!(answer["result"].is_object() || answer["error"]["code"] == -32800, "{answer}");
    }
}
