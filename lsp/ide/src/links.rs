//! Places in other files: `loc("model.mlir":3:5)`, and the source lines that a module's disassembly names in comments.

use std::path::{Path, PathBuf};

use syntax::TextRange;
use syntax::lexer::TokenKind;

use crate::Document;
use crate::analysis::Analysed;

/// A place in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The text that names it.
    pub range: TextRange,
    /// The file.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
}

/// At most so many links of a document: each costs the editor a decoration.
const LIMIT: usize = 2000;
/// Longer texts are not searched as a whole.
const SEARCHED: usize = 16 << 20;

/// The links of a document to files that are there.
pub fn links(document: &Document) -> Vec<Link> {
    if document.text().len() > SEARCHED {
        return Vec::new();
    }
    if let Some(found) = of_module(document) {
        return found;
    }
    let mut found: Vec<Link> = Vec::new();
    let mut known: std::collections::HashMap<PathBuf, bool> = std::collections::HashMap::new();
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

/// In the disassembly of a module: from each instruction's offset to the source line that it comes from.
fn of_module(document: &Document) -> Option<Vec<Link>> {
    let path = document.path().filter(|path| path.extension().is_some_and(|ext| ext == "vmfb"))?;
    let module = crate::module_text::module_text(path).ok()?;
    let mut found = Vec::new();
    let text = document.text().slice(0..document.text().len());
    let mut start = 0;
    for (line, place) in text.split_inclusive('\n').zip(&module.places) {
        let offset = line.find('[').zip(line.find(']'));
        if let (Some((open, close)), Some((path, line, column))) = (offset, place)
            && found.len() < LIMIT
            && open < close
            && path.is_file()
        {
            let range = start + open..start + close + 1;
            found.push(Link { range, path: path.clone(), line: *line, column: *column });
        }
        start += line.len();
    }
    Some(found)
}

/// The link at `offset`.
pub fn link_at(document: &Document, offset: usize) -> Option<Link> {
    if let Some(links) = of_module(document) {
        return links
            .into_iter()
            .find(|link| link.range.start <= offset && offset <= link.range.end);
    }
    let analysed = document.analysis_at(offset)?;
    in_chunk(document, &analysed)
        .into_iter()
        .find(|link| link.range.start <= offset && offset <= link.range.end)
}

fn in_chunk(document: &Document, analysed: &Analysed) -> Vec<Link> {
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

/// `// model.mlir:3:5`, as the disassembly of a module with a source map has it.
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

/// Names are as iree-compile was given them: relative ones are looked for beside the document and above.
fn resolve(document: &Document, name: &str) -> PathBuf {
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
