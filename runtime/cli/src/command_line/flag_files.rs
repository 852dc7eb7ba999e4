//! `--flagfile=PATH`: flags from a file, one per line, as IREE's tools take them.
//!
//! The flags of a file replace the flag that names it. Empty lines and lines that begin with `#` do
//! not count, and a file may name other files. A value may stand in quotes, as in what `--help` of
//! IREE's tools prints, which is such a file. Arguments after `--` are for another program and
//! stay as they are.

use std::ffi::OsString;

/// How deeply flag files may name each other. Deeper ones name each other in a circle.
const MAX_DEPTH: usize = 8;

/// Why a file of flags cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlagFileError {
    #[error("{path}: flag files name each other more than {MAX_DEPTH} deep")]
    TooDeep { path: String },
    #[error("{path}: {source}")]
    NotRead { path: String, source: std::io::Error },
}

/// Replaces each `--flagfile=` by the flags of its file.
///
/// # Errors
/// A file cannot be read, or files name each other too deeply.
pub(crate) fn expand_flag_files(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<Vec<OsString>, FlagFileError> {
    let mut expanded = Vec::new();
    // By reference: the arguments after `--` remain.
    for argument in arguments.by_ref() {
        if argument == "--" {
            expanded.push(argument);
            break;
        }
        match flag_file(&argument) {
            Some(path) => read(path, MAX_DEPTH, &mut expanded)?,
            None => expanded.push(argument),
        }
    }
    expanded.extend(arguments);
    Ok(expanded)
}

fn flag_file(argument: &OsString) -> Option<&str> {
    argument.to_str()?.strip_prefix("--flagfile=")
}

fn read(path: &str, depth: usize, expanded: &mut Vec<OsString>) -> Result<(), FlagFileError> {
    if depth == 0 {
        return Err(FlagFileError::TooDeep { path: path.to_owned() });
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| FlagFileError::NotRead { path: path.to_owned(), source })?;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        let line = OsString::from(without_quotes(line));
        match flag_file(&line) {
            Some(path) => read(path, depth - 1, expanded)?,
            None => expanded.push(line),
        }
    }
    Ok(())
}

/// `--name="value"` as `--name=value`.
fn without_quotes(line: &str) -> String {
    let quoted = line
        .split_once('=')
        .and_then(|(name, value)| Some((name, value.strip_prefix('"')?.strip_suffix('"')?)));
    match quoted {
        Some((name, value)) => format!("{name}={value}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &[&str]) -> Result<Vec<OsString>, FlagFileError> {
        expand_flag_files(arguments.iter().map(OsString::from))
    }

    #[test]
    fn flags_stand_where_the_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [outer, inner] = ["outer", "inner"].map(|name| folder.path().join(name));
        std::fs::write(
            &inner,
            "# a model\n// or so\n--function=\"main\"\n\n  --input=2x2xf32=1 2 3 4\n",
        )
        .unwrap();
        std::fs::write(&outer, format!("--module=a\n--flagfile={}\n", inner.display())).unwrap();
        let flag = format!("--flagfile={}", outer.display());
        let found = expanded(&["run", &flag, "--output=-", "--", &flag]).unwrap();
        let wanted =
            ["run", "--module=a", "--function=main", "--input=2x2xf32=1 2 3 4", "--output=-"];
        assert_eq!(found, [&wanted[..], &["--", &flag]].concat());
    }

    #[test]
    fn unreadable_files_are_errors() {
        assert!(
            expanded(&["--flagfile=/nowhere/at/all"])
                .is_err_and(|it| it.to_string().starts_with("/nowhere/at/all: "))
        );
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        let flag = format!("--flagfile={}", own.display());
        std::fs::write(&own, &flag).unwrap();
        assert!(matches!(expanded(&[&flag]), Err(FlagFileError::TooDeep { .. })));
    }
}
