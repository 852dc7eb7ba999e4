//! Dictionaries of attributes, as texts: what each means is known where it is needed.

use crate::refusal::Result;
use crate::text::cursor::Cursor;

/// Attributes by name.
#[derive(Clone, Default)]
pub(crate) struct Attributes<'t> {
    entries: Vec<(&'t str, Cursor<'t>)>,
}

impl<'t> Attributes<'t> {
    /// Reads `{a = 1, b}` or `<a = 1, b>`, if it is next.
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        let close = match (cursor.eat("{"), cursor.sees("<")) {
            (true, _) => "}",
            (false, true) => {
                cursor.eat("<");
                ">"
            }
            (false, false) => return Ok(()),
        };
        let entries = cursor.list(close, |cursor| {
            let name = cursor.word();
            let value = if cursor.eat("=") {
                cursor.skip();
                let value = cursor.clone();
                skip_value(cursor)?;
                value
            } else {
                Cursor::new("", 0)
            };
            Ok((name, value))
        })?;
        self.entries.extend(entries);
        Ok(())
    }

    /// Remembers the value that begins at a cursor under a name.
    pub(crate) fn set(&mut self, name: &'t str, value: Cursor<'t>) {
        self.entries.push((name, value));
    }

    /// Remembers the value that is next, a list or an attribute of a dialect, under a name.
    pub(crate) fn take_list(&mut self, name: &'t str, cursor: &mut Cursor<'t>) -> Result<()> {
        cursor.skip();
        self.set(name, cursor.clone());
        while !matches!(cursor.peek(), None | Some(b'[' | b'<' | b'{' | b'(' | b' ' | b'\n')) {
            cursor.bump(1);
        }
        if matches!(cursor.peek(), Some(b'[' | b'<')) {
            cursor.skip_group()?;
        }
        Ok(())
    }

    /// A cursor at the value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<Cursor<'t>> {
        self.entries.iter().find(|(it, _)| *it == name).map(|(_, value)| value.clone())
    }

    /// A list of integers: `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]> : …`, or `dense<1> : …`
    /// with `count` of them.
    pub(crate) fn integers(&self, name: &str, count: usize) -> Result<Option<Vec<i64>>> {
        let Some(mut value) = self.get(name) else { return Ok(None) };
        integers(&mut value, count).map(Some)
    }

    /// An integer.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>> {
        self.get(name).map(|mut value| value.integer()).transpose()
    }
}

/// Reads a list of integers in one of its notations.
pub(crate) fn integers(value: &mut Cursor<'_>, count: usize) -> Result<Vec<i64>> {
    if value.eat("[") {
        return value.list("]", |cursor| {
            let number = cursor.integer()?;
            if cursor.eat(":") {
                cursor.word();
            }
            Ok(number)
        });
    }
    if value.eat("array") {
        value.expect("<")?;
        value.word();
        return if value.eat(":") { value.list(">", Cursor::integer) } else { Ok(Vec::new()) };
    }
    if value.eat("dense") {
        value.expect("<")?;
        if value.eat("[") {
            return value.list("]", Cursor::integer);
        }
        let number = value.integer()?;
        return Ok(vec![number; count]);
    }
    value.error("expected a list of integers")
}

/// Skips the value of an attribute, up to the `,` or the bracket that ends it.
fn skip_value(cursor: &mut Cursor<'_>) -> Result<()> {
    loop {
        match cursor.peek() {
            None => return cursor.error("the text ends inside an attribute"),
            Some(b',' | b'}' | b']' | b')' | b'>') => return Ok(()),
            Some(b'"') => {
                cursor.string()?;
            }
            Some(b'(' | b'[' | b'{' | b'<') => {
                cursor.skip_group()?;
            }
            Some(b'-') if cursor.rest().starts_with("->") => cursor.bump(2),
            Some(_) => cursor.bump(1),
        }
    }
}
