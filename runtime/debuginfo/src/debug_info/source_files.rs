//! [`SourceFiles`]: the texts of the files that a module names, found on this machine and read when
//! they are needed. The listing made of the companion is one of them.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use vmfb::FileBytes;

use crate::companion::{CompanionText, Listing};
use crate::debug_file::{DebugFile, KeptSource};
use crate::locations::{FileId, SourcePosition, is_python};
use crate::source::{Mismatch, NodeName, NodeNames, SourceMap, SourceText, model_beside};

/// Larger source files are not read.
const MAX_SOURCE_BYTES: u64 = 2 << 30;

/// Of larger source files only the length is compared: a digest would take too long.
const MAX_DIGEST_BYTES: u64 = 64 << 20;

/// A listing of the VM program that is made of the companion's text.
#[derive(Debug)]
struct MadeListing {
    file: FileId,
    text: CompanionText,
    listing: OnceLock<Listing>,
}

/// The files that a module names, by [`FileId`].
#[derive(Debug, Default)]
pub(crate) struct SourceFiles {
    names: Vec<Arc<str>>,
    roots: Vec<PathBuf>,
    map: SourceMap,
    /// The only folders in which files are read; without them, all.
    fence: Option<Vec<PathBuf>>,
    made: Option<MadeListing>,
    /// The debug file, which keeps small sources.
    kept: Option<DebugFile>,
    texts: Vec<OnceLock<Option<Arc<SourceText>>>>,
    node_names: Vec<OnceLock<Option<Result<NodeNames, Mismatch>>>>,
}

impl SourceFiles {
    pub(crate) fn new(names: Vec<Arc<str>>) -> Self {
        let mut files = Self { names, ..Self::default() };
        files.forget();
        files
    }

    pub(crate) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.forget();
    }

    pub(crate) fn set_map(&mut self, map: SourceMap) {
        self.map = map;
        self.forget();
    }

    pub(crate) fn set_kept(&mut self, file: DebugFile) {
        self.kept = Some(file);
        self.forget();
    }

    /// Sets the folders outside of which no file is read.
    pub(crate) fn set_fence(&mut self, folders: Vec<PathBuf>) {
        self.fence = Some(folders);
        self.forget();
    }

    pub(crate) fn map(&self) -> &SourceMap {
        &self.map
    }

    /// Sets the text of a file that is not on disk.
    pub(crate) fn set_text(&mut self, file: FileId, text: String) {
        if let Some(slot) = self.texts.get_mut(file.0 as usize) {
            *slot = OnceLock::from(Some(Arc::new(SourceText::new(text))));
        }
    }

    /// Adds the listing made of a companion. `file` is the next unused identifier.
    pub(crate) fn add_made_listing(&mut self, name: &str, file: FileId, text: CompanionText) {
        self.add(name);
        self.made = Some(MadeListing { file, text, listing: OnceLock::new() });
    }

    /// Adds a file that the module does not name, with the next unused identifier.
    pub(crate) fn add(&mut self, name: &str) {
        self.names.push(name.into());
        self.texts.push(OnceLock::new());
        self.node_names.push(OnceLock::new());
    }

    fn forget(&mut self) {
        self.texts = self.names.iter().map(|_| OnceLock::new()).collect();
        self.node_names = self.names.iter().map(|_| OnceLock::new()).collect();
    }

    /// The file of the listing made of the companion.
    pub(crate) fn made_file(&self) -> Option<FileId> {
        self.made.as_ref().map(|made| made.file)
    }

    /// The position, in the listing made of the companion, of an offset in the companion.
    pub(crate) fn made_position(&self, at: usize) -> Option<SourcePosition> {
        let made = self.made.as_ref()?;
        let (line, column) = made.listing().position(at);
        Some(SourcePosition { file: made.file, line, column })
    }

    /// The text of a file, if it is found.
    pub(crate) fn text(&self, file: FileId) -> Option<&Arc<SourceText>> {
        self.texts.get(file.0 as usize)?.get_or_init(|| self.read(file)).as_ref()
    }

    /// The framework's names of a value on a line of a file.
    pub(crate) fn node_name(&self, file: FileId, line: u32, value: &str) -> Option<&NodeName> {
        let names = self.node_names(file)?.as_ref().ok()?;
        names.of(self.text(file)?, line, value)
    }

    /// Why an ONNX model beside a file does not name its values, or not all of them.
    pub(crate) fn foreign_model(&self, file: FileId) -> Option<String> {
        let named = self.node_names(file)?;
        let reason = named.as_ref().map_or_else(Some, NodeNames::parted)?;
        let text = self.path(file).unwrap_or_else(|| PathBuf::from(self.name(file)));
        let model = match self.model_path(file) {
            Some(path) => path.display().to_string(),
            None => format!("the model in {}", self.kept.as_ref()?.path().display()),
        };
        let text = text.display();
        Some(match named {
            Err(_) => {
                format!("the names of {model} are not shown: {text} was not made from it: {reason}")
            }
            Ok(_) => {
                format!("the names of {model} are shown as far as it agrees with {text}: {reason}")
            }
        })
    }

    fn node_names(&self, file: FileId) -> Option<&Result<NodeNames, Mismatch>> {
        let names = self.node_names.get(file.0 as usize)?;
        let read = || {
            let text = self.text(file)?;
            let kept = self.kept_model(file).map(|it| NodeNames::of_import(text, &it));
            if matches!(kept, Some(Ok(_))) {
                return kept;
            }
            let Some(model) = self.model_path(file) else {
                return kept.or_else(|| NodeNames::of_locations(text).map(Ok));
            };
            let read =
                FileBytes::read(&model).map_err(|error| Mismatch::Unreadable(error.to_string()));
            Some(read.and_then(|bytes| NodeNames::of_import(text, bytes.owned())))
        };
        names.get_or_init(read).as_ref()
    }

    /// The nodes of the ONNX model of a file, as the debug file keeps them.
    fn kept_model(&self, file: FileId) -> Option<Vec<u8>> {
        let kept = self.kept.as_ref()?;
        let is_of_it = kept.manifest().input == self.name(file);
        is_of_it.then(|| kept.model_nodes()).flatten()
    }

    /// The ONNX model of a file: the one beside it, `model.onnx` for `model.mlir` or
    /// `model.onnx.mlir`, or else the one that the debug file says it was imported from.
    fn model_path(&self, file: FileId) -> Option<PathBuf> {
        let is_model = |path: &PathBuf| {
            path.metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_SOURCE_BYTES)
        };
        let beside = self.model_beside(file).filter(is_model);
        beside.or_else(|| {
            let manifest = self.kept.as_ref()?.manifest();
            let model = manifest.imported_from.as_deref();
            let model = model.filter(|_| manifest.input == self.name(file))?;
            self.candidates(Path::new(model)).find(is_model)
        })
    }

    fn model_beside(&self, file: FileId) -> Option<PathBuf> {
        Some(model_beside(&self.path(file)?))
    }

    /// Whether the text of a file can be found. This does not make the companion's listing.
    pub(crate) fn has_text(&self, file: FileId) -> bool {
        self.made_file() == Some(file) || self.text(file).is_some()
    }

    /// The path of a source file on this machine.
    pub(crate) fn path(&self, file: FileId) -> Option<PathBuf> {
        let name = self.name(file);
        if let Some(mapped) = self.map.to_machine(name).filter(|path| self.is_readable(path)) {
            return Some(mapped);
        }
        // Several folders may have a file of this name, such as `model.mlir`: it is the one with
        // the text that was compiled, or else the first.
        let mut found = self.candidates(Path::new(name)).filter(|path| self.is_readable(path));
        let first = found.next()?;
        let Some(kept) = self.kept_source(file) else { return Some(first) };
        let is_it = |path: &PathBuf| {
            let length = path.metadata().ok().map(|it| it.len());
            length == Some(kept.length)
                && FileBytes::open(path).is_ok_and(|text| kept.is_text(&text))
        };
        let mut others = found.filter(|path| !is_one_file(path, &first)).peekable();
        if others.peek().is_none() || is_it(&first) {
            return Some(first);
        }
        Some(others.find(is_it).unwrap_or(first))
    }

    /// Whether a path is a file that may be read.
    fn is_readable(&self, path: &Path) -> bool {
        let Some(fence) = &self.fence else { return path.is_file() };
        let found = path.canonicalize().ok().filter(|found| found.is_file());
        found.is_some_and(|found| fence.iter().any(|folder| found.starts_with(folder)))
    }

    /// Where a file may be, the most likely first. The compiler may have run in another directory:
    /// each root is tried with fewer and fewer leading components of the name.
    fn candidates<'n>(&'n self, name: &'n Path) -> impl Iterator<Item = PathBuf> + 'n {
        let components: Vec<Component<'_>> =
            name.components().filter(|it| matches!(it, Component::Normal(_))).collect();
        let endings: Vec<PathBuf> =
            (0..components.len()).map(|skipped| components[skipped..].iter().collect()).collect();
        let whole = name.is_relative().then(|| self.roots.iter().map(move |root| root.join(name)));
        let shorter = endings
            .into_iter()
            .flat_map(|ending| self.roots.iter().map(move |root| root.join(&ending)));
        whole.into_iter().flatten().chain([name.to_owned()]).chain(shorter)
    }

    fn read(&self, file: FileId) -> Option<Arc<SourceText>> {
        if let Some(made) = self.made.as_ref().filter(|made| made.file == file) {
            return Some(Arc::clone(&made.listing().text));
        }
        let found = self.path(file).and_then(|path| {
            let length = path.metadata().ok()?.len();
            if length > MAX_SOURCE_BYTES { None } else { FileBytes::read(&path).ok() }
        });
        // A text that has changed would have other lines, and other names on them.
        let found = found.filter(|text| !self.is_replaced(file, text));
        let name = self.name(file);
        let source: fn(String) -> SourceText =
            if is_python(name) { SourceText::python } else { SourceText::new };
        Some(Arc::new(match found {
            Some(bytes) => source(String::from_utf8(bytes.into_owned()).ok()?),
            None => {
                let kept = self.kept.as_ref()?;
                source(kept.source(name)?).kept_in(kept.clone())
            }
        }))
    }

    fn name(&self, file: FileId) -> &str {
        self.names.get(file.0 as usize).map_or("", |name| name)
    }

    /// Whether the text of a file was another when it was compiled, and that one is kept.
    fn is_replaced(&self, file: FileId, text: &FileBytes) -> bool {
        let kept = self.kept_source(file);
        kept.is_some_and(|kept| kept.member.is_some() && !kept.is_text(text))
    }

    fn kept_source(&self, file: FileId) -> Option<&KeptSource> {
        let name = self.name(file);
        self.kept.as_ref()?.manifest().sources.iter().find(|kept| kept.name == name)
    }

    /// A note for each source that is not what was compiled.
    pub(crate) fn changed(&self) -> Vec<String> {
        let files = (0..).map(FileId).take(self.names.len());
        let changed = files.filter_map(|file| {
            let kept = self.kept_source(file)?;
            let path = self.path(file)?;
            let length = path.metadata().ok()?.len();
            let is_same = length == kept.length
                && (length > MAX_DIGEST_BYTES
                    || FileBytes::open(&path).is_ok_and(|text| kept.is_text(&text)));
            let shown = match kept.member {
                Some(_) => "what is shown is the text that was compiled",
                None => "lines may be those of another text",
            };
            let path = path.display();
            (!is_same).then(|| format!("{path} has changed since it was compiled; {shown}"))
        });
        changed.collect()
    }
}

/// Whether two paths lead to one file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

impl MadeListing {
    fn listing(&self) -> &Listing {
        self.listing.get_or_init(|| Listing::of(&self.text.printed()))
    }
}
