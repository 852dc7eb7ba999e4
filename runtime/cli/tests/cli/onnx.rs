//! ONNX models on the command line: which importer runs, and what is said where none can. What the
//! importer makes of a model is tested with the real one, by `tests/python/onnx_models.py`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use support::text;

use crate::program::IREE_DBG;

/// An importer that says how it was called, and writes a text that returns 6.
const IMPORTER: &str = r#"#!/bin/sh
echo "imports $*"  >> ROOT/calls
while [ "$1" != -o ]; do shift; done
printf 'func.func @main() -> i32 {\n  %%c = arith.constant 6 : i32\n  return %%c : i32\n}\n' > "$2"
"#;

fn write_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
    fs::write(path, script).expect("it is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// A project with a model, and a folder `tools` with the compiler that the tests run with.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a scratch folder");
    fs::create_dir_all(root.path().join("project")).expect("it is made");
    fs::create_dir_all(root.path().join("tools")).expect("it is made");
    fs::write(root.path().join("project/model.onnx"), b"a model").expect("it is written");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).map(|it| it.join("iree-compile"));
    let compiler = folders.find(|it| it.is_file()).expect("iree-compile is on the PATH");
    let link = root.path().join("tools/iree-compile");
    // A script of its own: beside a link's target lies the real importer.
    write_program(&link, &format!("#!/bin/sh\nexec {} \"$@\"\n", compiler.display()));
    root
}

fn importer(root: &Path) -> String {
    IMPORTER.replace("ROOT", &root.display().to_string())
}

/// Runs the program in the project, with the compiler in `tools` and no other tools of IREE.
fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = IREE_DBG.command();
    command.args(arguments).current_dir(root.join("project"));
    command.env("XDG_CONFIG_HOME", root.join("settings")).env("PATH", "/usr/bin:/bin");
    command.env("IREE_COMPILE", root.join("tools/iree-compile"));
    command.env_remove("VIRTUAL_ENV").env_remove("IREE_IMPORT_ONNX").env_remove("PYTHONPATH");
    command
}

fn said(root: &Path, arguments: &[&str]) -> String {
    let output = command(root, arguments).output().expect("it starts");
    text(&output.stdout) + &text(&output.stderr)
}

/// The calls of the importer since this was asked last.
fn calls(root: &Path) -> usize {
    let calls = fs::read_to_string(root.join("calls")).unwrap_or_default();
    let _ = fs::remove_file(root.join("calls"));
    calls.lines().count()
}

const COMPILE: &[&str] = &["compile", "model.onnx", "-o", "model.vmfb"];

#[test]
fn models_are_compiled_run_and_debugged() {
    let root = project();
    let root = root.path();
    write_program(&root.join("tools/iree-import-onnx"), &importer(root));
    let made = said(root, &["compile", "--opset-version", "17", "model.onnx", "-o", "model.vmfb"]);
    let lines: Vec<&str> = made.lines().collect();
    assert_eq!(lines.len(), 3, "{made}");
    assert!(lines[0].ends_with("model.vmfb") && lines[1].ends_with("model.vmfb.debug"), "{made}");
    assert_eq!(lines[2], "model.onnx.mlir");
    let call = fs::read_to_string(root.join("calls")).expect("it has run");
    let model = root.join("project/model.onnx");
    let expected = format!("imports {} --opset-version=17 -o ", model.display());
    assert!(call.starts_with(&expected), "{call}");
    assert_eq!(calls(root), 1);
    let result = said(root, &["run", "model.onnx"]);
    assert_eq!(result, "EXEC @main\nresult[0]: i32=6\n");
    let session = ["debug", "model.onnx", "--batch", "-ex", "break main", "-ex", "run"];
    let session = said(root, &session);
    assert!(session.contains("model.onnx.mlir:"), "{session}");
    assert_eq!(calls(root), 2);
    // What `run` and `debug` have made is gone, and beside the model lies what `compile` has made.
    let mut left: Vec<String> = fs::read_dir(root.join("project"))
        .expect("it is there")
        .map(|it| it.expect("it is there").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["model.onnx", "model.onnx.mlir", "model.vmfb", "model.vmfb.debug"]);
}

#[test]
fn an_import_is_written_anew_and_other_texts_are_not() {
    let root = project();
    let root = root.path();
    write_program(&root.join("tools/iree-import-onnx"), &importer(root));
    let import = root.join("project/model.onnx.mlir");
    for _ in 0..2 {
        said(root, COMPILE);
        let text = fs::read_to_string(&import).expect("it is written");
        assert!(text.ends_with("whenever its model is compiled: model.onnx\n"), "{text}");
    }
    assert_eq!(calls(root), 2);
    fs::write(&import, "// mine\n").expect("it is written");
    let refused = said(root, COMPILE);
    assert!(refused.contains("model.onnx.mlir, which is no import of iree-dbg"), "{refused}");
    assert_eq!(fs::read_to_string(&import).expect("it is there"), "// mine\n");
    assert_eq!(calls(root), 0);
}

#[test]
fn a_missing_importer_is_named() {
    let root = project();
    let root = root.path();
    // Python takes modules from where it is started, so nothing beside a model is a module to it.
    let module = "project/iree/compiler/tools/import_onnx.py";
    for package in ["project/iree", "project/iree/compiler", "project/iree/compiler/tools"] {
        fs::create_dir_all(root.join(package)).expect("it is made");
        fs::write(root.join(package).join("__init__.py"), "").expect("it is written");
    }
    let theirs = format!("open({:?}, 'w').close()\n", root.join("calls"));
    fs::write(root.join(module), theirs).expect("it is written");
    for arguments in [COMPILE, &["run", "model.onnx"], &["debug", "model.onnx", "--batch"]] {
        let told = said(root, arguments);
        assert!(told.starts_with("error: cannot find iree-import-onnx, which imports"), "{told}");
        assert!(told.contains("`pip install \"iree-base-compiler[onnx]\"`"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    assert!(!root.join("calls").exists());
    // One that is there may lack what it needs.
    let fails = "#!/bin/sh\necho 'Traceback (most recent call last):' >&2\n\
                 echo '  File \"a.py\", line 1' >&2\n\
                 echo \"ModuleNotFoundError: it requires the package onnx\" >&2\nexit 1\n";
    write_program(&root.join("tools/iree-import-onnx"), fails);
    let told = said(root, COMPILE);
    let importer = root.join("tools/iree-import-onnx");
    let expected = format!(
        "error: {} cannot run (it requires the package onnx); install what it needs with `pip \
         install \"iree-base-compiler[onnx]\"`\n",
        importer.display()
    );
    assert_eq!(told, expected);
    // And what it says of a model is told without the calls of Python that led to it.
    write_program(&importer, &fails.replace("ModuleNotFoundError", "ValidationError"));
    let told = said(root, COMPILE);
    let expected = "error: model.onnx cannot be imported: ValidationError: it requires the package \
                    onnx\n";
    assert_eq!(told, expected);
    let told = said(root, &["run", "nowhere.onnx"]);
    assert!(told.starts_with("error: cannot read nowhere.onnx: "), "{told}");
}

#[test]
fn an_importer_of_a_folder_runs_once_the_folder_is_trusted() {
    let root = project();
    let root = root.path().canonicalize().expect("it is there");
    let root = root.as_path();
    let own = root.join("project/.venv/bin/iree-import-onnx");
    write_program(&own, &importer(root));
    let advice = format!("`iree-dbg trust {}/project`", root.display());
    for arguments in [COMPILE, &["run", "model.onnx"], &["debug", "model.onnx", "--batch"]] {
        let told = said(root, arguments);
        assert!(told.contains(&advice), "{arguments:?}: {told}");
        assert_eq!(calls(root), 0, "{arguments:?}");
    }
    // What the environment names is the user's choice.
    for (name, value) in [("IREE_IMPORT_ONNX", own.clone()), ("VIRTUAL_ENV", ".venv".into())] {
        command(root, COMPILE).env(name, value).output().expect("it starts");
        assert_eq!(calls(root), 1, "{name}");
    }
    said(root, &["trust", "."]);
    said(root, COMPILE);
    assert_eq!(calls(root), 1);
    // One that others may change is not run even so.
    fs::set_permissions(&own, fs::Permissions::from_mode(0o757)).expect("it is ours");
    let told = said(root, COMPILE);
    assert!(told.contains("others may write to"), "{told}");
    assert_eq!(calls(root), 0);
}
