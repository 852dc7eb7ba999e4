//! From text to [`Tree`], without knowing any dialect.
//!
//! A loop over tokens with a stack of open nodes. There is no recursion, so deep nesting in a
//! hostile file overflows nothing. The stack holds at most [`DEEPEST`] nodes, which also bounds
//! every walk through a tree; deeper nesting becomes one node. The shape of the text decides three
//! things:
//!
//! - **where an operation ends**: where the next one begins, since MLIR has no separator. A line
//!   that begins with `%x =`, `"name"(`, `^label:` or a word with a dialect begins an operation,
//!   unless the line before ends in a comma or the like;
//! - **what a brace opens**: a dictionary (`{key = …}`), a region (operations), or neither (sizes:
//!   `tensor<?xf32>{%n}`);
//! - **where damage ends**: a line that surely begins an operation closes all open brackets.

use super::lookahead::Lookahead;
use super::nodes::{Leaf, Node, NodeId, NodeKind, SyntaxError, SyntaxErrorKind, Tree};
use crate::lexer::TokenKind;
use crate::{ChunkKind, Language, Source, TextRange};

/// The most nodes that may be open at once. Many features walk from a node to its ancestors, so
/// deeper nesting would cost the square of its depth. Real programs have about 30.
const DEEPEST: usize = 256;

/// What is expected at the ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// The last region continues in other chunks.
    pub open_end: bool,
    /// One `}` closes a brace of another chunk.
    pub closes: bool,
}

impl Shape {
    /// The shape of a chunk of this kind.
    pub fn of(kind: ChunkKind) -> Self {
        Self { open_end: kind == ChunkKind::Open, closes: kind == ChunkKind::Close }
    }
}

impl Tree {
    /// Reads `range` of a text. Any text gives some tree.
    pub fn parse<S: Source + ?Sized>(
        source: &S,
        range: TextRange,
        language: Language,
        shape: Shape,
    ) -> Self {
        let parser = Parser {
            ahead: Lookahead::new(source, &range, language),
            shape,
            nodes: Vec::new(),
            errors: Vec::new(),
            open: Vec::new(),
            is_too_deep: false,
            at: 0,
            closes_left: shape.closes,
        };
        parser.run()
    }
}

struct Parser<'a, S: Source + ?Sized> {
    ahead: Lookahead<'a, S>,
    shape: Shape,
    nodes: Vec<Node>,
    errors: Vec<SyntaxError>,
    /// Open nodes, outermost first. The root stays open while tokens are left.
    open: Vec<NodeId>,
    /// Whether too deep nesting was already reported.
    is_too_deep: bool,
    at: usize,
    closes_left: bool,
}

impl<S: Source + ?Sized> Parser<'_, S> {
    fn run(mut self) -> Tree {
        self.push(NodeKind::Root);
        while let Some(&token) = self.ahead.tokens.get(self.at) {
            if token.kind == TokenKind::UnterminatedString {
                self.error(&token, SyntaxErrorKind::OpenString);
            }
            if token.kind == TokenKind::Comment {
                self.at += 1;
                continue;
            }
            match self.top() {
                NodeKind::Root | NodeKind::Region | NodeKind::Block => {
                    self.between_operations(&token);
                }
                _ => self.in_operation(&token),
            }
        }
        let was_open_end = self.shape.open_end;
        while let Some(id) = self.open.pop() {
            let node = *self.node(id);
            let is_expected = match node.kind {
                NodeKind::Region => std::mem::take(&mut self.shape.open_end),
                // `"name"() ({`, whose region was just accepted as open.
                NodeKind::Paren => was_open_end && !self.shape.open_end,
                kind => !kind.is_bracket(),
            };
            if !is_expected {
                self.unclosed(id);
            }
            self.finish(id);
        }
        self.errors.sort_by_key(|error| error.range.start);
        Tree { tokens: self.ahead.tokens, nodes: self.nodes, errors: self.errors }
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    fn top(&self) -> NodeKind {
        self.open.last().map_or(NodeKind::Root, |&id| self.node(id).kind)
    }

    fn push(&mut self, kind: NodeKind) -> NodeId {
        let id = self.nodes.len() as u32;
        let first = self.at as u32;
        let parent = self.open.last().copied().unwrap_or(0);
        self.nodes.push(Node { kind, unclosed: false, parent, first, last: first, end: 0 });
        self.open.push(id);
        id
    }

    /// Ends a node before the current token. Comments before that token stay outside.
    fn finish(&mut self, id: NodeId) {
        let mut last = self.at;
        let first = self.node(id).first as usize;
        if id != 0 {
            while last > first && self.ahead.tokens[last - 1].kind == TokenKind::Comment {
                last -= 1;
            }
        }
        let end = self.nodes.len() as u32;
        let node = &mut self.nodes[id as usize];
        node.last = last as u32;
        node.end = end;
    }

    fn pop(&mut self) {
        if let Some(id) = self.open.pop() {
            self.finish(id);
        }
    }

    fn error(&mut self, token: &Leaf, kind: SyntaxErrorKind) {
        // A token may be a constant of megabytes; underlining its first 80 bytes is enough.
        let range = token.start..token.end.min(token.start + 80);
        self.errors.push(SyntaxError { range, kind });
    }

    fn unclosed(&mut self, id: NodeId) {
        self.nodes[id as usize].unclosed = true;
        let first = self.node(id).first as usize;
        if let Some(&Leaf { kind: TokenKind::Punct(byte), start, end, .. }) =
            self.ahead.tokens.get(first)
        {
            let kind = SyntaxErrorKind::Unclosed(byte);
            self.errors.push(SyntaxError { range: start..end, kind });
        }
    }

    // ---- between operations

    fn between_operations(&mut self, token: &Leaf) {
        match token.kind {
            TokenKind::Punct(b'}') => self.close_region(token),
            TokenKind::Block if self.ahead.is_label(self.at) => self.label(),
            TokenKind::Attribute | TokenKind::Type
                if self.ahead.is(self.ahead.next_of(self.at), b'=') =>
            {
                self.push(NodeKind::Alias);
                self.at = self.ahead.next_of(self.ahead.next_of(self.at));
            }
            TokenKind::Punct(b'{') if self.ahead.is(self.ahead.next_of(self.at), b'-') => {
                self.push(NodeKind::Resources);
                self.push(NodeKind::Brace);
                self.at += 1;
            }
            // An instruction's offset in a disassembly.
            TokenKind::Punct(b'[') if self.ahead.is_offset(self.at) => {
                self.in_block();
                if self.ahead.kind(self.at + 3) == Some(TokenKind::Block) {
                    self.at += 3;
                } else {
                    self.push(NodeKind::Operation);
                    self.at += 3;
                    self.operation_head();
                }
            }
            TokenKind::Value | TokenKind::Word | TokenKind::String => {
                self.in_block();
                self.push(NodeKind::Operation);
                self.operation_head();
            }
            _ => {
                self.error(token, SyntaxErrorKind::NotAnOperation);
                self.in_block();
                self.push(NodeKind::Error);
                self.at += 1;
            }
        }
    }

    /// Opens the block, labelled or not, that holds the operations of a region.
    fn in_block(&mut self) {
        if self.top() == NodeKind::Region {
            self.push(NodeKind::Block);
        }
    }

    fn close_region(&mut self, token: &Leaf) {
        if self.top() == NodeKind::Block {
            self.pop();
        }
        if self.top() == NodeKind::Region {
            self.at += 1;
            self.pop();
        } else {
            // The rest of the line, `) : () -> () loc(…)`, belongs to the operation of the other
            // chunk.
            if !std::mem::replace(&mut self.closes_left, false) {
                self.error(token, SyntaxErrorKind::Stray(b'}'));
            }
            self.push(NodeKind::Operation);
            self.at += 1;
            if self.ahead.is(self.ahead.significant(self.at), b')') {
                self.at = self.ahead.next_of(self.at);
            }
        }
    }

    fn label(&mut self) {
        let end = self.ahead.label_end(self.at).unwrap_or(self.at + 1);
        if self.top() == NodeKind::Block {
            self.pop();
        }
        self.push(NodeKind::Block);
        self.push(NodeKind::Label);
        self.at = end;
        self.pop();
    }

    /// Reads from an operation's first token to after its name.
    fn operation_head(&mut self) {
        self.at = self.ahead.significant(self.at);
        if let Some(equals) = self.ahead.results_end(self.at) {
            self.push(NodeKind::Results);
            self.at = equals;
            self.pop();
            self.at = self.ahead.next_of(equals);
        }
        match self.ahead.kind(self.at) {
            Some(TokenKind::Word | TokenKind::String) => {
                self.push(NodeKind::Name);
                self.at += 1;
                self.pop();
            }
            _ => {
                let index = self.at.min(self.ahead.tokens.len() - 1);
                let token = self.ahead.tokens[index];
                self.error(&token, SyntaxErrorKind::NoOperation);
            }
        }
    }

    // ---- in an operation

    fn in_operation(&mut self, token: &Leaf) {
        let bare = !self.top().is_bracket();
        if bare && (token.is(b'}') || self.begins_operation(self.at) && !self.continues()) {
            self.pop();
            return;
        }
        if !bare && token.line_start && self.ahead.surely_begins_operation(self.at) {
            self.close_groups();
            return;
        }
        match token.kind {
            TokenKind::Punct(b'(') => self.open_group(NodeKind::Paren),
            TokenKind::Punct(b'[') => self.open_group(NodeKind::Bracket),
            TokenKind::Punct(b'<') => self.open_group(NodeKind::Angle),
            TokenKind::Punct(b'{') => {
                let kind = self.ahead.brace_kind(self.at, self.top(), self.shape.open_end);
                self.open_group(kind);
            }
            TokenKind::Punct(byte @ (b')' | b']' | b'>' | b'}')) => self.close_group(token, byte),
            _ => self.at += 1,
        }
    }

    fn open_group(&mut self, kind: NodeKind) {
        if self.open.len() >= DEEPEST {
            self.pass_over_group(kind);
            return;
        }
        self.push(kind);
        self.at += 1;
    }

    /// Skips a group that is nested too deeply. It becomes one node.
    fn pass_over_group(&mut self, kind: NodeKind) {
        let first = self.ahead.tokens[self.at];
        if !self.is_too_deep {
            self.is_too_deep = true;
            self.error(&first, SyntaxErrorKind::TooDeep);
        }
        self.at += 1;
        if kind == NodeKind::Angle {
            return; // Where it ends is not sure: what follows is in the group around it.
        }
        self.at -= 1;
        let id = self.push(kind);
        let mut nest = 0_usize;
        while let Some(token) = self.ahead.token(self.at) {
            match token.kind {
                TokenKind::Punct(b'(' | b'[' | b'{') => nest += 1,
                TokenKind::Punct(b')' | b']' | b'}') => nest -= 1,
                _ => {}
            }
            self.at += 1;
            if nest == 0 {
                self.pop();
                return;
            }
        }
        self.unclosed(id);
        self.pop();
    }

    /// Closes the nearest group that `byte` can close, within the operation.
    fn close_group(&mut self, token: &Leaf, byte: u8) {
        let fits = |kind: NodeKind| match byte {
            b')' => kind == NodeKind::Paren,
            b']' => kind == NodeKind::Bracket,
            b'>' => kind == NodeKind::Angle,
            _ => matches!(kind, NodeKind::Dictionary | NodeKind::Brace),
        };
        let groups = self.open.iter().rev().map(|&id| self.node(id).kind);
        let distance = groups.take_while(|&kind| kind.is_group()).position(fits);
        match distance {
            // `>` is a comparison unless an angle bracket is the innermost open group.
            Some(above) if byte != b'>' || above == 0 => {
                for _ in 0..above {
                    if let Some(&id) = self.open.last() {
                        self.unclosed(id);
                    }
                    self.pop();
                }
                self.at += 1;
                self.pop();
            }
            _ if byte == b'>' => self.at += 1,
            // The brace of the enclosing region: it ends everything in the operation.
            _ if byte == b'}' => self.close_groups(),
            _ => {
                self.error(token, SyntaxErrorKind::Stray(byte));
                self.at += 1;
            }
        }
    }

    /// Ends the operation and marks every open group in it as unclosed.
    fn close_groups(&mut self) {
        while self.top().is_group() {
            if let Some(&id) = self.open.last() {
                self.unclosed(id);
            }
            self.pop();
        }
        self.pop();
    }

    /// Whether the tokens before the current one require more to follow.
    fn continues(&self) -> bool {
        let before = self.ahead.tokens[..self.at]
            .iter()
            .rev()
            .find(|token| token.kind != TokenKind::Comment);
        before.is_some_and(|token| {
            matches!(
                token.kind,
                TokenKind::Punct(b',' | b'=' | b':' | b'-' | b'+' | b'*') | TokenKind::Arrow
            )
        }) && self.top() != NodeKind::Label
            && !self.ahead.surely_begins_operation(self.at)
    }

    /// Whether an operation may begin here, outside brackets.
    fn begins_operation(&self, index: usize) -> bool {
        let Some(token) = self.ahead.token(index) else { return false };
        if token.line_start {
            return self.ahead.may_begin_operation(index, self.top(), self.open.len());
        }
        if self.node(self.open.last().copied().unwrap_or(0)).first as usize == index {
            return false;
        }
        // On the same line an operation begins only after a region or something complete.
        let after_region = index > 0 && self.ahead.is(index - 1, b'}');
        match token.kind {
            TokenKind::Word => {
                self.is_complete(index)
                    && self.ahead.may_begin_operation(index, self.top(), self.open.len())
            }
            // A type before it ends an operation; a keyword would have an argument after it.
            TokenKind::Value => self.is_complete(index) && self.ahead.results_end(index).is_some(),
            TokenKind::String => after_region && self.ahead.is(self.ahead.next_of(index), b'('),
            TokenKind::Block => {
                self.ahead.is_label(index) && !self.ahead.is(index.saturating_sub(1), b',')
            }
            _ => false,
        }
    }

    /// Whether the token before this one may end an operation.
    fn is_complete(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|index| self.ahead.kind(index));
        matches!(
            before,
            Some(
                TokenKind::Value
                    | TokenKind::Symbol
                    | TokenKind::Number
                    | TokenKind::Type
                    | TokenKind::Punct(b')' | b']' | b'>' | b'}')
            )
        ) || before == Some(TokenKind::Word)
            && !self.is_name(index - 1)
            && !self.names_operation(index - 1)
    }

    /// Whether a word is followed by the name of an operation that is a part of its own:
    /// `stablehlo.reduce(…) applies stablehlo.add across …`.
    fn names_operation(&self, index: usize) -> bool {
        self.ahead.word(index) == "applies"
    }

    fn is_name(&self, index: usize) -> bool {
        let named = self.nodes.iter().rev().find(|node| node.kind == NodeKind::Name);
        named.is_some_and(|name| name.first as usize == index)
    }
}
