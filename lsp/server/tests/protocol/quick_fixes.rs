//! Quick fixes as a client gets them: columns of UTF-16, what iree-opt has accepted, and what is
//! offered without it.

use serde_json::{Value, json};

use crate::client::{Client, at, range};

const URI: &str = "file:///none/fix.mlir";

/// The quick fixes where a text has `‸`.
async fn fixes(client: &mut Client, marked: &str) -> (String, Vec<Value>) {
    let offset = marked.find('‸').expect("a cursor");
    let text = marked.replace('‸', "");
    client.open(URI, &text).await;
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    let place = range((line, column), (line, column));
    let context = json!({"diagnostics": [], "only": ["quickfix"]});
    let params = json!({"textDocument": {"uri": URI}, "range": place, "context": context});
    let answer = client.ask("textDocument/codeAction", params).await;
    let actions = answer["result"].as_array().cloned().unwrap_or_default();
    (text, actions.into_iter().filter(|action| action["kind"] == "quickfix").collect())
}

fn titles(fixes: &[Value]) -> Vec<&str> {
    fixes.iter().filter_map(|fix| fix["title"].as_str()).collect()
}

#[tokio::test]
async fn a_misspelt_name_is_mended_at_its_column() {
    let mut client = Client::plain().await;
    let line = "  %0 = arith.constant {k = \"äöü😀\"} 1 : i32 %1 = arith.a‸di %0, %0 : i32\n";
    let (text, found) =
        fixes(&mut client, &format!("func.func @f() {{\r\n{line}  return\n}}\n")).await;
    assert_eq!(titles(&found), ["Change `arith.adi` to `arith.addi` (compiles)"]);
    let edits = &found[0]["edit"]["changes"][URI];
    let (row, column) = at(&text, "‸arith.adi");
    assert_eq!(edits[0]["range"], range((row, column), (row, column + "arith.adi".len())));
    assert_eq!(edits[0]["newText"], "arith.addi");
    assert_eq!(found[0]["isPreferred"], true);
}

const CHOICE: &str = "func.func @f(%a: i32, %b: f32) -> f32 {
  %0 = arith.addf %b, %‸a : f32
  return %0 : f32
}
";

#[tokio::test]
async fn a_choice_is_offered_only_if_it_compiles() {
    let mut client = Client::plain().await;
    let (_, found) = fixes(&mut client, CHOICE).await;
    let titles = titles(&found);
    assert!(titles.contains(&"Insert `arith.sitofp` to `f32` (compiles)"), "{titles:?}");
    assert!(titles.contains(&"Change `%a` to `%b` (compiles)"), "{titles:?}");
    // The sum of an integer and a float is none, whatever its type.
    assert!(titles.iter().all(|title| title.ends_with(" (compiles)")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("`f32` to `i32`")), "{titles:?}");
}

/// Verifiers tell their errors at the `loc` of an operation, which is no place in the text.
#[tokio::test]
async fn an_error_at_another_place_counts() {
    let mut client = Client::plain().await;
    // With `i32` it can be read, and is still no sum of integers.
    let text = "func.func @f(%a: i32) {
  %0 = arith.addf %‸a, %a : f32LOC
  return
}
";
    let with = |at: &str| text.replace("LOC", at);
    for text in [with(""), with(" loc(\"m.py\":1:2)")] {
        let (_, found) = fixes(&mut client, &text).await;
        let titles = titles(&found);
        assert!(!titles.iter().any(|title| title.contains("`f32` to `i32`")), "{titles:?}");
    }
}

#[tokio::test]
async fn without_a_tool_only_what_is_sure_is_offered() {
    let options = json!({"trusted": false});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    let (_, found) = fixes(&mut client, CHOICE).await;
    assert_eq!(titles(&found), Vec::<&str>::new());
    let (_, found) = fixes(&mut client, &CHOICE.replace("addf", "adf").replace("%‸a", "%‸b")).await;
    assert_eq!(titles(&found), ["Change `arith.adf` to `arith.addf`"]);
}
