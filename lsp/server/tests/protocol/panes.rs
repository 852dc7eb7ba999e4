//! Stages beside their source: documents that follow it, links that compile nothing, and by which
//! pass an operation went, with the real iree-compile.

use serde_json::{Value, json};

use crate::client::{Client, place};
use crate::stages::{Scratch, stage, stages, text, texts};

/// Line 4 is dead, line 7 is folded, line 8 is inlined, line 13 is the same as line 12.
const SOURCE: &str = "\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: i32) -> (tensor<4xf32>, i32) {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.mulf %0, %b : tensor<4xf32>
  %dead = arith.subf %a, %b : tensor<4xf32>
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %seven = arith.addi %c3, %c4 : i32
  %n = call @scalar(%i, %seven) : (i32, i32) -> i32
  return %1, %n : tensor<4xf32>, i32
}
func.func @twice(%x: i32, %y: i32) -> i32 {
  %0 = arith.muli %x, %y : i32
  %1 = arith.muli %x, %y : i32
  %2 = arith.subi %0, %y : i32
  %3 = arith.xori %1, %2 : i32
  return %3 : i32
}
func.func private @scalar(%x: i32, %y: i32) -> i32 {
  %0 = arith.divsi %x, %y : i32
  return %0 : i32
}
";

/// The document of a pane, as the extension of VS Code names it.
fn pane(scratch: &Scratch, name: &str) -> String {
    let path = tower_lsp::lsp_types::Url::parse(&scratch.uri).expect("a URI");
    format!("iree-ir:{}/{name}%20%40main.mlir?live.{name}%40main", path.path())
}

async fn pane_text(client: &mut Client, uri: &str, key: &Value) -> Value {
    client.ask("iree-dbg/textDocumentContent", json!({"uri": uri, "key": key})).await
}

async fn ask(client: &mut Client, uri: &str, line: usize, more: Value) -> Value {
    let mut params = place(uri, line, 4);
    let params_of = params.as_object_mut().expect("an object");
    params_of.extend(more.as_object().cloned().unwrap_or_default());
    let answer = client.ask("iree-dbg/becomes", params).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn a_pane_keeps_its_uri_and_has_the_text_that_it_was_given() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let first = stages(&mut client, &scratch.uri, json!("main")).await;
    let flow = pane(&scratch, "flow");
    // It was given no text yet.
    assert!(!pane_text(&mut client, &flow, &Value::Null).await["error"].is_null());
    let shown = pane_text(&mut client, &flow, &first["key"]).await;
    let shown = shown["result"]["text"].as_str().unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(shown, text(&mut client, &stage(&first, "flow")["uri"]).await);
    client.open(&flow, shown).await;
    let number = shown.lines().position(|line| line.contains("arith.muli")).unwrap();
    let found = ask(&mut client, &flow, number, json!({"stages": ["vm", "bytecode"]})).await;
    assert_eq!(found["key"], first["key"]);
    assert_eq!(found["source"][0]["range"]["start"]["line"], 11);
    let names: Vec<&Value> =
        found["stages"].as_array().unwrap().iter().map(|stage| &stage["name"]).collect();
    assert_eq!(names, ["vm", "bytecode"]);
    assert!(texts(stage(&found, "vm"))[0].contains("vm.mul.i32"), "{found}");
    // It leads to the source as any stage does.
    let column = shown.lines().nth(number).unwrap().find("arith").unwrap();
    let up = client.ask("textDocument/definition", place(&flow, number, column)).await;
    assert_eq!(up["result"][0]["range"]["start"]["line"], 11, "{up}");

    // Another text of the source: until the pane is given that, it stays what it was.
    let edit = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let edit = json!([{"range": edit, "text": "// new\n// lines\n"}]);
    client.change(&scratch.uri, 2, edit).await;
    let found = ask(&mut client, &flow, number, json!({})).await;
    assert_eq!((&found["key"], &found["isStale"]), (&first["key"], &json!(true)));
    let second = stages(&mut client, &scratch.uri, Value::Null).await;
    assert_ne!(second["key"], first["key"]);
    pane_text(&mut client, &flow, &second["key"]).await;
    let found = ask(&mut client, &flow, number, json!({})).await;
    assert_eq!((&found["key"], &found["isStale"]), (&second["key"], &json!(false)));
    assert_eq!(found["source"][0]["range"]["start"]["line"], 13);
}

#[tokio::test]
async fn links_compile_nothing() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let first = stages(&mut client, &scratch.uri, Value::Null).await;
    let key = first["key"].clone();
    let kept = || std::fs::read_dir(scratch.cache().join("stages")).unwrap().count();
    assert_eq!(kept(), 1);
    let edit = json!({"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}});
    client.change(&scratch.uri, 2, json!([{"range": edit, "text": "\n  wrong\n"}])).await;
    // Line 12 is line 13 now. Without knowing that, nothing is said of it.
    let found = ask(&mut client, &scratch.uri, 12, json!({"key": key})).await;
    assert_eq!((&found["places"], &found["isStale"]), (&json!([]), &json!(true)));
    let unchanged = json!({"first": 5, "last": 22, "shift": -1});
    let with = json!({"key": key, "unchanged": unchanged});
    let found = ask(&mut client, &scratch.uri, 12, with.clone()).await;
    assert_eq!(found["places"][0]["line"], 12, "{found}");
    assert!(texts(stage(&found, "vm"))[0].contains("vm.mul.i32"), "{found}");
    // A line that has changed is none of them.
    let found = ask(&mut client, &scratch.uri, 4, with).await;
    assert_eq!(found["places"], json!([]));
    assert_eq!(kept(), 1);
    let mut params = place(&scratch.uri, 1, 0);
    params["key"] = json!("../../etc");
    assert!(!client.ask("iree-dbg/becomes", params).await["error"].is_null());
}

#[tokio::test]
async fn a_text_that_does_not_compile_says_where_and_leaves_nothing() {
    let scratch = Scratch::new(SOURCE);
    let wrong = SOURCE.replace("arith.subf %a, %b", "arith.subf %a, %nothing");
    let mut client = scratch.open(&wrong, json!({})).await;
    let params = json!({"textDocument": {"uri": scratch.uri}});
    let error = client.ask("iree-dbg/stages", params).await["error"].clone();
    assert_eq!(error["data"]["fault"]["line"], 3, "{error}");
    let message = error["data"]["fault"]["message"].as_str().unwrap();
    assert!(message.starts_with("use of undeclared SSA value"), "{message}");
    let left = std::fs::read_dir(scratch.cache().join("stages")).unwrap().count();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn an_operation_that_is_gone_says_by_which_pass() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let why = async |client: &mut Client, line: usize| {
        ask(client, &scratch.uri, line - 1, json!({"why": true})).await["why"].clone()
    };
    let text = |why: &Value| why["text"].as_str().unwrap_or_else(|| panic!("{why}")).to_owned();
    let history = |why: &Value| -> Vec<String> {
        let steps = why["history"].as_array().expect("a history").iter();
        steps.map(|step| format!("{} by {}", step["text"], step["pass"])).collect()
    };

    let dead = why(&mut client, 4).await;
    assert_eq!(
        (&dead["isGone"], &dead["after"], &dead["before"]),
        (&json!(true), &json!("input"), &json!("abi"))
    );
    assert!(text(&dead).contains("nothing used it (CanonicalizerPass)"), "{dead}");

    let same = why(&mut client, 13).await;
    let wanted = "what used it uses `%0 = arith.muli %arg0, %arg1 : i32` of line 12 now (CSEPass)";
    assert!(text(&same).contains(wanted), "{same}");
    let last = same["history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["pass"], "CSEPass: cse");
    assert_eq!(last["into"][0]["range"]["start"]["line"], 11);

    let folded = why(&mut client, 5).await;
    assert_eq!(folded["isGone"], true);
    let wanted = "what used it became `%c7_i32 = arith.constant 7 : i32` of line 7";
    assert!(text(&folded).contains(wanted), "{folded}");
    let sum = why(&mut client, 7).await;
    let steps = history(&sum);
    assert!(
        steps.iter().any(|step| step.contains("`arith.addi` became `arith.constant`")),
        "{steps:?}"
    );

    // A sum in a dispatch is not gone; its way there is told.
    let fused = why(&mut client, 2).await;
    assert_eq!(fused["isGone"], false);
    assert!(text(&fused).starts_with("It is there, in a dispatch"), "{fused}");
    let steps = history(&fused);
    let into =
        |step: &String| step.contains("to @main_dispatch_0") && step.contains("OutlineDispatch");
    assert!(steps.iter().any(into), "{steps:?}");

    // The compiler runs other passes over what it has inlined before it prints that.
    let call = why(&mut client, 8).await;
    let steps = history(&call);
    let inlined =
        |step: &String| step.contains("inlined into @main") && step.contains("InlinerPass");
    assert!(steps.iter().any(inlined), "{steps:?}");
    assert!(
        steps.iter().all(|step| !step.contains("by \"Canonicalizer") || !step.contains("inlined"))
    );

    // Without the question, nothing is compiled again.
    let plain = ask(&mut client, &scratch.uri, 3, json!({})).await;
    assert!(plain["why"].is_null());
}
