//! The names visible in a whole file: aliases, symbols, and symbols that are defined twice.

use std::collections::{HashMap, HashSet};

use syntax::{ChunkKind, OpClass, Placed, Symbol, name_hash};

use crate::Document;
use crate::resolve::is_vm_export;
use crate::text::hash;

/// The names visible in a whole file, or between two `// -----`.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    /// The start of each file and the hashes of its aliases.
    files: Vec<(usize, HashSet<u64>)>,
    /// The hashes of all symbols' names. Looking up each reference in the chunks instead would take
    /// quadratic time.
    symbols: HashSet<u32>,
    /// The function with each name, by the number of its file; `None` where several have it.
    functions: HashMap<(usize, u32), Option<Placed>>,
    /// Chunks that define a symbol again, each with the chunk that defines it first in the same
    /// table.
    duplicates: HashMap<usize, Placed>,
}

impl FileNames {
    /// The names of a document.
    pub(super) fn of(document: &Document) -> Self {
        let mut found = Self { files: vec![(0, HashSet::new())], ..Self::default() };
        // Symbol tables, outermost first, with the names in each.
        let mut tables: Vec<HashMap<u32, Placed>> = vec![HashMap::new()];
        for placed in document.chunks().iter() {
            if placed.chunk.class == OpClass::Alias {
                let first = syntax::Lexer::new(document.text(), placed.op_start()).next();
                if let (Some(token), Some((_, aliases))) = (first, found.files.last_mut()) {
                    aliases.insert(hash(&token.text(document.text())));
                }
            }
            if placed.chunk.name != 0 && !only_exports(document, &placed) {
                found.symbols.insert(placed.chunk.name);
                let file = found.files.len() - 1;
                let known = found.functions.entry((file, placed.chunk.name));
                known.and_modify(|other| *other = None).or_insert(Some(placed));
            }
            if placed.chunk.name != 0 && defines_symbol(document, &placed) {
                let earlier = tables.last_mut().and_then(|table| {
                    let earlier = table.get(&placed.chunk.name).copied();
                    table.entry(placed.chunk.name).or_insert(placed);
                    earlier
                });
                if let Some(earlier) = earlier {
                    found.duplicates.insert(placed.index, earlier);
                }
            }
            match placed.chunk.kind {
                ChunkKind::Open => tables.push(HashMap::new()),
                ChunkKind::Close if tables.len() > 1 => {
                    tables.pop();
                }
                ChunkKind::Separator => {
                    tables = vec![HashMap::new()];
                    found.files.push((placed.start, HashSet::new()));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether an alias of this name is defined in the file that holds `offset`.
    pub(super) fn has_alias(&self, offset: usize, name: &str) -> bool {
        let file = self.file_at(offset);
        self.files.get(file).is_some_and(|(_, aliases)| aliases.contains(&hash(name)))
    }

    /// Whether a symbol of this name is defined anywhere in the document.
    pub(super) fn has_symbol(&self, name: &str) -> bool {
        self.symbols.contains(&name_hash(name))
    }

    /// The number of the file that holds `offset`.
    pub(super) fn file_at(&self, offset: usize) -> usize {
        self.files.partition_point(|(start, _)| *start <= offset).saturating_sub(1)
    }

    /// The chunk that alone defines a symbol of this name in the file that holds `offset`; the
    /// inner `None` means several.
    pub(super) fn only_definition(&self, offset: usize, name: &str) -> Option<Option<Placed>> {
        self.functions.get(&(self.file_at(offset), name_hash(name))).copied()
    }

    /// The chunk that already defines the symbol of this one, in the same symbol table.
    pub(super) fn earlier_definition(&self, placed: &Placed) -> Option<&Placed> {
        self.duplicates.get(&placed.index)
    }
}

/// Whether the operation is known to define its name in the enclosing symbol table.
fn defines_symbol(document: &Document, placed: &Placed) -> bool {
    match placed.chunk.class {
        OpClass::Function
        | OpClass::Import
        | OpClass::Global
        | OpClass::Rodata
        | OpClass::Module
        | OpClass::Executable => true,
        OpClass::Export => !only_exports(document, placed),
        _ => false,
    }
}

/// Whether a chunk only exports a symbol that another chunk defines.
fn only_exports(document: &Document, placed: &Placed) -> bool {
    placed.chunk.class == OpClass::Export
        && Symbol::read(document.text(), placed).is_none_or(|symbol| is_vm_export(&symbol))
}
