//! The location syntax of MLIR: `loc("a.mlir":3:1)`, `callsite(… at …)`, `fused<…>[…]`, `"x"(…)`,
//! `unknown` and aliases (`#loc7`).

use std::collections::HashMap;

use super::cursor::{Cursor, Result};
use crate::locations::{Location, LocationBuilder, LocationId, SourcePosition, python};

/// Deeper nesting is refused: inlining nests one level per call, and no real text comes near this.
const MAX_DEPTH: usize = 512;

/// Reads locations into a table, each distinct text once.
#[derive(Default)]
pub(crate) struct Locations<'t> {
    pub(crate) builder: LocationBuilder,
    /// By text from `loc(` to the end of its line, the locations that end an operation.
    seen: HashMap<&'t [u8], LocationId>,
    aliases: HashMap<&'t [u8], LocationId>,
}

impl<'t> Locations<'t> {
    /// Reads the `loc(…)` that ends the line, if there is one, and moves to the line's end.
    pub(crate) fn trailing(&mut self, cursor: &mut Cursor<'t>) -> Result<LocationId> {
        cursor.skip_spaces();
        if !cursor.starts_with(b"loc(") {
            return Ok(self.builder.unknown());
        }
        let end = cursor.line_end();
        let text = cursor.slice(cursor.at(), end);
        if let Some(known) = self.seen.get(text) {
            cursor.jump(end);
            return Ok(*known);
        }
        let location = self.parenthesised(cursor)?;
        if cursor.at() == end {
            self.seen.insert(text, location);
        }
        Ok(location)
    }

    /// Reads `loc(…)` in the middle of a line, if there is one.
    pub(crate) fn optional(&mut self, cursor: &mut Cursor<'t>) -> Result<LocationId> {
        cursor.skip_spaces();
        if cursor.starts_with(b"loc(") {
            self.parenthesised(cursor)
        } else {
            Ok(self.builder.unknown())
        }
    }

    /// Reads `#loc7 = loc(…)`; aliases of other kinds are skipped with their line.
    pub(crate) fn alias_definition(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        let name = alias_name(cursor);
        cursor.skip_spaces();
        if cursor.eat(b"=") {
            cursor.skip_spaces();
            if cursor.starts_with(b"loc(") {
                let location = self.parenthesised(cursor)?;
                let id = self.alias(name);
                self.builder.fill(id, Location::Same(location));
            }
        }
        Ok(())
    }

    fn parenthesised(&mut self, cursor: &mut Cursor<'t>) -> Result<LocationId> {
        cursor.expect("loc(")?;
        let location = self.location(cursor, 0)?;
        cursor.expect(")")?;
        Ok(location)
    }

    fn location(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Result<LocationId> {
        if depth > MAX_DEPTH {
            return Err(cursor.error(format!("locations nest deeper than {MAX_DEPTH} levels")));
        }
        match cursor.peek() {
            Some(b'"') => self.file_or_name(cursor, depth),
            Some(b'#') => {
                let name = alias_name(cursor);
                Ok(self.alias(name))
            }
            _ => match cursor.word() {
                b"unknown" => Ok(self.builder.unknown()),
                b"callsite" => self.call_site(cursor, depth),
                b"fused" => self.fused(cursor, depth),
                _ => Err(cursor.error("expected a location".to_owned())),
            },
        }
    }

    /// `"file":line:column`, with an optional ` to line:column`, or `"name"(location)`.
    fn file_or_name(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Result<LocationId> {
        let text = cursor.string()?;
        if cursor.eat(b":") {
            let line = cursor.number()?;
            let column = if cursor.eat(b":") { cursor.number()? } else { 0 };
            if cursor.eat(b" to ") {
                if cursor.peek() != Some(b':') {
                    cursor.number()?;
                }
                cursor.expect(":")?;
                cursor.number()?;
            }
            let (file, column) = (self.builder.file(&text), python::column(&text, column));
            return Ok(self.builder.add(Location::Position(SourcePosition { file, line, column })));
        }
        let child = if cursor.eat(b"(") {
            let child = self.location(cursor, depth + 1)?;
            cursor.expect(")")?;
            child
        } else {
            self.builder.unknown()
        };
        let name = self.builder.name(&text);
        Ok(self.builder.add(Location::Name { name, child }))
    }

    fn call_site(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Result<LocationId> {
        cursor.expect("(")?;
        let callee = self.location(cursor, depth + 1)?;
        cursor.skip_spaces();
        cursor.expect("at")?;
        cursor.skip_spaces();
        let caller = self.location(cursor, depth + 1)?;
        cursor.expect(")")?;
        Ok(self.builder.add(Location::CallSite { callee, caller }))
    }

    fn fused(&mut self, cursor: &mut Cursor<'t>, depth: usize) -> Result<LocationId> {
        if cursor.peek() == Some(b'<') {
            cursor.skip_group()?;
        }
        cursor.expect("[")?;
        let mut children = Vec::new();
        while !cursor.eat(b"]") {
            if !children.is_empty() {
                cursor.expect(",")?;
                cursor.skip_spaces();
            }
            children.push(self.location(cursor, depth + 1)?);
        }
        Ok(self.builder.add(Location::Fused(children.into())))
    }

    /// The entry of an alias, which may be defined later in the text.
    fn alias(&mut self, name: &'t [u8]) -> LocationId {
        let builder = &mut self.builder;
        *self.aliases.entry(name).or_insert_with(|| builder.reserve())
    }
}

fn alias_name<'t>(cursor: &mut Cursor<'t>) -> &'t [u8] {
    cursor.bump();
    cursor.value_name()
}
