//! Running `iree-dbg` as users do: in a folder, with arguments, and with commands at its prompt.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::text::{succeeded, text};

/// `iree-dbg`, at the path that Cargo tells the tests of its crate.
#[derive(Clone, Copy, Debug)]
pub struct Program(&'static str);

impl Program {
    /// The program at this path.
    #[must_use]
    pub const fn at(path: &'static str) -> Self {
        Self(path)
    }

    /// Its path.
    #[must_use]
    pub fn path(self) -> &'static str {
        self.0
    }

    /// A command line that begins with it.
    #[must_use]
    pub fn command(self) -> Command {
        Command::new(self.0)
    }

    /// What it prints in a folder, at its end.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Output {
        let mut command = self.command();
        command.current_dir(folder).args(arguments).output().expect("iree-dbg starts")
    }

    /// Compiles a source of a folder into a module, with more flags of iree-compile; returns the
    /// path of the module.
    ///
    /// # Panics
    /// It does not compile.
    #[track_caller]
    pub fn compile(
        self,
        folder: impl AsRef<Path>,
        source: impl AsRef<OsStr>,
        module: impl AsRef<Path>,
        flags: &[&str],
    ) -> PathBuf {
        let folder = folder.as_ref();
        let module = folder.join(module);
        let compile = [OsStr::new("compile"), source.as_ref(), OsStr::new("-o"), module.as_ref()];
        let flags = ["--"].iter().chain(flags).map(OsStr::new);
        let arguments: Vec<&OsStr> = compile.into_iter().chain(flags).collect();
        succeeded(&self.run(folder, &arguments));
        module
    }

    /// What `iree-dbg debug` prints on its standard output in a folder, given arguments and lines
    /// of commands.
    ///
    /// # Panics
    /// It does not start.
    pub fn session(
        self,
        folder: &Path,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        commands: &str,
        environment: &[(&str, &str)],
    ) -> String {
        let mut child = self
            .command()
            .current_dir(folder)
            .arg("debug")
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the debugger starts");
        let mut input = child.stdin.take().expect("it reads");
        // The session may be over at once.
        let _ = input.write_all(commands.as_bytes());
        drop(input);
        text(&child.wait_with_output().expect("it ends").stdout)
    }
}
