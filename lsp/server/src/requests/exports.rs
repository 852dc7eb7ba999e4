//! What of a file can be run, and with which compiler: questions before a run, for clients that ask
//! their users.

use std::path::Path;
use std::sync::Arc;

use ide::{Document, Export, Language, TextRange};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::Url;

use super::made_documents::{Readable, failed, source_text, target};
use crate::documents::Open;
use crate::made_uris::file_of;
use crate::positions::{self, Encoding};

/// The most functions in an answer; more are no choice.
const LONGEST: usize = 10_000;

/// The exports of an open document.
pub(crate) fn of_document(open: &Open, encoding: Encoding) -> Value {
    let lines = |range: &TextRange| {
        let range = positions::to_range(&open.rope, range, encoding);
        [range.start.line, range.end.line]
    };
    answer(&ide::exports(&open.document, LONGEST), lines)
}

/// The exports of a file: a module, or a text that is not open.
pub(crate) fn of_file(uri: &Url, readable: &Readable) -> Result<Value> {
    let path = if uri.scheme() == "file" { uri.to_file_path().ok() } else { file_of(uri) };
    let path = path.ok_or_else(|| failed(format!("{uri} names no file")))?;
    let refused =
        |reason: &dyn std::fmt::Display| failed(format_args!("{}: {reason}", path.display()));
    if path.extension().is_some_and(|extension| extension == "vmfb") {
        let module = target(&path, &["vmfb"]).map_err(|error| refused(&error))?;
        let found = ide::module_exports(&module).map_err(|error| refused(&error))?;
        return Ok(answer(&found, |_| [0, 0]));
    }
    let text = Arc::new(source_text(&path, readable).map_err(|error| refused(&error))?);
    let language = Language::of_path(&path.to_string_lossy());
    let document = Document::new(language, Some(path.clone()), text.clone());
    let found = ide::exports(&document, LONGEST);
    let offsets = found.iter().flat_map(|export| &export.ranges);
    let lines = Lines::of(text.as_bytes(), offsets.flat_map(|it| [it.start, it.end]).collect());
    Ok(answer(&found, |range| [lines.at(range.start), lines.at(range.end)]))
}

/// The lines of some offsets, counted in one pass over a long text.
struct Lines(Vec<(usize, u32)>);

impl Lines {
    fn of(text: &[u8], mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        let (mut line, mut from) = (0, 0);
        let counted = offsets.into_iter().map(|offset| {
            let end = offset.clamp(from, text.len());
            line += memchr::memchr_iter(b'\n', &text[from..end]).count() as u32;
            from = end;
            (offset, line)
        });
        Self(counted.collect())
    }

    fn at(&self, offset: usize) -> u32 {
        let found = self.0.binary_search_by_key(&offset, |(offset, _)| *offset);
        found.map_or(0, |index| self.0[index].1)
    }
}

fn answer(exports: &[Export], lines: impl Fn(&TextRange) -> [u32; 2]) -> Value {
    let all = exports.iter().map(|export| {
        let arguments = export.arguments.iter();
        let arguments = arguments.map(|it| json!({ "name": it.name, "type": it.ty }));
        json!({
            "name": export.name,
            "arguments": arguments.collect::<Vec<_>>(),
            "lines": export.ranges.iter().map(&lines).collect::<Vec<_>>(),
        })
    });
    json!({ "exports": all.collect::<Vec<_>>() })
}

/// The iree-compile that a program in `directory` would be compiled by if no setting names one, or
/// why there is none.
pub(crate) fn compiler(directory: &Path) -> Value {
    match compile::find_compiler(directory) {
        Ok(path) => json!({ "path": path }),
        Err(error) => json!({ "path": null, "reason": error.to_string() }),
    }
}
