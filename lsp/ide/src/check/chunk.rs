//! The faults of one chunk that its tree and names show: syntax, values, blocks, terminators,
//! symbols and aliases. Names that the chunk does not define are in `undefined`.
//!
//! Dialects are unknown here. So each check reports only what every dialect would refuse, or
//! concerns one of the few operations whose rules are known.

use std::collections::HashMap;

use syntax::{
    ChunkKind, NodeId, NodeKind, OpClass, Placed, Symbol, SyntaxErrorKind, TextRange, TokenKind,
    name_hash,
};

use super::diagnostic::Diagnostic;
use super::file_names::FileNames;
use super::reading::Reading;
use super::undefined::Questions;
use super::{
    affine, counts, entries, literals, loops, neighbours, numbers, operations, order, types, words,
};
use crate::Document;
use crate::resolve::{reference_at, resolve_symbol};
use crate::text::{AnalysedChunk, Collector, Span, ValueKind};
use mlir::structure::{Fact, ends_block, has};

/// The faults of a chunk whose braces and quotes are sound. `earlier` knows the chunks before it;
/// names that neither defines become questions.
pub(super) fn faults(
    document: &Document,
    files: &FileNames,
    analysed: &AnalysedChunk,
    earlier: &Collector,
    questions: &mut Questions,
) -> Vec<Diagnostic> {
    let tree = &analysed.analysis.tree;
    if !tree.errors().is_empty() {
        let errors = tree.errors().iter().map(|error| {
            let (code, message) = syntax_message(error.kind);
            let range = analysed.absolute(&error.range);
            let fault = Diagnostic::error(range.clone(), code, message);
            match error.kind {
                SyntaxErrorKind::Stray(_) => fault.mended(range, ""),
                _ => fault,
            }
        });
        return errors.collect();
    }
    let mut found = Vec::new();
    let check = Check { document, files, analysed };
    questions.ask(document, analysed, earlier);
    check.values(&mut found);
    check.blocks(&mut found);
    check.terminators(&mut found);
    check.aliases(&mut found);
    check.symbols(&mut found);
    found.extend(super::abi_attributes::chunk(document, &analysed.placed));
    if let Some(reading) = Reading::of(document, analysed) {
        neighbours::faults(&reading, &mut found);
        entries::faults(&reading, &mut found);
        operations::faults(&reading, &mut found);
        types::faults(&reading, files, &mut found);
        literals::faults(&reading, &mut found);
        order::faults(&reading, earlier, &mut found);
        words::faults(&reading, &mut found);
        affine::faults(&reading, &mut found);
        counts::faults(&reading, &mut found);
        numbers::faults(&reading, &mut found);
        loops::faults(&reading, files, &mut found);
    }
    found
}

fn syntax_message(kind: SyntaxErrorKind) -> (&'static str, String) {
    match kind {
        SyntaxErrorKind::Unclosed(byte) => (
            "unclosed-bracket",
            format!("this `{}` is not closed before the next operation begins", byte as char),
        ),
        SyntaxErrorKind::Stray(byte) => (
            "stray-bracket",
            format!(
                "this `{}` closes nothing: remove it, or add the bracket that it belongs to",
                byte as char
            ),
        ),
        SyntaxErrorKind::TooDeep => (
            "too-deep",
            "this is nested too deeply, so nothing inside is checked or found".into(),
        ),
        SyntaxErrorKind::NoOperation => (
            "no-operation",
            "an operation is missing here: expected its name, such as `arith.addi` or `\"dialect.op\"`".into(),
        ),
        SyntaxErrorKind::NotAnOperation => (
            "no-operation",
            "no operation begins like this: expected its results, its name, or a block's label".into(),
        ),
        SyntaxErrorKind::OpenString => {
            ("open-string", "this string is not closed on its line: a `\"` is missing".into())
        }
    }
}

/// Operations whose first symbol is a function.
fn calls(op: &str) -> bool {
    matches!(
        op,
        "call" | "func.call" | "util.call" | "vm.call" | "vm.call.variadic" | "func.constant"
    )
}

struct Check<'a> {
    document: &'a Document,
    files: &'a FileNames,
    analysed: &'a AnalysedChunk,
}

impl Check<'_> {
    fn text(&self, span: &Span) -> String {
        self.document.text().slice(self.analysed.absolute(span)).into_owned()
    }

    fn values(&self, found: &mut Vec<Diagnostic>) {
        let names = &self.analysed.analysis.names;
        let mut seen: HashMap<(u32, u64), &crate::text::Value> = HashMap::new();
        for value in &names.values {
            let first = seen.insert((value.scope, value.hash), value);
            let Some(first) = first.or_else(|| self.hidden_parameter(&seen, value)) else {
                continue;
            };
            // Outside functions, the meaning of a name in a head is a guess.
            if value.kind == ValueKind::RegionArgument && first.node == value.node {
                continue;
            }
            let range = self.analysed.absolute(&value.span);
            let message = format!("`{}` is already defined", self.text(&value.span));
            let related = vec![(self.analysed.absolute(&first.span), "first defined here".into())];
            found.push(Diagnostic {
                related,
                ..Diagnostic::error(range, "duplicate-value", message)
            });
        }
    }

    fn blocks(&self, found: &mut Vec<Diagnostic>) {
        let names = &self.analysed.analysis.names;
        let mut seen: HashMap<(u32, u64), &Span> = HashMap::new();
        for block in &names.blocks {
            let Some(first) = seen.insert((block.scope, block.hash), &block.span) else { continue };
            let message = format!("block `{}` is already defined", self.text(&block.span));
            let related = vec![(self.analysed.absolute(first), "first defined here".into())];
            let range = self.analysed.absolute(&block.span);
            found.push(Diagnostic {
                related,
                ..Diagnostic::error(range, "duplicate-block", message)
            });
        }
    }

    /// The function parameter whose name a value in the body takes: bodies may not shadow
    /// parameters.
    fn hidden_parameter<'v>(
        &self,
        seen: &HashMap<(u32, u64), &'v crate::text::Value>,
        value: &crate::text::Value,
    ) -> Option<&'v crate::text::Value> {
        let body = &self.analysed.analysis.names.scopes[value.scope as usize];
        let parameter = seen.get(&(body.parent?, value.hash))?;
        let op = self.op_name(parameter.node);
        (syntax::class_of(&op) == OpClass::Function && parameter.kind == ValueKind::RegionArgument)
            .then_some(parameter)
    }

    fn op_name(&self, id: NodeId) -> String {
        let tree = &self.analysed.analysis.tree;
        tree.op_name(self.document.text(), self.analysed.base(), id)
    }

    fn name_range(&self, id: NodeId) -> TextRange {
        let tree = &self.analysed.analysis.tree;
        let range = tree.range(tree.child(id, NodeKind::Name).unwrap_or(id));
        self.analysed.base() + range.start..self.analysed.base() + range.end
    }

    /// Checks the blocks of functions whose dialects are known.
    fn terminators(&self, found: &mut Vec<Diagnostic>) {
        let tree = &self.analysed.analysis.tree;
        for function in tree.operations() {
            let op = self.op_name(function);
            if !has(&op, Fact::Branches) {
                continue;
            }
            let Some(region) = tree.child(function, NodeKind::Region) else { continue };
            if tree.node(region).unclosed || self.analysed.placed.chunk.kind == ChunkKind::Open {
                continue;
            }
            for block in tree.children(region) {
                self.terminator_of(block, found);
            }
        }
    }

    fn terminator_of(&self, block: NodeId, found: &mut Vec<Diagnostic>) {
        let tree = &self.analysed.analysis.tree;
        let operations: Vec<_> = tree
            .children(block)
            .filter(|&child| tree.node(child).kind == NodeKind::Operation)
            .collect();
        let earlier = operations.split_last().map_or(&[][..], |(_, earlier)| earlier);
        for &id in earlier {
            let op = self.op_name(id);
            if ends_block(&op) {
                let message = format!("`{op}` ends its block, and more operations follow it");
                found.push(Diagnostic::error(self.name_range(id), "terminator", message));
            }
        }
    }

    fn aliases(&self, found: &mut Vec<Diagnostic>) {
        for span in &self.analysed.analysis.names.aliases {
            let range = self.analysed.absolute(span);
            let name = self.text(span);
            // Locations may be defined after their uses, and printers put them at the end.
            if name.starts_with("#loc") || self.files.has_alias(range.start, &name) {
                continue;
            }
            let kind = if name.starts_with('!') { "type" } else { "attribute" };
            let message = format!("no alias `{name}` is in this file: expected `{name} = {kind}`");
            found.push(Diagnostic::error(range, "undefined-alias", message));
        }
    }

    fn symbols(&self, found: &mut Vec<Diagnostic>) {
        if let Some(earlier) = self.files.earlier_definition(&self.analysed.placed) {
            self.duplicate(earlier, found);
        }
        let tree = &self.analysed.analysis.tree;
        for id in tree.operations() {
            if !calls(&self.op_name(id)) {
                continue;
            }
            let tokens = tree.tokens_of(id);
            let Some(callee) = tokens.iter().find(|token| token.kind == TokenKind::Symbol) else {
                continue;
            };
            let range = self.analysed.absolute(&(callee.start..callee.end));
            let Some(reference) = reference_at(self.document, range.start + 1) else { continue };
            let is_there =
                matches!(reference.path.as_slice(), [name] if self.files.has_symbol(name));
            if !is_there && resolve_symbol(self.document, &reference, range.start).is_none() {
                let message = format!("no function `{}` is in this file", reference.shown());
                found.push(Diagnostic::error(reference.range, "undefined-symbol", message));
            }
        }
    }

    fn duplicate(&self, earlier: &Placed, found: &mut Vec<Diagnostic>) {
        let text = self.document.text();
        let read = |placed: &Placed| Symbol::read(text, placed);
        let (Some(first), Some(second)) = (read(earlier), read(&self.analysed.placed)) else {
            return;
        };
        if first.name != second.name || name_hash(&first.name) != earlier.chunk.name {
            return;
        }
        let message = format!("symbol `@{}` is already defined here", second.name);
        found.push(Diagnostic {
            related: vec![(first.name_token, "first defined here".into())],
            ..Diagnostic::error(second.name_token, "duplicate-symbol", message)
        });
    }
}
