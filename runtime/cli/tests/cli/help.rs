//! `--help` of every command ends with examples, and they work: each is run in a copy of the folder
//! `example`. Completions and the manual are of all commands; `--version` says what it promises.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::text;

use crate::program::IREE_DBG;

/// Commands that talk with an editor until it leaves.
const SERVERS: [&str; 2] = ["dap", "lsp"];

fn iree_dbg(arguments: &[&str]) -> String {
    let output = IREE_DBG.command().args(arguments).output().expect("iree-dbg starts");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

/// All commands, those of `abi` as `abi explain`.
fn all_commands() -> Vec<String> {
    let mut all = commands(&iree_dbg(&["--help"]));
    assert!(all.len() >= 14, "{all:?}");
    all.extend(commands(&iree_dbg(&["abi", "--help"])).iter().map(|name| format!("abi {name}")));
    all
}

fn examples(command: &str) -> Vec<String> {
    let mut arguments: Vec<&str> = command.split(' ').collect();
    arguments.push("--help");
    let help = iree_dbg(&arguments);
    let after = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    after.map_while(|line| Some(line.strip_prefix("  ")?.to_owned())).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A copy of the examples, with the modules that commands take.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let sources = repository().join("runtime/cli/example");
    let tests = repository().join("runtime/cli/tests/check/passing.vmasm");
    let files =
        std::fs::read_dir(sources).expect("the examples").map(|entry| entry.unwrap().path());
    for path in files.chain([tests]) {
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, folder.path().join(name)).expect("the example is copied");
    }
    for line in [
        "iree-dbg compile classifier.mlir -o classifier.vmfb",
        "iree-dbg compile classifier.mlir -o native.vmfb -- --iree-hal-target-backends=llvm-cpu \
         --iree-llvmcpu-target-cpu=host",
        "iree-dbg asm --output=count.vmfb count.vmasm",
        "iree-dbg asm --output=tests.vmfb passing.vmasm",
        "iree-dbg run --module=classifier.vmfb --input=1x16xf32=0.1 --output=@probabilities.npy",
    ] {
        let output = shell(line, folder.path()).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    }
    folder
}

/// A command as a user types it, with our program first on the PATH.
fn shell(line: &str, folder: &Path) -> Command {
    let program = Path::new(IREE_DBG.path()).parent().expect("a folder");
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path = [program.to_owned()].into_iter().chain(std::env::split_paths(&before));
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).expect("a PATH"))
        .env("XDG_STATE_HOME", folder)
        .env("XDG_CONFIG_HOME", folder)
        .stdin(Stdio::null());
    command
}

fn run(line: &str, folder: &Path) -> Output {
    shell(line, folder).output().expect("a shell")
}

#[test]
fn the_examples_of_every_help_work() {
    let folder = folder();
    let mut count = 0;
    for command in all_commands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "`iree-dbg {command} --help` has no example");
        for example in examples {
            assert!(example.starts_with(&format!("iree-dbg {command}")), "{command}: {example}");
            count += 1;
            if SERVERS.contains(&command.as_str()) {
                continue;
            }
            let output = run(&example, folder.path());
            assert!(output.status.success(), "{example}: {}", text(&output.stderr));
        }
    }
    assert!(count >= 20, "{count} examples");
}

#[test]
fn the_examples_of_servers_serve() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for command in SERVERS {
        for example in examples(command) {
            if example.contains("--listen") {
                listens(&example, folder.path());
            } else {
                answers(command, &example, folder.path());
            }
        }
    }
}

/// It says where it listens.
fn listens(example: &str, folder: &Path) {
    let mut child =
        shell(&format!("exec {example}"), folder).stderr(Stdio::piped()).spawn().expect("a shell");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let listening = lines.any(|line| line.expect("a line").contains("127.0.0.1:"));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(listening, "{example}");
}

/// It answers the first request of its protocol.
fn answers(protocol: &str, example: &str, folder: &Path) {
    let request = if protocol == "dap" {
        r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"iree"}}"#
    } else {
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#
    };
    let mut child = shell(&format!("exec {example}"), folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = child.stdin.take().expect("a pipe");
    write!(input, "Content-Length: {}\r\n\r\n{request}", request.len()).expect("it reads");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut header = String::new();
    output.read_line(&mut header).expect("a line");
    let length = header.trim().strip_prefix("Content-Length: ").expect("a header");
    let mut body = vec![0; 2 + length.parse::<usize>().expect("a length")];
    output.read_exact(&mut body).expect("an answer");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(text(&body).contains("upports") || text(&body).contains("Provider"), "{example}");
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = iree_dbg(&["completions", shell]);
        for command in all_commands() {
            let last = command.rsplit(' ').next().expect("a word");
            assert!(script.contains(last), "{shell}: {command}");
        }
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let line = r#"iree-dbg completions bash > script && bash -c '
        . ./script
        complete=$(complete -p iree-dbg | sed "s/.*-F \\([^ ]*\\).*/\\1/")
        COMP_WORDS=(iree-dbg tens) COMP_CWORD=1; $complete iree-dbg tens iree-dbg; echo $COMPREPLY
    '"#;
    let output = run(line, folder.path());
    assert_eq!(text(&output.stdout).trim(), "tensors", "{}", text(&output.stderr));
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let manual = folder.path().join("manual");
    iree_dbg(&["man", &format!("--directory={}", manual.display())]);
    for command in all_commands() {
        let name = format!("iree-dbg-{}.1", command.replace(' ', "-"));
        let page = std::fs::read_to_string(manual.join(&name)).expect(&name);
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Examples:"), "{name}: {page}");
    }
    assert!(iree_dbg(&["man"]).contains("iree\\-dbg"), "the page of the program");
}

#[test]
fn the_version_tells_the_build_and_the_releases_of_iree() {
    let version = iree_dbg(&["--version"]);
    let lines: Vec<&str> = version.lines().collect();
    let first = format!("iree-dbg {} (", env!("CARGO_PKG_VERSION"));
    assert!(lines[0].starts_with(&first), "{version}");
    let newest = vmfb::newest_compiler();
    assert!(lines[1].starts_with("modules of IREE 20"), "{version}");
    assert!(lines[1].contains(&format!(" to {newest} (bytecode ")), "{version}");
    assert_eq!(iree_dbg(&["-V"]).trim(), format!("iree-dbg {}", env!("CARGO_PKG_VERSION")));
    assert!(iree_dbg(&["dump", "--version"]).contains(newest));
}
