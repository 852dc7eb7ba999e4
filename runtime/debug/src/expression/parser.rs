//! From text to trees: a scanner and operator precedence in one, because the meaning of a character
//! depends on what is expected. `%` begins a name where a value may stand, and is the remainder
//! after a value; `@` begins a symbol or a file, and is the product of matrices after a value; a
//! type follows `as`.

use super::error::ExpressionError;
use super::printed::Printed;
use super::reduce;
use super::syntax::{Binary, COMPARISON, Expr, Kind, OPERATORS, POWER, Subscript, Unary};
use crate::view::symbol::bare_symbol;

/// Deepest nesting. More is refused, because evaluation recurses.
const MAX_DEPTH: usize = 64;
/// Longest expression, in bytes.
const MAX_LENGTH: usize = 1 << 16;

/// Parses a whole text as one expression.
pub(crate) fn parse(text: &str) -> Result<Expr, ExpressionError> {
    let mut parser = Parser::new(text, 0)?;
    let expr = parser.expression(0)?;
    match parser.rest().chars().next() {
        None => Ok(expr),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

/// Parses an expression from a place in a text on. Returns where it ends.
pub(crate) fn parse_prefix(text: &str, start: usize) -> Result<(Expr, usize), ExpressionError> {
    let mut parser = Parser::new(text, start)?;
    let expr = parser.expression(0)?;
    parser.skip_space();
    Ok((expr, parser.at))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, at: usize) -> Result<Self, ExpressionError> {
        if text.len() > MAX_LENGTH {
            let what = format!("the expression has {} bytes, more than {MAX_LENGTH}", text.len());
            return Err(ExpressionError::of_text(0..0, what));
        }
        Ok(Self { text, at, depth: 0 })
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let is_there = self.rest().starts_with(symbol);
        if is_there {
            self.at += symbol.len();
        }
        is_there
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// Takes a keyword, unless it is the beginning of a longer name.
    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = self.rest().strip_prefix(word);
        let is_there = rest.is_some_and(|rest| !rest.starts_with(is_name));
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn unexpected(&mut self, wanted: &str) -> ExpressionError {
        self.skip_space();
        let found: String = self.rest().chars().take(1).collect();
        let span = self.at..self.at + found.len();
        let what = if found.is_empty() {
            format!("{wanted} is missing at the end")
        } else {
            format!("{wanted} is expected instead of `{found}`")
        };
        ExpressionError::of_text(span, what)
    }

    fn enter(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let what = format!("the expression is nested more than {MAX_DEPTH} deep");
            return Err(ExpressionError::of_text(self.at..self.at, what));
        }
        Ok(())
    }

    /// An expression whose operators bind more tightly than `above`.
    fn expression(&mut self, above: u8) -> Result<Expr, ExpressionError> {
        self.enter()?;
        let mut left = self.unary()?;
        while let Some((operator, level)) = self.operator(above) {
            let least = if level == POWER { level - 1 } else { level };
            let right = self.expression(least)?;
            let span = left.span.start..right.span.end;
            left = Expr { kind: Kind::Binary(operator, left.into(), right.into()), span };
            if level == COMPARISON && self.peek_operator().is_some_and(|(_, _, it)| it == level) {
                let what = "comparisons do not chain; write a < b && b < c";
                return Err(ExpressionError::of_text(self.at..self.at + 1, what));
            }
            if self.depth + left_depth(&left) > 4 * MAX_DEPTH {
                return Err(ExpressionError::of_text(left.span, "the expression is too long"));
            }
        }
        if above == 0 && self.eat("?") {
            let yes = self.expression(0)?;
            self.expect(":")?;
            let no = self.expression(0)?;
            let span = left.span.start..no.span.end;
            left = Expr { kind: Kind::Choice(left.into(), yes.into(), no.into()), span };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn peek_operator(&mut self) -> Option<(&'static str, Binary, u8)> {
        self.skip_space();
        let rest = self.rest();
        let found = OPERATORS.iter().filter(|(text, ..)| {
            let after = rest.strip_prefix(text);
            let is_word = text.starts_with(char::is_alphabetic);
            after.is_some_and(|after| !is_word || !after.starts_with(is_name))
        });
        found.max_by_key(|(text, ..)| text.len()).copied()
    }

    fn operator(&mut self, above: u8) -> Option<(Binary, u8)> {
        let (text, operator, level) = self.peek_operator()?;
        if level <= above {
            return None;
        }
        self.at += text.len();
        Some((operator, level))
    }

    fn unary(&mut self) -> Result<Expr, ExpressionError> {
        self.skip_space();
        let start = self.at;
        let operator = if self.eat("-") {
            Unary::Negate
        } else if self.eat("!") || self.eat_word("not") {
            Unary::Not
        } else if self.eat("~") {
            Unary::Complement
        } else {
            return self.cast();
        };
        self.enter()?;
        // `not a == b` is about the comparison, as it reads; `!a == b` is about `a`, as in C.
        let is_word = self.text[start..].starts_with("not");
        let operand = if is_word { self.expression(2)? } else { self.unary()? };
        self.depth -= 1;
        let span = start..operand.span.end;
        // Before `**`, the sign applies to the power.
        if operator == Unary::Negate && self.peek_operator().is_some_and(|(_, _, it)| it == POWER) {
            self.eat("**");
            let exponent = self.expression(POWER - 1)?;
            let span = operand.span.start..exponent.span.end;
            let kind = Kind::Binary(Binary::Power, operand.into(), exponent.into());
            let power = Expr { kind, span: span.clone() };
            return Ok(Expr { kind: Kind::Unary(operator, power.into()), span: start..span.end });
        }
        Ok(Expr { kind: Kind::Unary(operator, operand.into()), span })
    }

    fn cast(&mut self) -> Result<Expr, ExpressionError> {
        let mut value = self.postfix()?;
        let mut casts = 0;
        while self.eat_word("as") {
            casts += 1;
            if casts > MAX_DEPTH {
                return Err(self.unexpected("fewer casts"));
            }
            let tensor_type = self.type_name()?;
            let span = value.span.start..self.at;
            value = Expr { kind: Kind::Cast(value.into(), tensor_type), span };
        }
        Ok(value)
    }

    /// `4x8xf32`, `f16[4,4]`, `tensor<4x8xf32>`. The second and the third are turned into the form
    /// of the first; `memref<…>` stays as it is.
    fn type_name(&mut self) -> Result<String, ExpressionError> {
        self.skip_space();
        if self.rest().starts_with("memref<") {
            let (mut depth, mut before) = (0_usize, ' ');
            let end = self.rest().find(|c| {
                // The `>` of `->` in a map closes nothing.
                let closes = c == '>' && before != '-';
                depth =
                    if closes { depth.saturating_sub(1) } else { depth + usize::from(c == '<') };
                before = c;
                closes && depth == 0
            });
            let Some(end) = end else {
                self.at += self.rest().len();
                return Err(self.unexpected("`>` after memref<…"));
            };
            let name = self.rest()[..=end].to_owned();
            self.at += name.len();
            return Ok(name);
        }
        let is_wrapped = self.eat_word("tensor");
        if is_wrapped {
            self.expect("<")?;
            self.skip_space();
        }
        let is_type = |c: char| c.is_ascii_alphanumeric() || c == '*' || c == '_';
        let length = self.rest().find(|c| !is_type(c)).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.unexpected("a type such as f32, 4x8xf32 or f16[4,4]"));
        }
        let name = &self.rest()[..length];
        self.at += length;
        if is_wrapped {
            self.expect(">")?;
        }
        if is_wrapped || !self.rest().starts_with('[') {
            return Ok(name.to_owned());
        }
        self.at += 1;
        let mut shape = String::new();
        loop {
            self.skip_space();
            let length = self.rest().find(|c: char| !c.is_ascii_digit());
            let digits = &self.rest()[..length.unwrap_or(self.rest().len())];
            if digits.is_empty() {
                return Err(self.unexpected("a dimension"));
            }
            self.at += digits.len();
            shape.push_str(digits);
            shape.push('x');
            if self.eat("]") {
                return Ok(format!("{shape}{name}"));
            }
            self.expect(",")?;
        }
    }

    fn postfix(&mut self) -> Result<Expr, ExpressionError> {
        let mut value = self.primary()?;
        let mut count = 0;
        loop {
            self.skip_space();
            let start = value.span.start;
            let kind = match self.rest().chars().next() {
                Some('[') => {
                    self.at += 1;
                    Kind::Index(value.into(), self.subscripts()?)
                }
                Some('(') if is_callable(&value) => {
                    self.at += 1;
                    Kind::Call(value.into(), self.arguments()?)
                }
                Some('.') if self.rest()[1..].starts_with(is_name_start) => {
                    self.at += 1;
                    let begins = self.at;
                    let name = self.word().to_owned();
                    let called = Expr { kind: Kind::Name(name.clone()), span: begins..self.at };
                    // `x.max()` is `max(x)`.
                    match reduce::named(&name).is_some() && self.eat("(") {
                        true => {
                            let rest = self.arguments()?;
                            let arguments = std::iter::once(value).chain(rest).collect();
                            Kind::Call(called.into(), arguments)
                        }
                        false => Kind::Field(value.into(), name),
                    }
                }
                _ => return Ok(value),
            };
            value = Expr { kind, span: start..self.at };
            count += 1;
            if count > MAX_DEPTH {
                return Err(ExpressionError::of_text(value.span, "the expression is too long"));
            }
        }
    }

    fn subscripts(&mut self) -> Result<Vec<Subscript>, ExpressionError> {
        let mut found = Vec::new();
        loop {
            found.push(self.subscript()?);
            if self.eat("]") {
                return Ok(found);
            }
            if !self.eat(",") {
                return Err(self.unexpected("`]`"));
            }
        }
    }

    fn subscript(&mut self) -> Result<Subscript, ExpressionError> {
        let mut parts = [const { None }; 3];
        let mut colons = 0;
        loop {
            self.skip_space();
            if !self.rest().starts_with([':', ',', ']']) {
                parts[colons] = Some(self.expression(0)?);
            }
            if colons == 2 || !self.eat(":") {
                break;
            }
            colons += 1;
        }
        let [start, end, step] = parts;
        match (colons, start) {
            (0, Some(at)) => Ok(Subscript::At(at)),
            (0, None) => Err(self.unexpected("an index")),
            (_, start) => Ok(Subscript::Range(start, end, step)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, ExpressionError> {
        let mut found = Vec::new();
        if self.eat(")") {
            return Ok(found);
        }
        loop {
            found.push(self.expression(0)?);
            if self.eat(")") {
                return Ok(found);
            }
            if !self.eat(",") {
                return Err(self.unexpected("`)`"));
            }
        }
    }

    fn word(&mut self) -> &'t str {
        let length = self.rest().find(|c| !is_name(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        word
    }

    /// A name after its sigil: `sum`, `"a name with spaces"`, with `#1` for one of several results.
    fn sigil_name(&mut self) -> Result<String, ExpressionError> {
        if self.rest().starts_with('"') {
            return self.quoted('"');
        }
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected("a name"));
        }
        let mut name = word.to_owned();
        if let Some(rest) = self.rest().strip_prefix('#')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            self.at += 1;
            name.push('#');
            name.push_str(self.word());
        }
        Ok(name)
    }

    fn quoted(&mut self, quote: char) -> Result<String, ExpressionError> {
        let start = self.at;
        self.at += 1;
        let mut is_escaped = false;
        let end = self.rest().char_indices().find(|(_, c)| {
            let ends = *c == quote && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        let Some((length, _)) = end else {
            return Err(ExpressionError::of_text(start..self.text.len(), "the text has no end"));
        };
        self.at += length + 1;
        // MLIR escapes quotes within quotes.
        let whole = &self.text[start..self.at];
        Ok(if quote == '"' { bare_symbol(whole) } else { whole[1..=length].to_owned() })
    }

    /// The path of a file after `@`: up to `.npy`, if nothing but a path comes before that.
    fn file_name(&mut self) -> Option<String> {
        let is_path = |c: char| c.is_alphanumeric() || "_./~-+".contains(c);
        let end = self.rest().find(|c| !is_path(c)).unwrap_or(self.rest().len());
        let candidates = self.rest()[..end].match_indices(".npy").map(|(at, it)| at + it.len());
        let mut whole = candidates.filter(|at| !self.rest()[*at..].starts_with(is_name));
        let length = whole.next()?;
        let name = self.rest()[..length].to_owned();
        self.at += length;
        Some(name)
    }

    fn primary(&mut self) -> Result<Expr, ExpressionError> {
        self.skip_space();
        let start = self.at;
        let kind = match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                if !self.eat(")") {
                    return Err(self.unexpected("`)`"));
                }
                return Ok(Expr { kind: inner.kind, span: start..self.at });
            }
            Some('%') => {
                self.at += 1;
                Kind::Name(self.sigil_name()?)
            }
            Some('@') => {
                self.at += 1;
                match self.file_name() {
                    Some(file) => Kind::Function(file),
                    None => Kind::Function(self.function_name()?),
                }
            }
            Some(quote @ ('"' | '\'')) => Kind::Text(self.quoted(quote)?),
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some(c) if is_name_start(c) => self.name(),
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Expr { kind, span: start..self.at })
    }

    /// `main`, `module.main`, `"a name with spaces"`.
    fn function_name(&mut self) -> Result<String, ExpressionError> {
        let mut name = self.sigil_name()?;
        while self.rest().starts_with('.') && self.rest()[1..].starts_with(is_name) {
            self.at += 1;
            name.push('.');
            name.push_str(self.word());
        }
        Ok(name)
    }

    fn name(&mut self) -> Kind {
        let word = self.word();
        let is_called = self.rest().trim_start().starts_with('(');
        match word {
            "true" => return Kind::Bool(true),
            "false" => return Kind::Bool(false),
            "inf" | "INF" if !is_called => return Kind::Float(f64::INFINITY),
            "nan" | "NaN" | "NAN" if !is_called => return Kind::Float(f64::NAN),
            _ => {}
        }
        if let Some(which) = Printed::named(word) {
            return Kind::Printed(which);
        }
        // A register pair is written as the disassembly writes it: i2:3.
        let mut name = word.to_owned();
        if let Some(first) = word.strip_prefix('i').and_then(|it| it.parse::<u32>().ok())
            && let Some(rest) = self.rest().strip_prefix(':')
        {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if digits.parse() == Ok(first + 1) {
                self.at += 1 + digits.len();
                name = format!("{name}:{digits}");
            }
        }
        Kind::Name(name)
    }

    fn number(&mut self) -> Result<Kind, ExpressionError> {
        let start = self.at;
        for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
            if self.rest().starts_with(prefix) {
                self.at += 2;
                let digits = self.word().replace('_', "");
                let value = i128::from_str_radix(&digits, radix);
                return value.map(Kind::Integer).map_err(|_| self.bad_number(start));
            }
        }
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'_') {
                at += 1;
            }
            at
        };
        let mut end = digits(start);
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_none_or(u8::is_ascii_digit) {
            is_float = true;
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                is_float = true;
                end = digits(end + 1 + sign);
            }
        }
        self.at = end;
        if self.rest().starts_with(is_name) {
            self.word();
            return Err(self.bad_number(start));
        }
        let text = self.text[start..end].replace('_', "");
        let value = if is_float {
            text.parse().ok().map(Kind::Float)
        } else {
            text.parse().ok().map(Kind::Integer)
        };
        value.ok_or_else(|| self.bad_number(start))
    }

    fn bad_number(&self, start: usize) -> ExpressionError {
        let text = &self.text[start..self.at];
        ExpressionError::of_text(start..self.at, format!("`{text}` is no number"))
    }
}

fn is_callable(value: &Expr) -> bool {
    matches!(value.kind, Kind::Name(_) | Kind::Function(_))
}

/// The nesting of a chain of operators to the left, which the parser builds without recursion.
fn left_depth(expr: &Expr) -> usize {
    let mut depth = 0;
    let mut at = expr;
    while let Kind::Binary(_, left, _) = &at.kind {
        depth += 1;
        at = left;
    }
    depth
}
