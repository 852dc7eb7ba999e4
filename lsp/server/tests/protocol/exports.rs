//! What can be run: the exports of open documents, of files and of modules, and the compiler.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;

/// `name(argument: type, …) at first-last line, …` for each export.
fn told(answer: &Value) -> Vec<String> {
    let exports = answer["result"]["exports"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |value: &Value| value.as_str().unwrap_or("_").to_owned();
    let argument = |it: &Value| format!("{}: {}", text(&it["name"]), text(&it["type"]));
    let export = |it: &Value| {
        let arguments: Vec<_> = it["arguments"].as_array().unwrap().iter().map(argument).collect();
        let lines: Vec<_> = it["lines"].as_array().unwrap().iter().map(Value::to_string).collect();
        format!("{}({}) {}", text(&it["name"]), arguments.join(", "), lines.join(" "))
    };
    exports.iter().map(export).collect()
}

const DIALECTS: &str = r#"module {
  func.func private @hidden(%a: i32) -> i32
  func.func @"a b"(%x: tensor<?x8xf32> {iree.identifier = "in, put"}, %n : index) {
    return
  }
  util.func public @u(%arg0: !hal.buffer_view) -> (tensor<4xf32>) {
    %0 = util.null : tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
  util.func @inner(%a: i32) {
    util.return
  }
  "func.func"() <{function_type = (i64, f32) -> (), sym_name = "generic"}> ({
  ^bb0(%a: i64, %b: f32):
    "func.return"() : () -> ()
  }) : () -> ()
}
"#;

const MACHINE: &str = "vm.module @numbers {
  vm.export @inner as(\"outer name\")
  vm.func private @inner(%i : i32, %l : !vm.list<i32>) -> i32 {
    vm.return %i : i32
  }
}
";

#[tokio::test]
async fn exports_of_texts_of_all_dialects() {
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    let expected = [
        "a b(x: tensor<?x8xf32>, n: index) [2,4]",
        "u(arg0: !hal.buffer_view) [5,8]",
        "generic(_: i64, _: f32) [12,15]",
    ];
    client.open("file:///none/d.mlir", DIALECTS).await;
    let answer = client.ask("iree-dbg/exports", json!({"uri": "file:///none/d.mlir"})).await;
    assert_eq!(told(&answer), expected);
    client.open("file:///none/m.mlir", MACHINE).await;
    let answer = client.ask("iree-dbg/exports", json!({"uri": "file:///none/m.mlir"})).await;
    assert_eq!(told(&answer), ["outer name(i: i32, l: !vm.list<i32>) [1,1] [2,4]"]);
    // A file that no editor has opened, as one that is too long for it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.mlir");
    std::fs::write(&file, DIALECTS).unwrap();
    for uri in [format!("file://{}", file.display()), format!("iree-text:{}", file.display())] {
        let answer = client.ask("iree-dbg/exports", json!({"uri": uri, "opened": true})).await;
        assert_eq!(told(&answer), expected, "{uri}");
        let refused = client.ask("iree-dbg/exports", json!({"uri": uri})).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("outside of the workspace"), "{refused}");
    }
}

#[tokio::test]
async fn exports_of_a_module_and_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let (source, module) = (folder.path().join("x.mlir"), folder.path().join("x.vmfb"));
    std::fs::write(
        &source,
        "func.func @f(%a: i32, %t: tensor<2xf32>) -> i32 {\n return %a : i32\n}\n",
    )
    .unwrap();
    let (mut client, _) = Client::initialized(json!({}), json!({})).await;
    let params = json!({"directory": folder.path()});
    let answer = client.ask("iree-dbg/compiler", params).await["result"].clone();
    let compiler = answer["path"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let made = Command::new(compiler)
        .arg(&source)
        .args(["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"])
        .arg("-o")
        .arg(&module)
        .output()
        .expect("the compiler that was found");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for uri in
        [format!("file://{}", module.display()), format!("iree-vmfb:{}.vmasm", module.display())]
    {
        let answer = client.ask("iree-dbg/exports", json!({"uri": uri})).await;
        assert_eq!(told(&answer), ["f(input0: i32, input1: tensor<2xf32>) "], "{uri}");
    }
}

#[tokio::test]
async fn what_cannot_run_has_no_lenses_for_it() {
    let commands = json!(["iree-dbg.runFunction", "iree-dbg.debugFunction", "iree-dbg.showAbi"]);
    let (mut client, _) = Client::initialized(json!({}), json!({"commands": commands})).await;
    for (uri, expected) in [
        ("file:///none/m.mlir", "Run Debug Show ABI"),
        ("iree-text:/none/m.mlir", "Run Debug Show ABI"),
        ("iree-vmfb:/none/m.vmfb.vmasm", "Run Debug Show ABI"),
        // No file has these texts; and a module of assembly has to be assembled first.
        ("untitled:m.mlir", "Show ABI"),
        ("debug:/m.vm.mlir", "Show ABI"),
        ("file:///none/m.vmasm", "Show ABI"),
    ] {
        client.open(uri, MACHINE).await;
        let params = json!({"textDocument": {"uri": uri}});
        let answer = client.ask("textDocument/codeLens", params).await;
        let lenses = answer["result"].as_array().unwrap().iter();
        let titles: Vec<_> = lenses.map(|it| it["command"]["title"].as_str().unwrap()).collect();
        assert_eq!(titles.join(" "), expected, "{uri}");
    }
}

#[tokio::test]
async fn hovers_are_brief_where_the_rest_can_be_shown() {
    let commands = json!(["iree-dbg.showAbi"]);
    let uri = "file:///none/f.mlir";
    let text = "func.func @f(%a: tensor<4xf32>) attributes {iree.abi.declaration = \"sync func @f()\"} {\n  return\n}\n";
    for (commands, is_brief) in [(commands, true), (json!([]), false)] {
        let (mut client, _) = Client::initialized(json!({}), json!({"commands": commands})).await;
        client.open(uri, text).await;
        let hover = client.hover(uri, 0, 12).await;
        let markdown = hover["contents"]["value"].as_str().unwrap_or_default();
        // Editors without HTML drop such breaks, and join the words around them.
        assert!(!markdown.contains("<br>"), "{markdown}");
        assert!(markdown.contains("| stated |"), "{markdown}");
        assert_eq!(markdown.contains("| derived |"), !is_brief, "{markdown}");
        let link = "[Show ABI](command:iree-dbg.showAbi?%5B%22file%3A%2F%2F%2Fnone%2Ff.mlir%22%2C%22f%22%5D)";
        assert_eq!(markdown.contains(link), is_brief, "{markdown}");
    }
}
