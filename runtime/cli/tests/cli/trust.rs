//! A compiler that came with a folder runs only if the folder is trusted.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use support::text;

use crate::lsp::{receive, send};
use crate::program::IREE_DBG;

/// A project with a compiler that leaves a file when it runs.
fn project(root: &Path) {
    let scripts = root.join("project/.venv/bin");
    fs::create_dir_all(&scripts).expect("a folder");
    let compiler = scripts.join("iree-compile");
    let script = format!("#!/bin/sh\ntouch {}/ran\nexit 1\n", root.display());
    fs::write(&compiler, script).expect("it is written");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::write(root.join("project/model.mlir"), "module {}\n").expect("it is written");
}

/// The program in the project, with settings of its own and without a compiler elsewhere.
fn iree_dbg(root: &Path, arguments: &[&str]) -> Command {
    let mut command = IREE_DBG.command();
    command.args(arguments).current_dir(root.join("project"));
    command.env("XDG_CONFIG_HOME", root.join("settings")).env("PATH", "/usr/bin:/bin");
    command.env_remove("VIRTUAL_ENV").env_remove("IREE_COMPILE");
    command
}

fn said(root: &Path, arguments: &[&str]) -> String {
    let output = iree_dbg(root, arguments).output().expect("it starts");
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_compiler_of_a_folder_runs_once_the_folder_is_trusted() {
    let root = tempfile::tempdir().expect("a scratch folder");
    let root = root.path().canonicalize().expect("it is there");
    project(&root);
    let has_run = || fs::remove_file(root.join("ran")).is_ok();
    let commands: [&[&str]; 2] =
        [&["compile", "model.mlir", "-o", "model.vmfb"], &["debug", "--batch", "model.mlir"]];
    let advice = format!("`iree-dbg trust {}/project`", root.display());
    for command in commands {
        let text = said(&root, command);
        assert!(text.contains(&advice) && !has_run(), "{command:?}: {text}");
    }
    // What the environment names is the user's choice.
    for (name, value) in [("IREE_COMPILE", ".venv/bin/iree-compile"), ("VIRTUAL_ENV", ".venv")] {
        let mut command = iree_dbg(&root, commands[0]);
        command.env(name, root.join("project").join(value)).output().expect("it starts");
        assert!(has_run(), "{name}");
    }
    said(&root, &["trust", "."]);
    assert_eq!(said(&root, &["trust"]), format!("{}/project\n", root.display()));
    for command in commands {
        let text = said(&root, command);
        assert!(has_run(), "{command:?}: {text}");
    }
    said(&root, &["trust", "--remove", "."]);
    said(&root, commands[0]);
    assert!(!has_run());
}

/// A session with a server that a file of the project is opened in. Returns what it has said up to
/// its end.
fn session(root: &Path, options: &str) -> String {
    let uri = format!("file://{}/project", root.display());
    let mut server = iree_dbg(root, &["lsp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = server.stdin.take().expect("its input");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let opened = r#"{"languageId": "mlir", "version": 1, "text": "module {}"}"#;
    let opened = opened.replacen('{', &format!(r#"{{"uri": "{uri}/model.mlir", "#), 1);
    send(
        &mut input,
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"capabilities":{{}},
                "initializationOptions":{options},
                "workspaceFolders":[{{"uri":"{uri}","name":"project"}}]}}}}"#
        ),
    );
    let mut said = receive(&mut output);
    send(&mut input, r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    let opened = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{opened}}}}}"#
    );
    send(&mut input, &opened);
    // The compiler that a program there would be compiled by.
    let folder = root.join("project");
    send(
        &mut input,
        &format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"iree-dbg/compiler",
                "params":{{"directory":"{}"}}}}"#,
            folder.display()
        ),
    );
    let is_asked = options == "{}";
    while !said.contains(r#""id":2"#) || is_asked && !said.contains("showMessage") {
        said += &receive(&mut output);
    }
    drop(input);
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
    said
}

#[test]
fn a_language_server_says_once_that_it_waits_for_trust() {
    let root = tempfile::tempdir().expect("a scratch folder");
    let root = root.path().canonicalize().expect("it is there");
    project(&root);
    let found = "project/.venv/bin/iree-compile\"";
    let silent = session(&root, "{}");
    assert!(silent.contains("say `iree-dbg trust") && !silent.contains(found), "{silent}");
    assert!(!root.join("ran").exists());
    // An editor that asks its user needs no list.
    let asked = session(&root, r#"{"trusted":true}"#);
    assert!(asked.contains(found) && !asked.contains("showMessage"), "{asked}");
}
