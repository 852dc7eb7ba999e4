//! Compiled modules as documents, and links between them and their sources, with modules that
//! iree-compile made.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, place};

const SOURCE: &str = "func.func @f(%a: i32, %b: i32) -> i32 {\n  %0 = arith.divsi %a, %b : i32\n  %1 = arith.xori %0, %a : i32\n  return %1 : i32\n}\n";

/// iree-compile on the `PATH`, or the program that `IREE_COMPILE` names.
fn iree_compile() -> PathBuf {
    std::env::var_os("IREE_COMPILE").map_or_else(|| PathBuf::from("iree-compile"), PathBuf::from)
}

/// iree-opt, which is installed beside iree-compile.
fn iree_opt() -> PathBuf {
    iree_compile().with_file_name("iree-opt")
}

fn compile(folder: &Path, text: &str) -> (PathBuf, PathBuf) {
    let (source, module) = (folder.join("x.mlir"), folder.join("x.vmfb"));
    std::fs::write(&source, text).expect("to write the source");
    let output = Command::new(iree_compile())
        .arg(&source)
        .arg("-o")
        .arg(&module)
        .args(["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"])
        .output()
        .expect(
            "iree-compile: install it with `pip install iree-base-compiler`, or set IREE_COMPILE",
        );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (source, module)
}

#[tokio::test]
async fn modules_are_documents_with_links_both_ways() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (source, module) = compile(folder.path(), SOURCE);
    let mut client = Client::plain().await;
    let uri = format!("iree-vmfb:{}.vmasm", module.display());
    let answer = client.ask("workspace/textDocumentContent", json!({"uri": uri})).await;
    let text = answer["result"]["text"].as_str().expect("a text").to_owned();
    assert!(text.starts_with("vm.module @module") && text.contains("vm.export @f"), "{text}");
    client.open(&uri, &text).await;
    // From the text to the source: a comment, a link on the offset, and a definition.
    assert!(text.contains("x.mlir:2:8"), "{text}");
    let line = text.lines().position(|line| line.contains("vm.div.i32.s")).expect("a division");
    let links =
        client.ask("textDocument/documentLink", json!({"textDocument": {"uri": uri}})).await;
    let here = |link: &&Value| link["range"]["start"]["line"] == line;
    let link = links["result"].as_array().into_iter().flatten().find(here).expect("a link").clone();
    assert!(
        link["target"].as_str().is_some_and(|target| target.ends_with("x.mlir#L2,8")),
        "{link}"
    );
    let target =
        client.ask("textDocument/definition", place(&uri, line, 1)).await["result"].clone();
    assert_eq!(target["uri"], format!("file://{}", source.display()));
    assert_eq!(target["range"]["start"], json!({"line": 1, "character": 7}));
    // The hover of an instruction describes it.
    let column = text.lines().nth(line).and_then(|line| line.find("vm.")).expect("an instruction");
    let hover = client.hover(&uri, line, column + 1).await;
    assert!(
        hover["contents"]["value"].as_str().is_some_and(|text| text.contains("Opcode")),
        "{hover}"
    );
    // Its name leads to the source too.
    let named = client.ask("textDocument/definition", place(&uri, line, column + 1)).await;
    assert_eq!(named["result"], target);
    // And back.
    let uri = format!("file://{}", source.display());
    client.open(&uri, SOURCE).await;
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}});
    let lines = client.ask("iree-dbg/moduleLines", params).await["result"].clone();
    let back: Vec<_> = lines
        .as_array()
        .into_iter()
        .flatten()
        .map(|place| &place["range"]["start"]["line"])
        .collect();
    assert!(back.contains(&&json!(line)), "{lines}");
}

/// A made document leaves out long constants, which is no fault of its reader.
#[tokio::test]
async fn a_module_shown_as_text_has_no_faults() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let tensors = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = arith.addf %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
    let (_, module) = compile(folder.path(), tensors);
    let mut client = Client::plain().await;
    for uri in
        [format!("iree-vmfb:{}.vmasm", module.display()), format!("file://{}", module.display())]
    {
        let made = format!("iree-vmfb:{}.vmasm", module.display());
        let answer = client.ask("workspace/textDocumentContent", json!({"uri": made})).await;
        let text = answer["result"]["text"].as_str().expect("a text").to_owned();
        assert!(text.contains("bytes elided"), "{text}");
        client.open(&uri, &text).await;
        assert_eq!(client.published(&uri).await, json!([]));
    }
    // The same text as a file of its own cannot be assembled, for one reason per segment only.
    let made = format!("iree-vmfb:{}.vmasm", module.display());
    let answer = client.ask("workspace/textDocumentContent", json!({"uri": made})).await;
    let text = answer["result"]["text"].as_str().expect("a text").to_owned();
    client.open("file:///x.vmasm", &text).await;
    let told = client.published("file:///x.vmasm").await;
    let told: Vec<_> = told.as_array().into_iter().flatten().collect();
    assert!(told.iter().all(|told| told["message"].to_string().contains("left out")), "{told:?}");
    assert_eq!(told.len(), text.matches("bytes elided").count());
}

/// The lines equal those of the plain disassembly, which debuggers count.
#[tokio::test]
async fn lines_are_those_of_the_disassembly() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (_, module) = compile(folder.path(), SOURCE);
    let opened = vmfb::Module::open(&module).expect("the module");
    let options = vmfb::print::DisassemblyOptions {
        bytecode_offsets: true,
        ..vmfb::print::DisassemblyOptions::default()
    };
    let plain = vmfb::print::disassemble(&opened, &options).text;
    let mut client = Client::plain().await;
    let uri = format!("iree-vmfb:{}.vmasm", module.display());
    let answer = client.ask("iree-dbg/textDocumentContent", json!({"uri": uri})).await;
    let text = answer["result"]["text"].as_str().expect("a text");
    for (shown, line) in text.lines().zip(plain.lines()) {
        assert!(shown.starts_with(line), "{shown:?} is not {line:?}");
    }
}

/// The compiler's messages join the diagnostics after a save, and the next edit removes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_save_is_checked_by_the_compiler() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("x.mlir");
    let text = "func.func @f() -> i8 {\n  %0 = arith.constant 300 : i8\n  return %0 : i8\n}\n";
    std::fs::write(&path, text).expect("to write");
    let command = json!([iree_compile(), "--compile-to=input", "-o", "/dev/null"]);
    let options = json!({"checkOnSave": true, "checkWhileTyping": false, "checkCommand": command});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    let uri = format!("file://{}", path.display());
    client.open(&uri, text).await;
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}})).await;
    let has_code = |sent: &Value, code: &str| {
        sent["params"]["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|found| found["code"] == code)
    };
    loop {
        client.receive().await;
        if let Some(sent) = client.notifications.iter().find(|sent| has_code(sent, "compiler")) {
            let found = &sent["params"]["diagnostics"][0];
            assert_eq!(
                (&found["source"], &found["range"]["start"]["line"]),
                (&json!("iree-compile"), &json!(1))
            );
            break;
        }
    }
    client.notifications.clear();
    client.change(&uri, 2, json!([{"range": {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 0}}, "text": "\n"}])).await;
    // What was said of the text before may still arrive.
    let is_new = |sent: &Value| sent["params"]["version"] == 2;
    while !client.notifications.iter().any(is_new) {
        client.receive().await;
    }
    let new = client.notifications.iter().find(|sent| is_new(sent));
    assert!(new.is_some_and(|sent| !has_code(sent, "compiler")));
}

/// What was edited is checked by iree-opt once the text rests, and the next edit removes its words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_is_checked_by_iree_opt() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let uri = format!("file://{}", folder.path().join("x.mlir").display());
    let text = |constant: &str| {
        format!(
            "// 😀\nfunc.func @f() -> i8 {{\n  %0 = arith.constant {constant} : i8\n  return %0 : i8\n}}\n"
        )
    };
    let options = json!({"checkCommand": [iree_opt(), "--split-input-file"]});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    client.open(&uri, &text("1")).await;
    client.change(&uri, 2, json!([{"text": text("300")}])).await;
    let said = |client: &Client| {
        let all = client.notifications.iter();
        let found =
            all.flat_map(|sent| sent["params"]["diagnostics"].as_array().into_iter().flatten());
        let mut found = found.filter(|found| found["code"] == "compiler");
        found.next().cloned()
    };
    while said(&client).is_none() {
        client.receive().await;
    }
    let found = said(&client).expect("a diagnostic");
    assert_eq!(found["range"]["start"], json!({"line": 2, "character": 22}));
    assert_eq!(found["source"], "iree-compile");
    client.notifications.clear();
    client.change(&uri, 3, json!([{"text": text("3")}])).await;
    while client.notifications.is_empty() {
        client.receive().await;
    }
    assert_eq!(client.notifications[0]["params"]["diagnostics"], json!([]));
}

/// A compiler that only `ireeCompile` names serves everything: the iree-opt beside it reads what
/// was edited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chosen_compiler_checks_edits() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let uri = format!("file://{}", folder.path().join("x.mlir").display());
    // An iree-opt that is on no PATH, and says something that no other does.
    let beside = folder.path().join("chosen");
    std::fs::create_dir(&beside).expect("a folder");
    let script =
        "#!/bin/sh\ncat >/dev/null\necho '<stdin>:1:1: error: told by the chosen one' >&2\n";
    for name in ["iree-opt", "iree-compile"] {
        use std::os::unix::fs::PermissionsExt;
        let path = beside.join(name);
        std::fs::write(&path, script).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a script that can be run");
    }
    let options = json!({"ireeCompile": beside.join("iree-compile")});
    let (mut client, _) = Client::initialized(json!({}), options).await;
    client.open(&uri, "func.func @f() {\n  return\n}\n").await;
    client.change(&uri, 2, json!([{"text": "func.func @g() {\n  return\n}\n"}])).await;
    let told = |client: &Client| {
        let sent = client.notifications.iter().map(ToString::to_string);
        sent.filter(|sent| sent.contains("told by the chosen one")).count()
    };
    while told(&client) == 0 {
        client.receive().await;
    }
}

/// In an untrusted workspace no program is started, whatever the settings, until the client says
/// otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_save_starts_nothing_in_a_folder_that_is_not_trusted() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (path, marker) = (folder.path().join("x.mlir"), folder.path().join("started"));
    std::fs::write(&path, "module {\n}\n").expect("to write");
    let settings = |trusted: Option<bool>| {
        let command = json!(["/bin/sh", "-c", format!("touch {}", marker.display())]);
        let mut settings = json!({"checkOnSave": true, "checkCommand": command});
        if let Some(trusted) = trusted {
            settings["trusted"] = json!(trusted);
        }
        settings
    };
    let (mut client, _) = Client::initialized(json!({}), settings(Some(false))).await;
    let uri = format!("file://{}", path.display());
    client.open(&uri, "module {\n}\n").await;
    let save = json!({"textDocument": {"uri": uri}});
    // A change of other settings does not make it trusted.
    for sent in [None, Some(json!({"iree-dbg": 5})), Some(json!({"iree-dbg": settings(None)}))] {
        if let Some(sent) = sent {
            let params = json!({"settings": sent});
            client.notify("workspace/didChangeConfiguration", params).await;
        }
        client.notify("textDocument/didSave", save.clone()).await;
        client.hover(&uri, 0, 0).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!marker.exists(), "a program was started");
    let params = json!({"settings": {"iree-dbg": settings(Some(true))}});
    client.notify("workspace/didChangeConfiguration", params).await;
    client.notify("textDocument/didSave", save).await;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !marker.exists() {
        assert!(std::time::Instant::now() < deadline, "nothing was started");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// What iree-compile makes of a function, with the user's flags, is learnt in the background: the
/// hover tells it from what the types let expect, and an edit asks anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hover_learns_from_the_compiler() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let uri = format!("file://{}", folder.path().join("x.mlir").display());
    let command = json!([iree_compile(), "--iree-input-demote-f64-to-f32=false", "-o", "x.vmfb"]);
    let (mut client, _) = Client::initialized(json!({}), json!({"checkCommand": command})).await;
    client.open(&uri, "func.func @f(%a: f64) {\n  half typed\n}\n").await;
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 12}});
    let shown = async |client: &mut Client, part: &str| loop {
        let answer = client.ask("textDocument/hover", place.clone()).await;
        let text = answer["result"]["contents"]["value"].as_str().expect("a hover").to_owned();
        if text.contains("As compiled") {
            assert!(text.contains(part), "{text}");
            return text;
        }
        assert!(text.contains("Expected from the types"), "{text}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let text = shown(&mut client, "**VM calling convention** `0F_v`").await;
    assert!(text.contains("By the types alone, `0f_v` was expected"), "{text}");
    assert!(text.contains("with the flags in checkCommand"), "{text}");
    let range = json!({"start": {"line": 0, "character": 17}, "end": {"line": 0, "character": 20}});
    client.change(&uri, 2, json!([{"range": range, "text": "i7, %b: f64"}])).await;
    shown(&mut client, "`0iF_v`").await;
    // In a workspace that is not trusted no program is started.
    let settings = json!({"settings": {"checkCommand": command, "trusted": false}});
    client.notify("workspace/didChangeConfiguration", settings).await;
    let text = client.ask("textDocument/hover", place.clone()).await.to_string();
    assert!(text.contains("Expected from the types"), "{text}");
}
