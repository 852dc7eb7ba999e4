//! Documents that the server makes from files: compiled modules as text, and texts that are too
//! long for an editor.
//!
//! `iree-vmfb:/path/model.vmfb.vmasm` is the disassembly of that module. `iree-text:/path/big.mlir`
//! is a text file with its long constants cut, for editors that refuse the whole file. [`content`]
//! decides which files may be shown.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use ide::module_text;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{Location, Position, Range, Url};

use crate::made_uris::{file_of, uri_of_module};

pub(super) fn failed(message: impl Display) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.to_string().into(), data: None }
}

/// Why a file is not shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotShown {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("only .{} files are shown", .0.join(" and ."))]
    Extension(Vec<String>),
    #[error("not a regular file")]
    NotRegular,
    #[error("{0} bytes are too many; {LONGEST_FILE} are shown at most")]
    TooLong(u64),
    #[error(
        "it is outside of the workspace's folders and of those of open documents; open it, or add \
         its folder to the workspace"
    )]
    Outside,
    #[error(transparent)]
    Load(#[from] vmfb::LoadError),
}

/// Which files may be shown. A URI may come from a link in someone else's document, so naming a
/// file is not enough.
pub(crate) struct Readable {
    /// The folders of the workspace and of open documents, and the configured modules.
    pub(crate) places: Vec<PathBuf>,
    /// Whether the client states that its user opened this very file.
    pub(crate) is_opened: bool,
}

/// The longest file, in bytes, that is read.
const LONGEST_FILE: u64 = 2 << 30;

/// The text of a made document.
pub(crate) fn content(uri: &Url, readable: &Readable) -> Result<String> {
    let path = file_of(uri).ok_or_else(|| failed(format!("{uri} names no file")))?;
    let refused = |reason: &dyn Display| failed(format_args!("{}: {reason}", path.display()));
    match uri.scheme() {
        "iree-vmfb" => {
            let target = target(&path, &["vmfb"]).map_err(|error| refused(&error))?;
            // Modules may lie anywhere: a module's disassembly reveals no other file.
            module_text(&target).map(|module| module.text).map_err(|error| refused(&error))
        }
        "iree-text" => {
            let text = source_text(&path, readable).map_err(|error| refused(&error))?;
            Ok(elided(&text))
        }
        scheme => Err(refused(&format_args!("{scheme}: is not a document that this server makes"))),
    }
}

/// The whole text of a source.
pub(super) fn source_text(
    path: &Path,
    readable: &Readable,
) -> std::result::Result<String, NotShown> {
    let target = target(path, &["mlir", "vmasm"])?;
    readable.check(&target)?;
    let bytes = vmfb::FileBytes::read(&target)?;
    Ok(String::from_utf8_lossy(bytes.owned()).into_owned())
}

/// The file that a path leads to through symbolic links, if it is a regular file with one of these
/// extensions and not too long.
pub(super) fn target(path: &Path, extensions: &[&str]) -> std::result::Result<PathBuf, NotShown> {
    let target = path.canonicalize()?;
    let extension = target.extension().unwrap_or_default();
    if !extensions.iter().any(|wanted| extension == *wanted) {
        let known = extensions.iter().map(|&it| it.to_owned());
        return Err(NotShown::Extension(known.collect()));
    }
    let metadata = target.metadata()?;
    if !metadata.is_file() {
        return Err(NotShown::NotRegular);
    }
    match metadata.len() {
        0..=LONGEST_FILE => Ok(target),
        length => Err(NotShown::TooLong(length)),
    }
}

impl Readable {
    fn check(&self, target: &Path) -> std::result::Result<(), NotShown> {
        let is_in =
            |place: &PathBuf| place.canonicalize().is_ok_and(|place| target.starts_with(place));
        if self.is_opened || self.places.iter().any(is_in) {
            return Ok(());
        }
        Err(NotShown::Outside)
    }
}

/// The longest line of a made document, in bytes.
const LONGEST_LINE: usize = 4000;
/// The longest made document, in bytes. A longer one ends with a remark.
const LONGEST: usize = 40 << 20;

/// A text that an editor can show: long lines are cut, and each line keeps its number.
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

/// The places, in the compiled modules of a source, that a line of the source became.
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
    use super::{LONGEST_LINE, Readable, content, elided};
    use tower_lsp::lsp_types::Url;

    #[test]
    fn only_modules_and_sources_of_the_workspace_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        for folder in [&inside, &outside] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("x.mlir"), "module {}").unwrap();
            std::fs::write(folder.join("secret"), "secret").unwrap();
        }
        std::fs::write(inside.join("no.vmfb"), "secret").unwrap();
        let ask = |scheme: &str, path: &str, is_opened: bool| {
            let uri = Url::parse(&format!("{scheme}:{}/{path}", root.display())).unwrap();
            let places = vec![inside.clone()];
            content(&uri, &Readable { places, is_opened }).map_err(|error| error.message)
        };
        assert_eq!(ask("iree-text", "inside/x.mlir", false).unwrap(), "module {}");
        assert_eq!(ask("iree-text", "outside/x.mlir", true).unwrap(), "module {}");
        for (scheme, path, is_opened, reason) in [
            ("iree-text", "outside/x.mlir", false, "outside of the workspace"),
            ("iree-text", "inside/../outside/x.mlir", false, "outside of the workspace"),
            ("iree-text", "inside/secret", false, "only .mlir and .vmasm files"),
            ("iree-text", "outside/secret", true, "only .mlir and .vmasm files"),
            ("iree-vmfb", "inside/secret", false, "only .vmfb files"),
            ("iree-vmfb", "inside/x.mlir", false, "only .vmfb files"),
            ("iree-vmfb", "inside/no.vmfb.vmasm", false, "not an IREE VM module"),
            ("iree-text", "inside/none.mlir", false, "No such file"),
            ("iree-other", "inside/x.mlir", false, "not a document that this server makes"),
        ] {
            let error = ask(scheme, path, is_opened).unwrap_err();
            assert!(error.contains(reason), "{scheme}:{path}: {error}");
            assert!(!error.contains("secret\n"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_count_by_what_they_lead_to() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("y.mlir"), "secret").unwrap();
        symlink("/dev/zero", inside.join("zero.mlir")).unwrap();
        symlink("/etc/hostname", inside.join("host.vmfb")).unwrap();
        symlink(outside.join("y.mlir"), inside.join("y.mlir")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        std::fs::create_dir(inside.join("folder.mlir")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(inside.join("fifo.mlir")).status();
        assert!(made.unwrap().success());
        for (uri, reason) in [
            ("iree-text:/dev/zero", "only .mlir"),
            ("iree-text:ROOT/inside/zero.mlir", "only .mlir"),
            ("iree-vmfb:ROOT/inside/host.vmfb.vmasm", "only .vmfb"),
            ("iree-text:ROOT/inside/y.mlir", "outside of the workspace"),
            ("iree-text:ROOT/inside/folder/y.mlir", "outside of the workspace"),
            ("iree-text:ROOT/inside/folder.mlir", "not a regular file"),
            ("iree-text:ROOT/inside/fifo.mlir", "not a regular file"),
        ] {
            let uri = Url::parse(&uri.replace("ROOT", &root.display().to_string())).unwrap();
            let readable = Readable { places: vec![inside.clone()], is_opened: false };
            let error = content(&uri, &readable).unwrap_err().message;
            assert!(error.contains(reason), "{uri}: {error}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_lines_keep_their_numbers() {
        let text = format!("a\n{}\nb\n", "é".repeat(LONGEST_LINE));
        let shown = elided(&text);
        assert_eq!(shown.lines().count(), 3);
        assert!(shown.len() < text.len() && shown.contains("bytes…"));
    }
}
