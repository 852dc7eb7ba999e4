//! Reads a printed text in one pass.
//!
//! A location ends an operation, and it stands on the line of the last `}` if the operation has
//! regions. So the reader remembers, for each open brace, the line on which the operation around it
//! began. Locations within parentheses belong to arguments of blocks and are dropped.

use super::PhaseText;
use crate::locations::LocationId;
use crate::mlir_text::{Cursor, Locations};

/// Longer strings are cut: they are constants and machine code in hexadecimal.
const LONGEST_STRING: usize = 2048;
/// What stays of a cut string at its beginning and at its end.
const KEPT: usize = 32;

pub(super) fn read(printed: &[u8]) -> PhaseText {
    let mut reader = Reader {
        cursor: Cursor::new(printed),
        locations: Locations::default(),
        text: Vec::with_capacity(printed.len() / 2),
        lines: vec![None],
        operation: None,
        around: Vec::new(),
        parentheses: 0,
        at_line_start: true,
    };
    while !reader.cursor.is_at_end() {
        reader.step();
    }
    let Reader { text, mut lines, locations, .. } = reader;
    if text.is_empty() || text.ends_with(b"\n") {
        lines.pop();
    }
    let text = String::from_utf8(text)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    PhaseText { text, lines, locations: locations.builder.finish() }
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    locations: Locations<'t>,
    text: Vec<u8>,
    lines: Vec<Option<LocationId>>,
    /// The line on which the present operation began.
    operation: Option<usize>,
    /// The same for the operations around it, and how many parentheses were open there.
    around: Vec<(Option<usize>, usize)>,
    parentheses: usize,
    at_line_start: bool,
}

impl Reader<'_> {
    fn step(&mut self) {
        let Some(byte) = self.cursor.peek() else { return };
        if self.at_line_start && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            self.at_line_start = false;
            if self.begin_line(byte) {
                return;
            }
        }
        match byte {
            b'\n' => {
                self.end_line();
                self.cursor.bump();
            }
            b'"' => self.string(),
            b'/' if self.cursor.starts_with(b"//") => {
                // A disassembly in a comment would never end here: comments end with their line.
                let end = self.cursor.line_end();
                self.copy_to(end);
            }
            b'l' if self.begins_location() => self.location(),
            _ => {
                self.count(byte);
                self.text.push(byte);
                self.cursor.bump();
            }
        }
    }

    /// What begins a line: an alias, a block, or an operation. True if the line was dropped.
    fn begin_line(&mut self, byte: u8) -> bool {
        if byte == b'#' && self.around.is_empty() && self.is_location_alias() {
            if self.locations.alias_definition(&mut self.cursor).is_ok() {
                self.cursor.skip_line();
                // The line began nothing.
                let indented = self.text.iter().rev().take_while(|it| **it != b'\n').count();
                self.text.truncate(self.text.len() - indented);
                self.at_line_start = true;
                return true;
            }
        } else if self.operation.is_none() && !matches!(byte, b'^' | b'}' | b'#' | b'!' | b'/') {
            self.operation = Some(self.lines.len() - 1);
        }
        false
    }

    fn is_location_alias(&self) -> bool {
        let end = self.cursor.line_end().min(self.cursor.at() + 256);
        let line = self.cursor.slice(self.cursor.at(), end);
        memchr::memmem::find(line, b" = loc(").is_some()
    }

    fn end_line(&mut self) {
        while matches!(self.text.last(), Some(b' ' | b'\r')) {
            self.text.pop();
        }
        self.text.push(b'\n');
        self.lines.push(None);
        self.at_line_start = true;
    }

    fn count(&mut self, byte: u8) {
        match byte {
            b'{' => {
                self.around.push((self.operation.take(), self.parentheses));
                self.parentheses = 0;
            }
            b'}' => {
                if let Some((operation, parentheses)) = self.around.pop() {
                    (self.operation, self.parentheses) = (operation, parentheses);
                }
            }
            b'(' | b'[' => self.parentheses += 1,
            b')' | b']' => self.parentheses = self.parentheses.saturating_sub(1),
            _ => {}
        }
    }

    fn begins_location(&self) -> bool {
        self.cursor.starts_with(b"loc(") && self.cursor.previous() == Some(b' ') && {
            // `key = loc(…)` is an attribute.
            let before = self.text.trim_ascii_end();
            before.last() != Some(&b'=')
        }
    }

    fn location(&mut self) {
        let start = self.cursor.at();
        let Ok(location) = self.locations.optional(&mut self.cursor) else {
            self.cursor.jump(start + 1);
            self.text.push(b'l');
            return;
        };
        if self.text.last() == Some(&b' ') {
            self.text.pop();
        }
        if self.parentheses > 0 {
            return;
        }
        let here = self.lines.len() - 1;
        for line in [self.operation.take(), Some(here)].into_iter().flatten() {
            if let Some(known) = self.lines.get_mut(line)
                && known.is_none()
            {
                *known = Some(location);
            }
        }
    }

    /// Copies a string, or its ends.
    fn string(&mut self) {
        let start = self.cursor.at();
        if self.cursor.skip_string().is_err() {
            let end = self.cursor.line_end();
            return self.copy_to(end.max(start + 1));
        }
        let string = self.cursor.slice(start, self.cursor.at());
        if string.len() <= LONGEST_STRING {
            self.text.extend_from_slice(string);
            return;
        }
        let end = string.len() - KEPT;
        let is_start = |at: &usize| string.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let first = (KEPT..end).find(is_start).unwrap_or(KEPT);
        let last = (end..string.len()).find(is_start).unwrap_or(end);
        self.text.extend_from_slice(&string[..first]);
        self.text.extend(format!("…{} bytes…", last - first).into_bytes());
        self.text.extend_from_slice(&string[last..]);
    }

    fn copy_to(&mut self, end: usize) {
        let start = self.cursor.at();
        let end = end.max(start);
        self.text.extend_from_slice(self.cursor.slice(start, end));
        self.cursor.jump(end);
    }
}
