//! Compiled modules as documents, and files that editors refuse to send: the server reads them itself.
//!
//! `iree-vmfb:/path/model.vmfb.vmasm` is the disassembly of that module. `iree-text:/path/big.mlir` is a text file with its long
//! constants cut, for editors that do not open the whole.

use std::path::PathBuf;

use ide::module_text::module_text;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{Location, Position, Range, Url};

/// Schemes of documents that the server makes.
pub(crate) const SCHEMES: [&str; 2] = ["iree-vmfb", "iree-text"];

/// The file that a made document shows.
pub(crate) fn file_of(uri: &Url) -> Option<PathBuf> {
    let mut file = Url::parse("file:///").ok()?;
    let path = uri.path();
    file.set_path(
        path.strip_suffix(".vmasm").filter(|path| path.ends_with(".vmfb")).unwrap_or(path),
    );
    file.to_file_path().ok()
}

/// The document that shows a module.
pub(crate) fn uri_of_module(path: &std::path::Path) -> Option<Url> {
    let file = Url::from_file_path(path).ok()?;
    Url::parse(&format!("iree-vmfb:{}.vmasm", file.path())).ok()
}

fn failed(message: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

/// The text of a made document.
pub(crate) fn content(uri: &Url) -> Result<String> {
    let path = file_of(uri).ok_or_else(|| failed(format!("{uri} names no file")))?;
    let is_module = path.extension().is_some_and(|extension| extension == "vmfb");
    if is_module {
        return module_text(&path)
            .map(|module| module.text)
            .map_err(|error| failed(format!("{}: {error}", path.display())));
    }
    let bytes =
        std::fs::read(&path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
    Ok(elided(&String::from_utf8_lossy(&bytes)))
}

/// Lines longer than this are cut in made documents.
const LONGEST_LINE: usize = 4000;
/// Longer documents end with a word about it.
const LONGEST: usize = 40 << 20;

/// A text that an editor can show: long strings cut, line for line the same.
fn elided(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if out.len() > LONGEST {
            out += &format!("// … from line {} on this is too long to show\n", number + 1);
            break;
        }
        if line.len() <= LONGEST_LINE {
            out += line;
            continue;
        }
        let floor = |at: usize| (0..=at).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        let (head, tail) = (floor(LONGEST_LINE / 2), floor(line.len() - LONGEST_LINE / 4));
        out += &format!("{}…{} bytes…{}", &line[..head], tail - head, &line[tail..]);
    }
    out
}

/// The lines of the compiled module beside a source that a line of the source became.
pub(crate) fn lines_of_source(uri: &Url, line: u32, modules: &[PathBuf]) -> Vec<Location> {
    let Ok(source) = uri.to_file_path() else { return Vec::new() };
    let mut found = Vec::new();
    for path in modules {
        let Ok(module) = module_text(path) else { continue };
        let Some(uri) = uri_of_module(path) else { continue };
        for line in module.lines_of_source(&source, line) {
            let at = Position::new(line, 0);
            found.push(Location { uri: uri.clone(), range: Range::new(at, at) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_LINE, elided, file_of, uri_of_module};
    use tower_lsp::lsp_types::Url;

    #[test]
    fn names_of_made_documents() {
        let uri = uri_of_module(std::path::Path::new("/a b/x.vmfb")).unwrap();
        assert_eq!(uri.as_str(), "iree-vmfb:/a%20b/x.vmfb.vmasm");
        assert_eq!(file_of(&uri), Some("/a b/x.vmfb".into()));
        let text = Url::parse("iree-text:/a/big.mlir").unwrap();
        assert_eq!(file_of(&text), Some("/a/big.mlir".into()));
    }

    #[test]
    fn long_lines_are_cut_and_lines_keep_their_numbers() {
        let text = format!("a\n{}\nb\n", "é".repeat(LONGEST_LINE));
        let shown = elided(&text);
        assert_eq!(shown.lines().count(), 3);
        assert!(shown.len() < text.len() && shown.contains("bytes…"));
    }
}
