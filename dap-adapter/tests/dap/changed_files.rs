//! Files that change during a session.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::client::Client;
use crate::program::{call, line, module, source};

/// A client of a program that has its own file and has stopped at a line.
fn stopped() -> (TempDir, PathBuf, Client) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program.vmfb");
    fs::copy(module(), &path).unwrap();
    let debug_file = |path: &Path| PathBuf::from(format!("{}.debug", path.display()));
    fs::copy(debug_file(&module()), debug_file(&path)).unwrap();
    let mut arguments = call("sum", &["3"]);
    arguments["program"] = json!(path);
    let mut client = Client::new();
    client.launch_to_line(&arguments, &source(), line("adding"));
    (folder, path, client)
}

/// Writes to the same inode, as iree-compile does.
fn rewrite(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Steps to the next line of the program as it was loaded.
fn next(client: &mut Client) {
    client.request("next", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top().0, "sum");
}

#[test]
fn a_changed_module_is_reported_once_and_a_restart_loads_it() {
    let (_folder, path, mut client) = stopped();
    rewrite(&path, b"no module at all");
    next(&mut client);
    next(&mut client);
    let printed = client.printed("important");
    assert_eq!(printed.matches("program.vmfb has changed").count(), 1, "{printed}");
    assert!(printed.contains("restart to load it again"), "{printed}");
    let error = client.fails("restart", &json!({}));
    assert!(error.contains("not an IREE VM module"), "{error}");
    client.ends(1);
    client.disconnect();
}

#[test]
fn a_module_may_be_cut_short_replaced_or_deleted() {
    let cut =
        |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap();
    let replace = |path: &Path| {
        let other = path.with_extension("other");
        fs::write(&other, b"another").unwrap();
        fs::rename(other, path).unwrap();
    };
    let delete = |path: &Path| fs::remove_file(path).unwrap();
    let cases = [
        (cut as fn(&Path), "program.vmfb has changed"),
        (replace, "program.vmfb has changed"),
        (delete, "program.vmfb no longer exists"),
    ];
    for (change, expected) in cases {
        let (_folder, path, mut client) = stopped();
        change(&path);
        next(&mut client);
        let printed = client.printed("important");
        assert!(printed.contains(expected), "{printed}");
        client.request("setBreakpoints", &json!({"source": {"path": source()}}));
        client.request("continue", &json!({"threadId": 1}));
        client.ends(0);
        client.disconnect();
    }
}

#[test]
fn what_is_asked_at_a_stop_is_preceded_by_the_news() {
    let (_folder, path, mut client) = stopped();
    rewrite(&path, b"no module at all");
    client.top();
    assert!(client.printed("important").contains("has changed"));
    client.disconnect_from_stop();
}

#[test]
fn a_module_that_is_only_touched_is_the_same() {
    let (_folder, path, mut client) = stopped();
    let bytes = fs::read(&path).unwrap();
    rewrite(&path, &bytes);
    next(&mut client);
    assert_eq!(client.printed("important"), "");
    client.disconnect_from_stop();
}
