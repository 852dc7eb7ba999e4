//! Matches the path that a user gives to the file names in a module.
//!
//! A module has file names as they were given on the compiler's command line: absolute, relative to
//! an unrecorded directory, or `-` for standard input. An editor has absolute paths. Two names mean
//! the same file if one is a suffix of the other; where directories differ, because the module was
//! compiled elsewhere, the file name alone decides.

use crate::locations::FileId;

/// How certain a match is; greater is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileMatch {
    /// Only the last components are equal.
    NameOnly,
    /// One name is a suffix of the other.
    Suffix,
    /// The names are equal.
    Exact,
}

/// The files that a path may mean: all the best matches.
pub(crate) fn matching<'a>(
    path: &str,
    files: impl Iterator<Item = (FileId, &'a str)>,
) -> Option<(FileMatch, Vec<FileId>)> {
    let mut best: Option<(FileMatch, usize, Vec<FileId>)> = None;
    for (file, name) in files {
        let Some((kind, common)) = compare(path, name) else { continue };
        match &mut best {
            Some((best_kind, best_common, found))
                if (*best_kind, *best_common) == (kind, common) =>
            {
                found.push(file);
            }
            Some((best_kind, best_common, _)) if (*best_kind, *best_common) > (kind, common) => {}
            _ => best = Some((kind, common, vec![file])),
        }
    }
    best.map(|(kind, _, found)| (kind, found))
}

/// How a path and a module's file name match, and the number of equal components at the end.
fn compare(path: &str, name: &str) -> Option<(FileMatch, usize)> {
    if path == name {
        return Some((FileMatch::Exact, usize::MAX));
    }
    if path == "-" || name == "-" {
        return None;
    }
    let (path_parts, name_parts) = (components(path), components(name));
    let common = path_parts
        .iter()
        .rev()
        .zip(name_parts.iter().rev())
        .take_while(|(left, right)| left == right)
        .count();
    if common == 0 {
        return None;
    }
    let (path_left, name_left) = (path_parts.len() - common, name_parts.len() - common);
    let kind = match (path_left, name_left) {
        (0, 0) if is_absolute(path) == is_absolute(name) => FileMatch::Exact,
        (0, _) if !is_absolute(path) => FileMatch::Suffix,
        (_, 0) if !is_absolute(name) => FileMatch::Suffix,
        _ => FileMatch::NameOnly,
    };
    Some((kind, common))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// The components of a path without `.`, and with each `..` applied to the component before it. A
/// leading `..` says nothing about the directory and is dropped.
fn components(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_from_the_end() {
        let cases = [
            ("/home/u/p/a.mlir", "/home/u/p/a.mlir", Some(FileMatch::Exact)),
            ("/home/u/p/./x/../a.mlir", "/home/u/p/a.mlir", Some(FileMatch::Exact)),
            ("/home/u/p/a.mlir", "p/a.mlir", Some(FileMatch::Suffix)),
            ("/home/u/p/a.mlir", "../p/a.mlir", Some(FileMatch::Suffix)),
            ("a.mlir", "/home/u/p/a.mlir", Some(FileMatch::Suffix)),
            ("/home/u/p/a.mlir", "/build/q/a.mlir", Some(FileMatch::NameOnly)),
            ("/home/u/p/a.mlir", "/build/q/b.mlir", None),
            ("/home/u/p/aa.mlir", "a.mlir", None),
            ("C:\\p\\a.mlir", "p/a.mlir", Some(FileMatch::Suffix)),
            ("/home/u/p/a.mlir", "-", None),
            ("-", "-", Some(FileMatch::Exact)),
        ];
        for (path, name, expected) in cases {
            assert_eq!(compare(path, name).map(|(kind, _)| kind), expected, "{path} and {name}");
        }
    }

    #[test]
    fn the_longest_agreement_wins() {
        let names = ["x/a.mlir", "y/a.mlir", "/build/y/a.mlir"];
        let files = || names.iter().zip(0..).map(|(name, index)| (FileId(index), *name));
        assert_eq!(matching("/home/y/a.mlir", files()), Some((FileMatch::Suffix, vec![FileId(1)])));
        assert_eq!(
            matching("/home/z/a.mlir", files()),
            Some((FileMatch::NameOnly, vec![FileId(0), FileId(1), FileId(2)]))
        );
    }
}
