//! The files of the repository, as git knows them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use conformance::tools::repository;

/// A file that git tracks or would track, with its text.
pub(crate) struct Source {
    /// Relative to the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        extensions.iter().any(|extension| self.path.ends_with(&format!(".{extension}")))
    }

    /// The path with a line, counted from one, as terminals and editors link it.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{}:{}", self.path, line + 1)
    }
}

/// Every text file of the repository; generated ones are left out.
pub(crate) fn all() -> &'static [Source] {
    static ALL: OnceLock<Vec<Source>> = OnceLock::new();
    ALL.get_or_init(|| {
        let listed = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(repository())
            .output()
            .expect("git lists the files");
        assert!(listed.status.success(), "git ls-files: {listed:?}");
        let paths = String::from_utf8(listed.stdout).expect("paths are UTF-8");
        let sources: Vec<Source> = paths
            .lines()
            .filter(|path| !path.ends_with("module_generated.rs"))
            .filter_map(|path| {
                let text = std::fs::read_to_string(repository().join(path)).ok()?;
                Some(Source { path: path.to_owned(), text })
            })
            .collect();
        assert!(sources.len() > 500, "only {} files", sources.len());
        sources
    })
}

/// A crate of the workspace.
pub(crate) struct Crate {
    /// Its folder, relative to the repository.
    pub(crate) folder: String,
    pub(crate) manifest: String,
}

impl Crate {
    /// Where its modules begin: `src/lib.rs` or `src/main.rs`.
    pub(crate) fn root(&self) -> PathBuf {
        let folder = repository().join(&self.folder).join("src");
        let library = folder.join("lib.rs");
        if library.is_file() { library } else { folder.join("main.rs") }
    }

    /// The modules of the crate with their files. A module's path has no crate name; that of the
    /// root is empty. Tests are left out.
    pub(crate) fn modules(&self) -> Vec<(Vec<String>, &'static Source)> {
        let folder = format!("{}/src/", self.folder);
        let is_test = |path: &str| {
            let name = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
            name.ends_with("_tests") || path.split(['/', '.']).any(|part| part == "tests")
        };
        all()
            .iter()
            .filter(|source| source.path.starts_with(&folder) && source.has_extension(&["rs"]))
            .filter(|source| !is_test(&source.path[folder.len()..]))
            .map(|source| (module_path(&source.path[folder.len()..]), source))
            .collect()
    }
}

/// The members of the workspace, in the order of the root manifest.
pub(crate) fn crates() -> Vec<Crate> {
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).expect("Cargo.toml");
    let (_, members) = manifest.split_once("members = [").expect("the workspace has members");
    let (members, _) = members.split_once(']').expect("the list of members ends");
    let folders = members.lines().filter_map(|line| line.split('"').nth(1));
    let crates: Vec<Crate> = folders
        .map(|folder| Crate {
            folder: folder.to_owned(),
            manifest: std::fs::read_to_string(repository().join(folder).join("Cargo.toml"))
                .expect("a member has a manifest"),
        })
        .collect();
    assert!(crates.len() > 10, "only {} crates", crates.len());
    crates
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_path(file: &str) -> Vec<String> {
    let mut path: Vec<String> =
        file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    path
}
