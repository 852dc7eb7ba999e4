//! What becomes of a source: its stages with the real iree-compile, and the way of an operation
//! through them, checked against the compiler's own locations and the module's debug database.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, place};

/// Two functions, one with a quoted name, one with a fused dispatch and a call.
const SOURCE: &str = r#"func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.mulf %0, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @"odd name"(%n: i32, %m: i32) -> i32 {
  %0 = arith.muli %n, %m : i32
  %1 = func.call @helper(%0) : (i32) -> i32
  return %1 : i32
}
func.func private @helper(%x: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %0 = arith.divsi %x, %c7 : i32
  return %0 : i32
}
"#;

const FLAGS: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

fn iree_compile() -> PathBuf {
    std::env::var_os("IREE_COMPILE").map_or_else(|| PathBuf::from("iree-compile"), PathBuf::from)
}

pub(crate) struct Scratch {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) source: PathBuf,
    pub(crate) uri: String,
}

impl Scratch {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let source = folder.path().canonicalize().expect("a path").join("x y.mlir");
        std::fs::write(&source, text).expect("to write the source");
        let uri = tower_lsp::lsp_types::Url::from_file_path(&source).expect("a path").to_string();
        Self { folder, source, uri }
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A session with these settings, and the source open with this text.
    pub(crate) async fn open(&self, text: &str, settings: Value) -> Client {
        let mut options = json!({"cacheFolder": self.cache(), "compilerFlags": FLAGS});
        options
            .as_object_mut()
            .expect("an object")
            .extend(settings.as_object().cloned().unwrap_or_default());
        let (mut client, _) = Client::initialized(json!({}), options).await;
        client.open(&self.uri, text).await;
        client
    }

    /// What iree-compile itself prints.
    fn printed(&self, more: &[&str]) -> String {
        let output = Command::new(iree_compile())
            .arg(&self.source)
            .args(FLAGS)
            .args(more)
            .args(["-o", "-"])
            .output()
            .expect("iree-compile: install it, or set IREE_COMPILE");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }
}

pub(crate) async fn stages(client: &mut Client, uri: &str, function: Value) -> Value {
    let params = json!({"textDocument": {"uri": uri}, "function": function});
    let answer = client.ask("iree-dbg/stages", params).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

pub(crate) async fn text(client: &mut Client, uri: &Value) -> String {
    let answer = client.ask("iree-dbg/textDocumentContent", json!({"uri": uri})).await;
    answer["result"]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn becomes(client: &mut Client, uri: &str, line: usize, character: usize) -> Value {
    let answer = client.ask("iree-dbg/becomes", place(uri, line, character)).await;
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

pub(crate) fn stage<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let stages = answer["stages"].as_array().expect("stages");
    stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

pub(crate) fn texts(stage: &Value) -> Vec<&str> {
    let lines = stage["lines"].as_array().expect("lines").iter();
    lines.map(|line| line["text"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn stages_are_documents_without_locations() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let answer = stages(&mut client, &scratch.uri, json!("odd name")).await;
    let names: Vec<&str> = answer["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "input",
            "abi",
            "preprocessing",
            "global-optimization",
            "dispatch-creation",
            "flow",
            "stream",
            "executable-sources",
            "executable-configurations",
            "executable-targets",
            "hal",
            "vm",
            "bytecode",
            "bytecode-main_dispatch_0_vmvx_bytecode_fb"
        ]
    );
    for of_stage in answer["stages"].as_array().unwrap() {
        let shown = text(&mut client, &of_stage["uri"]).await;
        assert!(!shown.contains(" loc(") && !shown.contains("#loc"), "{shown}");
        assert_eq!(of_stage["lines"], shown.lines().count());
        if let Some(line) = of_stage["line"].as_u64() {
            let line = shown.lines().nth(line as usize).unwrap();
            assert!(line.contains("odd name") || line.contains("helper"), "{line}");
        }
    }
    // The function is where its operations are, under whatever name.
    let parts = |name: &str| stage(&answer, name)["parts"].clone();
    assert_eq!(parts("input")[0]["name"], "odd name");
    assert_eq!(parts("input")[0]["operations"], 3);
    assert!(parts("vm")[0]["operations"].as_u64() >= Some(2), "{}", parts("vm"));
    assert_eq!(stage(&answer, "bytecode-main_dispatch_0_vmvx_bytecode_fb")["parts"], json!([]));
    // The same text is not compiled again: its folder stays as it is.
    let again = stages(&mut client, &scratch.uri, Value::Null).await;
    assert_eq!(again["key"], answer["key"]);
    let folders = std::fs::read_dir(scratch.cache().join("stages")).unwrap().flatten();
    assert_eq!(folders.count(), 1);
}

#[tokio::test]
async fn operations_are_followed_to_their_bytes_and_back() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    // The product of line 7, with the cursor at the beginning of the line.
    let found = becomes(&mut client, &scratch.uri, 6, 0).await;
    assert_eq!(found["isStale"], false);
    assert_eq!(found["source"][0]["range"]["start"], json!({"line": 6, "character": 7}));
    assert_eq!(texts(stage(&found, "input")), ["%0 = arith.muli %arg0, %arg1 : i32"]);
    assert_eq!(texts(stage(&found, "flow")), ["%0 = arith.muli %arg0, %arg1 : i32"]);
    assert_eq!(texts(stage(&found, "vm")), ["%0 = vm.mul.i32 %arg0, %arg1 : i32"]);
    let instruction = &stage(&found, "bytecode")["lines"][0];
    assert!(instruction["text"].as_str().unwrap().contains("vm.mul.i32"), "{instruction}");
    let module = std::fs::read_dir(scratch.cache().join("stages")).unwrap().flatten().next();
    let module = vmfb::Module::open(module.unwrap().path().join("module.vmfb")).unwrap();
    let function = module
        .functions_with_ordinals()
        .find(|(ordinal, _)| module.export_names(*ordinal).any(|name| name == "odd name"));
    let code = module.function_bytecode(function.unwrap().0);
    let offset = instruction["instruction"]["offset"].as_u64().unwrap() as usize;
    let bytes = instruction["instruction"]["bytes"].as_str().unwrap();
    let there: String =
        code[offset..][..bytes.len() / 2].iter().map(|it| format!("{it:02X}")).collect();
    assert_eq!(bytes, there);
    // An inlined operation keeps its own place, not that of the call.
    let found = becomes(&mut client, &scratch.uri, 12, 8).await;
    assert!(texts(stage(&found, "vm"))[0].contains("vm.div.i32.s"), "{found}");
    let inlined = becomes(&mut client, &scratch.uri, 7, 8).await;
    assert!(texts(stage(&inlined, "input"))[0].contains("@helper"), "{inlined}");
    let line = &stage(&inlined, "vm")["lines"][0];
    assert!(
        line["kind"] == "inlined" || line["text"].as_str().unwrap().contains("@helper"),
        "{line}"
    );
    // A sum that became part of a dispatch is in its body, and in the bytecode of the dispatch.
    let fused = becomes(&mut client, &scratch.uri, 1, 4).await;
    let line = &stage(&fused, "flow")["lines"][0];
    assert_eq!(line["function"], "main_dispatch_0_elementwise_4_f32");
    assert!(line["text"].as_str().unwrap().contains("arith.addf"), "{line}");
    let nested = texts(stage(&fused, "bytecode-main_dispatch_0_vmvx_bytecode_fb"));
    assert!(nested.iter().any(|text| text.contains("vm.add.f32")), "{nested:?}");

    // The host has the dispatch that this is part of.
    for name in ["hal", "vm", "bytecode"] {
        let line = &stage(&fused, name)["lines"][0];
        assert_eq!(line["kind"], "dispatch", "{name}: {fused}");
        assert!(line["text"].as_str().unwrap().contains("hal.command_buffer.dispatch"), "{line}");
    }

    // From a stage: up, to the stage before, and to the one after.
    let uri = line["uri"].as_str().unwrap().to_owned();
    let shown = text(&mut client, &line["uri"]).await;
    client.open(&uri, &shown).await;
    let number = line["range"]["start"]["line"].as_u64().unwrap() as usize;
    let column = shown.lines().nth(number).unwrap().find("arith.addf").unwrap() + 2;
    let up = client.ask("textDocument/definition", place(&uri, number, column)).await;
    assert_eq!(up["result"][0]["uri"], scratch.uri);
    assert_eq!(up["result"][0]["range"]["start"]["line"], 1);
    for (method, name) in [("declaration", "dispatch-creation"), ("implementation", "stream")] {
        let method = format!("textDocument/{method}");
        let there = client.ask(&method, place(&uri, number, column)).await;
        let target = there["result"][0]["uri"].as_str().unwrap_or_else(|| panic!("{there}"));
        assert!(target.contains(&format!(".{name}.mlir?")), "{target}");
        let line = there["result"][0]["range"]["start"]["line"].as_u64().unwrap() as usize;
        let shown = text(&mut client, &json!(target)).await;
        assert!(shown.lines().nth(line).unwrap().contains("arith.addf"), "{there}");
    }
    // Values lead to their definitions in the text, as everywhere.
    let use_of = shown.lines().nth(number).unwrap().find("%in").unwrap() + 1;
    let value = client.ask("textDocument/definition", place(&uri, number, use_of)).await;
    assert_eq!(value["result"]["uri"], uri.as_str(), "{value}");
}

/// The innermost places of a location as `--mlir-print-local-scope` prints it.
fn innermost(location: &str) -> Option<(u64, u64)> {
    let mut parts = location.split(".mlir\":").nth(1)?.split([':', ' ', ')', ']', ',']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[tokio::test]
async fn places_are_those_that_the_compiler_prints() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let answer = stages(&mut client, &scratch.uri, Value::Null).await;
    let mut compared = 0;
    for phase in ["input", "abi", "flow", "stream", "hal", "vm"] {
        let of_stage = stage(&answer, phase);
        let uri = of_stage["uri"].as_str().unwrap();
        let shown = text(&mut client, &of_stage["uri"]).await;
        let to = format!("--compile-to={phase}");
        let printed = scratch.printed(&[&to, "--mlir-print-debuginfo", "--mlir-print-local-scope"]);
        for line in printed.lines().filter(|line| !line.trim_start().starts_with(['}', '^'])) {
            // One operation a line, without regions.
            let Some((before, location)) = line.rsplit_once(" loc(") else { continue };
            let is_cut = before.len() > 2000;
            if is_cut || before.contains(" loc(") || before.contains(['{', '#']) {
                continue;
            }
            let Some((at, column)) = innermost(location).filter(|(line, _)| *line > 0) else {
                continue;
            };
            let same = shown.lines().enumerate().filter(|(_, shown)| shown.trim() == before.trim());
            let mut is_found = false;
            for (number, _) in same {
                let found = becomes(&mut client, uri, number, 0).await;
                is_found |= found["places"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|place| place["line"] == at && place["column"] == column);
            }
            assert!(is_found, "{phase}: {line}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[tokio::test]
async fn offsets_are_those_of_the_debug_database() {
    // Compilers write the database of one function.
    let one = SOURCE.split("func.func @\"odd").next().unwrap();
    let alone = "func.func @alone(%n: i32) -> i32 {\n  %c = arith.constant 9 : i32\n  \
                 %0 = arith.muli %n, %c : i32\n  %1 = arith.divsi %0, %n : i32\n  \
                 %2 = arith.addi %1, %0 : i32\n  return %2 : i32\n}\n";
    for (source, least) in [(alone, 3), (one, 10)] {
        let scratch = Scratch::new(source);
        let mut client = scratch.open(source, json!({})).await;
        let answer = stages(&mut client, &scratch.uri, Value::Null).await;
        let module = scratch.folder.path().join("x.vmfb");
        let output = Command::new(iree_compile())
            .args([&scratch.source, Path::new("-o"), &module])
            .args(FLAGS)
            .status();
        assert!(output.unwrap().success());
        let module = vmfb::Module::open(&module).unwrap();
        let database = module.debug_database().expect("a debug database");
        let of_stage = stage(&answer, "bytecode");
        let uri = of_stage["uri"].as_str().unwrap();
        let shown = text(&mut client, &of_stage["uri"]).await;
        let map = database.functions.iter().find(|map| !map.locations.is_empty()).unwrap();
        let mut compared = 0;
        for (offset, index) in &map.locations {
            let mut index = *index;
            let place = loop {
                match database.location(index) {
                    vmfb::debug_database::Location::CallSite { callee, .. } => index = *callee,
                    vmfb::debug_database::Location::FileLineCol { line, column, .. } => {
                        break (*line, *column);
                    }
                    _ => break (0, 0),
                }
            };
            if place.0 == 0 {
                continue;
            }
            // The function's own lines, in its part of the text.
            let head = format!("vm.func @{}", map.local_name);
            let first = shown.lines().position(|line| line.trim_start().starts_with(&head));
            let first = first.unwrap_or_else(|| panic!("{head} in {shown}"));
            let prefix = format!("[{:08X}]", offset.0);
            let number = shown.lines().skip(first).position(|line| line.contains(&prefix));
            let found = becomes(&mut client, uri, first + number.unwrap(), 0).await;
            assert_eq!(found["places"][0]["line"], place.0, "{offset:?} {found}");
            assert_eq!(found["places"][0]["column"], place.1, "{offset:?}");
            compared += 1;
        }
        assert!(compared >= least, "{compared}");
    }
}

#[tokio::test]
async fn a_function_after_each_pass_that_changed_it() {
    let scratch = Scratch::new(SOURCE);
    let mut client = scratch.open(SOURCE, json!({})).await;
    let params = json!({"textDocument": {"uri": scratch.uri}, "function": "odd name"});
    let answer = client.ask("iree-dbg/passes", params).await;
    let passes =
        answer["result"]["passes"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    assert!(passes.len() > 4 && answer["result"]["printed"].as_u64() > Some(passes.len() as u64));
    let mut last = String::new();
    for pass in &passes {
        let shown = text(&mut client, &pass["uri"]).await;
        assert!(shown.contains("odd name") && !shown.contains("@main") && shown != last, "{shown}");
        assert!(!shown.contains(" loc("), "{shown}");
        last = shown;
    }
    let names: Vec<&str> = passes.iter().map(|pass| pass["pass"].as_str().unwrap()).collect();
    assert!(names.iter().any(|name| name.contains("Inliner")), "{names:?}");
    // Its lines lead to the source.
    let uri = passes[0]["uri"].as_str().unwrap();
    let first = text(&mut client, &passes[0]["uri"]).await;
    let line = first.lines().position(|line| line.contains("arith.muli")).unwrap();
    let found = becomes(&mut client, uri, line, 0).await;
    assert_eq!(found["source"][0]["range"]["start"]["line"], 6);
    let none = json!({"textDocument": {"uri": scratch.uri}, "function": "nothing"});
    let none = client.ask("iree-dbg/passes", none).await;
    assert!(none["error"]["message"].as_str().unwrap().contains("@nothing"), "{none}");
}

#[tokio::test]
async fn what_is_not_saved_is_compiled_as_it_is() {
    let scratch = Scratch::new("not saved\n");
    let text = SOURCE.replace("%b: tensor", "%b : tensor");
    let mut client = scratch.open(&text, json!({})).await;
    let found = becomes(&mut client, &scratch.uri, 6, 4).await;
    assert_eq!(found["source"][0]["uri"], scratch.uri);
    assert_eq!(found["source"][0]["range"]["start"]["line"], 6);
    let uri = stage(&found, "vm")["lines"][0]["uri"].as_str().unwrap().to_owned();
    let line = stage(&found, "vm")["lines"][0]["range"]["start"]["line"].as_u64().unwrap();
    // Once the source has changed, a stage says so.
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    client.change(&scratch.uri, 2, json!([{"range": range, "text": "// new\n"}])).await;
    let found = becomes(&mut client, &uri, line as usize, 0).await;
    assert_eq!(found["isStale"], true);
}

#[tokio::test]
async fn problems_have_a_way_out() {
    let scratch = Scratch::new(SOURCE);
    let ask = async |text: &str, settings: Value| {
        let mut client = scratch.open(text, settings).await;
        let params = json!({"textDocument": {"uri": scratch.uri}});
        let error = client.ask("iree-dbg/stages", params).await["error"].clone();
        (error["message"].as_str().unwrap().to_owned(), error["data"]["setting"].clone())
    };
    let (message, setting) = ask(SOURCE, json!({"ireeCompile": "/nowhere/iree-compile"})).await;
    assert!(message.contains("/nowhere/iree-compile"), "{message}");
    assert_eq!(setting, "ireeCompile");
    let (message, _) = ask(SOURCE, json!({"trusted": false})).await;
    assert!(message.contains("trust"), "{message}");
    let wrong = SOURCE.replace("arith.muli %n", "arith.muli %nothing");
    let (message, setting) = ask(&wrong, json!({})).await;
    let place = format!("{}:7:19: error: use of undeclared", scratch.source.display());
    assert!(message.contains(&place) && !message.contains("cache"), "{message}");
    assert_eq!(setting, "compilerFlags");
    let (message, _) = ask(SOURCE, json!({"compilerFlags": ["--mlir-print-ir-after-all"]})).await;
    assert!(message.contains("--mlir-print-ir-after-all"), "{message}");
    // Texts leave the cache; then the URI says so.
    let mut client = scratch.open(SOURCE, json!({})).await;
    let gone = format!("iree-ir:/x.mlir/6.flow.mlir?{}", "0".repeat(32));
    let answer = client.ask("iree-dbg/textDocumentContent", json!({"uri": gone})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("no longer in the cache"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_cancelled_compilation_ends() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new(SOURCE);
    let compiler = scratch.folder.path().join("iree-compile");
    let marker = scratch.folder.path().join("running");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'compiler version 3.13.0 @ x'; exit; fi\n\
         echo $$ > '{}'\nsleep 600 & wait\n",
        marker.display()
    );
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = scratch.open(SOURCE, json!({"ireeCompile": compiler})).await;
    let params = json!({"textDocument": {"uri": scratch.uri}});
    let id = client.send("iree-dbg/stages", params).await;
    let wait = async |holds: &dyn Fn() -> bool| {
        for _ in 0..3000 {
            if holds() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("this takes too long");
    };
    wait(&|| std::fs::read_to_string(&marker).is_ok_and(|text| text.ends_with('\n'))).await;
    // The server answers other requests meanwhile.
    assert!(!client.hover(&scratch.uri, 0, 12).await.is_null());
    client.notify("$/cancelRequest", json!({"id": id})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32800);
    let process = std::fs::read_to_string(&marker).unwrap();
    let process = PathBuf::from("/proc").join(process.trim());
    wait(&|| !process.exists()).await;
    let left = || std::fs::read_dir(scratch.cache().join("stages")).unwrap().count();
    wait(&|| left() == 0).await;
}

/// The parser of `stablehlo.reduce` takes the place after the operation's name.
#[tokio::test]
async fn operations_are_found_anywhere_in_their_text() {
    let source = "\
func.func @sums(%x: tensor<2x4xf32>, %zero: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %x : tensor<2x4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
";
    let scratch = Scratch::new(source);
    let mut client = scratch.open(source, json!({})).await;
    stages(&mut client, &scratch.uri, Value::Null).await;
    for (line, wanted) in [(1, "math.tanh"), (2, "arith.addf")] {
        let found = becomes(&mut client, &scratch.uri, line, 8).await;
        for name in ["input", "flow"] {
            let shown = texts(stage(&found, name));
            assert!(shown.iter().any(|text| text.contains(wanted)), "{name}: {shown:?}");
        }
        let other = if line == 1 { "arith.addf" } else { "math.tanh" };
        let shown = texts(stage(&found, "input"));
        assert!(shown.iter().all(|text| !text.contains(other)), "{shown:?}");
    }
}

/// A request is cancelled while the server waits for the client to begin to show its progress: the
/// client's answer comes after that, and nothing waits for it.
#[tokio::test]
async fn an_answer_after_a_cancelled_request_changes_nothing() {
    let scratch = Scratch::new(SOURCE);
    let shows = json!({"window": {"workDoneProgress": true}});
    let options = json!({"cacheFolder": scratch.cache(), "compilerFlags": FLAGS});
    let (mut client, _) = Client::initialized(shows, options).await;
    client.open(&scratch.uri, SOURCE).await;
    let is_asked = |it: &Value| it["method"] == "window/workDoneProgress/create";
    let id = client.send("iree-dbg/stages", json!({"textDocument": {"uri": scratch.uri}})).await;
    while !client.notifications.iter().any(is_asked) {
        client.receive().await;
    }
    client.notify("$/cancelRequest", json!({"id": id})).await;
    let answer = client.answer(id).await;
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    let asked = client.notifications.iter().find(|it| is_asked(it)).expect("asked").clone();
    client.respond(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": null})).await;
    let hover = client.hover(&scratch.uri, 1, 8).await;
    assert!(hover.is_object(), "{hover}");
}
