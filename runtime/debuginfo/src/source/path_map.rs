//! [`SourceMap`]: directories that have other paths now than when the module was compiled.
//!
//! A module that was compiled in a container names its source `/src/models/a.mlir`; the user has it
//! in `/home/me/models`. Pairs of prefixes map both ways: the debugger looks for the module's file
//! on this machine, and an editor gives a path that the module has under another name.

use std::path::{Path, PathBuf};

/// Pairs of a prefix of the module's names and the directory (or file) that it stands for on this
/// machine. The first pair that matches is used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap(Vec<(PathBuf, PathBuf)>);

impl SourceMap {
    /// Takes pairs of the module's prefix and this machine's, in order of preference.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// The path on this machine of a file that the module names.
    #[must_use]
    pub fn to_machine(&self, name: &str) -> Option<PathBuf> {
        self.0.iter().find_map(|(from, to)| moved(Path::new(name), from, to))
    }

    /// The module's name for a file of this machine.
    #[must_use]
    pub fn to_module(&self, path: &str) -> Option<String> {
        let name = self.0.iter().find_map(|(from, to)| moved(Path::new(path), to, from))?;
        Some(name.to_string_lossy().into_owned())
    }
}

/// A path below `from`, moved below `to`.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    // Joining an empty path would add a separator after a file's name.
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_moved_both_ways_by_whole_components() {
        let map = SourceMap::new([
            (PathBuf::from("/src/models"), PathBuf::from("/home/me/models")),
            (PathBuf::from("/src"), PathBuf::from("/mnt/src")),
            (PathBuf::from("-"), PathBuf::from("/home/me/a.mlir")),
        ]);
        let cases = [
            ("/src/models/a.mlir", "/home/me/models/a.mlir"),
            ("/src/modelsX/a.mlir", "/mnt/src/modelsX/a.mlir"),
            ("-", "/home/me/a.mlir"),
        ];
        for (name, path) in cases {
            assert_eq!(map.to_machine(name), Some(PathBuf::from(path)));
            assert_eq!(map.to_module(path).as_deref(), Some(name));
        }
        assert_eq!(map.to_machine("/other/a.mlir"), None);
        assert_eq!(map.to_module("/other/a.mlir"), None);
    }
}
