//! What is kept of a compilation in the debug file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use debuginfo::{
    Companion, DispatchInterfaces, KeptSource, MODEL_NODES, Manifest, ModuleIdentity, NamedPlaces,
    PYTHON_MAP, PYTHON_MAP_SUFFIX, PythonMap, constant_member, model_beside, model_nodes,
    write_debug_file,
};
use vmfb::FileBytes;

use crate::constants::Constants;
use crate::elide_constants::{LeftOut, copy_with_names};
use crate::error::CompileError;
use crate::runs::Printed;

/// Larger sources are kept without their long constants.
const MAX_SOURCE: u64 = 1 << 20;

/// Sources that are larger without them are not kept.
const MAX_SHORTENED: usize = 8 << 20;

/// Of sources that are larger without their long constants, no names are read.
const MAX_NAMED: usize = 256 << 20;

/// How many bytes of sources are kept in all.
const MAX_SOURCES: u64 = 32 << 20;

/// Of larger ONNX models no names are kept.
const MAX_MODEL: u64 = 1 << 31;

/// Larger maps of Python are not kept.
const MAX_PYTHON_MAP: u64 = 256 << 20;

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
        let path_of_input = self.path_of(self.input);
        let (text, left_out) = text_of(&path_of_input, MAX_NAMED).unzip();
        let places = self.named_places(text.as_deref());
        let companion = companion.map(|text| match std::str::from_utf8(text) {
            Ok(text) => bytes_of(places.written_into(text)),
            Err(_) => Cow::Borrowed(text),
        });
        let input = printed.input.as_ref().map(|it| it.text.as_str());
        let [dispatches, flow, input] = [dispatches.as_deref(), printed.flow.as_deref(), input]
            .map(|text| text.map(|text| places.written_into(text)));
        let python = self.python_map();
        let files = python.as_ref().map(|(map, _)| map.files()).unwrap_or_default();
        let kept = self.sources(companion.as_deref().unwrap_or_default(), text, files);
        let mut manifest = Manifest::new(identity);
        manifest.compiler = printed.version.clone();
        manifest.flags = self.flags.to_vec();
        manifest.input = self.input.display().to_string();
        manifest.imported_from = self.imported_from.map(|model| model.display().to_string());
        manifest.elided_above = printed.elided_above;
        let left_out = left_out.map(|it| (path_of_input, it)).into_iter();
        let printed_input = printed.input.as_ref().and_then(|it| it.left_out.as_ref());
        let left_out: Vec<_> = left_out.chain(printed_input.cloned()).collect();
        let constants = Constants::of(&left_out, self.module);
        manifest.constants = constants.in_module;
        manifest.sources = kept.iter().map(|(source, _)| source.clone()).collect();
        let texts = [
            ("companion.mlir", companion.as_deref()),
            ("dispatches.mlir", dispatches.as_ref().map(|it| it.as_bytes())),
            ("counts.mlir", printed.counts.as_ref().map(String::as_bytes)),
            ("flow.mlir", flow.as_ref().map(|it| it.as_bytes())),
            ("input.mlir", input.as_ref().map(|it| it.as_bytes())),
        ];
        let nodes = self.model_nodes();
        let nodes = nodes.as_ref().map(|it| (MODEL_NODES, it.as_slice()));
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let python = python.as_ref().map(|(_, bytes)| (PYTHON_MAP, bytes.as_slice()));
        let sources = kept
            .iter()
            .filter_map(|(source, text)| Some((source.member.as_deref()?, text.as_slice())));
        let others = constants.others.iter();
        let others: Vec<_> = others.map(|(name, it)| (constant_member(name), it)).collect();
        let others = others.iter().map(|(member, bytes)| (member.as_str(), bytes.as_slice()));
        let members = texts.chain(nodes).chain(python).chain(sources).chain(others);
        let file = File::create(path).map_err(not_written)?;
        write_debug_file(BufWriter::new(file), &manifest, members).map_err(not_written)
    }

    /// The sources that can be read: the input, what its own locations name, and Python.
    fn sources(
        &self,
        companion: &[u8],
        input: Option<String>,
        python: &[String],
    ) -> Vec<(KeptSource, Vec<u8>)> {
        let mut names = vec![self.input.display().to_string()];
        let companion = Companion::parse(companion).unwrap_or_default();
        for name in companion.files().chain(python.iter().map(String::as_str)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let mut left = MAX_SOURCES;
        let mut input = Some(input);
        let sources = names.into_iter().enumerate();
        let sources = sources.filter_map(|(number, name)| {
            let path = self.path_of(Path::new(&name));
            // The first one is the input.
            let text_of = || text_of(&path, MAX_SHORTENED).map(|(text, _)| text);
            let text = input.take().unwrap_or_else(text_of);
            source(number, name, &path, text, &mut left)
        });
        sources.collect()
    }

    /// Where the operations of the input are that have names instead of positions.
    fn named_places(&self, text: Option<&str>) -> NamedPlaces {
        let name = self.input.display().to_string();
        text.map(|text| NamedPlaces::of(text, &name)).unwrap_or_default()
    }

    /// The map of the Python that made the input, which lies beside it; not that of another text.
    fn python_map(&self) -> Option<(PythonMap, Vec<u8>)> {
        let input = self.path_of(self.input);
        let mut beside = input.clone().into_os_string();
        beside.push(PYTHON_MAP_SUFFIX);
        let beside = PathBuf::from(beside);
        length_of(&beside).filter(|it| *it <= MAX_PYTHON_MAP)?;
        let bytes = FileBytes::read(&beside).ok()?.into_owned();
        let map = PythonMap::read(&bytes).ok()?;
        length_of(&input).filter(|it| *it <= MAX_MODEL)?;
        map.is_of(FileBytes::read(&input).ok()?.owned()).then_some((map, bytes))
    }

    /// The nodes of the model that the source was imported from, if it is there.
    fn model_nodes(&self) -> Option<Vec<u8>> {
        let beside = || model_beside(&self.path_of(self.input));
        let path = self.imported_from.map_or_else(beside, |it| self.path_of(it));
        length_of(&path).filter(|it| *it <= MAX_MODEL)?;
        model_nodes(FileBytes::read(&path).ok()?.owned())
    }

    /// A path as the compiler finds it.
    fn path_of(&self, name: &Path) -> PathBuf {
        self.directory.map_or_else(|| name.to_owned(), |it| it.join(name))
    }
}

/// A source and what is kept of its text, if that is short enough and so many bytes are `left`.
fn source(
    number: usize,
    name: String,
    path: &Path,
    text: Option<String>,
    left: &mut u64,
) -> Option<(KeptSource, Vec<u8>)> {
    length_of(path)?;
    let bytes = FileBytes::open(path).ok()?;
    let kept = text.filter(|it| it.len() <= MAX_SHORTENED && it.len() as u64 <= *left);
    let member = kept.as_ref().map(|text| {
        *left -= text.len() as u64;
        format!("sources/{number}-{}", plain(path))
    });
    Some((KeptSource::of(name, &bytes, member)?, kept.unwrap_or_default().into_bytes()))
}

/// The length of a source that is read. What is no file, such as a pipe, may never end.
fn length_of(path: &Path) -> Option<u64> {
    let found = std::fs::metadata(path).ok()?;
    Some(found.len()).filter(|length| found.is_file() && *length <= MAX_DIGESTED)
}

/// The text of a source: a long one has names in the place of its long constants, and the same
/// lines. The constants come with it. `None` if it takes more than `most` bytes so.
fn text_of(path: &Path, most: usize) -> Option<(String, Vec<LeftOut>)> {
    let length = length_of(path)?;
    let file = File::open(path).ok()?;
    let mut text = Bounded { text: Vec::new(), most };
    // One that is too long ends the copy.
    let left_out = match length <= MAX_SOURCE {
        true => io::copy(&mut { file }, &mut text).map(|_| Vec::new()).ok()?,
        false => copy_with_names(file, &mut text).ok()?,
    };
    Some((String::from_utf8(text.text).ok()?, left_out))
}

/// A text that fails to become longer than so many bytes.
struct Bounded {
    text: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.mlir");
        let kept = |source: &[u8]| {
            std::fs::write(&path, source).unwrap();
            text_of(&path, MAX_SHORTENED).map(|(text, _)| text)
        };
        assert_eq!(kept(b"short").as_deref(), Some("short"));
        assert_eq!(kept(b"no text: \xff"), None);
        let digits = "AB".repeat(1 << 20);
        let kept_text = kept(format!("%0 = dense<\"0x{digits}\"> : x\nlast line\n").as_bytes());
        let kept_text = kept_text.unwrap();
        assert!(kept_text.starts_with("%0 = dense<\"__elided__2097152_"), "{kept_text:.80}");
        assert!(kept_text.ends_with("\"> : x\nlast line\n") && kept_text.len() < 100);
        assert_eq!(kept("a line\n".repeat(2 << 20).as_bytes()), None, "too long so");
    }

    /// Only the head of a file of this size is held in memory elsewhere.
    #[test]
    fn the_end_of_a_file_of_forty_megabytes_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.mlir");
        let digits = "AB".repeat(20 << 20);
        std::fs::write(&path, format!("w: \"0x{digits}\",\nlast: \"0x{digits}\"\n")).unwrap();
        let (kept, left_out) = text_of(&path, MAX_SHORTENED).unwrap();
        assert_eq!(left_out.iter().map(|it| it.at).collect::<Vec<_>>(), [6, (40 << 20) + 18]);
        assert_eq!(kept.matches("__elided__41943040_").count(), 2, "{kept:.200}");
        assert!(kept.ends_with("\"\n"));
    }
}
