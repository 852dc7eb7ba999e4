//! Compiled modules near a source, and the facts in them.
//!
//! A module belongs to a source by name: `x.vmfb` beside `x.mlir`, or in a folder or file that the
//! user configured. Nothing proves that it was made from this very text; its age only shows when it
//! was not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use syntax::Symbol;
use vmfb::LoadError;

use super::as_compiled::{Answer, AsCompiled};
use crate::Document;
use crate::calling::{AbiQuestion, key_of, question};

/// A function of a compiled module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledFunction {
    /// The name of an export, or `module.function` for an import.
    pub name: String,
    /// Its calling convention, if the module states one.
    pub calling_convention: Option<String>,
    /// Attributes from the compiler: `iree.abi.declaration`, `iree.abi`, reflection.
    pub attributes: Vec<(String, String)>,
}

/// The facts of a compiled module that features use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompiledModule {
    /// The module's own name.
    pub name: String,
    /// Exports, in order.
    pub exports: Vec<CompiledFunction>,
    /// Imports, in order.
    pub imports: Vec<CompiledFunction>,
}

/// Modification time and length of a file: enough to notice a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
}

type Loaded = Result<Arc<CompiledModule>, Arc<LoadError>>;

/// A cache of modules. Each file is read once until it changes.
#[derive(Debug, Default)]
pub struct Modules {
    configured: Vec<PathBuf>,
    cache: Mutex<HashMap<PathBuf, (Stamp, Loaded)>>,
    as_compiled: AsCompiled,
}

/// A module that belongs to a document.
#[derive(Debug, Clone)]
pub struct NearbyModule {
    /// The file.
    pub path: PathBuf,
    /// Its contents, or why it cannot be read.
    pub module: Loaded,
    /// Whether the source is newer, so the module was not made from this text.
    pub is_stale: bool,
}

impl Modules {
    /// `configured` are module files, or folders searched for `<name of the source>.vmfb`, in
    /// addition to the source's own folder.
    pub fn new(configured: Vec<PathBuf>) -> Self {
        Self { configured, ..Self::default() }
    }

    /// The configured files and folders.
    pub fn configured(&self) -> &[PathBuf] {
        &self.configured
    }

    /// The modules that belong to a document; the one beside it comes first.
    pub fn of(&self, document: &Document) -> Vec<NearbyModule> {
        let Some(source) = document.path() else { return Vec::new() };
        let written = stamp(source).map(|stamp| stamp.modified);
        self.candidates(source)
            .into_iter()
            .filter_map(|path| {
                let stamp = stamp(&path)?;
                let is_module_itself = path == source;
                let older = written.is_some_and(|written| stamp.modified < written);
                let is_stale = !is_module_itself && (older || document.is_unsaved());
                Some(NearbyModule { module: self.load(&path, stamp), path, is_stale })
            })
            .collect()
    }

    /// What to ask iree-compile about the exports of a document, beginning with the one at
    /// `offset`: at most `limit` functions. `None` if all is known.
    pub(super) fn abi_question(
        &self,
        document: &Document,
        offset: usize,
        limit: usize,
    ) -> Option<AbiQuestion> {
        question(document, offset, limit, |key| self.as_compiled.get(key).is_some())
    }

    /// The compiler that is asked from now on, for the reader, and with all that its answers depend
    /// on. Answers of another one are forgotten.
    pub fn ask_compiler(&self, compiler: &str, identity: &str) {
        self.as_compiled.ask(compiler, identity);
    }

    /// Learns from the module that a question was compiled to. Fails if it is none.
    pub(super) fn learn(&self, question: &AbiQuestion, module: Vec<u8>) -> Result<(), LoadError> {
        self.as_compiled.learn(question, module)
    }

    /// Learns from the complaints of a compiler that refused a question; returns how many of its
    /// functions they concern.
    pub(super) fn learn_faults(&self, question: &AbiQuestion, said: &str) -> usize {
        self.as_compiled.learn_faults(question, said)
    }

    /// Whether a function can be asked about and was not.
    pub(super) fn is_unknown(&self, document: &Document, symbol: &Symbol) -> bool {
        key_of(document, symbol).is_some_and(|key| self.as_compiled.get(key).is_none())
    }

    /// What iree-compile makes of a function, and which compiler that was, if it was asked.
    pub(crate) fn as_compiled(
        &self,
        document: &Document,
        symbol: &Symbol,
    ) -> Option<(Arc<str>, Arc<Answer>)> {
        self.as_compiled.get(key_of(document, symbol)?)
    }

    fn candidates(&self, source: &Path) -> Vec<PathBuf> {
        let beside = source.with_extension("vmfb");
        let named = beside.file_name().map(PathBuf::from).unwrap_or_default();
        let mut candidates = vec![beside];
        for path in &self.configured {
            let candidate = if path.is_dir() { path.join(&named) } else { path.clone() };
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        candidates
    }

    fn load(&self, path: &Path, stamp: Stamp) -> Loaded {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, loaded)) = cache.get(path).filter(|(known, _)| *known == stamp) {
            debug_assert_eq!(*known, stamp);
            return loaded.clone();
        }
        let loaded = read(path).map(Arc::new).map_err(Arc::new);
        cache.insert(path.to_owned(), (stamp, loaded.clone()));
        loaded
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(Stamp { modified: metadata.modified().ok()?, length: metadata.len() })
}

/// Reads the facts of a module. The file is not kept open.
pub(crate) fn read(path: &Path) -> Result<CompiledModule, LoadError> {
    Ok(facts(&vmfb::Module::open(path)?))
}

/// The facts of a module.
pub(super) fn facts(module: &vmfb::Module) -> CompiledModule {
    let function = |name: &str, signature: &vmfb::FunctionSignature| CompiledFunction {
        name: name.to_owned(),
        calling_convention: signature.calling_convention.clone(),
        attributes: signature
            .attributes
            .iter()
            .map(|attribute| (attribute.key.clone(), attribute.value.clone()))
            .collect(),
    };
    let exports = module.exports().iter().filter_map(|export| {
        let internal = module.function(export.function)?;
        Some(function(&export.name, &internal.signature))
    });
    let imports =
        module.imports().iter().map(|import| function(&import.full_name, &import.signature));
    CompiledModule {
        name: module.name().to_owned(),
        exports: exports.collect(),
        imports: imports.collect(),
    }
}
