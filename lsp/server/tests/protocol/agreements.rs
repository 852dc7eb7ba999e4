//! What client and server agree on: settings, commands, results that stay, and the end
//! of the client.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;

const URI: &str = "file:///x.mlir";
const TEXT: &str = "func.func @f(%a: i32) {\n  cf.br ^none\n}\n";

/// The requests of the server so far, each answered by `answer`.
async fn answer_requests(client: &mut Client, answer: impl Fn(&Value) -> Value) -> Vec<Value> {
    let asked: Vec<Value> =
        client.notifications.iter().filter(|sent| sent.get("id").is_some()).cloned().collect();
    client.notifications.retain(|sent| sent.get("id").is_none());
    for request in &asked {
        let result = answer(request);
        client.respond(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }
    asked
}

async fn lenses(client: &mut Client) -> Vec<Value> {
    let answer = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}})).await;
    let lenses = answer["result"].as_array().cloned().unwrap_or_default();
    lenses.into_iter().map(|lens| lens["command"]["title"].clone()).collect()
}

#[tokio::test]
async fn lenses_are_those_that_the_client_runs() {
    for (commands, expected) in [
        (json!(null), json!(["Show ABI"])),
        (json!(["iree-dbg.runFunction"]), json!(["Run", "Show ABI"])),
        (
            json!(["iree-dbg.runFunction", "iree-dbg.debugFunction", "iree-dbg.showAbi"]),
            json!(["Run", "Debug", "Show ABI"]),
        ),
    ] {
        let (mut client, _) =
            Client::initialized(json!({}), json!({"commands": commands.clone()})).await;
        client.open(URI, TEXT).await;
        assert_eq!(json!(lenses(&mut client).await), expected, "{commands}");
        // The server runs the last one, and says the answer if the client has nothing to show it.
        let params = json!({"command": "iree-dbg.showAbi", "arguments": [URI, "f"]});
        let shown = client.ask("workspace/executeCommand", params).await;
        assert!(shown["result"]["markdown"].as_str().is_some_and(|text| text.contains("0i_v")));
        let _ = client.hover(URI, 0, 12).await;
        let said = client.notifications.iter().find(|sent| sent["method"] == "window/showMessage");
        let said = said.map(|said| said["params"]["message"].clone());
        let has_command = commands.as_array().is_some_and(|list| list.len() == 3);
        assert_eq!(said, (!has_command).then(|| json!("@f: 0i_v = (i32) -> ()")));
    }
}

#[tokio::test]
async fn settings_are_asked_for() {
    let capabilities = json!({"workspace": {"configuration": true, "didChangeConfiguration": {"dynamicRegistration": true}}});
    let (mut client, _) = Client::initialized(capabilities, json!({"trusted": false})).await;
    client.open(URI, TEXT).await;
    let no_lenses = |request: &Value| match request["method"].as_str() {
        Some("workspace/configuration") => {
            assert_eq!(request["params"]["items"][0]["section"], "iree-dbg");
            json!([{"codeLens": false, "trusted": true}])
        }
        _ => Value::Null,
    };
    while lenses(&mut client).await != Vec::<Value>::new() {
        answer_requests(&mut client, no_lenses).await;
    }
    // A change without the settings is a reason to ask again; an answer without any changes none.
    client.notify("workspace/didChangeConfiguration", json!({"settings": null})).await;
    loop {
        let _ = lenses(&mut client).await;
        let asked = answer_requests(&mut client, |_| json!([null])).await;
        if asked.iter().any(|asked| asked["method"] == "workspace/configuration") {
            break;
        }
    }
    assert_eq!(lenses(&mut client).await, Vec::<Value>::new());
}

#[tokio::test]
async fn diagnostics_that_stay_are_not_sent_again() {
    let (mut client, _) =
        Client::initialized(json!({"textDocument": {"diagnostic": {}}}), json!({})).await;
    client.open(URI, TEXT).await;
    let pull =
        |previous: Value| json!({"textDocument": {"uri": URI}, "previousResultId": previous});
    let first = client.ask("textDocument/diagnostic", pull(Value::Null)).await["result"].clone();
    assert_eq!(
        (&first["kind"], first["items"].as_array().map(Vec::len)),
        (&json!("full"), Some(1))
    );
    let again = client.ask("textDocument/diagnostic", pull(first["resultId"].clone())).await;
    assert_eq!(again["result"], json!({"kind": "unchanged", "resultId": first["resultId"]}));
    client.change(URI, 2, json!([{"text": "func.func @f() {\n  return\n}\n"}])).await;
    let other = client.ask("textDocument/diagnostic", pull(first["resultId"].clone())).await;
    assert_eq!((&other["result"]["kind"], &other["result"]["items"]), (&json!("full"), &json!([])));
}

/// The pipe stays open, as it does if another program holds a copy of it.
#[cfg(unix)]
#[tokio::test]
async fn the_server_ends_with_its_client() {
    let mut process = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
    let mut client = Client::raw();
    let params = json!({"processId": process.id(), "rootUri": null, "capabilities": {}});
    client.ask("initialize", params).await;
    client.open(URI, TEXT).await;
    assert!(client.hover(URI, 0, 12).await.is_object());
    process.kill().expect("to end it");
    process.wait().expect("its end");
    assert_eq!(client.exit_code().await, 1);
}

/// A text that is checked for long: the client is told how far the check is, and faults in its last
/// lines are found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_checked_to_their_end() {
    let capabilities = json!({"window": {"workDoneProgress": true}});
    let (mut client, _) = Client::initialized(capabilities, json!({})).await;
    let mut text = String::new();
    for index in 0..25 {
        let constant = "ab".repeat(1 << 19);
        text += &format!(
            "func.func @f{index}(%a: i32) {{\n  \"a.b\"() {{x = dense<\"0x{constant}\"> : tensor<524288xi8>}} : () -> ()\n  return\n}}\n"
        );
    }
    text += "func.func @last(%a: i32) -> i32 {\n  return %none : i32\n}\n";
    client.open(URI, &text).await;
    let mut reports = 0;
    let found = loop {
        let asked = answer_requests(&mut client, |_| Value::Null).await;
        assert!(asked.iter().all(|asked| asked["method"] == "window/workDoneProgress/create"));
        reports +=
            client.notifications.iter().filter(|sent| sent["method"] == "$/progress").count();
        let mut sent = client.notifications.drain(..);
        if let Some(told) = sent.find(|sent| sent["method"] == "textDocument/publishDiagnostics") {
            break told["params"]["diagnostics"].clone();
        }
        drop(sent);
        tokio::time::timeout(Duration::from_secs(60), client.receive()).await.expect("an answer");
    };
    assert!(reports >= 1, "no progress");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("%none")));
    // It has no tokens as a whole, and the server says why.
    let params = json!({"textDocument": {"uri": URI}});
    let tokens = client.ask("textDocument/semanticTokens/full", params).await;
    assert!(tokens["result"].is_null(), "{tokens}");
    // On a busy machine it says so after the answer.
    let limit = |sent: &&Value| sent["method"] == "window/logMessage";
    let said = loop {
        if let Some(said) = client.notifications.iter().find(limit) {
            break said.clone();
        }
        tokio::time::timeout(Duration::from_secs(60), client.receive()).await.expect("the limit");
    };
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.contains("4 MB")));
}
