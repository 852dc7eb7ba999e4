//! What leads from one text to another or looks at all: implementations, types, places that change
//! together, diagnostics of the workspace.

use serde_json::{Value, json};

use crate::client::{Client, at, place};

const DECLARES: &str = "\
!pair = tuple<i32, i32>
func.func private @helper(i32) -> i32
func.func @main(%x: i32, %p: !pair) -> i32 {
  %y = func.call @helper(%x) : (i32) -> i32
  cf.br ^end(%y : i32)
^end(%z: i32):
  return %z : i32
}
vm.module @m {
  vm.import private @lib.twice(%a: i32) -> i32
}
";
const DEFINES: &str = "\
// The helper.
func.func @helper(%a: i32) -> i32 {
  return %a : i32
}
vm.module @lib {
  vm.func private @twice_here(%a: i32) -> i32 {
    vm.return %a : i32
  }
  vm.export @twice_here as(\"twice\")
}
";

struct Workspace {
    client: Client,
    folder: tempfile::TempDir,
}

impl Workspace {
    async fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let mut client = Client::raw();
        let root = format!("file://{}", folder.path().display());
        let params = json!({"processId": null, "rootUri": root, "capabilities": {"textDocument": {"diagnostic": {}}}});
        client.ask("initialize", params).await;
        client.notify("initialized", json!({})).await;
        Self { client, folder }
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder.path().display())
    }
}

#[tokio::test]
async fn declarations_lead_to_definitions_and_back() {
    let mut workspace = Workspace::of(&[("a.mlir", DECLARES), ("b.mlir", DEFINES)]).await;
    let (a, b) = (workspace.uri("a.mlir"), workspace.uri("b.mlir"));
    workspace.client.open(&a, DECLARES).await;
    for (text, uri, needle, other, line) in [
        (DECLARES, &a, "private @‸helper", &b, 1),
        (DECLARES, &a, "call @‸helper", &b, 1),
        (DECLARES, &a, "@lib‸.twice", &b, 8),
        (DEFINES, &b, "@‸helper(%a", &a, 1),
        (DEFINES, &b, "as(\"tw‸ice\")", &a, 9),
    ] {
        workspace.client.open(uri, text).await;
        let (row, column) = at(text, needle);
        let answer =
            workspace.client.ask("textDocument/implementation", place(uri, row, column)).await;
        assert_eq!(answer["result"].as_array().map(Vec::len), Some(1), "{needle}: {answer}");
        assert_eq!(answer["result"][0]["uri"], **other, "{needle}");
        assert_eq!(answer["result"][0]["range"]["start"]["line"], line, "{needle}");
    }
    let (row, column) = at(DECLARES, "@‸main");
    let answer = workspace.client.ask("textDocument/implementation", place(&a, row, column)).await;
    assert!(answer["result"].is_null(), "{answer}");
}

#[tokio::test]
async fn types_and_places_that_change_together() {
    let mut workspace = Workspace::of(&[]).await;
    let uri = workspace.uri("a.mlir");
    workspace.client.open(&uri, DECLARES).await;
    let (row, column) = at(DECLARES, "%‸p: !pair");
    let answer =
        workspace.client.ask("textDocument/typeDefinition", place(&uri, row, column)).await;
    assert_eq!(
        answer["result"][0]["range"]["start"],
        json!({"line": 0, "character": 0}),
        "{answer}"
    );
    let (row, column) = at(DECLARES, "%‸x: i32");
    let answer =
        workspace.client.ask("textDocument/typeDefinition", place(&uri, row, column)).await;
    assert!(answer["result"].is_null(), "{answer}");
    for (needle, count) in [("br ^‸end", 2), ("^‸end(%z", 2), ("%‸y = ", 2), ("@‸main", 0)]
    {
        let (row, column) = at(DECLARES, needle);
        let answer =
            workspace.client.ask("textDocument/linkedEditingRange", place(&uri, row, column)).await;
        let found = answer["result"]["ranges"].as_array().map_or(0, Vec::len);
        assert_eq!(found, count, "{needle}: {answer}");
        if count > 0 {
            let range = &answer["result"]["ranges"][0];
            let length =
                range["end"]["character"].as_u64().zip(range["start"]["character"].as_u64());
            let length = length.map(|(end, start)| end - start);
            assert_eq!(length, Some(if needle.contains("end") { 3 } else { 1 }), "{needle}");
        }
    }
}

#[tokio::test]
async fn the_whole_workspace_is_checked_once() {
    let wrong = "func.func @f() {\n  cf.br ^none\n}\n";
    let expected = format!("// expected-error @+2 {{{{x}}}}\n{wrong}");
    let files = [("a.mlir", wrong), ("b.mlir", DEFINES), ("c.mlir", expected.as_str())];
    let mut workspace = Workspace::of(&files).await;
    let open = workspace.uri("b.mlir");
    workspace.client.open(&open, wrong).await;
    let ask = async |client: &mut Client, previous: &[Value]| {
        let params = json!({"previousResultIds": previous});
        let answer = client.ask("workspace/diagnostic", params).await;
        let mut items = answer["result"]["items"].as_array().cloned().unwrap_or_default();
        items.sort_by_key(|item| item["uri"].as_str().map(str::to_owned));
        items
    };
    let items = ask(&mut workspace.client, &[]).await;
    let counts: Vec<_> = items.iter().map(|item| item["items"].as_array().map(Vec::len)).collect();
    // What is open counts as it is in the editor.
    assert_eq!(counts, [Some(1), Some(1), Some(0)], "{items:?}");
    assert_eq!(items[1]["version"], 1);
    let known: Vec<Value> =
        items.iter().map(|item| json!({"uri": item["uri"], "value": item["resultId"]})).collect();
    std::fs::write(workspace.folder.path().join("c.mlir"), format!("{wrong}\n")).expect("a file");
    let items = ask(&mut workspace.client, &known).await;
    let kinds: Vec<_> = items.iter().map(|item| item["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("unchanged"), Some("unchanged"), Some("full")], "{items:?}");
    assert_eq!(items[2]["items"].as_array().map(Vec::len), Some(1));
}
