//! What files say never commands a terminal, whichever command prints it.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::hostile_recordings::{MODULE, launch, plain_inputs, recording};
use crate::program::IREE_DBG;
use crate::prompt::terminal;

/// It sets the clipboard, then the title, then clears the screen in two ways.
const HOSTILE: &str = "\x1b]52;c;aGk=\x07\x1b]0;title\x07\x1b[2J\u{9b}2J\r\u{202e}";

/// What a terminal gets of a command in a folder.
fn on_a_terminal(folder: &Path, arguments: &[&str]) -> String {
    let (master, open) = terminal();
    let mut child = IREE_DBG
        .command()
        .args(arguments)
        .current_dir(folder)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(open())
        .stderr(open())
        .spawn()
        .expect("it starts");
    let reader = std::thread::spawn(move || {
        let mut printed = Vec::new();
        let mut bytes = [0; 4096];
        let mut master = fs::File::from(master);
        // The terminal is gone when its last writer is.
        while let Ok(count @ 1..) = master.read(&mut bytes) {
            printed.extend_from_slice(&bytes[..count]);
        }
        String::from_utf8_lossy(&printed).into_owned()
    });
    child.wait().expect("it ends");
    reader.join().expect("it does not panic")
}

/// The files: a recording whose launch and end say it, and a module whose failure does.
fn files(folder: &Path) {
    let mut hostile = launch(&[(0, None)], &plain_inputs());
    hostile["version"] = HOSTILE.into();
    hostile["inputs"][1]["text"] = HOSTILE.into();
    fs::write(folder.join("run"), recording(&[(HOSTILE, MODULE)], &hostile)).expect("written");
    let escaped: String = HOSTILE.bytes().map(|byte| format!("\\{byte:02X}")).collect();
    let module = format!(
        "vm.module @m version 0\nvm.type i32\n\nvm.export @f\nvm.func @f(%i0: i32) -> (i32) \
         {{\n^bb0:\n  %i1 = vm.const.i32 3\n  vm.fail %i1, \"{escaped}\"\n}}\n"
    );
    fs::write(folder.join("m.vmasm"), module).expect("written");
}

#[test]
fn files_do_not_command_a_terminal() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    files(folder);
    let made = IREE_DBG.run(folder, &["asm", "m.vmasm", "--output=m.vmfb"]);
    assert!(made.status.success(), "{made:?}");
    let commands: [&[&str]; 6] = [
        &["debug", "--batch", "-ex", "info modules", "-ex", "run", "run"],
        &["debug", "--batch", "-ex", "run", "-ex", "disas f", "--input=1", "m.vmfb"],
        &["run", "--module=m.vmfb", "--function=f", "--input=1"],
        &["dump", "m.vmfb"],
        &["dump", "--output=disassembly", "m.vmfb"],
        &["verify", "m.vmfb"],
    ];
    let mut seen = 0;
    for arguments in commands {
        let printed = on_a_terminal(folder, arguments);
        let is_command = |it: char| {
            it.is_control() && !matches!(it, '\n' | '\t' | '\r') || matches!(it, '\u{202e}')
        };
        assert!(!printed.contains(is_command), "{arguments:?}: {printed:?}");
        // A terminal itself begins lines.
        assert!(!printed.replace("\r\n", "").contains('\r'), "{arguments:?}: {printed:?}");
        seen += printed.matches("\\u{1b}]52;c;aGk=").count();
    }
    assert!(seen >= 3, "{seen}");
}
