//! What a compiler needs to judge an edit: the whole text if it is small, else the file between two
//! `// -----`, else the edited function with its aliases and the modules around it.

use std::collections::HashSet;

use syntax::{Language, OpClass, Placed, TextRange};

use crate::Document;
use crate::resolve::file_around;
use crate::text::{chunks_sharing_values, hash};

/// The longest text, in bytes, that is checked as a whole.
const WHOLE: usize = 256 << 10;

/// A text made of parts of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extract {
    /// The text.
    pub text: String,
    /// Its parts: where each begins in the text, and its place in the document.
    parts: Vec<(usize, TextRange)>,
    /// Whether symbols of the document may be missing.
    pub is_partial: bool,
}

impl Extract {
    /// The place in the document of a range of the text.
    pub fn in_document(&self, range: &TextRange) -> Option<TextRange> {
        let part = self.parts.partition_point(|(start, _)| *start <= range.start).checked_sub(1)?;
        let (start, place) = &self.parts[part];
        let from = place.start + (range.start - start);
        (from <= place.end)
            .then(|| from..(place.start + range.end.max(*start) - start).min(place.end))
    }

    /// The place in the text of a place in the document.
    pub fn of_document(&self, place: usize) -> Option<usize> {
        let part =
            self.parts.iter().rev().find(|(_, range)| range.start <= place && place <= range.end);
        part.map(|(start, range)| start + place - range.start)
    }

    fn push(&mut self, document: &Document, range: TextRange) {
        self.parts.push((self.text.len(), range.clone()));
        self.text.push_str(&document.text().slice(range));
        self.text.push('\n');
    }
}

/// The part of a document to check after an edit at `offset`; `None` if it is too long.
pub fn extract(document: &Document, offset: usize) -> Option<Extract> {
    if document.language() != Language::Mlir {
        return None;
    }
    let mut found = Extract::default();
    let length = document.text().len();
    if length <= WHOLE {
        found.push(document, 0..length);
        return Some(found);
    }
    let file = file_around(document, offset);
    if file.len() <= WHOLE {
        found.push(document, file);
        return Some(found);
    }
    found.is_partial = true;
    let here = document.chunks().at(offset)?;
    let function = chunks_sharing_values(document, &here);
    if function.iter().map(|placed| placed.chunk.len).sum::<usize>() > WHOLE {
        return None;
    }
    for alias in aliases(document, &file, &function)? {
        found.push(document, alias.range());
    }
    let around: Vec<_> = document
        .chunks()
        .ancestors(function.first()?.index)
        .into_iter()
        .filter(|open| open.index < function[0].index)
        .collect();
    for open in &around {
        found.push(document, open.range());
    }
    for placed in &function {
        found.push(document, placed.range());
    }
    found.text.push_str(&"}\n".repeat(around.len()));
    (found.text.len() <= 2 * WHOLE).then_some(found)
}

/// The aliases that these chunks use, in the order of the text; `None` if they are too long.
fn aliases(document: &Document, file: &TextRange, function: &[Placed]) -> Option<Vec<Placed>> {
    let mut wanted: HashSet<u64> = HashSet::new();
    let want = |placed: &Placed, wanted: &mut HashSet<u64>| {
        let analysed = document.analysis(placed);
        let names = &analysed.analysis.names.aliases;
        let text = |span| document.text().slice(analysed.absolute(span));
        wanted.extend(names.iter().map(|span| hash(&text(span))));
    };
    for placed in function {
        want(placed, &mut wanted);
    }
    let all: Vec<(u64, Placed)> = document
        .chunks()
        .iter()
        .filter(|placed| placed.chunk.class == OpClass::Alias && file.contains(&placed.start))
        .filter_map(|placed| {
            let first = syntax::Lexer::new(document.text(), placed.op_start()).next()?;
            Some((hash(&first.text(document.text())), placed))
        })
        .collect();
    // An alias may use others.
    let mut found: Vec<Placed> = Vec::new();
    let mut taken = HashSet::new();
    let mut more = true;
    while more {
        more = false;
        for (name, placed) in &all {
            if wanted.contains(name) && taken.insert(placed.index) {
                found.push(*placed);
                let before = wanted.len();
                want(placed, &mut wanted);
                more |= wanted.len() > before;
            }
        }
        if found.iter().map(|placed| placed.chunk.len).sum::<usize>() > WHOLE {
            return None;
        }
    }
    found.sort_by_key(|placed| placed.index);
    Some(found)
}
