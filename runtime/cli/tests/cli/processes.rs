//! A compiler never outlives the debugger that started it, however the debugger ends.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::IREE_DBG;

/// How many processes have a text in their command line.
pub(crate) fn count(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let lines = processes.map(|it| std::fs::read(it.path().join("cmdline")));
    lines.flatten().filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

#[track_caller]
pub(crate) fn wait_for(marker: &str, expected: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while count(marker) != expected {
        assert!(Instant::now() < deadline, "{} processes, not {expected}", count(marker));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A compiler like pip's: a script whose child does the work. Here it never ends.
fn compiler(directory: &Path, seconds: &str) -> String {
    let path = directory.join("iree-compile");
    let script = format!("#!/bin/sh\nsleep {seconds} &\nwait\n");
    std::fs::write(&path, script).expect("it is a scratch directory");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

fn say(adapter: &mut Child, seq: u32, command: &str, arguments: &str) {
    let body = format!(
        r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#
    );
    let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let input = adapter.stdin.as_mut().expect("it is piped");
    input.write_all(message.as_bytes()).expect("the adapter listens");
}

pub(crate) fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status();
    assert!(sent.expect("there is a kill").success());
}

/// Waits until a folder has nothing in it.
#[track_caller]
pub(crate) fn wait_for_nothing_in(folder: &Path, how: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let left = || -> Vec<_> { folder.read_dir().expect("a folder").flatten().collect() };
    while !left().is_empty() {
        assert!(Instant::now() < deadline, "{how} leaves {:?}", left());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Neither do its folders: they go with it.
#[test]
fn compilers_end_with_the_debugger() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let temporary = tempfile::tempdir().expect("a scratch directory");
    let source = directory.path().join("endless.mlir");
    std::fs::write(&source, "module {}\n").expect("it is a scratch directory");
    for (index, how) in ["disconnect", "cancel", "close", "-TERM", "-INT", "-HUP", "-QUIT", "-KILL"]
        .iter()
        .enumerate()
    {
        // No other process sleeps for so long.
        let seconds = format!("7{}{index}", std::process::id());
        let compiler = compiler(directory.path(), &seconds);
        // A shell makes what it starts in the background ignore SIGINT, and so would the adapter.
        let mut adapter = Command::new("env")
            .args(["--default-signal=INT,QUIT,HUP", IREE_DBG.path(), "dap"])
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary starts");
        say(&mut adapter, 1, "initialize", r#"{"adapterID":"iree"}"#);
        let source = source.display();
        let launch = format!(r#"{{"program":"{source}","ireeCompile":"{compiler}"}}"#);
        say(&mut adapter, 2, "launch", &launch);
        let marker = format!("sleep\0{seconds}");
        let deadline = Instant::now() + Duration::from_secs(60);
        while count(&marker) == 0 {
            assert!(Instant::now() < deadline, "no compiler was started");
            std::thread::sleep(Duration::from_millis(10));
        }
        match *how {
            "disconnect" => say(&mut adapter, 3, "disconnect", "{}"),
            "cancel" => say(&mut adapter, 3, "cancel", r#"{"requestId":2}"#),
            "close" => drop(adapter.stdin.take()),
            name => signal(&adapter, name),
        }
        wait_for(&marker, 0);
        drop(adapter.stdin.take());
        adapter.wait().expect("it ends");
        wait_for_nothing_in(temporary.path(), how);
    }
}
