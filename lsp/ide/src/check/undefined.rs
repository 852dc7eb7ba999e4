//! Names that are not defined, and values of a long function that are defined twice.
//!
//! Whether a name is defined may depend on chunks that come later. So the pass over the chunks asks
//! a question for each name that it has not seen, and the questions are answered after the last
//! chunk. A name that is used a thousand times in a chunk is a few questions.

use std::collections::HashMap;

use syntax::{Placed, TokenKind};

use super::diagnostic::Diagnostic;
use crate::Document;
use crate::text::{AnalysedChunk, Collector, NameKind, SharedNames, Span, Use, shares};

/// The most questions about one name of a chunk: more would be the same fault again.
const SAME: u32 = 100;

/// A use of a name that is not defined in its chunk or before it.
struct Question {
    placed: Placed,
    kind: NameKind,
    span: Span,
    hash: u64,
}

/// The open questions of a document.
#[derive(Default)]
pub(super) struct Questions(Vec<Question>);

impl Questions {
    /// Asks for the names that a chunk uses and that neither it nor an earlier one defines.
    pub(super) fn ask(
        &mut self,
        document: &Document,
        analysed: &AnalysedChunk,
        earlier: &Collector,
    ) {
        let names = &analysed.analysis.names;
        for (kind, uses) in
            [(NameKind::Value, &names.value_uses), (NameKind::Block, &names.block_uses)]
        {
            let mut counts: HashMap<u64, u32> = HashMap::new();
            for used in uses.iter().filter(|used| used.definition.is_none()) {
                let count = counts.entry(used.hash).or_default();
                if *count == 0
                    && shares(&analysed.placed)
                    && earlier.knows(&analysed.placed, kind, used.hash)
                {
                    *count = SAME;
                }
                if *count < SAME && !is_tied(document, analysed, used) {
                    *count += 1;
                    let (placed, span) = (analysed.placed, used.span.clone());
                    self.0.push(Question { placed, kind, span, hash: used.hash });
                }
            }
        }
    }

    /// Answers all questions: the faults among them, at most `limit`.
    pub(super) fn answer(
        self,
        document: &Document,
        shared: &SharedNames,
        limit: usize,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for question in self.0 {
            if found.len() >= limit {
                break;
            }
            if shared.nearest(&question.placed, question.kind, question.hash).is_none() {
                found.push(question.fault(document));
            }
        }
        found
    }
}

impl Question {
    fn fault(&self, document: &Document) -> Diagnostic {
        let analysed = document.analysis(&self.placed);
        let range = analysed.absolute(&self.span);
        let name = document.text().slice(range.clone());
        if self.kind == NameKind::Block {
            let message = format!("no block `{name}` is in this region");
            return Diagnostic::error(range, "undefined-block", message);
        }
        let mut message = format!("`{name}` is not defined here");
        let mut related = Vec::new();
        let names = &analysed.analysis.names;
        if let Some(other) = names.values.iter().find(|value| value.hash == self.hash) {
            message += ": the value of this name is only visible in another region";
            related.push((analysed.absolute(&other.span), "this one".to_owned()));
        }
        Diagnostic { related, ..Diagnostic::error(range, "undefined-value", message) }
    }
}

/// Whether a value's name is only a tie: in `-> %x as type`, no dialect looks it up. In
/// `with(%x as %y)` it is an operand.
fn is_tied(document: &Document, analysed: &AnalysedChunk, used: &Use) -> bool {
    let tokens = analysed.analysis.tree.tokens();
    let next = tokens.partition_point(|token| token.start < used.span.end);
    let names_another = tokens.get(next + 1).is_some_and(|it| it.kind == TokenKind::Value);
    !names_another
        && tokens.get(next).is_some_and(|next| {
            let range = analysed.absolute(&(next.start..next.end));
            range.len() == 2 && document.text().slice(range) == "as"
        })
}

/// The values of long functions that are defined in two of their chunks, at most `limit`.
pub(super) fn repeated(document: &Document, shared: &SharedNames, limit: usize) -> Vec<Diagnostic> {
    let place = |start: usize, hash: u64| {
        let analysed = document.analysis_at(start)?;
        let names = &analysed.analysis.names;
        let value = names.values.iter().find(|value| value.hash == hash)?;
        Some(analysed.absolute(&value.span))
    };
    let repeated = shared.repeated().filter_map(|(start, hash, first)| {
        let (range, first) = (place(start, hash)?, place(first, hash)?);
        let message = format!("`{}` is already defined", document.text().slice(range.clone()));
        let related = vec![(first, "first defined here".to_owned())];
        Some(Diagnostic { related, ..Diagnostic::error(range, "duplicate-value", message) })
    });
    repeated.take(limit).collect()
}
