//! Level 2: a function's parameters and results as written, `(%a: i32, …) -> (…)`.
//!
//! Types stay text: their meaning belongs to higher floors. This reads the forms of `func.func` and
//! similar operations, of `util.func` with tied results (`-> %arg0 as tensor<…>`), of `vm.import`
//! with variadic parameters (`tuple<…> ...`), of `.vmasm`, and of the attribute `function_type =
//! (…) -> …`.

use std::iter::Peekable;

use crate::brackets::Brackets;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::{Source, TextRange};

/// One parameter or result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slot {
    /// The SSA name, without its `%`.
    pub name: Option<String>,
    /// The type's text on one line; empty where the text has none.
    pub ty: String,
    /// Whether it is marked with `...`: any number of values.
    pub variadic: bool,
    /// Its attribute dictionary, with braces.
    pub attributes: Option<TextRange>,
}

/// The parameters and results of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionType {
    /// From the opening parenthesis to the end of the results.
    pub range: TextRange,
    /// The parameters.
    pub parameters: Vec<Slot>,
    /// The results.
    pub results: Vec<Slot>,
}

impl FunctionType {
    /// Reads at `offset`, which holds an opening parenthesis, and not beyond `end`. Any text gives
    /// some function type.
    pub fn read<S: Source + ?Sized>(source: &S, offset: usize, end: usize) -> Self {
        let mut reader =
            Reader { source, tokens: Lexer::new(source, offset).peekable(), end, last: offset };
        let parameters = reader.list();
        let mut results = Vec::new();
        if reader.eat(TokenKind::Arrow).is_some() {
            results = match reader.peek() {
                Some(token) if token.is(b'(') => reader.list(),
                _ => vec![reader.slot(false)],
            };
        }
        tie(&parameters, &mut results);
        Self { range: offset..reader.last, parameters, results }
    }
}

/// Where a result is written as an argument (`-> %arg0`), gives it that argument's type.
fn tie(parameters: &[Slot], results: &mut [Slot]) {
    for result in results.iter_mut().filter(|slot| slot.ty.is_empty() && slot.name.is_some()) {
        if let Some(parameter) = parameters.iter().find(|slot| slot.name == result.name) {
            result.ty.clone_from(&parameter.ty);
        }
    }
}

/// The types at `offset`, and not beyond `end`: `(i32, f32)`, `tensor<4xf32>`, `%arg0 as
/// tensor<4xf32>`, or several types without parentheses, separated by commas.
pub fn read_types<S: Source + ?Sized>(source: &S, offset: usize, end: usize) -> Vec<Slot> {
    let mut reader =
        Reader { source, tokens: Lexer::new(source, offset).peekable(), end, last: offset };
    if reader.peek().is_some_and(|token| token.is(b'(')) {
        let slots = reader.list();
        // `(i32) -> f32` is one type, of a function.
        if reader.peek().is_none_or(|token| token.kind != TokenKind::Arrow) {
            return slots;
        }
        reader =
            Reader { source, tokens: Lexer::new(source, offset).peekable(), end, last: offset };
    }
    let mut slots = vec![reader.slot(false)];
    loop {
        // Sizes after a type: `tensor<?xf32>{%n}`.
        while reader.peek().is_some_and(|token| token.is(b'{') || token.is(b'[')) {
            reader.balanced();
        }
        if reader.eat(TokenKind::Punct(b',')).is_none() {
            break;
        }
        slots.push(reader.slot(false));
    }
    slots.retain(|slot| !slot.ty.is_empty());
    slots
}

struct Reader<'a, S: Source + ?Sized> {
    source: &'a S,
    tokens: Peekable<Lexer<'a, S>>,
    end: usize,
    /// End of the last token taken.
    last: usize,
}

impl<S: Source + ?Sized> Reader<'_, S> {
    fn peek(&mut self) -> Option<Token> {
        while self.tokens.peek().is_some_and(|token| token.kind == TokenKind::Comment) {
            self.tokens.next();
        }
        let end = self.end;
        self.tokens.peek().filter(|token| token.range.end <= end).cloned()
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.tokens.next();
        self.last = token.range.end;
        Some(token)
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        if self.peek()?.kind == kind { self.next() } else { None }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self
            .peek()
            .is_some_and(|token| token.kind == TokenKind::Word && token.text(self.source) == word);
        found && self.next().is_some()
    }

    /// `( slot, slot, … )`, which may span lines.
    fn list(&mut self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.eat(TokenKind::Punct(b'('));
        loop {
            match self.peek() {
                None => return slots,
                Some(token) if token.is(b')') => {
                    self.next();
                    return slots;
                }
                Some(_) => {}
            }
            let before = self.last;
            slots.push(self.slot(true));
            if self.eat(TokenKind::Punct(b',')).is_none() && self.last == before {
                self.next(); // nothing that a slot could begin with
                slots.pop();
            }
        }
    }

    /// `%name: type {attributes}`. Any part may be missing.
    fn slot(&mut self, in_list: bool) -> Slot {
        let mut slot = Slot::default();
        if let Some(value) = self.eat(TokenKind::Value) {
            let mut name = value.name(self.source);
            let mut typed = self.eat(TokenKind::Punct(b':')).is_some();
            if let Some(pair) = self.eat(TokenKind::Number) {
                // `%i4:5: i64`, a pair of registers.
                name = format!("{name}:{}", pair.text(self.source));
                typed = self.eat(TokenKind::Punct(b':')).is_some();
            }
            slot.name = Some(name);
            if !typed && !self.eat_word("as") {
                return slot;
            }
        }
        slot.ty = self.ty();
        while in_list && self.eat(TokenKind::Punct(b'.')).is_some() {
            slot.variadic = true;
        }
        if in_list && self.peek().is_some_and(|token| token.is(b'{')) {
            slot.attributes = Some(self.balanced());
        }
        if in_list && self.eat_word("loc") {
            self.balanced();
        }
        slot
    }

    /// A type: a name and the angle brackets after it.
    fn ty(&mut self) -> String {
        let Some(first) = self.peek() else { return String::new() };
        let start = first.range.start;
        if first.is(b'(') {
            self.balanced();
            if self.eat(TokenKind::Arrow).is_some() {
                match self.peek() {
                    Some(token) if token.is(b'(') => {
                        self.balanced();
                    }
                    _ => {
                        self.ty();
                    }
                }
            }
        } else if matches!(first.kind, TokenKind::Word | TokenKind::Type | TokenKind::Number) {
            self.next();
            while self.peek().is_some_and(|token| token.is(b'<') && token.range.start == self.last)
            {
                self.balanced();
            }
        }
        if self.last <= start {
            return String::new();
        }
        one_line(&self.source.slice(start..self.last))
    }

    /// Advances from an opening bracket to its partner.
    fn balanced(&mut self) -> TextRange {
        let start = self.peek().map_or(self.last, |token| token.range.start);
        let mut brackets = Brackets::default();
        while let Some(token) = self.next() {
            if matches!(token.kind, TokenKind::Punct(byte) if brackets.closes(byte)) {
                break;
            }
        }
        start..self.last
    }
}

fn one_line(text: &str) -> String {
    if text.contains(['\n', '\t']) {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::FunctionType;

    /// `name:type` for each parameter, `->`, and the same for the results.
    fn shown(text: &str) -> String {
        let read = FunctionType::read(text, 0, text.len());
        let show = |slots: &[super::Slot]| {
            let texts: Vec<_> = slots
                .iter()
                .map(|slot| {
                    let name =
                        slot.name.as_ref().map(|name| format!("{name}:")).unwrap_or_default();
                    let marks = if slot.variadic { "..." } else { "" };
                    let attributes =
                        slot.attributes.clone().map(|range| &text[range]).unwrap_or_default();
                    format!("{name}{}{marks}{attributes}", slot.ty)
                })
                .collect();
            texts.join(" | ")
        };
        format!(
            "{} => {} @{}",
            show(&read.parameters),
            show(&read.results),
            &text[read.range.end..]
        )
    }

    #[test]
    fn forms() {
        for (text, expected) in [
            ("() -> () {", " =>  @ {"),
            ("(%a: i32, %b: f32) -> i64 {", "a:i32 | b:f32 => i64 @ {"),
            (
                "(%a: tensor<4x?xf32, #enc<\"x,y\", {a = (1)}>> {iree.abi.x = 1}) -> (tensor<4xf32> {iree.abi.output = 0 : index}, i1) attributes {}",
                "a:tensor<4x?xf32, #enc<\"x,y\", {a = (1)}>>{iree.abi.x = 1} => tensor<4xf32>{iree.abi.output = 0 : index} | i1 @ attributes {}",
            ),
            (
                "(\n  %cb : !vm.ref<!hal.command_buffer>, // the buffer\n  %b : tuple<i32,\n i64> ...\n)\nattributes {}",
                "cb:!vm.ref<!hal.command_buffer> | b:tuple<i32, i64>... =>  @\nattributes {}",
            ),
            (
                "(%i0: i32, %r0: !vm.ref<?>) -> (i32, !vm.ref<?>) {",
                "i0:i32 | r0:!vm.ref<?> => i32 | !vm.ref<?> @ {",
            ),
            ("(%i0:1: i64, %i2: i32) -> (f64) {", "i0:1:i64 | i2:i32 => f64 @ {"),
            ("(%a: i32 loc(\"x\":1:2), %b: i64) -> %a {", "a:i32 | b:i64 => a:i32 @ {"),
            ("(%a: !t) -> (%a as tensor<4xf32>, i32) {", "a:!t => a:tensor<4xf32> | i32 @ {"),
            (
                "((i32) -> (f32), i1) -> ((i32) -> f32, i8)>",
                "(i32) -> (f32) | i1 => (i32) -> f32 | i8 @>",
            ),
            (
                "(i32, memref<4xf32, affine_map<(d0) -> (d0)>>) -> i32",
                "i32 | memref<4xf32, affine_map<(d0) -> (d0)>> => i32 @",
            ),
            (
                "(%a: !t<affine_set<(d0) : (d0 >= 0)>>, %b: i1) -> i8 {",
                "a:!t<affine_set<(d0) : (d0 >= 0)>> | b:i1 => i8 @ {",
            ),
            // Text that is still being typed.
            ("(%a: i32, %b", "a:i32 | b: =>  @"),
            ("(%a: tensor<4x", "a:tensor<4x =>  @"),
            ("(%a: , = %b: i32) ->", "a: | b:i32 =>  @"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
