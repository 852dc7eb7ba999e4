//! Operations of linalg that do not fit together: maps, iterators, operands, the region and the
//! shapes.

use mlir::linalg::Loops;
use mlir::{Expression, Map, Meaning, meaning};
use strsim::osa_distance;
use syntax::{Leaf, NodeId, NodeKind, TokenKind};

use super::counts::dimensions;
use super::diagnostic::Diagnostic;
use super::file_names::FileNames;
use super::reading::Reading;
use super::type_text::differ;
use super::written_types::{Signature, Written, signature, type_at};
use crate::operations::element;
use crate::resolve::alias_definition;

/// Longer aliases, in bytes, are no maps.
const LONGEST: usize = 4096;

/// The faults of a chunk's loops.
pub(super) fn faults(reading: &Reading, files: &FileNames, found: &mut Vec<Diagnostic>) {
    for (id, op) in reading.operations() {
        if reading.is_generic(id) {
            continue;
        }
        let Some(Meaning::Loops(loops)) = meaning(op) else { continue };
        let check = Check { reading, files, id, op, signature: signature(reading, id) };
        if let Some(fault) = check.fault(loops) {
            found.push(fault);
        }
    }
}

struct Check<'a> {
    reading: &'a Reading<'a>,
    files: &'a FileNames,
    id: NodeId,
    op: &'a str,
    signature: Signature,
}

impl<'a> Check<'a> {
    fn fault(&self, loops: Loops) -> Option<Diagnostic> {
        let operands = self.operands()?;
        let shapes: Vec<_> = operands.iter().map(|ty| self.shape(ty)).collect();
        match loops {
            Loops::Generic => self.generic(&operands, &shapes),
            // Maps may be written with it.
            _ if self.has_word("indexing_maps") => None,
            Loops::Named("", _) => None,
            Loops::Named(letters, _) => {
                let maps = mlir::linalg::maps(letters, &[], &[])?;
                let has_window = letters.contains('(');
                self.shapes(&maps, &shapes, !has_window)
            }
            Loops::Elementwise { .. } => {
                let rank = shapes.iter().flatten().map(Vec::len).next()?;
                let maps = vec![Map::identity(rank); shapes.len()];
                self.shapes(&maps, &shapes, true)
            }
            _ => None,
        }
    }

    fn error(&self, code: &'static str, message: String) -> Option<Diagnostic> {
        Some(Diagnostic::error(self.reading.name_range(self.id), code, message))
    }

    fn has_word(&self, word: &str) -> bool {
        let is_word = |leaf: &Leaf| self.reading.text(leaf) == word;
        self.reading.tree.tokens_of(self.id).iter().any(is_word)
    }

    /// The types in `ins(…)` and `outs(…)`; `None` if these are not understood.
    fn operands(&self) -> Option<Vec<Written>> {
        let leaves = self.reading.tree.tokens();
        let mut types = Vec::new();
        let mut lists = 0;
        for group in &self.signature.groups {
            let before = self.reading.text(&leaves[group.before]);
            if !matches!(before, "ins" | "outs") || group.operands.len() != group.types.len() {
                return None;
            }
            lists += 1;
            types.extend(group.types.iter().cloned());
        }
        let written = ["ins", "outs"].iter().filter(|word| self.has_word(word)).count();
        (lists == written && lists > 0).then_some(types)
    }

    /// The sizes of an operand; of a number, none.
    fn shape(&self, ty: &Written) -> Option<Vec<Option<usize>>> {
        let text = self.reading.span(ty.clone());
        match element(text) {
            Some(_) => dimensions(text),
            None if text.starts_with('!') || text.contains('<') => None,
            None => Some(Vec::new()),
        }
    }

    // ---- linalg.generic

    fn generic(
        &self,
        operands: &[Written],
        shapes: &[Option<Vec<Option<usize>>>],
    ) -> Option<Diagnostic> {
        let tree = self.reading.tree;
        let Some(attributes) = tree.child(self.id, NodeKind::Dictionary) else {
            let name = tree.child(self.id, NodeKind::Name)?;
            let next = tree.tokens().get(tree.node(name).last as usize)?;
            let message = format!("`{}` needs its attributes as `{{key = value}}`", self.op);
            return next.is(b'{').then(|| self.error("attribute", message)).flatten();
        };
        if let Some(fault) = self.missing_key(attributes) {
            return Some(fault);
        }
        if let Some(fault) = self.region(operands) {
            return Some(fault);
        }
        let iterators = self.entries(attributes, "iterator_types")?.len();
        let maps = self.entries(attributes, "indexing_maps")?;
        if maps.len() != operands.len() {
            let message = format!(
                "`{}` has {} operands and {} indexing maps",
                self.op,
                operands.len(),
                maps.len()
            );
            return self.error("arity", message);
        }
        let maps: Option<Vec<Map>> = maps.iter().map(|entry| self.map(entry)).collect();
        let maps = maps?;
        if let Some(map) = maps.iter().find(|map| map.dimensions != iterators) {
            let message = format!(
                "an indexing map has {} dimensions, and there are {iterators} iterators",
                map.dimensions
            );
            return self.error("arity", message);
        }
        self.shapes(&maps, shapes, true)
    }

    /// A key that must be there.
    fn missing_key(&self, attributes: NodeId) -> Option<Diagnostic> {
        let tree = self.reading.tree;
        let keys: Vec<Leaf> = self
            .reading
            .tokens
            .windows(2)
            .filter(|pair| pair[0].1 == attributes && tree.tokens()[pair[1].0].is(b'='))
            .map(|pair| tree.tokens()[pair[0].0])
            .collect();
        let is_there = |key: &str| keys.iter().any(|leaf| self.reading.text(leaf) == key);
        let missing = ["indexing_maps", "iterator_types"].into_iter().find(|key| !is_there(key))?;
        let message = format!("`{}` needs the attribute `{missing}`", self.op);
        let near = keys.iter().find(|leaf| osa_distance(self.reading.text(leaf), missing) <= 3);
        match near {
            Some(leaf) => {
                let message = format!("{message}; did you mean it here?");
                let fault = Diagnostic::error(self.reading.range(leaf), "attribute", message);
                Some(fault.meaning(Some(missing.to_owned())))
            }
            None => self.error("attribute", message),
        }
    }

    /// The entries of a list that is an attribute: the tokens of each.
    fn entries(&self, attributes: NodeId, key: &str) -> Option<Vec<&'a [Leaf]>> {
        let tree = self.reading.tree;
        let list = tree.children(attributes).find(|&child| {
            let first = tree.node(child).first as usize;
            tree.node(child).kind == NodeKind::Bracket
                && first >= 2
                && tree.tokens()[first - 1].is(b'=')
                && self.reading.text(&tree.tokens()[first - 2]) == key
        })?;
        let tokens = tree.tokens_of(list);
        let inner = tokens.get(1..tokens.len().checked_sub(1)?)?;
        let mut nest = 0_i32;
        let mut entries = Vec::new();
        let mut from = 0;
        for (at, leaf) in inner.iter().enumerate() {
            match leaf.kind {
                TokenKind::Comment => return None,
                TokenKind::Punct(b'(' | b'[' | b'<') => nest += 1,
                TokenKind::Punct(b')' | b']' | b'>') => nest -= 1,
                TokenKind::Punct(b',') if nest == 0 => {
                    entries.push(&inner[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
        }
        if from < inner.len() {
            entries.push(&inner[from..]);
        }
        Some(entries)
    }

    /// The map that an entry writes or names.
    fn map(&self, entry: &[Leaf]) -> Option<Map> {
        let (first, last) = (entry.first()?, entry.last()?);
        let text = self.reading.span(first.start..last.end);
        if !text.starts_with('#') {
            return Map::parse(text).ok();
        }
        let document = self.reading.document;
        let from = self.reading.range(first).start;
        if !self.files.has_alias(from, text) {
            return None;
        }
        let (whole, name) = alias_definition(document, text, from)?;
        if whole.len() > LONGEST {
            return None;
        }
        let value = document.text().slice(name.end..whole.end).into_owned();
        let value = value.lines().find(|line| !line.trim().is_empty())?;
        Map::parse(value.trim().strip_prefix('=')?.trim()).ok()
    }

    /// The arguments of the region, against the elements of the operands.
    fn region(&self, operands: &[Written]) -> Option<Diagnostic> {
        let tree = self.reading.tree;
        let region = tree.child(self.id, NodeKind::Region)?;
        let block = tree.child(region, NodeKind::Block)?;
        let label = tree.child(block, NodeKind::Label)?;
        let node = tree.node(label);
        let tokens = &self.reading.tokens;
        let from = tokens.partition_point(|(token, _)| *token < node.first as usize);
        let to = tokens.partition_point(|(token, _)| *token < node.last as usize);
        let label = &tokens[from..to];
        let arguments: Vec<usize> = (0..label.len())
            .filter(|&at| tree.tokens()[label[at].0].kind == TokenKind::Value)
            .collect();
        if arguments.len() != operands.len() {
            let range = self.reading.range(&tree.tokens()[label.first()?.0]);
            let message = format!(
                "this block has {} arguments, and `{}` has {} operands",
                arguments.len(),
                self.op,
                operands.len()
            );
            return Some(Diagnostic::error(range, "arity", message));
        }
        for (&at, operand) in arguments.iter().zip(operands) {
            let ty = type_at(self.reading, label.get(at + 2..)?)?;
            let (here, operand) =
                (self.reading.span(ty.clone()), self.reading.span(operand.clone()));
            let wanted = element(operand).unwrap_or(operand);
            if differ(here, wanted) {
                let range = self.reading.analysed.absolute(&ty);
                let message = format!(
                    "this argument is `{here}`, and the elements of its operand `{wanted}`"
                );
                let fault = Diagnostic::error(range, "type", message);
                return Some(fault.of_types(here, wanted));
            }
        }
        None
    }

    // ---- shapes

    /// Operands of other ranks than the maps read, or of sizes that cannot all be. Where a window
    /// moves over an operand, only ranks are compared. As MLIR's verifier has it, a loop has the
    /// size of the first dimension that it goes over, and nothing is compared where one of these is
    /// dynamic.
    fn shapes(
        &self,
        maps: &[Map],
        shapes: &[Option<Vec<Option<usize>>>],
        compares_sizes: bool,
    ) -> Option<Diagnostic> {
        if maps.len() != shapes.len() {
            return None;
        }
        let mut turns: Vec<Option<Option<usize>>> = vec![None; maps.first()?.dimensions];
        for (place, (map, shape)) in maps.iter().zip(shapes).enumerate() {
            if let Some(shape) = shape
                && map.results.len() != shape.len()
            {
                let message = format!(
                    "operand {place} of `{}` has {} dimensions, and {} are read",
                    self.op,
                    shape.len(),
                    map.results.len()
                );
                return self.error("shape", message);
            }
            for (at, index) in map.results.iter().enumerate() {
                if let Expression::Operand(turn) = index
                    && let Some(turn) = turns.get_mut(*turn)
                {
                    turn.get_or_insert(shape.as_ref().and_then(|shape| shape[at]));
                }
            }
        }
        let turns: Vec<usize> = turns.into_iter().map(Option::flatten).collect::<Option<_>>()?;
        if !compares_sizes {
            return None;
        }
        for (place, (map, shape)) in maps.iter().zip(shapes).enumerate() {
            for (index, size) in map.results.iter().zip(shape.iter().flatten()) {
                let (Expression::Operand(turn), Some(size)) = (index, size) else { continue };
                let Some(turn) = turns.get(*turn).filter(|turn| *turn != size) else { continue };
                let message = format!(
                    "operand {place} of `{}` has the size {size} where another has {turn}",
                    self.op
                );
                return self.error("shape", message);
            }
        }
        None
    }
}
