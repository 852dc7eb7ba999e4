//! Links to other files: `loc("model.mlir":3:5)`, and source lines in the comments of a module's
//! disassembly.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use syntax::{TextRange, TokenKind};

use crate::Document;
use crate::modules::{ModuleText, module_text};
use crate::resolve::{Entity, entity_at};
use crate::text::AnalysedChunk;

/// A link to a place in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The text of the link.
    pub range: TextRange,
    /// The file that it names.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
}

/// The most links of a document: each costs the editor a decoration.
const LIMIT: usize = 2000;
/// The largest text, in bytes, whose links are all listed.
const SEARCHED: usize = 16 << 20;

/// The links of a document to files that exist.
pub fn links(document: &Document) -> Vec<Link> {
    if document.text().len() > SEARCHED {
        return Vec::new();
    }
    if let Some(found) = of_module(document) {
        return found;
    }
    let mut found: Vec<Link> = Vec::new();
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    for placed in document.chunks().iter() {
        for link in in_chunk(document, &document.analysis(&placed)) {
            if found.len() >= LIMIT {
                return found;
            }
            if *known.entry(link.path.clone()).or_insert_with(|| link.path.is_file()) {
                found.push(link);
            }
        }
    }
    found
}

/// The module as text, if the document shows a module.
fn module_of(document: &Document) -> Option<ModuleText> {
    let path = document.path().filter(|path| path.extension().is_some_and(|ext| ext == "vmfb"))?;
    module_text(path).ok()
}

/// Links in a module's disassembly, from each instruction's offset to its source line.
fn of_module(document: &Document) -> Option<Vec<Link>> {
    let module = module_of(document)?;
    let mut known: HashMap<&Path, bool> = HashMap::new();
    let mut found = Vec::new();
    let text = document.text().slice(0..document.text().len());
    let mut start = 0;
    for (line, place) in text.split_inclusive('\n').zip(&module.places) {
        if found.len() < LIMIT
            && let Some((range, place)) = prefix(line).zip(place.as_ref())
            && *known.entry(&place.0).or_insert_with(|| place.0.is_file())
        {
            found.push(link_to(start + range.start..start + range.end, place));
        }
        start += line.len();
    }
    Some(found)
}

/// The range of an instruction's offset, `[0000001A]`, in its line.
fn prefix(line: &str) -> Option<TextRange> {
    let (open, close) = line.find('[').zip(line.find(']'))?;
    (open < close).then_some(open..close + 1)
}

fn link_to(range: TextRange, (path, line, column): &(PathBuf, u32, u32)) -> Link {
    Link { range, path: path.clone(), line: *line, column: *column }
}

/// The link at `offset`. In a module's disassembly, the offset and the name of an instruction are
/// links.
pub(crate) fn link_at(document: &Document, offset: usize) -> Option<Link> {
    if let Some(module) = module_of(document) {
        let text = document.text();
        let breaks = syntax::find_all(text, 0..offset.min(text.len()), "\n");
        let (start, number) = breaks.fold((0, 0), |(_, number), at| (at + 1, number + 1));
        let place = module.places.get(number)?.as_ref()?;
        let line = text.slice(start..text.len().min(start + 4096));
        let prefix = prefix(line.lines().next()?)?;
        let prefix = start + prefix.start..start + prefix.end;
        if prefix.start <= offset && offset <= prefix.end {
            return Some(link_to(prefix, place));
        }
        let named = entity_at(document, offset)?;
        return matches!(named.entity, Entity::Operation { .. })
            .then(|| link_to(named.range.clone(), place));
    }
    let analysed = document.analysis_at(offset)?;
    in_chunk(document, &analysed)
        .into_iter()
        .find(|link| link.range.start <= offset && offset <= link.range.end)
        .or_else(|| super::locations::source_at(document, offset))
}

fn in_chunk(document: &Document, analysed: &AnalysedChunk) -> Vec<Link> {
    let tree = &analysed.analysis.tree;
    let tokens = tree.tokens();
    let text = |index: usize| tree.text(document.text(), analysed.base(), &tokens[index]);
    let mut found = Vec::new();
    for index in 0..tokens.len() {
        match tokens[index].kind {
            // "file":line:column
            TokenKind::String => {
                let Some([first, line, second, column]) = tokens.get(index + 1..index + 5) else {
                    continue;
                };
                let is_place = first.is(b':')
                    && second.is(b':')
                    && line.kind == TokenKind::Number
                    && column.kind == TokenKind::Number;
                if is_place
                    && let (Ok(line), Ok(column)) =
                        (text(index + 2).parse(), text(index + 4).parse())
                {
                    let name = text(index);
                    let path = resolve(document, name.trim_matches('"'));
                    let range = analysed.absolute(&(tokens[index].start..tokens[index + 4].end));
                    found.push(Link { range, path, line, column });
                }
            }
            TokenKind::Comment if tokens[index].end - tokens[index].start < 1000 => {
                let comment = text(index);
                let start = analysed.base() + tokens[index].start as usize;
                found.extend(in_comment(document, &comment, start));
            }
            _ => {}
        }
    }
    found
}

/// The link of a comment `// model.mlir:3:5`, as in the disassembly of a module with a source map.
fn in_comment(document: &Document, comment: &str, start: usize) -> Option<Link> {
    let content = comment.trim_start_matches('/');
    let at = comment.len() - content.trim_start().len();
    let word = content.split_whitespace().next()?;
    let (rest, column) = word.rsplit_once(':')?;
    let (name, line) = rest.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    if !name.contains('.') {
        return None;
    }
    let range = start + at..start + at + word.len();
    Some(Link { range, path: resolve(document, name), line, column })
}

/// The path of a file name. Names are as iree-compile was given them; a relative one is searched
/// for in the document's folder and the folders above.
pub(super) fn resolve(document: &Document, name: &str) -> PathBuf {
    let path = Path::new(name);
    if path.is_absolute() {
        return path.to_owned();
    }
    let folders = document.path().into_iter().flat_map(|own| own.ancestors().skip(1));
    let mut candidates = folders.take(6).map(|folder| folder.join(path));
    let beside = candidates.next();
    let found = beside.iter().cloned().chain(candidates).find(|path| path.is_file());
    found.or(beside).unwrap_or_else(|| path.to_owned())
}
