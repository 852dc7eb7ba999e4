//! Text to [`Tree`] without knowing any dialect.
//!
//! A loop over tokens with a stack of open nodes; no recursion, so no depth of nesting in a hostile
//! file overflows anything. The stack has at most [`DEEPEST`] nodes, and so has any walk through a
//! tree: what is nested deeper is one node. Three things have to be told from the shape of the
//! text:
//!
//! - **where an operation ends**: where the next begins, since MLIR has no separator. A line that
//!   begins with `%x =`, `"name"(`, `^label:` or a word with a dialect begins one, unless the line
//!   before ends in a comma or the like.
//! - **what a brace opens**: a dictionary (`{key = …}`), a region (operations), or neither (sizes:
//!   `tensor<?xf32>{%n}`).
//! - **where damage ends**: a line that surely begins an operation closes every bracket that is
//!   still open.

use crate::lexer::{Lexer, TokenKind};
use crate::tree::{Leaf, Node, NodeId, NodeKind, SyntaxError, SyntaxErrorKind, Tree};
use crate::{ChunkKind, Language, Source, TextRange};

/// The most nodes that are open at a time. Many questions about a place are answered by going from
/// a node to those around it, so that deeper nesting costs the square of its depth. Programs have
/// some 30.
const DEEPEST: usize = 256;

/// What is expected of a text's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// The last region goes on in other chunks.
    pub open_end: bool,
    /// One `}` closes what another chunk opened.
    pub closes: bool,
}

impl Shape {
    /// What a chunk of this kind looks like.
    pub fn of(kind: ChunkKind) -> Self {
        Self { open_end: kind == ChunkKind::Open, closes: kind == ChunkKind::Close }
    }
}

impl Tree {
    /// Reads `range` of a text. Whatever is there gives some tree.
    pub fn parse<S: Source + ?Sized>(
        source: &S,
        range: TextRange,
        language: Language,
        shape: Shape,
    ) -> Self {
        let tokens = lex(source, &range, language);
        let parser = Parser {
            source,
            base: range.start,
            shape,
            tree: Tree { tokens, ..Tree::default() },
            open: Vec::new(),
            is_too_deep: false,
            at: 0,
            closes_left: shape.closes,
        };
        parser.run()
    }
}

/// The tokens of a range. The tree counts in 32 bits; what lies beyond 4 GB stays unread.
fn lex<S: Source + ?Sized>(source: &S, range: &TextRange, language: Language) -> Vec<Leaf> {
    let base = range.start;
    let limit = range.end.min(base.saturating_add(u32::MAX as usize));
    let mut tokens: Vec<Leaf> = Vec::new();
    for token in Lexer::new(source, base).take_while(|token| token.range.start < limit) {
        let leaf = Leaf {
            start: (token.range.start - base) as u32,
            end: (token.range.end.min(limit) - base) as u32,
            kind: token.kind,
            line_start: token.line_start,
        };
        tokens.push(leaf);
        // `[0000002A]  %i0 = …`: the line begins behind the offset.
        if language == Language::Vmasm
            && let [.., open, _, close, last] = tokens.as_mut_slice()
            && open.line_start
            && open.is(b'[')
            && close.is(b']')
        {
            last.line_start = true;
        }
    }
    tokens
}

/// Operations that are written without their dialect.
fn is_bare_operation(word: &str) -> bool {
    matches!(word, "return" | "call" | "call_indirect" | "module" | "func" | "yield")
}

struct Parser<'a, S: Source + ?Sized> {
    source: &'a S,
    base: usize,
    shape: Shape,
    tree: Tree,
    /// Open nodes, outermost first. The root is always there while tokens are left.
    open: Vec<NodeId>,
    /// Whether it was said that something is nested too deeply.
    is_too_deep: bool,
    at: usize,
    closes_left: bool,
}

impl<S: Source + ?Sized> Parser<'_, S> {
    fn run(mut self) -> Tree {
        self.push(NodeKind::Root);
        while let Some(&token) = self.tree.tokens.get(self.at) {
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
            let node = *self.tree.node(id);
            let is_expected = match node.kind {
                NodeKind::Region => std::mem::take(&mut self.shape.open_end),
                // `"name"() ({`, whose region was just taken as open.
                NodeKind::Paren => was_open_end && !self.shape.open_end,
                kind => !is_bracket(kind),
            };
            if !is_expected {
                self.unclosed(id);
            }
            self.finish(id);
        }
        self.tree.errors.sort_by_key(|error| error.range.start);
        self.tree
    }

    fn top(&self) -> NodeKind {
        self.open.last().map_or(NodeKind::Root, |&id| self.tree.node(id).kind)
    }

    fn push(&mut self, kind: NodeKind) -> NodeId {
        let id = self.tree.nodes.len() as u32;
        let first = self.at as u32;
        let parent = self.open.last().copied().unwrap_or(0);
        self.tree.nodes.push(Node { kind, unclosed: false, parent, first, last: first, end: 0 });
        self.open.push(id);
        id
    }

    /// Ends a node before the current token; comments between stay outside.
    fn finish(&mut self, id: NodeId) {
        let mut last = self.at;
        let first = self.tree.node(id).first as usize;
        if id != 0 {
            while last > first && self.tree.tokens[last - 1].kind == TokenKind::Comment {
                last -= 1;
            }
        }
        let end = self.tree.nodes.len() as u32;
        let node = &mut self.tree.nodes[id as usize];
        node.last = last as u32;
        node.end = end;
    }

    fn pop(&mut self) {
        if let Some(id) = self.open.pop() {
            self.finish(id);
        }
    }

    fn error(&mut self, token: &Leaf, kind: SyntaxErrorKind) {
        // A line may be a constant of megabytes; its first characters are enough to underline.
        let range = token.start..token.end.min(token.start + 80);
        self.tree.errors.push(SyntaxError { range, kind });
    }

    fn unclosed(&mut self, id: NodeId) {
        self.tree.nodes[id as usize].unclosed = true;
        let first = self.tree.node(id).first as usize;
        if let Some(&Leaf { kind: TokenKind::Punct(byte), start, end, .. }) =
            self.tree.tokens.get(first)
        {
            let kind = SyntaxErrorKind::Unclosed(byte);
            self.tree.errors.push(SyntaxError { range: start..end, kind });
        }
    }

    /// The index of the next token that is no comment, from `index` on.
    fn significant(&self, mut index: usize) -> usize {
        while self.tree.tokens.get(index).is_some_and(|token| token.kind == TokenKind::Comment) {
            index += 1;
        }
        index
    }

    fn next_of(&self, index: usize) -> usize {
        self.significant(index + 1)
    }

    fn token(&self, index: usize) -> Option<&Leaf> {
        self.tree.tokens.get(index)
    }

    fn is(&self, index: usize, byte: u8) -> bool {
        self.token(index).is_some_and(|token| token.is(byte))
    }

    fn kind(&self, index: usize) -> Option<TokenKind> {
        self.token(index).map(|token| token.kind)
    }

    fn word(&self, index: usize) -> std::borrow::Cow<'_, str> {
        match self.token(index) {
            Some(token) if token.kind == TokenKind::Word => {
                self.tree.text(self.source, self.base, token)
            }
            _ => "".into(),
        }
    }

    // ---- between operations

    fn between_operations(&mut self, token: &Leaf) {
        match token.kind {
            TokenKind::Punct(b'}') => self.close_region(token),
            TokenKind::Block if self.is_label(self.at) => self.label(),
            TokenKind::Attribute | TokenKind::Type if self.is(self.next_of(self.at), b'=') => {
                self.push(NodeKind::Alias);
                self.at = self.next_of(self.next_of(self.at));
            }
            TokenKind::Punct(b'{') if self.is(self.next_of(self.at), b'-') => {
                self.push(NodeKind::Resources);
                self.push(NodeKind::Brace);
                self.at += 1;
            }
            // The offset of an instruction in a disassembly.
            TokenKind::Punct(b'[')
                if self.is(self.at + 2, b']')
                    && self.token(self.at + 3).is_some_and(|token| token.line_start) =>
            {
                self.in_block();
                if self.kind(self.at + 3) == Some(TokenKind::Block) {
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

    /// Operations of a region are in a block, with a label or without.
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
            // What follows, `) : () -> () loc(…)`, belongs to the operation of the other chunk.
            if !std::mem::replace(&mut self.closes_left, false) {
                self.error(token, SyntaxErrorKind::Stray(b'}'));
            }
            self.push(NodeKind::Operation);
            self.at += 1;
            if self.is(self.significant(self.at), b')') {
                self.at = self.next_of(self.at);
            }
        }
    }

    /// `^name:` or `^name(…):`; a successor has no colon.
    fn is_label(&self, index: usize) -> bool {
        self.label_end(index).is_some()
    }

    /// The index after the colon.
    fn label_end(&self, index: usize) -> Option<usize> {
        let mut next = self.next_of(index);
        if self.is(next, b'(') {
            let mut nest = 0_u32;
            loop {
                match self.kind(next)? {
                    TokenKind::Punct(b'(' | b'[' | b'{') => nest += 1,
                    TokenKind::Punct(b')' | b']' | b'}') => nest = nest.saturating_sub(1),
                    _ => {}
                }
                next = self.next_of(next);
                if nest == 0 {
                    break;
                }
            }
        }
        self.is(next, b':').then(|| next + 1)
    }

    fn label(&mut self) {
        let end = self.label_end(self.at).unwrap_or(self.at + 1);
        if self.top() == NodeKind::Block {
            self.pop();
        }
        self.push(NodeKind::Block);
        self.push(NodeKind::Label);
        self.at = end;
        self.pop();
    }

    /// From an operation's first token to after its name.
    fn operation_head(&mut self) {
        self.at = self.significant(self.at);
        if let Some(equals) = self.results_end(self.at) {
            self.push(NodeKind::Results);
            self.at = equals;
            self.pop();
            self.at = self.next_of(equals);
        }
        match self.kind(self.at) {
            Some(TokenKind::Word | TokenKind::String) => {
                self.push(NodeKind::Name);
                self.at += 1;
                self.pop();
            }
            _ => {
                let index = self.at.min(self.tree.tokens.len() - 1);
                let token = self.tree.tokens[index];
                self.error(&token, SyntaxErrorKind::NoOperation);
            }
        }
    }

    /// The index of the `=` where a list of values is followed by one.
    fn results_end(&self, mut index: usize) -> Option<usize> {
        loop {
            if self.kind(index)? != TokenKind::Value {
                return None;
            }
            index = self.next_of(index);
            if self.is(index, b':') && self.kind(self.next_of(index))? == TokenKind::Number {
                index = self.next_of(self.next_of(index));
            }
            if self.is(index, b'=') {
                return Some(index);
            }
            if !self.is(index, b',') {
                return None;
            }
            index = self.next_of(index);
        }
    }

    // ---- in an operation

    fn in_operation(&mut self, token: &Leaf) {
        let bare = !is_bracket(self.top());
        if bare && (token.is(b'}') || self.begins_operation(self.at) && !self.goes_on()) {
            self.pop();
            return;
        }
        if !bare && token.line_start && self.surely_begins_operation(self.at) {
            self.close_groups();
            return;
        }
        match token.kind {
            TokenKind::Punct(b'(') => self.open_group(NodeKind::Paren),
            TokenKind::Punct(b'[') => self.open_group(NodeKind::Bracket),
            TokenKind::Punct(b'<') => self.open_group(NodeKind::Angle),
            TokenKind::Punct(b'{') => {
                let kind = self.brace_kind();
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

    /// A group that is nested too deeply is one node, whatever is in it.
    fn pass_over_group(&mut self, kind: NodeKind) {
        let first = self.tree.tokens[self.at];
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
        while let Some(token) = self.token(self.at) {
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
        let groups = self.open.iter().rev().map(|&id| self.tree.node(id).kind);
        let distance = groups.take_while(|&kind| is_group(kind)).position(fits);
        match distance {
            // `>` is a comparison where nothing of its kind is innermost.
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
            // The region's brace: everything in the operation ends.
            _ if byte == b'}' => self.close_groups(),
            _ => {
                self.error(token, SyntaxErrorKind::Stray(byte));
                self.at += 1;
            }
        }
    }

    /// Ends the operation with every group in it, as damaged.
    fn close_groups(&mut self) {
        while is_group(self.top()) {
            if let Some(&id) = self.open.last() {
                self.unclosed(id);
            }
            self.pop();
        }
        self.pop();
    }

    /// Whether the tokens before the current one ask for more.
    fn goes_on(&self) -> bool {
        let before =
            self.tree.tokens[..self.at].iter().rev().find(|token| token.kind != TokenKind::Comment);
        before.is_some_and(|token| {
            matches!(
                token.kind,
                TokenKind::Punct(b',' | b'=' | b':' | b'-' | b'+' | b'*') | TokenKind::Arrow
            )
        }) && self.top() != NodeKind::Label
            && !self.surely_begins_operation(self.at)
    }

    /// Whether an operation may begin here, outside of brackets.
    fn begins_operation(&self, index: usize) -> bool {
        let Some(token) = self.token(index) else { return false };
        if token.line_start {
            return self.may_begin_operation(index);
        }
        if self.tree.node(self.open.last().copied().unwrap_or(0)).first as usize == index {
            return false;
        }
        // On the same line only behind a region or something that is complete.
        let behind_region = index > 0 && self.is(index - 1, b'}');
        match token.kind {
            TokenKind::Word => self.is_complete(index) && self.may_begin_operation(index),
            // A type before it ends an operation; a keyword would be followed by an argument.
            TokenKind::Value => self.is_complete(index) && self.results_end(index).is_some(),
            TokenKind::String => behind_region && self.is(self.next_of(index), b'('),
            TokenKind::Block => self.is_label(index) && !self.is(index.saturating_sub(1), b','),
            _ => false,
        }
    }

    /// Whether what comes before a token may be the end of an operation.
    fn is_complete(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|index| self.kind(index));
        matches!(
            before,
            Some(
                TokenKind::Value
                    | TokenKind::Symbol
                    | TokenKind::Number
                    | TokenKind::Type
                    | TokenKind::Punct(b')' | b']' | b'>' | b'}')
            )
        ) || before == Some(TokenKind::Word) && !self.is_name(index - 1)
    }

    fn is_name(&self, index: usize) -> bool {
        let named = self.tree.nodes.iter().rev().find(|node| node.kind == NodeKind::Name);
        named.is_some_and(|name| name.first as usize == index)
    }

    /// By its tokens alone.
    fn may_begin_operation(&self, index: usize) -> bool {
        let next = self.next_of(index);
        match self.kind(index) {
            Some(TokenKind::Value) => self.results_end(index).is_some(),
            Some(TokenKind::String) => self.is(next, b'('),
            Some(TokenKind::Block) => self.is_label(index),
            Some(TokenKind::Attribute | TokenKind::Type) => {
                self.is(next, b'=') && self.open.len() <= 2
            }
            Some(TokenKind::Word) => {
                let word = self.word(index);
                let follows = self.kind(next);
                let is_key =
                    matches!(follows, Some(TokenKind::Punct(b'=' | b',' | b')' | b']' | b'>')));
                if word.contains('.') {
                    !(is_key || self.is(next, b'}') && is_bracket(self.top()))
                } else {
                    is_bare_operation(&word)
                        && !is_key
                        && follows != Some(TokenKind::Punct(b'<'))
                        && follows != Some(TokenKind::Punct(b'('))
                }
            }
            Some(TokenKind::Punct(b'[')) => {
                self.is(index + 2, b']')
                    && self.token(index + 3).is_some_and(|token| token.line_start)
                    && self.kind(index + 1) == Some(TokenKind::Number)
            }
            Some(TokenKind::Punct(b'{')) => self.is(next, b'-') && self.open.len() <= 2,
            _ => false,
        }
    }

    /// Whether no group can hold this: `%x = name`, `"name"(`, a label, or a dialect's word with an
    /// operand.
    fn surely_begins_operation(&self, index: usize) -> bool {
        if !self.token(index).is_some_and(|token| token.line_start) {
            return false;
        }
        // A generic operation's regions are within parentheses; a dictionary's keys are words.
        match self.kind(index) {
            Some(TokenKind::Value) => self.results_end(index).is_some_and(|equals| {
                let name = self.next_of(equals);
                match self.kind(name) {
                    Some(TokenKind::Word) => self.word(name).contains('.'),
                    Some(TokenKind::String) => self.is(self.next_of(name), b'('),
                    _ => false,
                }
            }),
            Some(TokenKind::Block) => self.is_label(index),
            Some(TokenKind::Word) => {
                let next = self.next_of(index);
                self.word(index).contains('.')
                    && matches!(self.kind(next), Some(TokenKind::Value | TokenKind::Symbol))
                    && !self.token(next).is_some_and(|token| token.line_start)
            }
            _ => false,
        }
    }

    /// What the brace at the current token opens.
    fn brace_kind(&self) -> NodeKind {
        let first = self.next_of(self.at);
        let second = self.next_of(first);
        let before = self.at.checked_sub(1).and_then(|index| self.token(index));
        let here = self.tree.tokens[self.at];
        // `tensor<?xf32>{%n}`, and `{` within `<`, `[`, or a dictionary.
        let touches = before.is_some_and(|token| {
            token.end == here.start && (token.is(b'>') || token.kind == TokenKind::Type)
        });
        let in_data = matches!(
            self.top(),
            NodeKind::Angle | NodeKind::Bracket | NodeKind::Dictionary | NodeKind::Brace
        );
        let may_hold_region = !in_data;
        let after_keyword = self.at > 0 && self.word(self.at - 1) == "attributes";
        match self.kind(first) {
            Some(TokenKind::Block) if self.is_label(first) => NodeKind::Region,
            Some(TokenKind::Value) if self.results_end(first).is_some() => NodeKind::Region,
            Some(TokenKind::String) if may_hold_region && self.is(second, b'(') => NodeKind::Region,
            Some(TokenKind::Word | TokenKind::String)
                if matches!(self.kind(second), Some(TokenKind::Punct(b'=' | b','))) =>
            {
                NodeKind::Dictionary
            }
            Some(TokenKind::Word) if self.is(second, b'}') => {
                let word = self.word(first);
                let last = word.rsplit('.').next().unwrap_or_default();
                let ends = ["return", "yield", "terminator", "end", "unreachable"];
                let is_terminator = ends.iter().any(|end| last.ends_with(end));
                if may_hold_region && is_terminator && !after_keyword {
                    NodeKind::Region
                } else {
                    NodeKind::Dictionary
                }
            }
            Some(TokenKind::Word) if self.is(second, b':') => NodeKind::Brace,
            Some(TokenKind::Word) if may_hold_region && !touches && !after_keyword => {
                NodeKind::Region
            }
            Some(TokenKind::Punct(b'}')) if may_hold_region && !touches && !after_keyword => {
                NodeKind::Region
            }
            Some(TokenKind::Punct(b'}')) => NodeKind::Dictionary,
            Some(TokenKind::Punct(b'['))
                if may_hold_region
                    && self.token(first + 3).is_some_and(|token| token.line_start) =>
            {
                NodeKind::Region
            }
            None if self.shape.open_end && may_hold_region => NodeKind::Region,
            _ => NodeKind::Brace,
        }
    }
}

fn is_group(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Paren
            | NodeKind::Bracket
            | NodeKind::Angle
            | NodeKind::Dictionary
            | NodeKind::Brace
    )
}

/// Groups and regions.
fn is_bracket(kind: NodeKind) -> bool {
    is_group(kind) || kind == NodeKind::Region
}
