//! Compilers: the one in `.venv`, through our driver or alone, and other releases, which are
//! installed on demand.

use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::tools::{finish, iree_dbg, repository};

/// How a program becomes a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// `iree-dbg compile`, with the companion.
    Companion,
    /// iree-compile of this release alone; `None` means the one in `.venv`.
    Plain(Option<String>),
}

impl Mode {
    /// `companion`, `plain`, or a release.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "companion" => Self::Companion,
            "plain" => Self::Plain(None),
            release => Self::Plain(Some(release.to_owned())),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Companion => "companion",
            Self::Plain(None) => "plain",
            Self::Plain(Some(release)) => release,
        }
    }

    pub(crate) fn is_of_today(&self) -> bool {
        !matches!(self, Self::Plain(Some(_)))
    }
}

const FLAGS: [&str; 1] = ["--iree-input-demote-f64-to-f32=false"];
const DEVICE: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];
/// The flag's name before release 3.3.
const OLD_DEVICE: [&str; 1] = ["--iree-hal-target-backends=vmvx"];

/// The compilers of a run.
pub(crate) struct Compilers {
    today: PathBuf,
    debugger: PathBuf,
    others: Vec<(String, PathBuf)>,
}

impl Compilers {
    /// Finds the compilers of these modes, and installs missing ones.
    pub(crate) fn of(modes: &[Mode]) -> Result<Self, String> {
        let today = program_in(&repository().join(".venv"))?;
        let mut others = Vec::new();
        for mode in modes {
            if let Mode::Plain(Some(release)) = mode {
                others.push((release.clone(), install(release)?));
            }
        }
        Ok(Self { today, debugger: iree_dbg()?, others })
    }

    /// The path of our debugger.
    pub(crate) fn debugger(&self) -> &Path {
        &self.debugger
    }

    /// Compiles a source. The error is the compiler's.
    pub(crate) fn compile(&self, mode: &Mode, source: &Path, module: &Path) -> Result<(), String> {
        let mut command = match mode {
            Mode::Companion => {
                let mut command = Command::new(&self.debugger);
                command.arg("compile").arg("--iree-compile").arg(&self.today);
                command.arg(source).arg("-o").arg(module).arg("--").args(FLAGS);
                command
            }
            Mode::Plain(release) => {
                let other = self.others.iter().find(|it| Some(&it.0) == release.as_ref());
                let mut command = Command::new(other.map_or(&self.today, |it| &it.1));
                command.arg(source).arg("-o").arg(module).args(FLAGS);
                match release.as_deref() {
                    Some("3.1.0" | "3.2.0") => command.args(OLD_DEVICE),
                    _ => command.args(DEVICE),
                };
                command
            }
        };
        let finished = finish(&mut command)?;
        if finished.status == Some(0) { Ok(()) } else { Err(finished.stderr) }
    }
}

/// Installs a release in its own folder, with pip.
fn install(release: &str) -> Result<PathBuf, String> {
    let folder = repository().join("target/compilers").join(release);
    if let Ok(program) = program_in(&folder) {
        return Ok(program);
    }
    let run = |command: &mut Command| {
        let finished = finish(command)?;
        match finished.status {
            Some(0) => Ok(()),
            _ => Err(format!("{command:?} failed:\n{}", finished.stderr)),
        }
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let package = format!("iree-base-compiler=={release}");
    run(Command::new(folder.join("bin/pip")).args(["install", "--quiet", &package]))?;
    program_in(&folder)
}

/// The compiler itself, not the script that starts it ten times slower.
fn program_in(environment: &Path) -> Result<PathBuf, String> {
    let pythons = std::fs::read_dir(environment.join("lib"));
    let pythons = pythons.into_iter().flatten().filter_map(Result::ok);
    let candidate = pythons
        .map(|python| python.path().join("site-packages/iree/compiler/_mlir_libs/iree-compile"))
        .find(|program| program.is_file());
    candidate.ok_or_else(|| {
        format!(
            "iree-compile is not in {}; run: python3 -m venv .venv && .venv/bin/pip install -r \
             tests/requirements.txt",
            environment.display()
        )
    })
}
