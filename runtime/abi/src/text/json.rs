//! JSON values with their positions, so that errors can point into a text that is valid JSON but no
//! valid record.
//!
//! Numbers stay text, so that 64-bit values do not pass through a float. Objects keep their order;
//! of several equal keys the last one counts, as in other JSON parsers.

use std::fmt::Write;

use crate::text::cursor::{Cursor, SyntaxError, check_depth};

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Json {
    /// The byte offset of its first character.
    pub position: usize,
    /// The value.
    pub value: Value,
}

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as written. Besides JSON's numbers, `NaN`, `Infinity` and `-Infinity` as Python
    /// writes them.
    Number(String),
    /// A string, without quotes and escapes.
    String(String),
    /// `[…]`
    Array(Vec<Json>),
    /// `{…}`, in the order of the text.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value.
    ///
    /// # Errors
    /// The text is no JSON; the position is the first byte that does not fit.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new(text);
        let value = parse_value(&mut cursor, 0)?;
        cursor.finish()?;
        Ok(value)
    }

    /// The value of a key, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(fields) => {
                fields.iter().rev().find(|(found, _)| found == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The kind of the value, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

fn parse_value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Json, SyntaxError> {
    cursor.skip_space();
    let position = cursor.position();
    check_depth(depth, position)?;
    let value = match cursor.peek() {
        Some('"') => Value::String(parse_string(cursor)?),
        Some('[') => {
            Value::Array(parse_list(cursor, ']', |cursor| parse_value(cursor, depth + 1))?)
        }
        Some('{') => Value::Object(parse_list(cursor, '}', |cursor| {
            cursor.skip_space();
            let key = parse_string(cursor)?;
            cursor.expect(":")?;
            Ok((key, parse_value(cursor, depth + 1)?))
        })?),
        Some('-' | '0'..='9') => Value::Number(parse_number(cursor)?),
        Some('a'..='z' | 'A'..='Z') => match cursor.word() {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            word @ ("NaN" | "Infinity") => Value::Number(word.to_owned()),
            _ => return Err(SyntaxError::at(position, "expected a JSON value")),
        },
        _ => return Err(cursor.expected("a JSON value")),
    };
    Ok(Json { position, value })
}

fn parse_list<T>(
    cursor: &mut Cursor<'_>,
    close: char,
    mut item: impl FnMut(&mut Cursor<'_>) -> Result<T, SyntaxError>,
) -> Result<Vec<T>, SyntaxError> {
    let mut buffer = [0; 4];
    let close: &str = close.encode_utf8(&mut buffer);
    cursor.bump();
    let mut items = Vec::new();
    if cursor.eat(close) {
        return Ok(items);
    }
    loop {
        items.push(item(cursor)?);
        if cursor.eat(close) {
            return Ok(items);
        }
        if !cursor.eat(",") {
            cursor.skip_space();
            return Err(cursor.expected(&format!("`,` or `{close}`")));
        }
    }
}

fn parse_number(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let start = cursor.position();
    let sign = if cursor.eat("-") { "-" } else { "" };
    if cursor.eat_word("Infinity") {
        return Ok("-Infinity".to_owned());
    }
    let whole = cursor.take_while(|c| c.is_ascii_digit());
    if whole.is_empty() {
        return Err(cursor.expected("a digit"));
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return Err(SyntaxError::at(start + sign.len(), "a number does not begin with 0"));
    }
    let digits = |cursor: &mut Cursor<'_>| match cursor.take_while(|c| c.is_ascii_digit()) {
        "" => Err(cursor.expected("a digit")),
        _ => Ok(()),
    };
    if cursor.peek() == Some('.') {
        cursor.bump();
        digits(cursor)?;
    }
    if matches!(cursor.peek(), Some('e' | 'E')) {
        cursor.bump();
        if matches!(cursor.peek(), Some('+' | '-')) {
            cursor.bump();
        }
        digits(cursor)?;
    }
    Ok(cursor.text()[start..cursor.position()].to_owned())
}

fn parse_string(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let open = cursor.position();
    if cursor.peek() != Some('"') {
        return Err(cursor.expected("a string"));
    }
    cursor.bump();
    let mut out = String::new();
    loop {
        out.push_str(cursor.take_while(|c| c != '"' && c != '\\' && c >= ' '));
        let at = cursor.position();
        match cursor.bump() {
            Some('"') => return Ok(out),
            Some('\\') => out.push(parse_escape(cursor, at)?),
            Some(_) => {
                return Err(SyntaxError::at(at, "a control character in a string; write \\u00XX"));
            }
            None => return Err(SyntaxError::at(open, "this string is not closed by `\"`")),
        }
    }
}

fn parse_escape(cursor: &mut Cursor<'_>, at: usize) -> Result<char, SyntaxError> {
    Ok(match cursor.bump() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some(same @ ('"' | '\\' | '/')) => same,
        Some('u') => {
            let high = parse_hex(cursor, at)?;
            let code = match high {
                0xD800..0xDC00 => {
                    let has_low = cursor.bump() == Some('\\') && cursor.bump() == Some('u');
                    let low = if has_low { parse_hex(cursor, at)? } else { 0 };
                    if !(0xDC00..0xE000).contains(&low) {
                        return Err(SyntaxError::at(at, "half of a surrogate pair"));
                    }
                    0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                }
                code => code,
            };
            char::from_u32(code).ok_or_else(|| SyntaxError::at(at, "half of a surrogate pair"))?
        }
        _ => {
            return Err(SyntaxError::at(
                at,
                "no such escape; they are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
            ));
        }
    })
}

fn parse_hex(cursor: &mut Cursor<'_>, at: usize) -> Result<u32, SyntaxError> {
    let digits = cursor.rest().get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let code = code.ok_or_else(|| SyntaxError::at(at, "\\u needs four hexadecimal digits"))?;
    cursor.go_to(cursor.position() + 4);
    Ok(code)
}

/// Appends a JSON string.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{Json, Value, write_string};

    #[test]
    fn reads_values_with_their_places() {
        let json = Json::parse(r#" {"a": [1, -2.5e3, "xé\n😀"], "b": null, "a": true} "#).unwrap();
        assert_eq!(json.position, 1);
        assert_eq!(json.get("a").unwrap().value, Value::Bool(true));
        let Value::Object(fields) = &json.value else { panic!("{json:?}") };
        let items = fields[0].1.as_array().unwrap();
        assert_eq!((items[1].position, &items[1].value), (11, &Value::Number("-2.5e3".into())));
        assert_eq!(items[2].as_str(), Some("xé\n😀"));
    }

    #[test]
    fn errors_point_at_the_fault() {
        for (text, position) in [
            ("", 0),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{\"a\" 1}", 5),
            ("{a: 1}", 1),
            ("\"abc", 0),
            ("\"a\\x\"", 2),
            ("\"\\ud800\"", 1),
            ("01", 0),
            ("1.", 2),
            ("nul", 0),
            ("[] x", 3),
        ] {
            assert_eq!(Json::parse(text).unwrap_err().position, position, "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn strings_come_back() {
        let text = "\" \\ \n \u{1} é 😀";
        let mut out = String::new();
        write_string(&mut out, text);
        assert_eq!(Json::parse(&out).unwrap().as_str(), Some(text));
    }
}
