//! Level 2: the head of a chunk as a symbol: its operation, name, visibility, type and attributes.

use std::iter::Peekable;

use crate::chunks::Placed;
use crate::function_type::FunctionType;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::{OpClass, Source, TextRange};

/// Where a symbol is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Everywhere. A symbol without a visibility keyword is public too.
    Public,
    /// In its own symbol table only.
    Private,
    /// In its own symbol table and the enclosing ones.
    Nested,
}

/// An operation that defines a symbol, or exports one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The class of the operation.
    pub class: OpClass,
    /// The operation's name, `func.func`.
    pub op: String,
    /// Where the operation's name stands.
    pub op_range: TextRange,
    /// The symbol's name. For an export, its external name.
    pub name: String,
    /// Where the name stands, without sigil and quotes.
    pub name_range: TextRange,
    /// Where the name stands, with sigil and quotes.
    pub name_token: TextRange,
    /// The visibility keyword; `None` where there is none.
    pub visibility: Option<Visibility>,
    /// The type of a function or import.
    pub function_type: Option<FunctionType>,
    /// The calling convention of an import in `.vmasm`, and where it stands.
    pub calling_convention: Option<(String, TextRange)>,
    /// The function of an export that gives it another name, and where that name stands.
    pub target: Option<(String, TextRange)>,
    /// The attribute dictionary, with braces.
    pub attributes: Option<TextRange>,
    /// The range of the head: from the operation's name to before the region's brace.
    pub head: TextRange,
    /// The range of the whole operation.
    pub range: TextRange,
}

impl Symbol {
    /// Reads the symbol that a chunk defines, if any.
    pub fn read<S: Source + ?Sized>(source: &S, placed: &Placed) -> Option<Self> {
        let start = placed.op_start();
        let range = start..placed.range().end;
        let has_region = (placed.chunk.head as usize) < placed.chunk.len
            || placed.chunk.kind == crate::ChunkKind::Open;
        let limit = placed.start + (placed.chunk.head as usize).min(placed.chunk.len);
        let head_end = if has_region { limit.saturating_sub(1).max(start) } else { limit };
        let mut reader = Reader {
            source,
            tokens: Lexer::new(source, start).peekable(),
            limit: head_end,
            last: start,
        };
        let op = reader.next()?;
        let generic = op.kind == TokenKind::String;
        if op.kind != TokenKind::Word && !generic {
            return None;
        }
        let mut symbol = Self {
            class: placed.chunk.class,
            op: op.name(source),
            op_range: op.range,
            name: String::new(),
            name_range: start..start,
            name_token: start..start,
            visibility: None,
            function_type: None,
            calling_convention: None,
            target: None,
            attributes: None,
            head: start..head_end,
            range,
        };
        if generic {
            reader.generic(&mut symbol);
        } else {
            reader.pretty(&mut symbol);
        }
        symbol.head.end = reader.trimmed_end(start, head_end);
        (!symbol.name_range.is_empty()).then_some(symbol)
    }

    /// Whether other modules can see it. A symbol without a visibility keyword is public.
    pub fn is_public(&self) -> bool {
        !matches!(self.visibility, Some(Visibility::Private | Visibility::Nested))
    }
}

struct Reader<'a, S: Source + ?Sized> {
    source: &'a S,
    tokens: Peekable<Lexer<'a, S>>,
    limit: usize,
    last: usize,
}

impl<S: Source + ?Sized> Reader<'_, S> {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.next().filter(|token| token.range.end <= self.limit)?;
        if token.kind == TokenKind::Comment {
            return self.next();
        }
        self.last = token.range.end;
        Some(token)
    }

    fn jump(&mut self, offset: usize) {
        self.tokens = Lexer::new(self.source, offset).peekable();
        self.last = offset;
    }

    fn name_it(&self, symbol: &mut Symbol, token: &Token) {
        symbol.name = token.name(self.source);
        symbol.name_range = token.name_range(self.source);
        symbol.name_token = token.range.clone();
    }

    fn pretty(&mut self, symbol: &mut Symbol) {
        while let Some(token) = self.next() {
            match token.kind {
                TokenKind::Word => self.word(symbol, &token),
                TokenKind::Symbol if symbol.name_range.is_empty() => self.name_it(symbol, &token),
                // Only words precede the name of the symbol that an operation defines.
                _ if symbol.name_range.is_empty() => return,
                TokenKind::Symbol if symbol.class == OpClass::Export => {
                    symbol.target = Some((token.name(self.source), token.name_range(self.source)));
                }
                TokenKind::Punct(b'(')
                    if symbol.function_type.is_none()
                        && !symbol.name_range.is_empty()
                        && matches!(symbol.class, OpClass::Function | OpClass::Import) =>
                {
                    let read = FunctionType::read(self.source, token.range.start, self.limit);
                    self.jump(read.range.end);
                    symbol.function_type = Some(read);
                }
                TokenKind::Punct(b'{') => {
                    let dictionary = self.rest_of_brackets(&token);
                    symbol.attributes.get_or_insert(dictionary);
                }
                TokenKind::Punct(b'(' | b'[' | b'<') => {
                    self.rest_of_brackets(&token);
                }
                _ => {}
            }
        }
    }

    fn word(&mut self, symbol: &mut Symbol, token: &Token) {
        let text = token.text(self.source).into_owned();
        match text.as_str() {
            "public" => symbol.visibility = Some(Visibility::Public),
            "private" => symbol.visibility = Some(Visibility::Private),
            "nested" => symbol.visibility = Some(Visibility::Nested),
            "cconv" if symbol.class == OpClass::Import => {
                if let Some(text) = self.next().filter(|token| token.kind == TokenKind::String) {
                    symbol.calling_convention =
                        Some((text.name(self.source), text.name_range(self.source)));
                }
            }
            "as" if symbol.class == OpClass::Export => self.export_name(symbol),
            _ => {}
        }
    }

    /// `vm.export @function as("name")`.
    fn export_name(&mut self, symbol: &mut Symbol) {
        if !self.next().is_some_and(|token| token.is(b'(')) {
            return;
        }
        if let Some(text) = self.next().filter(|token| token.kind == TokenKind::String) {
            symbol.target = Some((std::mem::take(&mut symbol.name), symbol.name_range.clone()));
            self.name_it(symbol, &text);
        }
    }

    fn rest_of_brackets(&mut self, open: &Token) -> TextRange {
        let mut nest = 1_u32;
        while nest > 0 {
            let Some(token) = self.next() else { break };
            match token.kind {
                TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => nest += 1,
                TokenKind::Punct(b')' | b']' | b'}' | b'>') => nest -= 1,
                _ => {}
            }
        }
        open.range.start..self.last
    }

    /// `"func.func"() <{function_type = …, sym_name = "…"}> ({`.
    fn generic(&mut self, symbol: &mut Symbol) {
        let mut key = String::new();
        while let Some(token) = self.next() {
            match token.kind {
                TokenKind::Word => key = token.text(self.source).into_owned(),
                TokenKind::Punct(b'=') => match key.as_str() {
                    "sym_name" | "export_name" => {
                        if let Some(text) = self.string() {
                            self.name_it(symbol, &text);
                        }
                    }
                    "sym_visibility" => {
                        let text = self.string().map(|token| token.name(self.source));
                        symbol.visibility = match text.as_deref() {
                            Some("private") => Some(Visibility::Private),
                            Some("nested") => Some(Visibility::Nested),
                            _ => Some(Visibility::Public),
                        };
                    }
                    "function_type" => {
                        if let Some(open) = self.next().filter(|token| token.is(b'(')) {
                            let read =
                                FunctionType::read(self.source, open.range.start, self.limit);
                            self.jump(read.range.end);
                            symbol.function_type = Some(read);
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn string(&mut self) -> Option<Token> {
        self.next().filter(|token| token.kind == TokenKind::String)
    }

    /// The end of the head, without trailing white space.
    fn trimmed_end(&self, start: usize, end: usize) -> usize {
        let shown = self.source.slice(end.saturating_sub(64).max(start)..end);
        let kept = shown.trim_end_matches(|c: char| c.is_whitespace()).len();
        end - (shown.len() - kept)
    }
}
