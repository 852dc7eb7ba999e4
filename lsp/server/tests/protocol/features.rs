//! Every feature through the protocol, each on a text that shows its use.

use serde_json::{Value, json};

use crate::client::{Client, at, markdown, place, range};

const URI: &str = "file:///f.mlir";

const TEXT: &str = "\
#map = affine_map<(d0) -> (d0)>
// Adds.
// Twice.
func.func @add(%a: i32, %b: i32) -> i32 {
  %sum = arith.addi %a, %b : i32
  cf.br ^end(%sum : i32)
^end(%result: i32):
  return %result : i32
}
func.func @main(%x: i32) -> i32 {
  %y = func.call @add(%x, %x) : (i32, i32) -> i32
  %c = scf.if %y -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %y : i32
}
";

async fn opened(text: &str) -> Client {
    let snippets =
        json!({"textDocument": {"completion": {"completionItem": {"snippetSupport": true}}}});
    let (mut client, _) = Client::initialized(snippets, Value::Null).await;
    client.open(URI, text).await;
    client
}

fn document() -> Value {
    json!({"textDocument": {"uri": URI}})
}

fn here(needle: &str) -> Value {
    let (line, character) = at(TEXT, needle);
    place(URI, line, character)
}

#[tokio::test]
async fn hover_tells_types_and_definitions() {
    let mut client = opened(TEXT).await;
    for (needle, expected) in [
        ("addi %‸a", "%a: i32"),
        ("addi %‸a", "func.func @add(%a: i32, %b: i32) -> i32"),
        ("arith.‸addi", "`i32`"),
        ("^e‸nd(%sum", "^end(%result: i32)"),
        ("#‸map", "affine_map<(d0) -> (d0)>"),
        ("call @‸add", "`0ii_i`"),
        ("call @‸add", "| ABI |"),
        ("call @‸add", "memref, C interface"),
        ("return %‸result", "Argument of the block"),
    ] {
        let (line, character) = at(TEXT, needle);
        let hover = client.hover(URI, line, character).await;
        assert!(markdown(&hover).contains(expected), "{needle}: {}", markdown(&hover));
    }
}

#[tokio::test]
async fn definitions_references_and_highlights() {
    let mut client = opened(TEXT).await;
    for (needle, expected) in [
        ("addi %‸a", range((3, 15), (3, 17))),
        ("br ^‸end", range((6, 0), (6, 4))),
        ("call @‸add", range((3, 10), (3, 14))),
        ("yield %‸y", range((10, 2), (10, 4))),
    ] {
        let answer = client.ask("textDocument/definition", here(needle)).await;
        assert_eq!(answer["result"]["range"], expected, "{needle}");
    }
    for (needle, with, without) in [("@‸add(%a", 2, 1), ("%‸y = ", 4, 3), ("^‸end(%result", 2, 1)]
    {
        for (declaration, count) in [(true, with), (false, without)] {
            let mut params = here(needle);
            params["context"] = json!({"includeDeclaration": declaration});
            let answer = client.ask("textDocument/references", params).await;
            assert_eq!(answer["result"].as_array().map(Vec::len), Some(count), "{needle} {answer}");
        }
    }
    let answer = client.ask("textDocument/documentHighlight", here("%‸x, %x")).await;
    let kinds: Vec<_> = answer["result"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|found| found["kind"].as_i64())
        .collect();
    assert_eq!(kinds, [Some(3), Some(2), Some(2), Some(2)]);
}

#[tokio::test]
async fn renames_with_conflicts_refused() {
    let mut client = opened(TEXT).await;
    let answer = client.ask("textDocument/prepareRename", here("%‸y = ")).await;
    assert_eq!(answer["result"]["placeholder"], "y");
    let mut params = here("%‸y = ");
    params["newName"] = json!("total");
    let answer = client.ask("textDocument/rename", params.clone()).await;
    let edits = answer["result"]["changes"][URI].as_array().expect("edits").clone();
    assert_eq!(edits.len(), 4);
    assert!(edits.iter().all(|edit| edit["newText"] == "%total"));
    for (needle, name, why) in [
        ("%‸y = ", "x", "already"),
        ("%‸y = ", "a b", "no name"),
        ("@‸add(%a", "main", "already"),
        ("^‸end(%result", "", "no name"),
    ] {
        let mut params = here(needle);
        params["newName"] = json!(name);
        let answer = client.ask("textDocument/rename", params).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(why), "{needle} to {name}: {answer}");
    }
    let mut params = here("@‸add(%a");
    params["newName"] = json!("größe 😀");
    let answer = client.ask("textDocument/rename", params).await;
    assert_eq!(answer["result"]["changes"][URI][0]["newText"], "@\"größe 😀\"");
    let mut params = here("#‸map");
    params["newName"] = json!("other");
    let answer = client.ask("textDocument/rename", params).await;
    assert_eq!(answer["result"]["changes"][URI].as_array().map(Vec::len), Some(1));
    let answer = client.ask("textDocument/prepareRename", here("arith.‸addi")).await;
    assert!(answer["error"].is_object(), "{answer}");
}

#[tokio::test]
async fn folds_selections_and_lenses() {
    let commands = json!(["iree-dbg.runFunction", "iree-dbg.debugFunction"]);
    let options = json!({"commands": commands});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    client.open(URI, TEXT).await;
    let answer = client.ask("textDocument/foldingRange", document()).await;
    let lines: Vec<_> = answer["result"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|fold| (fold["startLine"].as_i64(), fold["endLine"].as_i64()))
        .collect();
    for expected in [(Some(1), Some(2)), (Some(3), Some(8)), (Some(11), Some(13))] {
        assert!(lines.contains(&expected), "{expected:?} in {lines:?}");
    }
    let (line, character) = at(TEXT, "yield %‸y");
    let params = json!({"textDocument": {"uri": URI}, "positions": [{"line": line, "character": character}]});
    let answer = client.ask("textDocument/selectionRange", params).await;
    let mut chain = &answer["result"][0];
    let mut count = 0;
    while chain.is_object() {
        count += 1;
        let parent = &chain["parent"];
        assert!(parent.is_null() || parent["range"] != chain["range"]);
        chain = parent;
    }
    assert!(count >= 6, "{answer}");
    let answer = client.ask("textDocument/codeLens", document()).await;
    let titles: Vec<_> = answer["result"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|lens| lens["command"]["title"].clone())
        .collect();
    assert_eq!(titles, ["Run", "Debug", "Show ABI", "Run", "Debug", "Show ABI"]);
    let arguments = answer["result"][2]["command"]["arguments"].clone();
    let shown = client
        .ask(
            "workspace/executeCommand",
            json!({"command": "iree-dbg.showAbi", "arguments": arguments}),
        )
        .await;
    assert!(
        shown["result"]["markdown"].as_str().is_some_and(|text| text.contains("`0ii_i`")),
        "{shown}"
    );
}

/// The tokens as (line, column, length, type).
fn decoded(data: &Value) -> Vec<(u64, u64, u64, u64)> {
    let numbers: Vec<u64> =
        data.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let (mut line, mut column) = (0, 0);
    numbers
        .chunks_exact(5)
        .map(|token| {
            line += token[0];
            column = if token[0] == 0 { column + token[1] } else { token[1] };
            (line, column, token[2], token[3])
        })
        .collect()
}

#[tokio::test]
async fn semantic_tokens_whole_range_and_delta() {
    let mut client = opened(TEXT).await;
    let full = client.ask("textDocument/semanticTokens/full", document()).await["result"].clone();
    let tokens = decoded(&full["data"]);
    // The operation, the symbol with its declaration, and an argument.
    assert!(tokens.contains(&(3, 0, 9, 0)) && tokens.contains(&(3, 10, 4, 1)), "{tokens:?}");
    assert!(tokens.contains(&(3, 15, 2, 3)) && tokens.contains(&(4, 2, 4, 2)), "{tokens:?}");
    let params = json!({"textDocument": {"uri": URI}, "range": range((4, 0), (5, 0))});
    let part = client.ask("textDocument/semanticTokens/range", params).await;
    let part = decoded(&part["result"]["data"]);
    assert!(!part.is_empty() && part.iter().all(|token| token.0 == 4), "{part:?}");
    client.change(URI, 2, json!([{"range": range((4, 3), (4, 6)), "text": "total"}])).await;
    let mut params = document();
    params["previousResultId"] = full["resultId"].clone();
    let delta =
        client.ask("textDocument/semanticTokens/full/delta", params).await["result"].clone();
    let edits = delta["edits"].as_array().expect("edits").clone();
    let mut data: Vec<Value> = full["data"].as_array().expect("tokens").clone();
    for edit in edits.iter().rev() {
        let start = edit["start"].as_u64().expect("a start") as usize;
        let end = start + edit["deleteCount"].as_u64().expect("a count") as usize;
        data.splice(start..end, edit["data"].as_array().cloned().unwrap_or_default());
    }
    let fresh = client.ask("textDocument/semanticTokens/full", document()).await;
    assert_eq!(json!(data), fresh["result"]["data"]);
    assert!(edits.iter().all(|edit| edit["data"].as_array().map_or(0, Vec::len) < data.len()));
}

#[tokio::test]
async fn inlay_hints() {
    let text = "func.func @f(%t: tensor<2xf32>) -> tensor<2xf32> {\n  %k = arith.constant dense<\"0x0000803F00000040\"> : tensor<2xf32>\n  %e = arith.constant 553648160 : i32\n  %same = arith.cmpi eq, %e, %e : i32\n  %r = arith.addf %t, %k : tensor<2xf32>\n  return %r : tensor<2xf32>\n}\n";
    let mut client = opened(text).await;
    let params = json!({"textDocument": {"uri": URI}, "range": range((0, 0), (7, 0))});
    let answer = client.ask("textDocument/inlayHint", params.clone()).await;
    let labels: Vec<_> = answer["result"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|hint| hint["label"].as_str())
        .collect();
    for expected in [" 0r_r", ": i1", " = [1, 2]", " element type f32"] {
        assert!(labels.contains(&expected), "{expected} in {labels:?}");
    }
    // The line ends with it.
    assert!(!labels.contains(&": tensor<2xf32>"), "{labels:?}");
    client
        .notify(
            "workspace/didChangeConfiguration",
            json!({"settings": {"iree-dbg": {"inlayHints": false}}}),
        )
        .await;
    // The notification has no answer, but it precedes a later request's answer.
    for _ in 0..100 {
        let answer = client.ask("textDocument/inlayHint", params.clone()).await;
        if answer["result"] == json!([]) {
            return;
        }
    }
    panic!("the setting has no effect");
}

async fn completed(text: &str, uri: &str) -> Vec<Value> {
    let offset = text.find('‸').expect("a cursor");
    let plain = text.replace('‸', "");
    let mut client = opened("").await;
    client.open(uri, &plain).await;
    let before = &plain[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    let answer = client.ask("textDocument/completion", place(uri, line, column)).await;
    answer["result"]["items"].as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn completions_where_they_apply() {
    let labels = |items: &[Value]| -> Vec<String> {
        items.iter().filter_map(|item| item["label"].as_str().map(str::to_owned)).collect()
    };
    let head = "func.func @g(%first: i32) -> i32 {\n  %second = arith.addi %first, %first : i32\n";
    let found = completed(&format!("{head}  return %‸\n}}\n"), "file:///c.mlir").await;
    assert_eq!(labels(&found), ["%second", "%first"]);
    assert_eq!(found[0]["detail"], "i32");
    let found = completed(&format!("{head}  call @‸\n}}\n"), "file:///c.mlir").await;
    assert_eq!(labels(&found), ["@g"]);
    let found =
        completed(&format!("{head}  cf.br ^‸\n^there:\n  return\n}}\n"), "file:///c.mlir").await;
    assert_eq!(labels(&found), ["^there"]);
    let found = completed(
        "#map = affine_map<()[] -> ()>\nmodule attributes {x = #‸} {\n}\n",
        "file:///c.mlir",
    )
    .await;
    assert_eq!(labels(&found), ["#map"]);
    let found = completed("func.func @g() attributes {‸} {\n  return\n}\n", "file:///c.mlir").await;
    assert!(labels(&found).contains(&"iree.reflection".to_owned()), "{found:?}");
    let text = "vm.module @m version 0\nvm.func @f(%i0: i32) -> (i32) {\n  %i1 = vm.add‸\n}\n";
    let found = completed(text, "file:///c.vmasm").await;
    let add = found.iter().find(|item| item["label"] == "vm.add.i32").expect("the addition");
    assert!(
        add["documentation"]["value"].as_str().is_some_and(|text| text.contains("Opcode")),
        "{add}"
    );
    assert!(completed("// a comment with %‸\n", "file:///c.mlir").await.is_empty());
}

#[tokio::test]
async fn signature_help_counts_arguments() {
    let mut client = opened(TEXT).await;
    let help =
        client.ask("textDocument/signatureHelp", here("@add(%x, ‸%x")).await["result"].clone();
    assert_eq!(help["activeParameter"], 1, "{help}");
    let label = help["signatures"][0]["label"].as_str().expect("a label");
    assert_eq!(label, "@add(%a: i32, %b: i32) -> (i32)");
    let offsets = &help["signatures"][0]["parameters"][1]["label"];
    let (start, end) =
        (offsets[0].as_u64().unwrap_or(0) as usize, offsets[1].as_u64().unwrap_or(0) as usize);
    assert_eq!(&label[start..end], "%b: i32");
    assert!(client.ask("textDocument/signatureHelp", place(URI, 0, 0)).await["result"].is_null());
}

#[tokio::test]
async fn call_hierarchy_both_ways() {
    let mut client = opened(TEXT).await;
    let items = client.ask("textDocument/prepareCallHierarchy", here("call @‸add")).await;
    let add = items["result"][0].clone();
    assert_eq!(add["name"], "add");
    let calls = client.ask("callHierarchy/incomingCalls", json!({"item": add})).await;
    assert_eq!(calls["result"][0]["from"]["name"], "main");
    assert_eq!(calls["result"][0]["fromRanges"][0], range((10, 17), (10, 21)));
    let main =
        client.ask("textDocument/prepareCallHierarchy", here("@‸main")).await["result"][0].clone();
    let calls = client.ask("callHierarchy/outgoingCalls", json!({"item": main})).await;
    assert_eq!(calls["result"][0]["to"]["name"], "add");
}

/// Applies text edits, from the last to the first.
fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().unwrap_or(0) as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + position["character"].as_u64().unwrap_or(0) as usize
    };
    let mut edits: Vec<_> = edits.as_array().cloned().unwrap_or_default();
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(&edit["range"]["start"])));
    let mut out = text.to_owned();
    for edit in edits {
        let range = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
        out.replace_range(range, edit["newText"].as_str().unwrap_or_default());
    }
    out
}

#[tokio::test]
async fn code_actions_add_what_is_missing() {
    let mut client = opened(TEXT).await;
    let (line, character) = at(TEXT, "@‸add(%a");
    let position = json!({"line": line, "character": character});
    let params = json!({"textDocument": {"uri": URI}, "range": {"start": position, "end": position}, "context": {"diagnostics": []}});
    let answer = client.ask("textDocument/codeAction", params).await;
    let actions = answer["result"].as_array().expect("actions").iter();
    // Others run a command when they are taken.
    let actions: Vec<_> = actions.filter(|it| it.get("edit").is_some()).cloned().collect();
    assert_eq!(actions.len(), 2, "{answer}");
    let named = applied(TEXT, &actions[0]["edit"]["changes"][URI]);
    assert!(named.contains("attributes {iree.reflection = {iree.abi.declaration = \"sync func @add(%a: i32, %b: i32) -> (%output0: i32)\"}}"), "{named}");
    let described = applied(TEXT, &actions[1]["edit"]["changes"][URI]);
    assert!(
        described.contains(r#"{\"a\":[\"i32\",\"i32\"],\"r\":[\"i32\"],\"v\":1}"#),
        "{described}"
    );
    // An import's convention string without its version.
    let uri = "file:///i.vmasm";
    let text = "vm.module @m version 0\nvm.import @a.b cconv \"ii_i\"\n";
    client.open(uri, text).await;
    let params = json!({"textDocument": {"uri": uri}, "range": range((1, 12), (1, 12)), "context": {"diagnostics": []}});
    let answer = client.ask("textDocument/codeAction", params).await;
    let fixed = applied(text, &answer["result"][0]["edit"]["changes"][uri]);
    assert!(fixed.contains("cconv \"0ii_i\""), "{answer}");
}

#[tokio::test]
async fn assembly_is_formatted() {
    let mut client = opened("").await;
    let uri = "file:///f.vmasm";
    let text = "vm.module @m version 0\n\n\n\nvm.func @f(%i0: i32)   -> (i32) {\n   ^bb0:\n %i1 = vm.add.i32   %i0 ,%i0 // twice\n      vm.return %i1\n  }";
    client.open(uri, text).await;
    let params =
        json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let answer = client.ask("textDocument/formatting", params.clone()).await;
    let formatted = applied(text, &answer["result"]);
    assert_eq!(
        formatted,
        "vm.module @m version 0\n\nvm.func @f(%i0: i32) -> (i32) {\n^bb0:\n  %i1 = vm.add.i32 %i0, %i0  // twice\n  vm.return %i1\n}\n"
    );
    client.change(uri, 2, json!([{"text": formatted}])).await;
    assert_eq!(client.ask("textDocument/formatting", params).await["result"], json!([]));
}

#[tokio::test]
async fn mlir_is_formatted() {
    let mut client = opened("").await;
    let uri = "file:///f.mlir";
    let text = "func.func @add(%a:  i32) -> i32{\n    return %a:i32\n  }";
    client.open(uri, text).await;
    let options = json!({"tabSize": 8, "insertSpaces": false});
    let document = json!({"uri": uri});
    let params = json!({"textDocument": document, "options": options});
    let answer = client.ask("textDocument/formatting", params).await;
    let wanted = "func.func @add(%a: i32) -> i32 {\n  return %a : i32\n}\n";
    assert_eq!(applied(text, &answer["result"]), wanted);
    let mut params = json!({"textDocument": document, "options": options});
    params["range"] = range((1, 3), (1, 9));
    let answer = client.ask("textDocument/rangeFormatting", params).await;
    let second = "func.func @add(%a:  i32) -> i32{\n  return %a : i32\n  }";
    assert_eq!(applied(text, &answer["result"]), second);
    let position = json!({"line": 2, "character": 3});
    let params =
        json!({"textDocument": document, "position": position, "ch": "}", "options": options});
    let answer = client.ask("textDocument/onTypeFormatting", params).await;
    let typed = "func.func @add(%a:  i32) -> i32{\n    return %a:i32\n}";
    assert_eq!(applied(text, &answer["result"]), typed);
}

#[tokio::test]
async fn diagnostics_name_undefined_and_duplicate_things() {
    for (text, code) in [
        ("func.func @f() {\n  %0 = arith.addi %x, %x : i32\n  return\n}\n", "undefined-value"),
        (
            "func.func @f(%a: i32) {\n  %a = arith.constant 1 : i32\n  return\n}\n",
            "duplicate-value",
        ),
        ("func.func @f() {\n  cf.br ^no\n}\n", "undefined-block"),
        ("func.func @f() {\n  cf.br ^a\n^a:\n  return\n^a:\n  return\n}\n", "duplicate-block"),
        ("func.func @f() {\n  call @g() : () -> ()\n  return\n}\n", "undefined-symbol"),
        ("func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n", "duplicate-symbol"),
        ("func.func @f() {\n  %0 = arith.constant 1 : i32\n}\n", "terminator"),
        ("func.func @f() attributes {x = #map} {\n  return\n}\n", "undefined-alias"),
        ("func.func @f() {\n  %0 = @rith.constant 1 : i32\n  return\n}\n", "no-operation"),
        (
            "func.func @f() {\n  %0 = foo.bar (1 : i32\n  %1 = arith.constant 1 : i32\n  return\n}\n",
            "unclosed-bracket",
        ),
        (
            "util.func public @f(%a: i32) attributes {iree.abi = \"{\"} {\n  util.return\n}\n",
            "abi-malformed",
        ),
        (
            "util.func public @f(%a: i32) attributes {iree.abi = \"{\\\"a\\\":[],\\\"r\\\":[],\\\"v\\\":1}\"} {\n  util.return\n}\n",
            "abi-disagrees",
        ),
        (
            "func.func @f() {\n  %0:2 = \"a.b\"() : () -> (i32, i32)\n  \"c.d\"(%0#1) : (i32) -> ()\n  return\n}\n",
            "",
        ),
    ] {
        let mut client = opened(text).await;
        while client.notifications.is_empty() {
            client.receive().await;
        }
        let found = client.notifications.remove(0)["params"]["diagnostics"].clone();
        let codes: Vec<_> = found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|found| found["code"].as_str())
            .collect();
        let expected: Vec<&str> = if code.is_empty() { vec![] } else { vec![code] };
        assert_eq!(codes.iter().copied().take(1).collect::<Vec<_>>(), expected, "{text}\n{found}");
    }
}

/// A client that requests diagnostics itself is sent none.
#[tokio::test]
async fn diagnostics_on_request() {
    let (mut client, can) =
        Client::initialized(json!({"textDocument": {"diagnostic": {}}}), Value::Null).await;
    assert!(can["diagnosticProvider"].is_object());
    client.open(URI, "func.func @f() -> i32 {\n  return %x : i32\n}\n").await;
    let answer = client.ask("textDocument/diagnostic", document()).await;
    assert_eq!(answer["result"]["kind"], "full");
    assert_eq!(answer["result"]["items"][0]["code"], "undefined-value");
    assert!(client.notifications.is_empty());
}

#[tokio::test]
async fn symbols_of_the_workspace() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::create_dir(folder.path().join("deep")).expect("to make a folder");
    std::fs::write(folder.path().join("deep/x.mlir"), "// é😀\nmodule @outer { func.func @\"é😀\"() { return } func.func @needle() { return } }\n").expect("to write");
    let folders = json!([{"uri": format!("file://{}", folder.path().display()), "name": "w"}]);
    let mut client = Client::raw();
    client
        .ask("initialize", json!({"processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders}))
        .await;
    client.notify("initialized", json!({})).await;
    client.open(URI, TEXT).await;
    let answer = client.ask("workspace/symbol", json!({"query": "ndl"})).await;
    let found = answer["result"].as_array().expect("symbols").clone();
    assert_eq!(found.len(), 1, "{answer}");
    assert_eq!(
        (&found[0]["name"], &found[0]["containerName"]),
        (&json!("needle"), &json!("outer"))
    );
    // Counted in UTF-16 after a character beyond the BMP.
    assert_eq!(found[0]["location"]["range"], range((1, 56), (1, 63)));
    let answer = client.ask("workspace/symbol", json!({"query": "main"})).await;
    assert_eq!(answer["result"][0]["location"]["uri"], URI);
    // In parts, for a client that wants parts.
    client.notifications.clear();
    let answer = client
        .ask(
            "workspace/symbol",
            json!({"query": "", "partialResultToken": "p", "workDoneToken": "w"}),
        )
        .await;
    assert_eq!(answer["result"], json!([]));
    while client.notifications.iter().filter(|sent| sent["params"]["token"] == "p").count() == 0 {
        client.receive().await;
    }
    let kinds: Vec<_> = client
        .notifications
        .iter()
        .filter(|sent| sent["params"]["token"] == "w")
        .map(|sent| sent["params"]["value"]["kind"].clone())
        .collect();
    assert_eq!(kinds.first(), Some(&json!("begin")));
}

#[tokio::test]
async fn locations_link_to_their_files() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("src.mlir"), "a\nb\nc\n").expect("to write");
    let uri = format!("file://{}/x.mlir", folder.path().display());
    let text = "func.func @f() {\n  return loc(\"src.mlir\":2:1)\n}\n";
    let mut client = opened("").await;
    client.open(&uri, text).await;
    let answer =
        client.ask("textDocument/documentLink", json!({"textDocument": {"uri": uri}})).await;
    let target = answer["result"][0]["target"].as_str().unwrap_or_default();
    assert!(target.ends_with("src.mlir#L2,1"), "{answer}");
    let answer = client.ask("textDocument/definition", place(&uri, 1, 16)).await;
    assert_eq!(answer["result"]["range"], range((1, 0), (1, 0)), "{answer}");
}

#[tokio::test]
async fn files_that_editors_do_not_send_are_read_by_the_server() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("big.mlir");
    std::fs::write(
        &path,
        format!("#a = \"{}\"\nfunc.func @f() {{\n  return\n}}\n", "x".repeat(100_000)),
    )
    .expect("to write");
    let (mut client, can) = Client::initialized(json!({}), Value::Null).await;
    assert_eq!(
        can["workspace"]["textDocumentContent"]["schemes"],
        json!(["iree-vmfb", "iree-text", "iree-ir"])
    );
    let uri = format!("iree-text:{}", path.display());
    let answer = client.ask("workspace/textDocumentContent", json!({"uri": uri})).await;
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("outside of the workspace"), "{answer}");
    let answer = client.ask("iree-dbg/textDocumentContent", json!({"uri": uri, "opened": true}));
    assert!(answer.await["result"]["text"].is_string());
    client.open(&format!("file://{}", folder.path().join("beside.mlir").display()), "").await;
    for method in ["workspace/textDocumentContent", "iree-dbg/textDocumentContent"] {
        let answer = client.ask(method, json!({"uri": uri})).await;
        let text = answer["result"]["text"].as_str().expect("a text").to_owned();
        assert!(text.len() < 10_000 && text.contains("func.func @f()"), "{}", text.len());
    }
    let answer = client
        .ask("workspace/textDocumentContent", json!({"uri": "iree-vmfb:/nowhere/x.vmfb.vmasm"}))
        .await;
    assert!(
        answer["error"]["message"].as_str().is_some_and(|text| text.contains("/nowhere/x.vmfb")),
        "{answer}"
    );
}
