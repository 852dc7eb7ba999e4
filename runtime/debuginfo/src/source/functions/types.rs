//! Reads the types that an operation's head declares for its results and for the arguments of its
//! regions.

use std::collections::HashMap;
use std::ops::Range;

use mlir::table::{Control, Meaning, Tensor};
use mlir::{Element, Numbers, TensorType};
use syntax::{Leaf, TokenKind};

/// The tokens of an operation's head, to read types from.
pub(super) struct HeadTypes<'t> {
    /// The function's text.
    pub(super) text: &'t str,
    pub(super) leaves: &'t [Leaf],
    pub(super) aliases: &'t TypeAliases,
}

/// What type aliases stand for, `!t` without its `!`.
#[derive(Debug, Default)]
pub(super) struct TypeAliases(HashMap<String, String>);

impl TypeAliases {
    /// Adds a definition: `!t = tensor<4xf32>`. It may use those that were added before.
    pub(super) fn add(&mut self, definition: &str) {
        let Some((name, meant)) = definition.split_once('=') else { return };
        let Some(name) = name.trim().strip_prefix('!') else { return };
        let meant = meant.split("//").next().unwrap_or_default();
        let meant = self.resolved(meant.trim());
        self.0.insert(name.to_owned(), meant);
    }

    /// A type without aliases.
    fn resolved(&self, text: &str) -> String {
        let is_name = |it: char| it.is_ascii_alphanumeric() || "_$.-".contains(it);
        let mut resolved = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('!').filter(|_| !self.0.is_empty()) {
            let after = &rest[at + 1..];
            let end = after.find(|it| !is_name(it)).unwrap_or(after.len());
            resolved += &rest[..at];
            match self.0.get(&after[..end]) {
                Some(meant) => resolved += meant,
                None => resolved += &rest[at..=at + end],
            }
            rest = &after[end..];
        }
        resolved + rest
    }
}

impl HeadTypes<'_> {
    /// The text of a type, up to the comma or bracket that ends it.
    pub(super) fn type_at(&self, start: usize) -> String {
        let is_empty = |it: &Leaf| it.kind == TokenKind::Word && ends_type(self.text_of(it));
        if self.leaves.get(start).is_some_and(is_empty) {
            return String::new();
        }
        self.span(start..self.type_end(start, self.leaves.len()))
    }

    /// The types of an operation's results, as far as the text declares them.
    pub(super) fn of_results(&self, name: &str) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        let meaning = mlir::meaning(name);
        let is_size = matches!(
            meaning,
            Some(Meaning::LoopIndex | Meaning::Tensor(Tensor::Dimension | Tensor::Rank))
        );
        let sizes = ["memref.dim", "memref.rank", "util.list.size", "util.buffer.size"];
        if is_size || sizes.contains(&name) {
            return one("index");
        }
        let is_counted = meaning == Some(Meaning::Control(Control::For));
        let (colon, arrow) = outermost_separators(self.leaves);
        if let (Some(Meaning::Loops(_)), None) = (meaning, arrow) {
            return self.of_outputs();
        }
        let start = match (colon, arrow) {
            // The type after a loop's colon is the counter's.
            (_, Some(arrow)) if is_counted => arrow + 1,
            _ if is_counted => return Vec::new(),
            (Some(colon), Some(arrow)) if arrow > colon => arrow + 1,
            (Some(colon), _) => colon + 1,
            (None, Some(arrow)) => arrow + 1,
            (None, None) if meaning == Some(Meaning::Constant) => return one("i1"),
            (None, None) => return Vec::new(),
        };
        // So is that after its results.
        let end = colon.filter(|colon| is_counted && *colon > start);
        let types = self.list(start..end.unwrap_or(self.leaves.len()));
        let first = types.first().map_or("", String::as_str);
        match meaning {
            Some(Meaning::Numbers(Numbers::CompareFloats | Numbers::CompareIntegers)) => {
                match TensorType::parse(first) {
                    Some(tensor) => one(&tensor.of(Element::TRUTH).to_string()),
                    None if first.contains('<') => Vec::new(),
                    None => one("i1"),
                }
            }
            _ if name.starts_with("util.cmp.") => one("i1"),
            Some(Meaning::Numbers(Numbers::Select)) => types.last().cloned().into_iter().collect(),
            Some(Meaning::Tensor(Tensor::Extract)) => element(first).into_iter().collect(),
            _ if name == "memref.load" => element(first).into_iter().collect(),
            _ if name == "util.list.get" && colon > arrow => {
                let inner = first.strip_prefix("!util.list<").and_then(|it| it.strip_suffix('>'));
                inner.map(str::to_owned).into_iter().collect()
            }
            _ => types,
        }
    }

    /// The types in `outs(%a : type)`, which those of the results are where none are written.
    fn of_outputs(&self) -> Vec<String> {
        let is_group = |at: &usize| {
            self.text_of(&self.leaves[*at]) == "outs"
                && self.leaves.get(at + 1).is_some_and(|it| it.is(b'('))
        };
        let Some(open) = (0..self.leaves.len()).find(is_group) else { return Vec::new() };
        let after = self.leaves.iter().enumerate().skip(open);
        let colon = after.clone().find(|(_, it)| it.is(b':'));
        colon.map_or_else(Vec::new, |(at, _)| self.list(at + 1..self.leaves.len()))
    }

    /// The types of the arguments that a loop's head declares: the counter's first, then those of
    /// the loop's results, which are `types`. Empty if the text does not declare them.
    pub(super) fn of_loop_arguments(
        &self,
        name: &str,
        count: usize,
        types: &[String],
    ) -> Vec<String> {
        let counters = count.saturating_sub(types.len());
        let colon = self.leaves.iter().rposition(|it| it.is(b':'));
        let control = mlir::table::control(name);
        match control {
            _ if (control == Some(Control::For) || name == "affine.for")
                && (counters == 1 || types.is_empty()) =>
            {
                let declared = colon.map(|at| self.type_at(at + 1));
                let counter = declared.filter(|it| it.starts_with('i'));
                let counter = counter.unwrap_or_else(|| "index".to_owned());
                [counter].into_iter().chain(types.iter().cloned()).collect()
            }
            _ if name == "stablehlo.while" && types.len() == count => types.to_vec(),
            Some(Control::While) => {
                let arrow = self.leaves.iter().rposition(|it| it.kind == TokenKind::Arrow);
                let (Some(colon), Some(arrow)) = (colon, arrow) else { return Vec::new() };
                let taken = self.list(colon + 1..arrow);
                if taken.len() == count { taken } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn text_of(&self, leaf: &Leaf) -> &str {
        self.text.get(leaf.start as usize..leaf.end as usize).unwrap_or_default()
    }

    fn span(&self, range: Range<usize>) -> String {
        let Some(tokens) = self.leaves.get(range) else { return String::new() };
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = self.text.get(first.start as usize..last.end as usize);
        let text = text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        self.aliases.resolved(&text)
    }

    /// A list of types, with or without parentheses; of `A to B` and `A into B`, the latter.
    fn list(&self, range: Range<usize>) -> Vec<String> {
        let mut types = Vec::new();
        let mut at = range.start;
        let is_list = self.leaves.get(at).is_some_and(|it| it.is(b'('));
        at += usize::from(is_list);
        while at < range.end {
            if self.leaves[at].is(b')') || self.leaves[at].is(b'{') {
                break;
            }
            let end = self.type_end(at, range.end);
            if end == at {
                at += 1;
                continue;
            }
            let target = (at..end).rev().find(|it| {
                self.leaves[*it].kind == TokenKind::Word
                    && matches!(self.text_of(&self.leaves[*it]), "to" | "into")
            });
            types.push(self.span(target.map_or(at, |it| it + 1)..end));
            at = end;
            match self.leaves.get(at) {
                Some(next) if next.is(b',') => at += 1,
                _ => break,
            }
        }
        types
    }

    fn type_end(&self, start: usize, limit: usize) -> usize {
        let mut depth = 0_usize;
        for (at, leaf) in self.leaves.iter().enumerate().take(limit).skip(start) {
            match leaf.kind {
                TokenKind::Punct(b',' | b'{') if depth == 0 => return at,
                TokenKind::Punct(b'(' | b'[' | b'<' | b'{') => depth += 1,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') if depth == 0 => return at,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') => depth -= 1,
                TokenKind::Word if depth == 0 && at > start && ends_type(self.text_of(leaf)) => {
                    return at;
                }
                _ => {}
            }
        }
        limit
    }
}

/// Whether a word ends a type instead of belonging to it.
fn ends_type(word: &str) -> bool {
    matches!(word, "loc" | "do" | "else" | "attributes")
}

/// The last colon and the last arrow outside of brackets.
fn outermost_separators(leaves: &[Leaf]) -> (Option<usize>, Option<usize>) {
    let (mut colon, mut arrow, mut depth) = (None, None, 0_usize);
    for (at, leaf) in leaves.iter().enumerate() {
        match leaf.kind {
            TokenKind::Punct(b'(' | b'[' | b'<' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'>' | b'}') => depth = depth.saturating_sub(1),
            TokenKind::Punct(b':') if depth == 0 => colon = Some(at),
            TokenKind::Arrow if depth == 0 => arrow = Some(at),
            _ => {}
        }
    }
    (colon, arrow)
}

/// The element type of `tensor<4x?xf32>`.
fn element(shaped: &str) -> Option<String> {
    let inner = shaped.split_once('<')?.1.strip_suffix('>')?;
    let inner = inner.split(',').next()?;
    let mut rest = inner;
    while let Some((size, after)) = rest.split_once('x') {
        let is_size = size == "?" || size.bytes().all(|byte| byte.is_ascii_digit());
        if !is_size || size.is_empty() {
            break;
        }
        rest = after;
    }
    Some(rest.trim().to_owned())
}
