//! Level 1: a whole text as a table of chunks, kept up to date by rescanning what an edit touched.
//!
//! A chunk is an operation at the level of symbols, with the white space and comments before it. An operation whose region
//! holds symbols (a module, an executable) gives an *opening* chunk up to its brace, then its content's chunks, then a
//! *closing* one. So the table is flat, nesting is a counter, and one module of 100 000 functions is 100 000 chunks.
//!
//! ```text
//! module {              Open      depth 0
//!   func.func @a() {    Item      depth 1
//!     return
//!   }
//! }                     Close     depth 1
//! ```
//!
//! Scanning a chunk depends on nothing but the text after its start and the depth there. That is what makes
//! [`ChunkTable::edited`] simple: scan from the chunk before the edit until a boundary falls on an old one, at the same depth.
//!
//! Damage is contained: strings end with their line, `// -----` closes everything, and a line that begins with a word of
//! [`crate::ops`], indented no deeper than the open operation, ends that operation.

use crate::cursor::Cursor;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::ops::{self, OpClass};
use crate::{Source, TextRange};

/// A replacement of text, in bytes: what lay in `start..start + removed` became `inserted` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEdit {
    /// Where it begins, in the old and in the new text.
    pub start: usize,
    /// Bytes that went away.
    pub removed: usize,
    /// Bytes that came.
    pub inserted: usize,
}

impl TextEdit {
    /// The one edit that covers this one and then `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let start = self.start.min(next.start);
        let middle_end = (self.start + self.inserted).max(next.start + next.removed);
        let removed = middle_end + self.removed - self.inserted - start;
        let inserted = middle_end + next.inserted - next.removed - start;
        Self { start, removed, inserted }
    }
}

/// What a chunk is for the nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// An operation, or something that stands where one should.
    Item,
    /// An operation up to the brace that opens its region of symbols.
    Open,
    /// The brace that closes such a region.
    Close,
    /// `// -----`: the next text is a file of its own.
    Separator,
    /// White space and comments at the end.
    Trivia,
}

/// What is wrong with a chunk, as far as braces and quotes go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Its region is not closed.
    pub unclosed: bool,
    /// A string is not closed on its line.
    pub open_string: bool,
    /// It closes a region that nothing opened.
    pub stray_close: bool,
}

/// One row of the table. Holds lengths only, so that an edit before it changes nothing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Bytes in all.
    pub len: usize,
    /// Bytes of white space and comments before the operation.
    pub lead: u32,
    /// Bytes up to and with the brace that opens the operation's first region; all of them where it has none.
    pub head: u32,
    /// [`name_hash`] of the symbol that it defines; 0 for none.
    pub name: u32,
    /// How many containers are open before it.
    pub depth: u16,
    /// Its part in the nesting.
    pub kind: ChunkKind,
    /// What its operation is.
    pub class: OpClass,
    /// What is wrong with it.
    pub damage: Damage,
}

impl Chunk {
    fn depth_after(&self) -> u16 {
        match self.kind {
            ChunkKind::Item | ChunkKind::Trivia => self.depth,
            ChunkKind::Open => self.depth.saturating_add(1),
            ChunkKind::Close => self.depth.saturating_sub(1),
            ChunkKind::Separator => 0,
        }
    }
}

/// Hash of a symbol's name, to find it without reading text. Never 0.
pub fn name_hash(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.max(1)
}

/// A chunk with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its row.
    pub index: usize,
    /// Where it begins.
    pub start: usize,
    /// The row.
    pub chunk: Chunk,
}

impl Placed {
    /// Its bytes.
    pub fn range(&self) -> TextRange {
        self.start..self.start + self.chunk.len
    }

    /// Where its operation begins.
    pub fn op_start(&self) -> usize {
        self.start + self.chunk.lead as usize
    }
}

/// The chunks of a text, in order; together they are the whole of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkTable {
    chunks: Vec<Chunk>,
}

impl ChunkTable {
    /// Cuts a text.
    pub fn scan<S: Source + ?Sized>(source: &S) -> Self {
        let mut chunks = Vec::new();
        let (mut offset, mut depth) = (0, 0);
        while offset < source.len() {
            let chunk = scan_chunk(source, offset, depth);
            offset += chunk.len;
            depth = chunk.depth_after();
            chunks.push(chunk);
        }
        Self { chunks }
    }

    /// The table of `source`, given that this is the table of the text before `edit`.
    #[must_use]
    pub fn edited<S: Source + ?Sized>(&self, source: &S, edit: TextEdit) -> Self {
        let (first, mut offset) = self.rescan_from(edit.start);
        let mut depth = self.chunks.get(first).map_or(0, |chunk| chunk.depth);
        let mut fresh = Vec::new();
        // `old` and `old_offset` walk the old boundaries alongside.
        let (mut old, mut old_offset) = (first, offset);
        let old_end = edit.start + edit.removed;
        while offset < source.len() {
            let chunk = scan_chunk(source, offset, depth);
            offset += chunk.len;
            depth = chunk.depth_after();
            fresh.push(chunk);
            if offset < edit.start + edit.inserted {
                continue;
            }
            let wanted = offset - edit.inserted + edit.removed;
            while old < self.chunks.len() && old_offset < wanted {
                old_offset += self.chunks[old].len;
                old += 1;
            }
            let same = old_offset == wanted && wanted >= old_end;
            if same && self.chunks.get(old).is_some_and(|next| next.depth == depth) {
                return self.spliced(first, fresh, old);
            }
        }
        self.spliced(first, fresh, self.chunks.len())
    }

    fn spliced(&self, first: usize, fresh: Vec<Chunk>, old: usize) -> Self {
        let mut chunks = Vec::with_capacity(first + fresh.len() + self.chunks.len() - old);
        chunks.extend_from_slice(&self.chunks[..first]);
        chunks.extend(fresh);
        chunks.extend_from_slice(&self.chunks[old..]);
        Self { chunks }
    }

    /// The chunk before the one that holds `offset`, since its end depends on the first token after it. White space at the
    /// end of the text holds no token, so from there one more.
    fn rescan_from(&self, offset: usize) -> (usize, usize) {
        let (mut first, mut start) = (0, 0);
        while first < self.chunks.len() && start + self.chunks[first].len <= offset {
            start += self.chunks[first].len;
            first += 1;
        }
        let mut back = 1;
        while first > 0 && back > 0 {
            first -= 1;
            start -= self.chunks[first].len;
            back -= usize::from(self.chunks[first].kind != ChunkKind::Trivia);
        }
        (first, start)
    }

    /// Every chunk with its place.
    pub fn iter(&self) -> impl Iterator<Item = Placed> + '_ {
        self.chunks.iter().enumerate().scan(0, |offset, (index, &chunk)| {
            let start = *offset;
            *offset += chunk.len;
            Some(Placed { index, start, chunk })
        })
    }

    /// The chunk that holds `offset`, or ends there at the end of the text.
    pub fn at(&self, offset: usize) -> Option<Placed> {
        let last = self.chunks.len().checked_sub(1)?;
        self.iter().find(|placed| offset < placed.range().end || placed.index == last)
    }

    /// The containers around the chunk `index`, outermost first.
    pub fn ancestors(&self, index: usize) -> Vec<Placed> {
        let mut open = Vec::new();
        for placed in self.iter().take(index) {
            match placed.chunk.kind {
                ChunkKind::Open => open.push(placed),
                ChunkKind::Close => {
                    open.pop();
                }
                ChunkKind::Separator => open.clear(),
                ChunkKind::Item | ChunkKind::Trivia => {}
            }
        }
        open
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether the text was empty.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

/// The chunk that begins at `start`, where `depth` containers are open. Never empty.
fn scan_chunk<S: Source + ?Sized>(source: &S, start: usize, depth: u16) -> Chunk {
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
        let container = ops::is_container(&name) && self.chunk.class != OpClass::Alias;
        let mut head =
            Head { naming: !name.is_empty() && first.kind != TokenKind::Value, ..Head::default() };
        self.see(first);
        if first.is(b'{') {
            if !lexer.clone().next().is_some_and(|next| next.is(b'-')) {
                // A brace from nowhere: what follows it is still read.
                self.chunk.class = OpClass::Other;
                self.chunk.kind = ChunkKind::Open;
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
                self.learn_name(&mut head, &token, generic);
                head.step(&token, self.source);
                continue;
            }
            if self.chunk.head == 0 {
                self.chunk.head = clamp(token.range.end - self.start);
            }
            if container || self.chunk.class == OpClass::Other && holds_symbols(self.source, lexer)
            {
                self.chunk.kind = ChunkKind::Open;
                return;
            }
            match self.body(&mut lexer.cursor, indent) {
                Body::Closed => self.end = lexer.offset(),
                Body::Lost => {
                    self.chunk.damage.unclosed = true;
                    return;
                }
            }
            head.after_region();
        }
        self.chunk.damage.unclosed |= head.nest > 0;
    }

    /// Takes a token into the chunk.
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
            head.step(&token, self.source);
        }
    }

    /// The operation's name and whether it is in generic form; `%x = ` is looked past.
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
            TokenKind::Word => Some((token.text(self.source).into_owned(), false)),
            TokenKind::String => Some((token.name(self.source), true)),
            _ => None,
        }
    }

    /// Whether `token` is the first of another chunk.
    fn begins_next(&self, head: &Head, token: &Token, indent: usize, before: Lexer<'_, S>) -> bool {
        let ready = head.nest == 0;
        match token.kind {
            TokenKind::Word => {
                if !(token.line_start || ready && head.closed) {
                    return false;
                }
                let text = token.text(self.source);
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

    /// Remembers the symbol that the operation defines: the first `@name` before any operand, or `sym_name = "…"`.
    fn learn_name(&mut self, head: &mut Head, token: &Token, generic: bool) {
        if !head.naming {
            return;
        }
        match token.kind {
            TokenKind::Symbol if !generic => {
                self.chunk.name = name_hash(&token.name(self.source));
                head.naming = false;
            }
            TokenKind::String if generic && head.sym_name == 2 => {
                self.chunk.name = name_hash(&token.name(self.source));
                head.naming = false;
            }
            TokenKind::Word if generic => {
                head.sym_name = u8::from(token.text(self.source) == "sym_name");
            }
            TokenKind::Punct(b'=') if head.sym_name == 1 => head.sym_name = 2,
            TokenKind::Word => {}
            _ if generic => head.sym_name = 0,
            _ => head.naming = false,
        }
    }

    /// From after a region's `{` to after its `}`.
    fn body(&mut self, cursor: &mut Cursor<'_, S>, indent: usize) -> Body {
        let mut depth = 1_u32;
        loop {
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

/// The state of an operation's text outside of its regions.
#[derive(Default)]
struct Head {
    /// Open brackets of any kind; braces of attribute dictionaries among them.
    nest: u32,
    /// A region was closed, so a new operation may begin on the same line.
    closed: bool,
    /// `attributes` came last: the next brace opens a dictionary.
    dictionary_follows: bool,
    /// `(` or `,` came last: in generic form the next brace opens a region.
    region_follows: bool,
    /// The symbol's name has not come yet.
    naming: bool,
    /// 1 after `sym_name`, 2 after its `=`.
    sym_name: u8,
}

impl Head {
    fn step<S: Source + ?Sized>(&mut self, token: &Token, source: &S) {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => self.nest += 1,
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => self.nest = self.nest.saturating_sub(1),
            _ => {}
        }
        self.region_follows = token.is(b'(') || token.is(b',');
        self.dictionary_follows =
            token.kind == TokenKind::Word && token.text(source) == "attributes";
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

/// Whether a word at the start of a line is an operation: it has a dialect, or is one of the few that are written without.
fn is_op(word: &str) -> bool {
    matches!(word, "module" | "func") || word.contains('.')
}

/// Whether a word goes on with an operation after its region.
fn continues(word: &str) -> bool {
    matches!(word, "attributes" | "else" | "loc")
}

fn is_separator<S: Source + ?Sized>(source: &S, token: &Token) -> bool {
    token.range.len() >= 8 && source.slice(token.range.start..token.range.start + 8) == "// -----"
}

/// Whether the line at the cursor, indented no deeper than `indent`, must begin a new symbol. Leaves the cursor on the line.
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

/// Whether a region begins with a symbol: then its operation is a container, known or not.
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
