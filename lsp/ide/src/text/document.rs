//! [`Document`]: one version of one text, immutable.
//!
//! An edit makes a new document. The chunk table is made when a feature first asks for it, from the
//! last table and the edits since then. So typing costs nothing until a feature asks, and a burst
//! of edits is one rescan.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use syntax::{ChunkTable, Language, Placed, Source, TextEdit};

use super::analysis::{AnalysedChunk, Analyses, analysis_before};
use super::inputs::Inputs;
use super::shared_names::SharedNames;

/// Text as features read it: in pieces, on any thread.
pub type Text = dyn Source + Send + Sync;

/// One version of a text.
pub struct Document {
    language: Language,
    path: Option<PathBuf>,
    text: Arc<Text>,
    is_unsaved: bool,
    is_excerpt: bool,
    table: OnceLock<Arc<ChunkTable>>,
    /// The table of an older version, and the edit that leads from it to this text.
    base: Option<(Arc<ChunkTable>, TextEdit)>,
    /// The analyses, shared by all versions.
    analyses: Arc<Analyses>,
    /// Where the names are defined that several chunks share, once a pass has found out.
    shared_names: OnceLock<Arc<SharedNames>>,
    /// Which importers the text concerns, once it was searched for them.
    inputs: OnceLock<Inputs>,
}

impl Document {
    /// A text that was just opened. `path` is its file, if it has one.
    pub fn new(language: Language, path: Option<PathBuf>, text: Arc<Text>) -> Self {
        Self {
            language,
            path,
            text,
            is_unsaved: false,
            is_excerpt: false,
            table: OnceLock::new(),
            base: None,
            analyses: Arc::default(),
            shared_names: OnceLock::new(),
            inputs: OnceLock::new(),
        }
    }

    /// The next version, where `text` is this text with `edit` applied.
    #[must_use]
    pub fn edited(&self, text: Arc<Text>, edit: TextEdit) -> Self {
        let base = match (self.table.get(), &self.base) {
            (Some(table), _) => Some((table.clone(), edit)),
            (None, Some((table, earlier))) => Some((table.clone(), earlier.then(edit))),
            (None, None) => None,
        };
        let (language, path) = (self.language, self.path.clone());
        let analyses = self.analyses.clone();
        let (table, shared_names) = (OnceLock::new(), OnceLock::new());
        let is_excerpt = self.is_excerpt;
        Self {
            language,
            path,
            text,
            is_unsaved: true,
            is_excerpt,
            table,
            base,
            analyses,
            shared_names,
            inputs: OnceLock::new(),
        }
    }

    /// This version, saved to its file.
    #[must_use]
    pub fn saved(&self) -> Self {
        let table = OnceLock::new();
        if let Some(made) = self.table.get() {
            let _ = table.set(made.clone());
        }
        Self {
            language: self.language,
            path: self.path.clone(),
            text: self.text.clone(),
            is_unsaved: false,
            is_excerpt: self.is_excerpt,
            table,
            base: self.base.clone(),
            analyses: self.analyses.clone(),
            shared_names: self.shared_names.clone(),
            inputs: self.inputs.clone(),
        }
    }

    /// The same text, made from a file with long constants left out, so that it cannot be
    /// assembled.
    #[must_use]
    pub fn excerpt(self) -> Self {
        Self { is_excerpt: true, ..self }
    }

    /// Whether long constants were left out; see [`Document::excerpt`].
    pub fn is_excerpt(&self) -> bool {
        self.is_excerpt
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The path of its file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its text.
    pub fn text(&self) -> &Text {
        &*self.text
    }

    /// Whether it was edited since it was opened or saved.
    pub fn is_unsaved(&self) -> bool {
        self.is_unsaved
    }

    /// Its chunks. The first call on a version scans; later ones return the same table.
    pub fn chunks(&self) -> &ChunkTable {
        self.table.get_or_init(|| {
            Arc::new(match &self.base {
                Some((table, edit)) => table.edited(self.text(), *edit),
                None => ChunkTable::scan(self.text()),
            })
        })
    }

    /// The tree and names of a chunk.
    pub(crate) fn analysis(&self, placed: &Placed) -> AnalysedChunk {
        self.analyses.of(self.text(), placed, self.language)
    }

    /// The tree and names of a chunk, for a pass over all chunks: they are not kept, since such a
    /// pass would only displace what a reader looks at.
    pub(crate) fn analysis_in_passing(&self, placed: &Placed) -> AnalysedChunk {
        self.analyses.in_passing(self.text(), placed, self.language)
    }

    /// The tree and names of a chunk as far as `end`; `None` if that is too long.
    pub(crate) fn analysis_before(&self, placed: &Placed, end: usize) -> Option<AnalysedChunk> {
        analysis_before(self.text(), placed, self.language, end)
    }

    /// Where shared names are defined, if a pass over all chunks has found out.
    pub(crate) fn shared_names(&self) -> Option<&SharedNames> {
        self.shared_names.get().map(|names| &**names)
    }

    /// Keeps what a pass over all chunks has found out. The first to come stays.
    pub(crate) fn keep_shared_names(&self, names: SharedNames) {
        let _ = self.shared_names.set(Arc::new(names));
    }

    /// Which importers the text concerns.
    pub(crate) fn inputs(&self) -> Inputs {
        *self.inputs.get_or_init(|| Inputs::of(self.text(), 0..self.text.len()))
    }

    /// The tree and names of the chunk that holds `offset`.
    pub(crate) fn analysis_at(&self, offset: usize) -> Option<AnalysedChunk> {
        Some(self.analysis(&self.chunks().at(offset)?))
    }
}
