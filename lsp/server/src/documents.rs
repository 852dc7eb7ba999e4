//! The open documents: a rope for each, replaced at every edit.
//!
//! [`Documents`] is a value, and a request's snapshot is a clone of it. Ropes share their pieces,
//! so a clone takes nanoseconds and an edit copies one leaf.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use ide::{Document, Language, TextEdit};
use ropey::Rope;
use syntax::Source;
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidSaveTextDocumentParams,
    TextDocumentContentChangeEvent, TextDocumentItem, Url,
};

use crate::made_uris;
use crate::positions::{self, Encoding};

/// A rope, read through [`syntax`]'s trait.
struct RopeText(Rope);

impl Source for RopeText {
    fn len(&self) -> usize {
        self.0.len_bytes()
    }

    fn piece(&self, offset: usize) -> (&[u8], usize) {
        let (piece, start, _, _) = self.0.chunk_at_byte(offset.min(self.0.len_bytes()));
        (piece.as_bytes(), start)
    }
}

/// One version of an open document.
pub(crate) struct Open {
    /// The client's version number.
    pub version: i32,
    /// The text, for lines and columns.
    pub rope: Rope,
    /// The same text, for features.
    pub document: Document,
}

impl Open {
    fn new(version: i32, language: Language, path: Option<PathBuf>, rope: Rope) -> Self {
        let document = Document::new(language, path, Arc::new(RopeText(rope.clone())));
        Self { version, rope, document }
    }

    fn changed(
        &self,
        version: i32,
        changes: &[TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> Self {
        let mut rope = self.rope.clone();
        let mut edit: Option<TextEdit> = None;
        for change in changes {
            let next = apply(&mut rope, change, encoding);
            edit = Some(edit.map_or(next, |edit| edit.then(next)));
        }
        let edit = edit.unwrap_or(TextEdit { start: 0, removed: 0, inserted: 0 });
        let document = self.document.edited(Arc::new(RopeText(rope.clone())), edit);
        Self { version, rope, document }
    }
}

/// Applies one change and returns the edit in bytes. A change without a range replaces the whole
/// text.
fn apply(rope: &mut Rope, change: &TextDocumentContentChangeEvent, encoding: Encoding) -> TextEdit {
    let Some(range) = change.range else {
        let removed = rope.len_bytes();
        *rope = Rope::from_str(&change.text);
        return TextEdit { start: 0, removed, inserted: change.text.len() };
    };
    let start = positions::to_char(rope, range.start, encoding);
    let end = positions::to_char(rope, range.end, encoding).max(start);
    let start_byte = rope.char_to_byte(start);
    let removed = rope.char_to_byte(end) - start_byte;
    rope.remove(start..end);
    rope.insert(start, &change.text);
    TextEdit { start: start_byte, removed, inserted: change.text.len() }
}

/// All open documents at one moment.
#[derive(Clone, Default)]
pub(crate) struct Documents {
    open: Arc<HashMap<Url, Arc<Open>>>,
    encoding: Encoding,
}

impl Documents {
    /// The same documents, with columns in this encoding.
    #[must_use]
    pub(crate) fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// The encoding of columns.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// An open document.
    pub(crate) fn get(&self, uri: &Url) -> Option<&Arc<Open>> {
        self.open.get(uri)
    }

    /// Every open document.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Url, &Arc<Open>)> {
        self.open.iter()
    }

    fn put(&mut self, uri: Url, open: Open) {
        Arc::make_mut(&mut self.open).insert(uri, Arc::new(open));
    }

    /// `textDocument/didOpen`. `text` replaces the text in `item`.
    pub(crate) fn did_open(&mut self, item: &TextDocumentItem, text: Rope) {
        let language = match item.language_id.as_str() {
            _ if item.uri.path().ends_with(".vmfb") => Language::Vmasm,
            "vmasm" => Language::Vmasm,
            "mlir" => Language::Mlir,
            _ => Language::of_path(item.uri.path()),
        };
        let mut open = Open::new(item.version, language, path_of(&item.uri), text);
        if made_uris::is_made(&item.uri) || item.uri.path().ends_with(".vmfb") {
            open.document = open.document.excerpt();
        }
        self.put(item.uri.clone(), open);
    }

    /// `textDocument/didChange`. Ignored if the document is not open.
    pub(crate) fn did_change(&mut self, params: &DidChangeTextDocumentParams) {
        let identifier = &params.text_document;
        if let Some(open) = self.open.get(&identifier.uri) {
            let changed = open.changed(identifier.version, &params.content_changes, self.encoding);
            self.put(identifier.uri.clone(), changed);
        }
    }

    /// `textDocument/didSave`.
    pub(crate) fn did_save(&mut self, params: &DidSaveTextDocumentParams) {
        let uri = &params.text_document.uri;
        if let Some(open) = self.open.get(uri) {
            let saved = Open {
                version: open.version,
                rope: open.rope.clone(),
                document: open.document.saved(),
            };
            self.put(uri.clone(), saved);
        }
    }

    /// `textDocument/didClose`.
    pub(crate) fn did_close(&mut self, params: &DidCloseTextDocumentParams) {
        Arc::make_mut(&mut self.open).remove(&params.text_document.uri);
    }
}

/// The path of a document's file. A module or a long file that the server shows has its own path
/// under another scheme.
fn path_of(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() == "file" {
        return uri.to_file_path().ok();
    }
    let path = made_uris::file_of(uri)?;
    let is_shown = path.extension().is_some_and(|extension| extension == "vmfb");
    (is_shown || uri.scheme() == "iree-text").then_some(path)
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::{Position, Range, TextDocumentContentChangeEvent, Url};

    use super::{Language, Open, path_of};
    use crate::positions::Encoding;

    fn change(
        range: Option<((u32, u32), (u32, u32))>,
        text: &str,
    ) -> TextDocumentContentChangeEvent {
        let range = range.map(|(start, end)| Range {
            start: Position::new(start.0, start.1),
            end: Position::new(end.0, end.1),
        });
        TextDocumentContentChangeEvent { range, range_length: None, text: text.into() }
    }

    #[test]
    fn changes_apply_in_order_and_are_clamped() {
        let open = Open::new(1, Language::Mlir, None, "a😀b\nc\n".into());
        let _ = open.document.chunks();
        for (changes, expected) in [
            (vec![change(Some(((0, 3), (0, 4))), "X")], "a😀X\nc\n"),
            (
                vec![change(Some(((0, 1), (0, 3))), ""), change(Some(((0, 1), (0, 1))), "é")],
                "aéb\nc\n",
            ),
            (vec![change(Some(((5, 0), (9, 9))), "end")], "a😀b\nc\nend"),
            (vec![change(Some(((0, 99), (1, 0))), "-")], "a😀b-c\n"),
            // A reversed range removes nothing.
            (vec![change(Some(((1, 1), (0, 0))), "!")], "a😀b\nc!\n"),
            (vec![change(None, "new")], "new"),
            (vec![], "a😀b\nc\n"),
        ] {
            let changed = open.changed(2, &changes, Encoding::Utf16);
            assert_eq!(changed.rope.to_string(), expected);
            assert_eq!(changed.document.text().slice(0..100), expected);
            assert_eq!(changed.document.chunks(), &syntax::ChunkTable::scan(expected));
        }
    }

    #[test]
    fn modules_shown_as_text_lie_where_the_module_does() {
        let path = |uri: &str| path_of(&Url::parse(uri).unwrap());
        assert_eq!(path("iree-vmfb:/a%20b/x.vmfb"), Some("/a b/x.vmfb".into()));
        assert_eq!(path("iree-vmfb:/a%20b/x.vmfb.vmasm"), Some("/a b/x.vmfb".into()));
        assert_eq!(path("file:///a/x.mlir"), Some("/a/x.mlir".into()));
        assert_eq!(path("untitled:Untitled-1"), None);
    }
}
