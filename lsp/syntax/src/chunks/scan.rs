//! The scan of one chunk: where a symbol-level operation ends.
//!
//! Its only inputs are the text from the chunk's start and the depth there (see [`crate::chunks`]).
//! Outside regions it reads token by token. In the body of a region it looks only for braces,
//! quotes, comments and line starts.

use super::chunk::{Chunk, ChunkKind, Damage, IN_FUNCTION, name_hash};
use crate::Source;
use crate::cursor::Cursor;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::ops::{self, OpClass};

/// A longer body, in bytes, is cut into parts.
pub(crate) const LONG_BODY: usize = 128 << 10;
/// The least size of a part, in bytes.
const PART: usize = 32 << 10;

/// Containers nested deeper than this are one chunk each, contents included. Chunks have no tree:
/// the containers around a chunk are found by counting, so finding them for all chunks takes time
/// in the square of the depth.
const DEEPEST_CONTAINER: usize = 64;

/// The chunk that begins at `start`, where `depth` containers are open. Never empty.
pub(crate) fn scan_chunk<S: Source + ?Sized>(source: &S, start: usize, depth: u16) -> Chunk {
    let mut lexer = Lexer::new(source, start);
    let mut scan = Scan {
        source,
        start,
        chunk: Chunk {
            len: 0,
            lead: 0,
            head: 0,
            name: 0,
            depth,
            kind: ChunkKind::Trivia,
            class: OpClass::Other,
            damage: Damage::default(),
        },
        end: start,
    };
    if depth & IN_FUNCTION != 0 {
        scan.part(&mut lexer.cursor);
        return scan.finish();
    }
    loop {
        let Some(token) = lexer.next() else {
            scan.end = source.len();
            return scan.finish();
        };
        if token.kind != TokenKind::Comment {
            scan.item(&mut lexer, &token);
            return scan.finish();
        }
        scan.end = token.range.end;
        if token.range.len() >= 8
            && source.slice(token.range.start..token.range.start + 8) == "// -----"
        {
            scan.chunk.lead = clamp(token.range.start - start);
            scan.chunk.kind = ChunkKind::Separator;
            return scan.finish();
        }
    }
}

fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The state of one chunk's scan.
struct Scan<'a, S: Source + ?Sized> {
    source: &'a S,
    start: usize,
    chunk: Chunk,
    /// End of the last token that belongs to the chunk.
    end: usize,
}

/// How a region's scan ended.
enum Body {
    Closed,
    /// At a line that must be a new symbol, or at the end of the text.
    Lost,
    /// The body is longer than [`LONG_BODY`].
    Long,
}

impl<S: Source + ?Sized> Scan<'_, S> {
    fn finish(mut self) -> Chunk {
        self.chunk.len = (self.end - self.start).max(1);
        if self.chunk.head == 0 {
            self.chunk.head = clamp(self.chunk.len);
        }
        self.chunk
    }

    fn item(&mut self, lexer: &mut Lexer<'_, S>, first: &Token) {
        self.chunk.lead = clamp(first.range.start - self.start);
        self.chunk.kind = ChunkKind::Item;
        let indent = first.indent;
        if first.is(b'}') {
            self.close(lexer, first);
            return;
        }
        let op = self.op_name(lexer, first);
        let generic = op.as_ref().is_some_and(|(_, generic)| *generic);
        let name = op.map(|(name, _)| name).unwrap_or_default();
        self.chunk.class = match first.kind {
            TokenKind::Attribute | TokenKind::Type => OpClass::Alias,
            TokenKind::Punct(b'{') => OpClass::Resources,
            _ => ops::class_of(&name),
        };
        let is_deep = self.chunk.nesting() >= DEEPEST_CONTAINER;
        let container = ops::is_container(&name) && self.chunk.class != OpClass::Alias;
        let mut head =
            Head { naming: !name.is_empty() && first.kind != TokenKind::Value, ..Head::default() };
        self.see(first);
        if first.is(b'{') {
            if !lexer.clone().next().is_some_and(|next| next.is(b'-')) {
                // A brace without an operation: the text after it is still read.
                self.chunk.class = OpClass::Other;
                self.chunk.kind = if is_deep { ChunkKind::Item } else { ChunkKind::Open };
                return;
            }
            head.nest = 1;
        }
        loop {
            let before = lexer.clone();
            let Some(token) = lexer.next() else { break };
            if token.kind == TokenKind::Comment {
                if is_separator(self.source, &token) {
                    return;
                }
                continue;
            }
            if self.begins_next(&head, &token, indent, before) {
                self.chunk.damage.unclosed |= head.nest > 0;
                return;
            }
            if token.is(b'}') && head.nest == 0 {
                return; // the container's
            }
            let region = token.is(b'{')
                && self.chunk.class != OpClass::Alias
                && if generic {
                    head.nest == 1 && head.region_follows
                } else {
                    head.nest == 0 && !head.dictionary_follows
                };
            self.see(&token);
            if !region {
                self.learn_name(&mut head, &token, generic, lexer);
                head.step(&token, lexer);
                continue;
            }
            if self.chunk.head == 0 {
                self.chunk.head = clamp(token.range.end - self.start);
            }
            let holds = || {
                container || self.chunk.class == OpClass::Other && holds_symbols(self.source, lexer)
            };
            if !is_deep && holds() {
                self.chunk.kind = ChunkKind::Open;
                return;
            }
            let body = lexer.offset();
            match self.body(&mut lexer.cursor, indent) {
                Body::Closed => self.end = lexer.offset(),
                Body::Long => {
                    self.end = body;
                    self.chunk.kind = ChunkKind::Open;
                    self.chunk.damage.open_string = false;
                    return;
                }
                Body::Lost => {
                    self.chunk.damage.unclosed = true;
                    return;
                }
            }
            head.after_region();
        }
        self.chunk.damage.unclosed |= head.nest > 0;
    }

    /// Adds a token to the chunk.
    fn see(&mut self, token: &Token) {
        self.end = token.range.end;
        self.chunk.damage.open_string |= token.kind == TokenKind::UnterminatedString;
    }

    /// `}` and the rest of its line's operation: `}) : () -> () loc(#loc)`.
    fn close(&mut self, lexer: &mut Lexer<'_, S>, first: &Token) {
        self.chunk.kind = ChunkKind::Close;
        self.chunk.damage.stray_close = self.chunk.depth == 0;
        self.see(first);
        let mut head = Head { closed: true, ..Head::default() };
        loop {
            let before = lexer.clone();
            let Some(token) = lexer.next() else { return };
            let ends = token.is(b'}') && head.nest == 0
                || token.kind == TokenKind::Comment
                || self.begins_next(&head, &token, 0, before);
            if ends {
                return;
            }
            self.see(&token);
            // The `)` of `})` closes what another chunk opened.
            head.step(&token, lexer);
        }
    }

    /// The operation's name and whether it is in generic form. Skips `%x = `.
    fn op_name(&self, lexer: &Lexer<'_, S>, first: &Token) -> Option<(String, bool)> {
        let mut token = first.clone();
        if token.kind == TokenKind::Value {
            let mut ahead = lexer.clone();
            token = loop {
                let next = ahead.next()?;
                if next.line_start {
                    return None;
                }
                if next.is(b'=') {
                    break ahead.next()?;
                }
            };
        }
        match token.kind {
            TokenKind::Word => Some((lexer.text(&token).into_owned(), false)),
            TokenKind::String => Some((token.name(self.source), true)),
            _ => None,
        }
    }

    /// Whether `token` begins the next chunk.
    fn begins_next(&self, head: &Head, token: &Token, indent: usize, before: Lexer<'_, S>) -> bool {
        let ready = head.nest == 0;
        match token.kind {
            TokenKind::Word => {
                if !(token.line_start || ready && head.closed) {
                    return false;
                }
                let text = before.text(token);
                let beside = token.line_start && token.indent <= indent;
                if ready {
                    is_op(&text) || head.closed && beside && !continues(&text)
                } else {
                    beside && ops::is_anchor(&text)
                }
            }
            TokenKind::String if token.line_start && !ready => {
                token.indent <= indent && ops::is_anchor(&token.name(self.source))
            }
            TokenKind::String | TokenKind::Value | TokenKind::Block => ready && token.line_start,
            TokenKind::Attribute | TokenKind::Type => {
                let mut ahead = before;
                ahead.next();
                token.line_start
                    && token.indent <= indent
                    && ahead.next().is_some_and(|next| next.is(b'='))
            }
            TokenKind::Punct(b'{') if ready && token.line_start => {
                let mut ahead = before;
                ahead.next();
                ahead.next().is_some_and(|next| next.is(b'-'))
            }
            _ => false,
        }
    }

    /// Remembers the symbol that the operation defines: the first `@name` before any operand, or
    /// `sym_name = "…"`.
    fn learn_name(&mut self, head: &mut Head, token: &Token, generic: bool, lexer: &Lexer<'_, S>) {
        if !head.naming {
            return;
        }
        match token.kind {
            TokenKind::Symbol if !generic => {
                self.chunk.name = name_hash(&lexer.name(token));
                head.naming = false;
            }
            TokenKind::String if generic && head.sym_name == 2 => {
                self.chunk.name = name_hash(&lexer.name(token));
                head.naming = false;
            }
            TokenKind::Word if generic => {
                head.sym_name = u8::from(lexer.text(token) == "sym_name");
            }
            TokenKind::Punct(b'=') if head.sym_name == 1 => head.sym_name = 2,
            TokenKind::Word => {}
            _ if generic => head.sym_name = 0,
            _ => head.naming = false,
        }
    }

    /// Scans from after a region's `{` to after its `}`.
    fn body(&mut self, cursor: &mut Cursor<'_, S>, indent: usize) -> Body {
        let mut depth = 1_u32;
        // Only a function's own body may be cut: parts hold its operations.
        let long = if self.chunk.class == OpClass::Function {
            cursor.offset() + LONG_BODY
        } else {
            usize::MAX
        };
        loop {
            if cursor.offset() > long {
                return Body::Long;
            }
            cursor.skip_while(|byte| !matters(byte));
            let Some(byte) = cursor.bump() else { return Body::Lost };
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    self.end = cursor.offset();
                    depth -= 1;
                    if depth == 0 {
                        return Body::Closed;
                    }
                }
                b'"' => self.chunk.damage.open_string |= !cursor.skip_string(),
                b'/' if cursor.peek() == Some(b'/') => cursor.skip_line(),
                b'\n' => {
                    let line_end = cursor.offset() - 1;
                    if line_is_anchor(cursor, indent) {
                        self.end = line_end.max(self.end);
                        return Body::Lost;
                    }
                }
                _ => {}
            }
            self.end = cursor.offset();
        }
    }
}

impl<S: Source + ?Sized> Scan<'_, S> {
    /// Scans one part of a long function: up to a line between two of its operations, or to the
    /// brace that ends it.
    fn part(&mut self, cursor: &mut Cursor<'_, S>) {
        let mut depth = 0_u32;
        self.chunk.kind = ChunkKind::Part;
        loop {
            cursor.skip_while(|byte| !matters(byte));
            let Some(byte) = cursor.bump() else {
                self.end = self.source.len();
                self.chunk.kind = ChunkKind::Close;
                self.chunk.damage.unclosed = true;
                return;
            };
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 0 => {
                    self.chunk.kind = ChunkKind::Close;
                    cursor.skip_line();
                    self.end = cursor.offset();
                    return;
                }
                b'}' => depth -= 1,
                b'"' => self.chunk.damage.open_string |= !cursor.skip_string(),
                b'/' if cursor.peek() == Some(b'/') => cursor.skip_line(),
                b'\n' => {
                    self.end = cursor.offset();
                    if line_is_anchor(cursor, usize::MAX) {
                        self.chunk.kind = ChunkKind::Close;
                        self.chunk.damage.unclosed = true;
                        return;
                    }
                    if depth == 0 && self.end - self.start >= PART && line_begins_operation(cursor)
                    {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether the line at the cursor looks like the first line of an operation.
fn line_begins_operation<S: Source + ?Sized>(cursor: &Cursor<'_, S>) -> bool {
    let mut ahead = cursor.clone();
    ahead.skip_while(|byte| matches!(byte, b' ' | b'\t'));
    match ahead.peek() {
        Some(b'^') => true,
        Some(b'%') => {
            ahead.skip_while(|byte| byte != b'\n' && byte != b'=' && byte != b'(');
            ahead.peek() == Some(b'=')
        }
        _ => false,
    }
}

/// The state of an operation's text outside its regions.
#[derive(Default)]
struct Head {
    /// Open brackets of any kind, including the braces of attribute dictionaries.
    nest: u32,
    /// A region has closed, so a new operation may begin on the same line.
    closed: bool,
    /// The last token was `attributes`, so the next brace opens a dictionary.
    dictionary_follows: bool,
    /// The last token was `(` or `,`, so in generic form the next brace opens a region.
    region_follows: bool,
    /// The symbol's name has not appeared yet.
    naming: bool,
    /// 1 after `sym_name`, 2 after its `=`.
    sym_name: u8,
}

impl Head {
    fn step<S: Source + ?Sized>(&mut self, token: &Token, lexer: &Lexer<'_, S>) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => self.nest += 1,
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => self.nest = self.nest.saturating_sub(1),
            _ => {}
        }
        self.region_follows = token.is(b'(') || token.is(b',');
        self.dictionary_follows = token.kind == TokenKind::Word
            && token.range.len() == "attributes".len()
            && lexer.text(token) == "attributes";
    }

    fn after_region(&mut self) {
        self.closed = true;
        self.dictionary_follows = false;
        self.region_follows = false;
        self.naming &= self.nest > 0;
    }
}

fn matters(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'"' | b'/' | b'\n')
}

/// Whether a word at the start of a line is an operation: it has a dialect prefix, or is one of the
/// few written without.
fn is_op(word: &str) -> bool {
    matches!(word, "module" | "func") || word.contains('.')
}

/// Whether a word continues an operation after its region.
fn continues(word: &str) -> bool {
    matches!(word, "attributes" | "else" | "loc")
}

fn is_separator<S: Source + ?Sized>(source: &S, token: &Token) -> bool {
    token.range.len() >= 8 && source.slice(token.range.start..token.range.start + 8) == "// -----"
}

/// Whether the line at the cursor, indented no deeper than `indent`, must begin a new symbol. On
/// return the cursor is still in this line.
fn line_is_anchor<S: Source + ?Sized>(cursor: &mut Cursor<'_, S>, indent: usize) -> bool {
    let mut ahead = cursor.clone();
    let mut spaces = 0;
    while matches!(ahead.peek(), Some(b' ' | b'\t')) {
        ahead.bump();
        spaces += 1;
        if spaces > indent {
            return false;
        }
    }
    match ahead.peek() {
        Some(b'"') => {
            ahead.bump();
        }
        Some(b'a'..=b'z') => {}
        Some(b'/') => return separator_ahead(&mut ahead),
        _ => return false,
    }
    let mut word = [0_u8; ops::LONGEST_ANCHOR];
    let mut length = 0;
    while let Some(byte) =
        ahead.peek().filter(|byte| byte.is_ascii_alphanumeric() || b"._".contains(byte))
    {
        if length == word.len() {
            return false;
        }
        word[length] = byte;
        length += 1;
        ahead.bump();
    }
    std::str::from_utf8(&word[..length]).is_ok_and(ops::is_anchor)
}

/// Whether the region after the lexer begins with a symbol. Then its operation is a container,
/// listed or not.
fn holds_symbols<S: Source + ?Sized>(source: &S, lexer: &Lexer<'_, S>) -> bool {
    let first = lexer.clone().find(|token| token.kind != TokenKind::Comment);
    first.is_some_and(|token| {
        matches!(token.kind, TokenKind::Word | TokenKind::String)
            && token.range.len() < ops::LONGEST_ANCHOR
            && ops::is_anchor(&token.name(source))
    })
}

fn separator_ahead<S: Source + ?Sized>(ahead: &mut Cursor<'_, S>) -> bool {
    b"// -----".iter().all(|&wanted| ahead.bump() == Some(wanted))
}
