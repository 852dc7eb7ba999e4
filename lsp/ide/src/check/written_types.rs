//! The types that an operation writes after its last colon, its operands, and the groups
//! `(%a, %b : type, type)` in its head.

use syntax::{NodeId, NodeKind, TokenKind};

use super::reading::Reading;
use crate::operations::is_type;

/// A use of a value, by its token; a result of a pack has an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    pub token: usize,
    pub pack: usize,
    pub place: OperandPlace,
}

/// Where an operand stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandPlace {
    Outside,
    InList,
    InBrackets,
}

/// A written type: its bytes in the chunk.
pub(super) type Written = std::ops::Range<u32>;

/// What an operation writes.
#[derive(Debug, Default)]
pub(super) struct Signature {
    pub operands: Vec<Operand>,
    pub types: Vec<Written>,
    /// The number of types before the first arrow.
    pub arrow: Option<usize>,
    /// Whether anything among the types was not understood.
    pub is_odd: bool,
    /// Values with types of their own, in lists: `(%a, %b : i32, i32)`.
    pub groups: Vec<Group>,
}

/// Values and their types in a list.
#[derive(Debug)]
pub(super) struct Group {
    /// The token before the list.
    pub before: usize,
    pub operands: Vec<Operand>,
    pub types: Vec<Written>,
}

/// The tokens of an operation outside its regions, without comments.
fn head<'r>(reading: &'r Reading, id: NodeId) -> &'r [(usize, NodeId)] {
    let tree = reading.tree;
    let node = tree.node(id);
    let first = tree.child(id, NodeKind::Name).map_or(node.first, |name| tree.node(name).last);
    let region = tree
        .children(id)
        .find(|&child| tree.node(child).kind == NodeKind::Region)
        .map_or(node.last, |region| tree.node(region).first);
    let from = reading.tokens.partition_point(|(token, _)| *token < first as usize);
    let to = reading.tokens.partition_point(|(token, _)| *token < region as usize);
    &reading.tokens[from.min(to)..to]
}

/// The tokens of an operation after its last region, if they begin with an arrow.
fn tail<'r>(reading: &'r Reading, id: NodeId) -> &'r [(usize, NodeId)] {
    let tree = reading.tree;
    let regions = tree.children(id).filter(|&child| tree.node(child).kind == NodeKind::Region);
    let Some(region) = regions.last() else { return &[] };
    let from = tree.node(region).last as usize;
    let from = reading.tokens.partition_point(|(token, _)| *token < from);
    let to = tree.node(id).last as usize;
    let to = reading.tokens.partition_point(|(token, _)| *token < to);
    let tokens = &reading.tokens[from.min(to)..to];
    let begins = tokens.first().map(|(token, _)| tree.tokens()[*token].kind);
    if begins == Some(TokenKind::Arrow) { tokens } else { &[] }
}

/// What an operation in pretty form writes.
pub(super) fn signature(reading: &Reading, id: NodeId) -> Signature {
    let tree = reading.tree;
    let mut found = Signature::default();
    let tokens = head(reading, id);
    let mut colon = None;
    for (index, &(token, node)) in tokens.iter().enumerate() {
        let leaf = &tree.tokens()[token];
        if leaf.is(b':') && node == id && !is_path(tokens, index, reading) {
            colon = Some(index);
        }
    }
    let before = &tokens[..colon.unwrap_or(tokens.len())];
    for &(token, node) in before {
        if tree.tokens()[token].kind == TokenKind::Value
            && let Some(place) = place(reading, id, node)
        {
            found.operands.push(Operand { token, pack: pack(reading, token), place });
        }
    }
    let arrow = || {
        tokens
            .iter()
            .position(|&(token, node)| tree.tokens()[token].kind == TokenKind::Arrow && node == id)
    };
    if let Some(from) = colon.map(|colon| colon + 1).or_else(arrow) {
        let mut types = Types { reading, tokens: &tokens[from..], at: 0 };
        types.read(&mut found);
    } else {
        let mut types = Types { reading, tokens: tail(reading, id), at: 0 };
        types.read(&mut found);
    }
    groups(reading, id, &mut found);
    found
}

/// Whether a colon is one of `::`.
fn is_path(tokens: &[(usize, NodeId)], index: usize, reading: &Reading) -> bool {
    let leaf = |index: usize| tokens.get(index).map(|(token, _)| &reading.tree.tokens()[*token]);
    let Some(here) = leaf(index) else { return false };
    let after = leaf(index + 1).is_some_and(|next| next.is(b':') && next.start == here.end);
    let before = index.checked_sub(1).and_then(leaf);
    after || before.is_some_and(|before| before.is(b':') && before.end == here.start)
}

/// Where a value in the head of an operation stands; `None` where it is no plain operand.
fn place(reading: &Reading, id: NodeId, node: NodeId) -> Option<OperandPlace> {
    let mut place = OperandPlace::Outside;
    for inner in reading.tree.ancestors(node).take_while(|&inner| inner != id) {
        match reading.tree.node(inner).kind {
            NodeKind::Paren if place == OperandPlace::Outside => place = OperandPlace::InList,
            NodeKind::Bracket => place = OperandPlace::InBrackets,
            NodeKind::Paren => {}
            _ => return None,
        }
    }
    Some(place)
}

/// The index of `%a#1` in its pack.
fn pack(reading: &Reading, token: usize) -> usize {
    let tokens = reading.tree.tokens();
    let here = &tokens[token];
    tokens
        .get(token + 1)
        .filter(|next| next.kind == TokenKind::Attribute && next.start == here.end)
        .and_then(|next| reading.text(next)[1..].parse().ok())
        .unwrap_or(0)
}

/// Reads the lists `(%a, %b : type, type)` and `(%a : type, %b : type)`.
fn groups(reading: &Reading, id: NodeId, found: &mut Signature) {
    let tree = reading.tree;
    for list in tree.children(id).filter(|&child| tree.node(child).kind == NodeKind::Paren) {
        let node = tree.node(list);
        let from = reading.tokens.partition_point(|(token, _)| *token <= node.first as usize);
        let to = reading.tokens.partition_point(|(token, _)| *token + 1 < node.last as usize);
        let tokens = &reading.tokens[from.min(to)..to];
        let colons: Vec<usize> = (0..tokens.len())
            .filter(|&index| {
                tokens[index].1 == list
                    && tree.tokens()[tokens[index].0].is(b':')
                    && !is_path(tokens, index, reading)
            })
            .collect();
        let &[colon] = colons.as_slice() else { continue };
        let plain = |&(token, node): &(usize, NodeId)| {
            let leaf = &tree.tokens()[token];
            leaf.kind == TokenKind::Value && node == list
        };
        let values = tokens[..colon].iter().filter(|item| plain(item));
        let operands: Vec<Operand> = values
            .map(|&(token, _)| Operand {
                token,
                pack: pack(reading, token),
                place: OperandPlace::InList,
            })
            .collect();
        let only_values = tokens[..colon].iter().all(|item| {
            let leaf = &tree.tokens()[item.0];
            plain(item) || leaf.is(b',') || leaf.kind == TokenKind::Attribute
        });
        let mut inner = Signature::default();
        let mut types = Types { reading, tokens: &tokens[colon + 1..], at: 0 };
        types.read(&mut inner);
        if only_values && !inner.is_odd && inner.arrow.is_none() {
            let before = (node.first as usize).saturating_sub(1);
            found.groups.push(Group { before, operands, types: inner.types });
        }
    }
}

/// The type that these tokens begin with.
pub(super) fn type_at(reading: &Reading, tokens: &[(usize, NodeId)]) -> Option<Written> {
    let first = reading.tree.tokens()[tokens.first()?.0];
    let begins = first.kind == TokenKind::Type
        || first.kind == TokenKind::Word && is_type(reading.text(&first));
    let mut types = Types { reading, tokens, at: 0 };
    begins.then(|| types.ty()).flatten()
}

/// Reads types, and what stands between them.
struct Types<'a, 'r> {
    reading: &'a Reading<'r>,
    tokens: &'a [(usize, NodeId)],
    at: usize,
}

impl Types<'_, '_> {
    fn kind(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|(token, _)| self.reading.tree.tokens()[*token].kind)
    }

    fn leaf(&self, at: usize) -> Option<&syntax::Leaf> {
        self.tokens.get(at).map(|(token, _)| &self.reading.tree.tokens()[*token])
    }

    fn read(&mut self, found: &mut Signature) {
        while let Some(kind) = self.kind() {
            match kind {
                TokenKind::Punct(b',' | b'(' | b')') => self.at += 1,
                TokenKind::Arrow => {
                    found.is_odd |= found.arrow.is_some();
                    found.arrow = Some(found.types.len());
                    self.at += 1;
                }
                // Sizes: `tensor<?xf32>{%n}`.
                TokenKind::Punct(b'{') => self.skip(b'{', b'}'),
                TokenKind::Type => found.types.extend(self.ty()),
                TokenKind::Word => {
                    let Some(leaf) = self.leaf(self.at) else { return };
                    match self.reading.text(leaf) {
                        "loc" => return,
                        "to" | "into" | "from" | "in" => self.at += 1,
                        word if is_type(word) => found.types.extend(self.ty()),
                        _ => {
                            found.is_odd = true;
                            return;
                        }
                    }
                }
                _ => {
                    found.is_odd = true;
                    return;
                }
            }
        }
    }

    /// Reads a type with its parameters.
    fn ty(&mut self) -> Option<Written> {
        let first = self.leaf(self.at).copied()?;
        self.at += 1;
        let mut end = first.end;
        if self.leaf(self.at).is_some_and(|next| next.is(b'<') && next.start == first.end) {
            self.skip(b'<', b'>');
            end = self.leaf(self.at.saturating_sub(1)).map_or(end, |last| last.end);
        }
        Some(first.start..end)
    }

    /// Skips to after the bracket that closes the one here.
    fn skip(&mut self, open: u8, close: u8) {
        let mut nest = 0_usize;
        while let Some(leaf) = self.leaf(self.at) {
            nest += usize::from(leaf.is(open));
            nest -= usize::from(leaf.is(close)).min(nest);
            self.at += 1;
            if nest == 0 {
                return;
            }
        }
    }
}
