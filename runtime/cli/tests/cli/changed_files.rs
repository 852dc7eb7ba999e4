//! Files that are written, cut short, replaced, deleted or touched during a session: the session
//! continues with the program that it has loaded, says so once, and `run` loads the new files.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use debuginfo::{Manifest, ModuleIdentity, write_debug_file};
use vmfb::FileBytes;

use crate::program::IREE_DBG;

/// A debugger that executes one command after the other.
struct Session {
    child: Child,
    commands: ChildStdin,
    printed: BufReader<ChildStdout>,
}

impl Session {
    fn of(module: &Path) -> Self {
        Self::with(module, &[])
    }

    fn with(module: &Path, arguments: &[&str]) -> Self {
        let mut child = IREE_DBG
            .command()
            .args(["debug", "--function=main"])
            .args(arguments)
            .arg(module)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the debugger starts");
        let commands = child.stdin.take().expect("a pipe");
        let printed = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, commands, printed }
    }

    /// The output of a command.
    fn tell(&mut self, command: &str) -> String {
        // A wrong command prints one line, after the output of this one.
        writeln!(self.commands, "{command}\nno-command").expect("the debugger listens");
        let mut text = String::new();
        loop {
            let mut line = String::new();
            let length = self.printed.read_line(&mut line).expect("text");
            assert!(length > 0, "the debugger has ended after `{command}`: {text}");
            if line.contains("error: ") && line.contains("no-command") {
                return text;
            }
            text += &line;
        }
    }

    fn quit(mut self) {
        writeln!(self.commands, "quit").expect("the debugger listens");
        let status = self.child.wait().expect("it ends");
        assert!(status.code().is_some(), "{status}");
    }
}

/// A module that computes with a number, in `count` operations.
fn module(factor: i32, operations: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut text = "vm.module @program version 0\nvm.type i32\n\nvm.export @main\n\
                    vm.func @main() -> (i32) {\n^bb0:\n"
        .to_owned();
    text += &format!("  %i0 = vm.const.i32 {factor}\n");
    text += &"  %i0 = vm.mul.i32 %i0, %i0\n".repeat(operations);
    text += "  vm.return %i0\n}\n";
    let (source, output) = (folder.path().join("m.vmasm"), folder.path().join("m.vmfb"));
    fs::write(&source, text).expect("the source is written");
    let status = IREE_DBG
        .command()
        .arg("asm")
        .args([&source, Path::new("-o"), &output])
        .status()
        .expect("the assembler starts");
    assert!(status.success());
    fs::read(output).expect("a module")
}

/// A file with a module, and a session that has stopped in its function.
fn stopped() -> (TempDir, PathBuf, Session) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.vmfb");
    fs::write(&path, module(3, 2000)).expect("the module is written");
    let mut session = Session::of(&path);
    let printed = session.tell("start");
    assert!(printed.contains("#0 main"), "{printed}");
    (folder, path, session)
}

/// Writes to the same inode, as iree-compile does.
fn rewrite(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).expect("it is there");
    file.write_all(bytes).expect("it is written");
}

/// The session has said what became of the file, and still shows and runs the loaded module.
fn goes_on(mut session: Session, expected: &str) -> Session {
    let printed = session.tell("stepi");
    assert_eq!(printed.matches(expected).count(), 1, "{expected}: {printed}");
    let printed = session.tell("disassemble");
    assert_eq!(printed.matches("vm.mul.i32").count(), 2000, "{printed:.500}");
    let printed = session.tell("continue");
    // 3 to the power of 2^2000, in 32 bits.
    assert!(printed.contains("i32=1\n"), "{printed:.500}");
    assert!(!printed.contains("note:"), "it is said once: {printed:.500}");
    session
}

#[test]
fn a_module_that_is_written_in_place_does_not_change_the_session() {
    let (_folder, path, session) = stopped();
    rewrite(&path, &module(5, 0));
    let expected = "program.vmfb has changed; the session continues with what it has loaded; `run`";
    let mut session = goes_on(session, expected);
    let printed = session.tell("run");
    assert!(printed.contains("program.vmfb has changed and was loaded again"), "{printed}");
    assert!(printed.contains("i32=5\n"), "{printed}");
    session.quit();
}

#[test]
fn a_module_that_is_cut_short_does_not_end_the_session() {
    let (_folder, path, session) = stopped();
    OpenOptions::new().write(true).open(&path).expect("it is there").set_len(100).expect("is cut");
    let mut session = goes_on(session, "program.vmfb has changed");
    let printed = session.tell("run");
    assert!(printed.contains("cut short"), "{printed}");
    rewrite(&path, &module(7, 0));
    assert!(session.tell("run").contains("i32=7\n"));
    session.quit();
}

#[test]
fn a_module_that_is_replaced_is_noticed() {
    let (folder, path, session) = stopped();
    let other = folder.path().join("other.vmfb");
    fs::write(&other, module(5, 0)).expect("the other is written");
    fs::rename(&other, &path).expect("it takes the name");
    goes_on(session, "program.vmfb has changed").quit();
}

#[test]
fn a_module_that_is_deleted_is_noticed() {
    let (_folder, path, session) = stopped();
    fs::remove_file(&path).expect("it is there");
    let mut session = goes_on(session, "program.vmfb no longer exists");
    let printed = session.tell("run");
    assert!(printed.contains("error: ") && printed.contains("cannot read"), "{printed}");
    session.quit();
}

#[test]
fn a_module_that_is_touched_is_the_same() {
    let (_folder, path, mut session) = stopped();
    rewrite(&path, &module(3, 2000));
    let printed = session.tell("stepi") + &session.tell("continue");
    assert!(!printed.contains("note:"), "{printed}");
    session.quit();
}

#[test]
fn a_debug_file_that_changes_is_noticed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    let module = FileBytes::from(fs::read(example.join("newton.vmfb")).expect("the example"));
    fs::write(folder.path().join("newton.vmfb"), module.owned()).expect("it is written");
    let text = fs::read(example.join("newton.companion.mlir")).expect("its companion");
    let debug_file = folder.path().join("newton.vmfb.debug");
    let manifest = Manifest::new(ModuleIdentity::of(&module).expect("it is in memory"));
    let file = fs::File::create(&debug_file).expect("the debug file is made");
    write_debug_file(file, &manifest, [("companion.mlir", &text[..])]).expect("it is written");
    let mut session =
        Session::with(&folder.path().join("newton.vmfb"), &["--input=2", "--input=3"]);
    session.tell("start");
    rewrite(&debug_file, b"nonsense");
    let printed = session.tell("bt");
    assert!(printed.contains("newton.vmfb.debug has changed"), "{printed}");
    assert!(printed.contains("at newton.mlir:"), "{printed}");
    session.quit();
}

/// The constants of a large module stay in its file. The session says that they may be wrong, and
/// survives.
#[test]
fn large_constants_that_are_cut_off_are_reported() {
    const LENGTH: usize = 40 << 20;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("large.vmfb");
    let source = folder.path().join("large.mlir");
    let text = format!(
        "vm.module @program {{\n  vm.rodata private @bytes dense<7> : vector<{LENGTH}xi8>\n  \
         vm.export @main\n  vm.func @main() -> i32 {{\n    \
         %bytes = vm.const.ref.rodata @bytes : !vm.buffer\n    \
         %last = vm.const.i64 {}\n    \
         %byte = vm.buffer.load.i8.u %bytes[%last] : !vm.buffer -> i32\n    \
         vm.return %byte : i32\n  }}\n}}\n",
        LENGTH - 1
    );
    fs::write(&source, text).expect("the source is written");
    let status = Command::new("iree-compile")
        .args(["--compile-mode=vm", "-o"])
        .args([&path, &source])
        .status()
        .expect("iree-compile starts");
    assert!(status.success());

    let mut session = Session::of(&path);
    session.tell("start");
    OpenOptions::new().write(true).open(&path).expect("it is there").set_len(5000).expect("is cut");
    let printed = session.tell("continue");
    assert!(printed.contains("i32=0\n"), "{printed}");
    assert!(printed.contains("values are wrong from here on"), "{printed}");
    session.quit();
}
