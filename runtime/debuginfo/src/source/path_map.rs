//! Directories that are elsewhere now than when the module was compiled.
//!
//! A module that was compiled in a container names its sources by `/src/models/a.mlir`; the user
//! has them in `/home/me/models`. Pairs of prefixes say so, for both directions: the debugger looks
//! for the file on this machine, and an editor names a file that the module knows by another name.

use std::path::{Path, PathBuf};

/// Pairs of a prefix in the module's names and the directory (or file) that it is on this machine.
/// The first pair that fits is used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap(Vec<(PathBuf, PathBuf)>);

impl SourceMap {
    /// Reads pairs in their order.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// Where a file is on this machine, by the name that the module has for it.
    #[must_use]
    pub fn to_machine(&self, name: &str) -> Option<PathBuf> {
        self.0.iter().find_map(|(from, to)| moved(Path::new(name), from, to))
    }

    /// The name that the module has for a file of this machine.
    #[must_use]
    pub fn to_module(&self, path: &str) -> Option<String> {
        let name = self.0.iter().find_map(|(from, to)| moved(Path::new(path), to, from))?;
        Some(name.to_string_lossy().into_owned())
    }
}

/// A path under one directory, under the other.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    // Joining an empty path would add a separator behind a file's name.
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
