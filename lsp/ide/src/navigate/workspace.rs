//! The symbols of all files in a workspace, for searches by name.
//!
//! A search reads the files that changed since the last one. Only the chunk table and the heads of
//! symbols are read, and only names and places are kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use syntax::{ChunkTable, Language, OpClass, Placed, Symbol};

use crate::Document;

/// A symbol of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSymbol {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: OpClass,
    /// Whether it is a function without a body.
    pub is_declaration: bool,
    /// The name of its container.
    pub container: Option<String>,
    /// Its line, from 0.
    pub line: u32,
    /// The byte columns of its name.
    pub columns: std::ops::Range<u32>,
    /// The line's text up to the end of the name, for counting columns in other units.
    pub before: String,
}

type Indexed = Arc<Vec<FileSymbol>>;

/// The folders of a workspace, and the symbols of files that were read.
#[derive(Debug, Default)]
pub struct Workspace {
    folders: Mutex<Vec<PathBuf>>,
    files: Mutex<HashMap<PathBuf, (SystemTime, u64, Indexed)>>,
}

/// The most files, and the most folders, that are searched.
const FILES: usize = 5000;
/// Longer files, in bytes, are skipped.
const LONGEST: u64 = 64 << 20;
/// Folders that hold no sources.
const SKIPPED: &[&str] = &["target", "node_modules", "build", "__pycache__"];

impl Workspace {
    /// A workspace of the files under these folders.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders: Mutex::new(folders), files: Mutex::default() }
    }

    /// The folders.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds folders and removes others.
    pub fn change_folders(&self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
    }

    /// Symbols whose names match `query`, at most `limit`, in files for which `skip` is false.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        skip: &dyn Fn(&Path) -> bool,
    ) -> Vec<(PathBuf, FileSymbol)> {
        self.find(&|symbol| matches_query(&symbol.name, query), limit, skip)
    }

    /// The sources of the workspace.
    pub fn sources(&self) -> Vec<PathBuf> {
        sources(&self.folders())
    }

    /// Symbols that are `wanted`, at most `limit`, in files for which `skip` is false.
    pub fn find(
        &self,
        wanted: &dyn Fn(&FileSymbol) -> bool,
        limit: usize,
        skip: &dyn Fn(&Path) -> bool,
    ) -> Vec<(PathBuf, FileSymbol)> {
        let mut found = Vec::new();
        for path in self.sources().into_iter().filter(|path| !skip(path)) {
            let Some(symbols) = self.symbols_of(&path) else { continue };
            for symbol in symbols.iter().filter(|symbol| wanted(symbol)) {
                if found.len() >= limit {
                    return found;
                }
                found.push((path.clone(), symbol.clone()));
            }
        }
        found
    }

    fn symbols_of(&self, path: &Path) -> Option<Indexed> {
        let metadata = path.metadata().ok()?;
        let stamp = (metadata.modified().ok()?, metadata.len());
        if stamp.1 > LONGEST {
            return None;
        }
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((modified, length, symbols)) = lock().get(path)
            && (*modified, *length) == stamp
        {
            return Some(symbols.clone());
        }
        let bytes = std::fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let document =
            Document::new(Language::of_path(&path.to_string_lossy()), None, Arc::new(text));
        let symbols: Indexed = Arc::new(file_symbols(&document));
        lock().insert(path.to_owned(), (stamp.0, stamp.1, symbols.clone()));
        Some(symbols)
    }
}

/// Whether the letters of `query` occur in `name` in this order, ignoring case.
pub fn matches_query(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}

/// The symbols of a document, with their lines.
pub fn file_symbols(document: &Document) -> Vec<FileSymbol> {
    let text = document.text().slice(0..document.text().len());
    let table: &ChunkTable = document.chunks();
    let mut found = Vec::new();
    let mut containers: Vec<Option<String>> = Vec::new();
    let (mut line, mut line_start, mut seen) = (0_u32, 0, 0);
    for placed in table.iter() {
        let symbol = symbol_of(&text, &placed);
        if let Some(symbol) = &symbol {
            let at = symbol.name_token.start;
            for (newline, _) in text[seen..at].match_indices('\n') {
                line += 1;
                line_start = seen + newline + 1;
            }
            seen = at;
            found.push(FileSymbol {
                name: symbol.name.clone(),
                class: symbol.class,
                is_declaration: is_declaration(&placed),
                container: containers.iter().rev().flatten().next().cloned(),
                line,
                columns: (at - line_start) as u32..(symbol.name_token.end - line_start) as u32,
                before: text[line_start..symbol.name_token.end].to_owned(),
            });
        }
        match placed.chunk.kind {
            syntax::ChunkKind::Open => containers.push(symbol.map(|symbol| symbol.name)),
            syntax::ChunkKind::Close => {
                containers.pop();
            }
            syntax::ChunkKind::Separator => containers.clear(),
            _ => {}
        }
    }
    found
}

/// The symbol of a chunk, as it is in the list of all.
pub(super) fn file_symbol_at(document: &Document, placed: &Placed) -> Option<FileSymbol> {
    let symbol = Symbol::read(document.text(), placed)?;
    Some(FileSymbol {
        name: symbol.name,
        class: symbol.class,
        is_declaration: is_declaration(placed),
        container: None,
        line: 0,
        columns: 0..0,
        before: String::new(),
    })
}

/// Whether a chunk is a function without a body.
fn is_declaration(placed: &Placed) -> bool {
    let chunk = &placed.chunk;
    let ends_with_head = chunk.kind != syntax::ChunkKind::Open && chunk.head as usize >= chunk.len;
    matches!(chunk.class, OpClass::Function | OpClass::Import) && ends_with_head
}

fn symbol_of(text: &str, placed: &Placed) -> Option<Symbol> {
    (placed.chunk.name != 0).then(|| Symbol::read(text, placed)).flatten()
}

/// The sources under folders, breadth first and in a stable order. Symbolic links are not followed.
fn sources(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut waiting: std::collections::VecDeque<PathBuf> = folders.iter().cloned().collect();
    let mut found = Vec::new();
    let mut visited = 0;
    while let Some(folder) = waiting.pop_front() {
        visited += 1;
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir()
                && !name.starts_with('.')
                && !SKIPPED.contains(&&*name)
                && visited < FILES
            {
                waiting.push_back(entry.path());
            }
            if kind.is_file() && (name.ends_with(".mlir") || name.ends_with(".vmasm")) {
                found.push(entry.path());
            }
            if found.len() >= FILES {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::matches_query;

    #[test]
    fn letters_in_order() {
        assert!(matches_query("matmul_dispatch_0", "mmdisp"));
        assert!(matches_query("Main", "main") && matches_query("x", ""));
        assert!(!matches_query("main", "mian"));
    }
}
