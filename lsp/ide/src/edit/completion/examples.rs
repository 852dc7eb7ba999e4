//! How an operation goes on, learned from how it goes on elsewhere: near the cursor, and in the
//! documentation of the installed compiler.
//!
//! No dialect's grammar is known here. What may follow is what has followed the same pieces, and
//! the longer the part of the text that agrees, the more it counts. So keywords, attributes and
//! their values are proposed in any dialect.

use std::collections::HashMap;

use syntax::{Language, NodeId, NodeKind, Placed, Shape, Tree};

use super::statement::{Piece, PlacedPiece, Statement, pieces};
use crate::Document;
use crate::text::AnalysedChunk;

/// The most chunks and tokens near the cursor that are read.
const MOST_CHUNKS: usize = 48;
const MOST_TOKENS: usize = 60_000;
/// The longest chunk, in bytes, that is read.
const LONGEST_CHUNK: usize = 256 << 10;
/// The most forms of an operation that are compared.
const MOST_FORMS: usize = 48;
/// A longer agreement counts no more.
const LONGEST: usize = 9;

/// An operation near the cursor.
pub(super) struct Neighbour {
    /// The place of its chunk among [`Surroundings::chunks`].
    pub chunk: usize,
    pub id: NodeId,
    pub name: String,
    pub has_results: bool,
}

/// The text near the cursor, read.
pub(super) struct Surroundings {
    /// Chunks in the order of the text.
    pub chunks: Vec<AnalysedChunk>,
    /// Their operations, but for the one that is being typed, in the order of the text.
    pub operations: Vec<Neighbour>,
    /// How many of the operations begin before the cursor.
    pub before: usize,
}

impl Surroundings {
    /// Reads around a statement whose next word begins at `start`.
    pub(super) fn of(document: &Document, statement: &Statement, start: usize) -> Self {
        let here = statement.analysed.placed.index;
        let first = here.saturating_sub(MOST_CHUNKS);
        let mut near: Vec<Placed> =
            document.chunks().iter().skip(first).take(2 * MOST_CHUNKS).collect();
        near.sort_by_key(|placed| placed.index.abs_diff(here));
        let mut chunks: Vec<AnalysedChunk> = Vec::new();
        let mut tokens = 0;
        for placed in near {
            // A long chunk is a long constant.
            if tokens > MOST_TOKENS || placed.chunk.len > LONGEST_CHUNK {
                continue;
            }
            let analysed = document.analysis(&placed);
            tokens += analysed.analysis.tree.tokens().len();
            chunks.push(analysed);
        }
        chunks.sort_by_key(|chunk| chunk.placed.index);
        let own = statement.op.map(|op| {
            let tree = &statement.analysed.analysis.tree;
            statement.analysed.base() + tree.range(op).start
        });
        let mut operations = Vec::new();
        let mut before = 0;
        for (chunk, analysed) in chunks.iter().enumerate() {
            let tree = &analysed.analysis.tree;
            for id in tree.operations() {
                let range = tree.range(id);
                let begin = analysed.base() + range.start;
                let name = tree.op_name(document.text(), analysed.base(), id);
                let holds_cursor = begin <= start && {
                    let end = tree
                        .child(id, NodeKind::Name)
                        .map_or(range.end, |name| tree.range(name).end);
                    start <= analysed.base() + end
                };
                if name.is_empty() || own == Some(begin) || holds_cursor || name.ends_with('.') {
                    continue;
                }
                if begin < start {
                    before = operations.len() + 1;
                }
                let has_results = tree.child(id, NodeKind::Results).is_some();
                operations.push(Neighbour { chunk, id, name, has_results });
            }
        }
        Self { chunks, operations, before }
    }

    /// The operations of a name, nearest first.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Neighbour> {
        let (before, after) = self.operations.split_at(self.before);
        let (mut back, mut on) = (before.iter().rev(), after.iter());
        let nearest = std::iter::from_fn(move || match (back.next(), on.next()) {
            (None, None) => None,
            (left, right) => Some([left, right]),
        });
        nearest.flatten().flatten().filter(move |other| other.name == name)
    }
}

/// A form of an operation.
pub(super) struct Form {
    pub pieces: Vec<PlacedPiece>,
    /// The operation, if it is one of the text.
    pub of: Option<(usize, NodeId)>,
}

/// The forms of an operation: those near the cursor first, then those that are documented.
pub(super) fn forms(document: &Document, around: &Surroundings, name: &str) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    for other in around.named(name).take(MOST_FORMS) {
        let analysed = &around.chunks[other.chunk];
        let tree = &analysed.analysis.tree;
        let text = |leaf: &syntax::Leaf| tree.text(document.text(), analysed.base(), leaf);
        let of = Some((other.chunk, other.id));
        found.push(Form { pieces: pieces(tree, other.id, &text), of });
    }
    found.extend(documented(name));
    found
}

/// The forms in the documentation of the installed compiler, and those that are known here.
fn documented(name: &str) -> Vec<Form> {
    let mut found = Vec::new();
    let all = crate::operations::known();
    let operation = all.get(name);
    let known = crate::operations::form(name, operation).map(|form| plain(&form));
    let examples = operation.map(|it| crate::operations::examples(&it.documentation));
    for example in examples.into_iter().flatten().chain(known) {
        let end = example.len();
        let shape = Shape { open_end: false, closes: false };
        let tree = Tree::parse(&*example, 0..end, Language::Mlir, shape);
        for id in tree.operations() {
            if tree.op_name(&*example, 0, id) == name {
                let text = |leaf: &syntax::Leaf| tree.text(&*example, 0, leaf);
                found.push(Form { pieces: pieces(&tree, id, &text), of: None });
            }
        }
    }
    found
}

/// A snippet as text: `${1:%a}` is `%a`.
fn plain(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some((before, after)) = rest.split_once('$') {
        text += before;
        let Some(inner) = after.strip_prefix('{') else {
            rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            continue;
        };
        let (field, after) = inner.split_once('}').unwrap_or((inner, ""));
        let words = field.trim_start_matches(|c: char| c.is_ascii_digit());
        let word = words.trim_start_matches([':', '|']).split([',', '|']).next();
        text += word.filter(|word| *word != "type").unwrap_or("index");
        rest = after;
    }
    text + rest
}

/// A piece that may follow, how much speaks for it, and where it was seen.
pub(super) struct Continuation<'a> {
    pub piece: &'a Piece,
    pub weight: f64,
    pub form: &'a Form,
    pub at: usize,
}

/// What may follow the pieces that are typed, each with its weight; nearer forms come first.
pub(super) fn continuations<'a>(forms: &'a [Form], typed: &[PlacedPiece]) -> Vec<Continuation<'a>> {
    let mut found: Vec<(usize, Continuation<'a>)> = Vec::new();
    for (place, form) in forms.iter().enumerate() {
        let nearness = if form.of.is_some() { 1.0 / (1.0 + place as f64 / 8.0) } else { 0.05 };
        for at in 0..form.pieces.len() {
            let same = typed
                .iter()
                .rev()
                .zip(form.pieces[..at].iter().rev())
                .take_while(|(left, right)| left.piece.is_like(&right.piece))
                .count();
            let is_whole = same == typed.len() && same == at;
            if same == 0 && !is_whole {
                continue;
            }
            let agreement = same.min(LONGEST) + if is_whole { 3 } else { 0 };
            let weight = 3_f64.powi(agreement as i32) * nearness;
            let piece = &form.pieces[at].piece;
            found.push((agreement, Continuation { piece, weight, form, at }));
        }
    }
    let most = found.iter().map(|(agreement, _)| *agreement).max().unwrap_or(0);
    found.retain(|(agreement, _)| agreement + 3 > most);
    found.into_iter().map(|(_, continuation)| continuation).collect()
}

/// The texts of pieces by how much speaks for them, most first.
pub(super) fn ranked<'a>(
    continuations: &'a [Continuation<'a>],
    text: impl Fn(&'a Piece) -> Option<&'a str>,
) -> Vec<(&'a str, f64)> {
    let mut weights: HashMap<&str, (usize, f64)> = HashMap::new();
    for (place, continuation) in continuations.iter().enumerate() {
        if let Some(text) = text(continuation.piece) {
            let entry = weights.entry(text).or_insert((place, 0.0));
            entry.1 += continuation.weight;
        }
    }
    let mut found: Vec<_> = weights.into_iter().collect();
    found.sort_by(|(_, left), (_, right)| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    found.into_iter().map(|(text, (_, weight))| (text, weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn snippets_as_text() {
        assert_eq!(
            plain("arith.cmpi ${1|eq,ne|}, ${2:%a} : ${3:i32}$0 {\n}"),
            "arith.cmpi eq, %a : i32 {\n}"
        );
    }
}
