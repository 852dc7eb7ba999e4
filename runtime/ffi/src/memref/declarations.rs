//! The MLIR text that declares a library's functions.

use std::path::Path;

use super::error::LibraryError;

/// The text of every declaration in the file beside a library, with its place.
pub(super) fn declarations_beside(library: &Path) -> Result<Vec<(String, String)>, LibraryError> {
    let path = library.with_extension("mlir");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LibraryError::NoSignatures { library: library.to_owned(), expected: path });
        }
        Err(source) => return Err(LibraryError::Read { path, source }),
    };
    let (mut found, mut from, mut line) = (Vec::new(), 0, 1);
    while let Some(at) = text[from..].find(KEYWORD).map(|at| from + at) {
        let before = &text[from..at];
        let indent = match before.rfind('\n') {
            Some(newline) => &before[newline..],
            None if from == 0 => before,
            None => "in a line with another",
        };
        line += before.matches('\n').count();
        from = at + KEYWORD.len();
        if indent.trim().is_empty() {
            // Only the head of a function is parsed, which ends before the next one; the body may
            // use any dialect.
            let end = text[from..].find(KEYWORD).map_or(text.len(), |next| from + next);
            found.push((format!("{}:{line}", path.display()), text[at..end].to_owned()));
        }
    }
    Ok(found)
}

/// The keyword of functions in MLIR's own dialect.
const KEYWORD: &str = "func.func";

/// The name of the function in a declaration, even if the rest of it is wrong.
pub(super) fn declared_name(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('@')?;
    let is_part = |character: char| character.is_alphanumeric() || "_$.-".contains(character);
    let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].to_owned())
}
