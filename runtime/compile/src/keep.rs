//! What is kept of a compilation in the debug file.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use debuginfo::{
    Companion, DispatchInterfaces, KeptSource, Manifest, ModuleIdentity, NamedPlaces,
    write_debug_file,
};
use vmfb::FileBytes;

use crate::elide_constants::copy_with_names;
use crate::error::CompileError;
use crate::runs::Printed;

/// Larger sources are kept without their long constants.
const MAX_SOURCE: u64 = 1 << 20;

/// Sources that are larger without them are not kept.
const MAX_SHORTENED: usize = 8 << 20;

/// How many bytes of sources are kept in all.
const MAX_SOURCES: u64 = 32 << 20;

/// Larger sources are not even read for their digests.
const MAX_DIGESTED: u64 = 4 << 30;

/// A compilation whose debug file is made.
pub(crate) struct Kept<'a> {
    /// The module.
    pub(crate) module: &'a FileBytes,
    /// The source as it was named to the compiler.
    pub(crate) input: &'a Path,
    /// The model that it was imported from, as it was named to us.
    pub(crate) imported_from: Option<&'a Path>,
    pub(crate) flags: &'a [String],
    /// The directory in which the compiler ran.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) printed: Printed,
}

impl Kept<'_> {
    /// Writes the debug file to a scratch path.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CompileError> {
        let not_written = |source| CompileError::NotWritten { path: path.to_owned(), source };
        let identity = ModuleIdentity::of(self.module)
            .ok_or_else(|| not_written(std::io::Error::other("the module cannot be read")))?;
        let printed = &self.printed;
        let companion = printed.companion.as_deref().ok();
        let outlined = printed.outlined.as_deref().unwrap_or_default();
        let sources = printed.sources.as_deref();
        let dispatches = sources.and_then(|text| DispatchInterfaces::with_calls(text, outlined));
        let places = self.named_places();
        let companion = companion.map(|text| match std::str::from_utf8(text) {
            Ok(text) => bytes_of(places.written_into(text)),
            Err(_) => Cow::Borrowed(text),
        });
        let [dispatches, flow, input] = [&dispatches, &printed.flow, &printed.input]
            .map(|text| text.as_deref().map(|text| places.written_into(text)));
        let kept = self.sources(companion.as_deref().unwrap_or_default());
        let mut manifest = Manifest::new(identity);
        manifest.compiler = printed.version.clone();
        manifest.flags = self.flags.to_vec();
        manifest.input = self.input.display().to_string();
        manifest.imported_from = self.imported_from.map(|model| model.display().to_string());
        manifest.elided_above = printed.elided_above;
        manifest.sources = kept.iter().map(|(source, _)| source.clone()).collect();
        let texts = [
            ("companion.mlir", companion.as_deref()),
            ("dispatches.mlir", dispatches.as_ref().map(|it| it.as_bytes())),
            ("counts.mlir", printed.counts.as_ref().map(String::as_bytes)),
            ("flow.mlir", flow.as_ref().map(|it| it.as_bytes())),
            ("input.mlir", input.as_ref().map(|it| it.as_bytes())),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let members = kept
            .iter()
            .filter_map(|(source, text)| Some((source.member.as_deref()?, text.as_slice())));
        let file = File::create(path).map_err(not_written)?;
        write_debug_file(BufWriter::new(file), &manifest, texts.chain(members)).map_err(not_written)
    }

    /// The sources that can be read: the input, and what its own locations name.
    fn sources(&self, companion: &[u8]) -> Vec<(KeptSource, Vec<u8>)> {
        let mut names = vec![self.input.display().to_string()];
        let companion = Companion::parse(companion).unwrap_or_default();
        for name in companion.files() {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let mut left = MAX_SOURCES;
        let sources = names.into_iter().enumerate();
        sources.filter_map(|(number, name)| self.source(number, name, &mut left)).collect()
    }

    /// Where the operations of the input are that have names instead of positions.
    fn named_places(&self) -> NamedPlaces {
        let path = self.directory.map_or_else(|| self.input.to_owned(), |it| it.join(self.input));
        let bytes = FileBytes::open(&path).ok();
        let text = bytes.as_ref().and_then(|it| std::str::from_utf8(it.owned()).ok());
        let name = self.input.display().to_string();
        text.map(|text| NamedPlaces::of(text, &name)).unwrap_or_default()
    }

    fn source(&self, number: usize, name: String, left: &mut u64) -> Option<(KeptSource, Vec<u8>)> {
        let path = self.directory.map_or_else(|| PathBuf::from(&name), |it| it.join(&name));
        std::fs::metadata(&path).ok().filter(|it| it.is_file() && it.len() <= MAX_DIGESTED)?;
        let bytes = FileBytes::open(&path).ok()?;
        let kept = kept_text(bytes.owned()).filter(|it| it.len() as u64 <= *left);
        let member = kept.as_ref().map(|text| {
            *left -= text.len() as u64;
            format!("sources/{number}-{}", plain(&path))
        });
        Some((KeptSource::of(name, &bytes, member)?, kept.unwrap_or_default()))
    }
}

/// What is kept of a source: a long one has names in the place of its long constants, and the same
/// lines.
fn kept_text(text: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(text).ok()?;
    if text.len() as u64 <= MAX_SOURCE {
        return Some(text.to_vec());
    }
    // One that is long without constants ends the copy.
    let mut shortened = vec![0; MAX_SHORTENED];
    let mut rest = shortened.as_mut_slice();
    copy_with_names(text, &mut rest).ok()?;
    let left = rest.len();
    shortened.truncate(MAX_SHORTENED - left);
    Some(shortened)
}

fn bytes_of(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The name of a file as part of a member's name.
fn plain(path: &Path) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || ".-".contains(it) { it } else { '_' };
    path.file_name().unwrap_or_default().to_string_lossy().chars().take(64).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_sources_all_lines_are_kept() {
        assert_eq!(kept_text(b"short").as_deref(), Some(&b"short"[..]));
        assert_eq!(kept_text(b"no text: \xff"), None);
        let digits = "AB".repeat(1 << 20);
        let source = format!("%0 = dense<\"0x{digits}\"> : x\nlast line\n");
        let kept = String::from_utf8(kept_text(source.as_bytes()).unwrap()).unwrap();
        assert!(kept.starts_with("%0 = dense<\"__elided__2097152_"), "{kept:.80}");
        assert!(kept.ends_with("\"> : x\nlast line\n") && kept.len() < 100);
        let lines = "a line\n".repeat(2 << 20);
        assert_eq!(kept_text(lines.as_bytes()), None, "too long without constants");
    }
}
