//! Finds iree-compile, and by the same rules the programs that lie beside it.
//!
//! A program that is found is run, so the search covers only places that the user controls: what
//! the environment names, and Python environments of the user's own project. In a temporary folder
//! shared with others, or in a source tree unpacked there, a program that another user left above
//! it is not run; and one that lies in the project is not run until the user trusts the folder
//! (`crate::trust`).

use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::CompileError;
use crate::trust::is_trusted;

const NAME: &str = if cfg!(windows) { "iree-compile.exe" } else { "iree-compile" };
pub(crate) const SCRIPTS: &str = if cfg!(windows) { "Scripts" } else { "bin" };
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// Files and folders that mark the top folder of a project.
const TOPS: [&str; 3] = [".git", "pyproject.toml", ".vscode"];

/// The program to run, and the ones that were passed over.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// It was found only because it lies in the project. Otherwise it is the user's choice.
    pub(crate) is_of_project: bool,
    /// Programs that other users could have made or changed, each with the reason.
    pub(crate) ignored: Vec<String>,
}

impl Found {
    /// A program that the user has chosen.
    pub(crate) fn chosen(path: PathBuf) -> Self {
        Self { path, is_of_project: false, ignored: Vec::new() }
    }
}

/// Finds iree-compile: the file that the environment variable `IREE_COMPILE` names, else one on
/// `PATH`, else one in the active Python environment, else one in a `.venv` or `venv` of the
/// project around `directory`: that folder and the folders above it up to the one with `.git`,
/// `pyproject.toml` or `.vscode`. A compiler of a project has to belong to the user or to root, and
/// its folder to be trusted.
///
/// # Errors
/// There is none, or `IREE_COMPILE` names no file.
pub(crate) fn find(directory: Option<&Path>) -> Result<Found, CompileError> {
    if let Some(named) = env::var_os("IREE_COMPILE").filter(|named| !named.is_empty()) {
        let path = PathBuf::from(&named);
        return if path.is_file() {
            Ok(Found::chosen(path))
        } else {
            let tried = format!("IREE_COMPILE={}", named.to_string_lossy());
            Err(CompileError::NoCompiler { tried })
        };
    }
    search(NAME, directory).map_err(|nowhere| {
        let tried = format!("IREE_COMPILE, {nowhere}");
        CompileError::NoCompiler { tried }
    })
}

/// A program that has no variable of its own: on `PATH`, in the active Python environment, or in
/// the project around `directory`. The error says where it was looked for.
pub(crate) fn search(name: &str, directory: Option<&Path>) -> Result<Found, String> {
    let on_path = env::var_os("PATH").unwrap_or_default();
    let active =
        env::var_os("VIRTUAL_ENV").map(|environment| Path::new(&environment).join(SCRIPTS));
    let named = env::split_paths(&on_path).chain(active).map(|folder| folder.join(name));
    // The environment is the user's choice, so its programs are trusted.
    let is_program = |candidate: &PathBuf| candidate.is_file() && !is_this_program(candidate);
    if let Some(path) = { named }.find(is_program) {
        return Ok(Found::chosen(path));
    }
    let here = env::current_dir().unwrap_or_default();
    let directory = directory.map_or_else(|| here.clone(), |directory| here.join(directory));
    let (path, ignored) = in_project(name, &directory, &is_trusted);
    match path {
        Some(path) => Ok(Found { path, is_of_project: true, ignored }),
        None => Err(tried(&on_path, &directory, &ignored)),
    }
}

/// The folder whose compiler would be run in `directory` if the user trusted it.
#[must_use]
pub fn waits_for_trust(directory: &Path) -> Option<PathBuf> {
    if find(Some(directory)).is_ok() {
        return None;
    }
    let would_run = |folder: &&Path| in_project(NAME, folder, &|_| true).0.is_some();
    project(directory).find(would_run).map(Path::to_owned)
}

/// Whether a file is the running program, which may have iree-compile's name: it cannot compile.
fn is_this_program(candidate: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let own = env::current_exe().ok().and_then(|path| real(&path));
    own.is_some() && own == real(candidate)
}

/// The iree-compile that a compilation in `directory` would run.
///
/// # Errors
/// There is none, or `IREE_COMPILE` names no file.
pub fn find_compiler(directory: &Path) -> Result<PathBuf, CompileError> {
    find(Some(directory)).map(|found| found.path)
}

/// The program of the project around a directory, and the ones that cannot be trusted.
fn in_project(
    name: &str,
    directory: &Path,
    is_trusted: &dyn Fn(&Path) -> bool,
) -> (Option<PathBuf>, Vec<String>) {
    let mut ignored = Vec::new();
    for folder in project(directory) {
        for environment in ENVIRONMENTS {
            let environment = folder.join(environment);
            let candidate = environment.join(SCRIPTS).join(name);
            if !candidate.is_file() {
                continue;
            }
            let reason = distrust(folder, &environment, &candidate)
                .or_else(|| (!is_trusted(folder)).then(|| not_yet_trusted(folder)));
            match reason {
                None => return (Some(candidate), ignored),
                Some(reason) => ignored.push(format!("{}: {reason}", candidate.display())),
            }
        }
    }
    (None, ignored)
}

/// What to do about a program that came with its folder.
fn not_yet_trusted(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "its folder is not trusted; if it is yours, say `iree-dbg trust {folder}`, or activate its \
         environment"
    )
}

/// A directory and the folders above it within the same project; the directory alone if nothing
/// marks the project's top.
fn project(directory: &Path) -> impl Iterator<Item = &Path> {
    let is_top = |folder: &&Path| TOPS.iter().any(|name| folder.join(name).exists());
    let top = directory.ancestors().find(is_top).unwrap_or(directory);
    directory.ancestors().take_while(move |folder| folder.starts_with(top))
}

/// Why a program should not be run: another user could have put it there.
#[cfg(unix)]
fn distrust(folder: &Path, environment: &Path, compiler: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    /// Other users may create files here, but cannot replace the user's files.
    const STICKY: u32 = 0o1000;

    let user = rustix::process::geteuid().as_raw();
    let scripts = environment.join(SCRIPTS);
    let links = [environment, &scripts, compiler].map(|path| (path, path.symlink_metadata()));
    let places = [folder, environment, &scripts, compiler].map(|path| (path, path.metadata()));
    for (index, (path, found)) in links.into_iter().chain(places).enumerate() {
        let Ok(found) = found else { return Some(format!("{} cannot be read", path.display())) };
        // The project's folder may belong to any user, as long as its contents do not.
        let is_folder = index == 3;
        if !is_folder && found.uid() != user && found.uid() != 0 {
            return Some(format!("{} belongs to user {}", path.display(), found.uid()));
        }
        if found.is_symlink() || is_folder && found.mode() & STICKY != 0 {
            continue;
        }
        // By custom on Linux, the group with the user's own number has no other members.
        let by_group = found.mode() & 0o020 != 0 && found.gid() != 0 && found.gid() != user;
        if by_group || found.mode() & 0o002 != 0 {
            return Some(format!("others may write to {}", path.display()));
        }
    }
    None
}

#[cfg(not(unix))]
fn distrust(_folder: &Path, _environment: &Path, _compiler: &Path) -> Option<String> {
    None
}

fn tried(on_path: &OsStr, directory: &Path, ignored: &[String]) -> String {
    let folders = env::split_paths(on_path).count();
    let mut text = format!(
        "{folders} folders on PATH, and .venv/{SCRIPTS} of the project in {}",
        directory.display()
    );
    for ignored in ignored {
        let _ = write!(text, "; ignored {ignored}");
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn environment(folder: &Path) -> PathBuf {
        let scripts = folder.join(".venv").join(SCRIPTS);
        fs::create_dir_all(&scripts).unwrap();
        let compiler = scripts.join(NAME);
        fs::write(&compiler, "#!/bin/sh\n").unwrap();
        for path in [folder, &folder.join(".venv"), &scripts, &compiler] {
            set_mode(path, 0o755);
        }
        compiler
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_compiler_is_of_the_same_project() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        let models = project.join("models");
        let above = environment(root.path());
        fs::create_dir_all(&models).unwrap();
        assert_eq!(
            in_project(NAME, &models, &|_| true),
            (None, Vec::new()),
            "{above:?} is outside of the project"
        );
        fs::create_dir(project.join(".git")).unwrap();
        let own = environment(&project);
        assert_eq!(in_project(NAME, &models, &|_| true), (Some(own.clone()), Vec::new()));
        assert_eq!(in_project(NAME, &project, &|_| true), (Some(own), Vec::new()));
        assert_eq!(in_project(NAME, root.path(), &|_| true).0, Some(above));
    }

    #[test]
    fn a_compiler_that_came_with_its_folder_waits_for_trust() {
        let root = tempfile::tempdir().unwrap();
        let compiler = environment(root.path());
        let (found, ignored) = in_project(NAME, root.path(), &|_| false);
        assert_eq!(found, None);
        let expected = format!("say `iree-dbg trust {}`", root.path().display());
        assert!(ignored[0].contains(&expected), "{ignored:?}");
        let (found, ignored) = in_project(NAME, root.path(), &|folder| folder == root.path());
        assert_eq!((found, ignored.len()), (Some(compiler), 0));
    }

    #[test]
    fn a_compiler_that_others_may_change_is_ignored() {
        let root = tempfile::tempdir().unwrap();
        let compiler = environment(root.path());
        let scripts = compiler.parent().unwrap();
        for path in [&compiler, scripts, &root.path().join(".venv"), root.path()] {
            for mode in [0o757, 0o777] {
                set_mode(path, mode);
                let (found, ignored) = in_project(NAME, root.path(), &|_| true);
                assert_eq!(found, None, "{}", path.display());
                let expected = format!("others may write to {}", path.display());
                assert!(ignored[0].ends_with(&expected), "{ignored:?}");
            }
            set_mode(path, 0o755);
        }
        // In a shared temporary folder, other users can create files but not replace the user's
        // own.
        set_mode(root.path(), 0o1777);
        assert_eq!(in_project(NAME, root.path(), &|_| true).0, Some(compiler.clone()));
        let text = tried(OsStr::new("/a:/b"), root.path(), &["x: y".to_owned()]);
        assert!(text.ends_with("; ignored x: y"), "{text}");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&compiler, Some(12345), None).unwrap();
            let (found, ignored) = in_project(NAME, root.path(), &|_| true);
            assert_eq!(found, None);
            assert!(ignored[0].ends_with("belongs to user 12345"), "{ignored:?}");
        }
    }
}
