//! Tests that are run by their lens and after a save. iree-opt must be on the PATH.

use serde_json::{Value, json};

use crate::client::Client;

const RIGHT: &str = "\
// RUN: iree-opt --canonicalize --split-input-file %s \\
// RUN:   | FileCheck %s
// CHECK-LABEL: func.func @f
//       CHECK:   %[[C:.+]] = arith.constant 3
//  CHECK-NEXT:   return %[[C]]
func.func @f() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  return %c : i32
}
";

/// A file with a text, opened.
async fn opened(
    text: &str,
    capabilities: Value,
    options: Value,
) -> (Client, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("the folder").join("t.mlir");
    std::fs::write(&path, text).expect("a file");
    let uri = format!("file://{}", path.display());
    let (mut client, _) = Client::initialized(capabilities, options).await;
    client.open(&uri, text).await;
    let _ = client.published(&uri).await;
    (client, uri, folder)
}

async fn run(client: &mut Client, uri: &str) -> Value {
    let params = json!({"command": "iree-dbg.runTest", "arguments": [uri]});
    client.ask("workspace/executeCommand", params).await
}

async fn lenses(client: &mut Client, uri: &str) -> Vec<String> {
    let answer = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}})).await;
    let lenses = answer["result"].as_array().cloned().unwrap_or_default();
    let titles = lenses.iter().filter_map(|lens| lens["command"]["title"].as_str());
    titles
        .filter(|title| title.contains("test") || title.contains("output"))
        .map(str::to_owned)
        .collect()
}

/// The diagnostics after a run: of an earlier state there may be some, too.
async fn faults(client: &mut Client, uri: &str, count: usize) -> Value {
    loop {
        let found = client.published(uri).await;
        let checks = found.as_array().cloned().unwrap_or_default();
        let checks: Vec<_> = checks.into_iter().filter(|one| one["code"] != "compiler").collect();
        if checks.len() == count {
            return json!(checks);
        }
    }
}

#[tokio::test]
async fn a_test_that_passes() {
    let shows = json!({"window": {"showDocument": {"support": true}}});
    let (mut client, uri, _folder) = opened(RIGHT, shows, Value::Null).await;
    assert_eq!(lenses(&mut client, &uri).await, ["Run test"]);
    let answer = run(&mut client, &uri).await;
    assert_eq!(answer["result"], json!({"passed": true, "message": "the test passes"}), "{answer}");
    assert_eq!(lenses(&mut client, &uri).await, ["Run test ✓", "Show output"]);
    let params = json!({"command": "iree-dbg.showTestOutput", "arguments": [uri]});
    let shown = client.ask("workspace/executeCommand", params).await;
    let text = shown["result"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("%c3_i32 = arith.constant 3 : i32"), "{shown}");
    // An edit makes the run one of another text.
    let at = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    client.change(&uri, 2, json!([{"range": at, "text": "// More.\n"}])).await;
    assert_eq!(lenses(&mut client, &uri).await, ["Run test"]);
}

#[tokio::test]
async fn a_directive_that_matches_nothing_names_the_nearest_line() {
    let text = RIGHT.replace("arith.constant 3", "arith.constant 4");
    let (mut client, uri, folder) = opened(&text, json!({}), Value::Null).await;
    let answer = run(&mut client, &uri).await;
    assert_eq!(answer["result"]["passed"], false, "{answer}");
    let found = faults(&mut client, &uri, 1).await;
    let message = found[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("nearest is line 3: `%c3_i32 = arith.constant 3 : i32`"), "{found}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 3, "character": 9}));
    assert_eq!(found[0]["code"], "check");
    // Mended and saved, it is run again, because its lens was used.
    std::fs::write(folder.path().join("t.mlir"), RIGHT).expect("a file");
    client.change(&uri, 2, json!([{"text": RIGHT}])).await;
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}})).await;
    for _ in 0..100 {
        if lenses(&mut client, &uri).await == ["Run test ✓"] {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the test was not run after the save");
}

#[tokio::test]
async fn what_is_in_the_editor_is_run() {
    let (mut client, uri, _folder) = opened("", json!({}), Value::Null).await;
    client.change(&uri, 2, json!([{"text": RIGHT}])).await;
    let answer = run(&mut client, &uri).await;
    assert_eq!(answer["result"]["passed"], true, "{answer}");
}

#[tokio::test]
async fn programs_that_fail_and_lines_that_are_not_run() {
    for (line, said) in [
        ("iree-opt --no-such-option %s | FileCheck %s", "iree-opt failed"),
        ("iree-opt %s | FileCheck %s --check-prefix=OTHER", "no directive `OTHER:`"),
        ("iree-opt %s | FileCheck %s --no-such", "`--no-such` is not known"),
        ("iree-opt %s > /tmp/x", "`>` is not known here"),
        ("rm %t", "`rm` is not run"),
        ("not iree-opt %s", "`not` asks for a failure"),
        ("iree-opt --load-dialect-plugin=x %s", "may write or start anything"),
    ] {
        let text = format!("// RUN: {line}\nfunc.func @f() {{\n  return\n}}\n// CHECK: @f\n");
        let (mut client, uri, _folder) = opened(&text, json!({}), Value::Null).await;
        let answer = run(&mut client, &uri).await;
        let message = answer["result"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(said), "{line}: {answer}");
        assert_eq!(answer["result"]["passed"], false, "{line}");
    }
    let (mut client, uri, _folder) = opened(
        "// RUN: not iree-opt %s 2>&1 | FileCheck %s\n// CHECK: error: use of {{[a-z]+}} SSA\n\
                func.func @f() {\n  return %b : i32\n}\n",
        json!({}),
        Value::Null,
    )
    .await;
    let answer = run(&mut client, &uri).await;
    assert_eq!(answer["result"]["passed"], true, "{answer}");
}

#[tokio::test]
async fn without_trust_nothing_is_run() {
    let (mut client, uri, _folder) = opened(RIGHT, json!({}), json!({"trusted": false})).await;
    assert!(lenses(&mut client, &uri).await.is_empty());
    let answer = run(&mut client, &uri).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("not trusted"), "{answer}");
}

/// The code action whose title begins with these words, at a line.
async fn action(client: &mut Client, uri: &str, line: usize, title: &str) -> Option<Value> {
    let at = json!({"line": line, "character": 2});
    let params = json!({"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}});
    let answer = client.ask("textDocument/codeAction", params).await;
    let actions = answer["result"].as_array().cloned().unwrap_or_default();
    actions.into_iter().find(|one| one["title"].as_str().is_some_and(|t| t.starts_with(title)))
}

/// A text with the edits of an action; each is of whole lines or an insertion in one.
fn applied(text: &str, action: &Value, uri: &str) -> String {
    let mut edits = action["edit"]["changes"][uri].as_array().cloned().unwrap_or_default();
    let offset = |at: &Value| {
        let (line, column) = (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap());
        let lines = text.split_inclusive('\n').take(line as usize);
        lines.map(str::len).sum::<usize>() + column as usize
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(&edit["range"]["start"])));
    let mut text = text.to_owned();
    for edit in edits {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        text.replace_range(range, edit["newText"].as_str().unwrap());
    }
    text
}

#[tokio::test]
async fn check_lines_are_written_from_what_was_printed() {
    let text = RIGHT.replace("arith.constant 3", "arith.constant 4")
        + "func.func @new(%a: i32) -> i32 {\n  return %a : i32\n}\n";
    let (mut client, uri, _folder) = opened(&text, json!({}), Value::Null).await;
    assert!(action(&mut client, &uri, 3, "Replace the CHECK").await.is_none());
    assert_eq!(run(&mut client, &uri).await["result"]["passed"], false);
    let replace = action(&mut client, &uri, 3, "Replace the CHECK lines of @f").await;
    let new = applied(&text, &replace.expect("the action"), &uri);
    assert!(new.contains("CHECK-NEXT:   %[[C3_I32:[a-zA-Z0-9_]+]] = arith.constant 3"), "{new}");
    assert!(!new.contains("arith.constant 4"), "{new}");
    client.change(&uri, 2, json!([{"text": new}])).await;
    assert_eq!(run(&mut client, &uri).await["result"]["passed"], true, "{new}");
    let line = new.lines().position(|line| line.contains("@new(%a")).expect("the function");
    let write = action(&mut client, &uri, line, "Write CHECK lines for @new").await;
    let more = applied(&new, &write.expect("the action"), &uri);
    assert!(more.contains("//  CHECK-NEXT:   return %[[ARG0]] : i32\n"), "{more}");
    client.change(&uri, 3, json!([{"text": more}])).await;
    assert_eq!(run(&mut client, &uri).await["result"]["passed"], true, "{more}");
}

#[tokio::test]
async fn what_iree_opt_says_becomes_expected() {
    let text = "// RUN: iree-opt --split-input-file %s\nfunc.func @f(%a: i32) -> i64 {\n  \
                return %a : i32\n}\n";
    let (mut client, uri, _folder) = opened(text, json!({}), Value::Null).await;
    assert_eq!(run(&mut client, &uri).await["result"]["passed"], false);
    let expect = action(&mut client, &uri, 2, "Expect this message").await.expect("the action");
    let new = applied(text, &expect, &uri);
    assert!(new.contains("iree-opt --verify-diagnostics --split-input-file"), "{new}");
    assert!(new.contains("  // expected-error @+1 {{"), "{new}");
    client.change(&uri, 2, json!([{"text": new}])).await;
    let answer = run(&mut client, &uri).await;
    assert_eq!(answer["result"]["passed"], true, "{new}{answer}");
}
