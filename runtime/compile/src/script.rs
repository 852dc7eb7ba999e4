//! Programs that pip installs are scripts: `bin/iree-compile` starts a Python that starts the
//! program of the package, and waits for it. That takes 0.2 to 0.5 s before anything is compiled.
//! Where a script does nothing else, the program itself is started.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The longest script that is read.
const MOST: u64 = 4096;

/// What the script of a program imports, in each release since 2023: a function that passes its
/// arguments on to what `binaries.find_tool` has found.
fn imports(name: &str) -> String {
    format!("from iree.compiler.tools.scripts.{}.__main__ import main", name.replace('-', "_"))
}

/// The program that a script of IREE's compiler package starts; other paths as they are.
///
/// The package looks in `IREE_TOOL_PATH` first: where that is set, the script decides.
#[must_use]
pub fn without_script(path: &Path) -> Cow<'_, Path> {
    if std::env::var_os("IREE_TOOL_PATH").is_some() {
        return Cow::Borrowed(path);
    }
    packaged(path).map_or(Cow::Borrowed(path), Cow::Owned)
}

fn packaged(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    // The path may be a link to the script, as those of pipx are.
    let script = path.canonicalize().ok()?;
    let mut text = Vec::new();
    std::fs::File::open(&script).ok()?.take(MOST).read_to_end(&mut text).ok()?;
    let text = std::str::from_utf8(&text).ok().filter(|it| it.starts_with("#!"))?;
    if !text.contains(&imports(name)) {
        return None;
    }
    let libraries = script.parent()?.parent()?.join("lib");
    let is_of_python = |name: &OsStr| name.to_str().is_some_and(|it| it.starts_with("python3"));
    let pythons = std::fs::read_dir(libraries).ok()?.flatten();
    let pythons = pythons.map(|it| it.path()).filter(|it| it.file_name().is_some_and(is_of_python));
    let packages = pythons.flat_map(|it| ["site-packages", "dist-packages"].map(|of| it.join(of)));
    let programs = packages.map(|it| it.join("iree/compiler/_mlir_libs").join(name));
    let mut programs = programs.filter(|it| it.is_file());
    let program = programs.next()?;
    // Of several Pythons, the script knows which is meant.
    programs.next().is_none().then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "#!/env/bin/python3\nimport sys\n\
                          from iree.compiler.tools.scripts.iree_opt.__main__ import main\n\
                          sys.exit(main())\n";

    fn environment(script: &str, programs: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("bin/iree-opt", script);
        for python in programs {
            write(&format!("lib/{python}/iree/compiler/_mlir_libs/iree-opt"), "a program");
        }
        root
    }

    fn started(root: &tempfile::TempDir) -> PathBuf {
        let root = root.path().canonicalize().unwrap();
        let found = packaged(&root.join("bin/iree-opt"));
        found.map(|it| it.strip_prefix(&root).unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_script_of_the_package_stands_for_its_program() {
        let program = "lib/python3.12/site-packages/iree/compiler/_mlir_libs/iree-opt";
        let one = environment(SCRIPT, &["python3.12/site-packages"]);
        assert_eq!(started(&one), PathBuf::from(program));
        let systems = environment(SCRIPT, &["python3/dist-packages"]);
        assert!(started(&systems).starts_with("lib/python3/dist-packages"));
    }

    #[test]
    fn what_is_not_known_is_started_as_it_is() {
        for (script, pythons) in [
            (SCRIPT, &[][..]),
            (SCRIPT, &["python3.11/site-packages", "python3.12/site-packages"]),
            ("#!/bin/sh\nexec /opt/iree-opt \"$@\"\n", &["python3.12/site-packages"]),
            ("\u{7f}ELF", &["python3.12/site-packages"]),
        ] {
            assert_eq!(started(&environment(script, pythons)), PathBuf::new(), "{script}");
        }
        assert_eq!(packaged(Path::new("/no/such/iree-opt")), None);
    }
}
