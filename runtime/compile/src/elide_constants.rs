//! Leaves the constants out of a companion.
//!
//! The compiler prints every constant in hexadecimal, twice the size of the module's data, and
//! nothing reads them. Long strings of digits are dropped while the text streams by, except for the
//! text of nested VM modules.

use std::io::{self, Read, Write};

use debuginfo::{DIALECT_RESOURCES, ElidedName, LONGEST_WRITTEN};

use crate::resources::ALIGNMENT_DIGITS;

const START: &[u8] = b"\"0x";
/// `vm.module` in hexadecimal.
const NESTED: &[u8] = b"766D2E6D6F64756C65";
/// Shorter strings of digits are kept: they are cheap and useful to a reader.
const KEPT: usize = 128;
const LOOKAHEAD: usize = START.len() + LONGEST_WRITTEN;
const CHUNK: usize = 1 << 16;

/// Copies a text without the digits of its long constants.
pub(crate) fn copy_without_constants(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    copy(&mut from, &mut to, KEPT, false).map(drop)
}

/// A constant that was left out.
#[derive(Clone)]
pub(crate) struct LeftOut {
    /// Its name in the copy.
    pub(crate) name: String,
    /// Where its digits begin in the text, in bytes.
    pub(crate) at: u64,
}

/// Copies a text with names in the place of its long constants, by which the source has them.
pub(crate) fn copy_with_names(mut from: impl Read, mut to: impl Write) -> io::Result<Vec<LeftOut>> {
    copy(&mut from, &mut to, LONGEST_WRITTEN, true)
}

/// The same with names in the place of all but the shortest.
pub(crate) fn copy_with_all_names(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    copy(&mut from, &mut to, KEPT, true).map(drop)
}

fn copy(
    mut from: &mut impl Read,
    to: &mut impl Write,
    kept: usize,
    has_names: bool,
) -> io::Result<Vec<LeftOut>> {
    let mut left_out = Vec::new();
    let mut window = Window::new();
    let mut are_resources = false;
    loop {
        window.fill(&mut from, LOOKAHEAD)?;
        let bytes = window.bytes();
        if bytes.is_empty() {
            to.flush()?;
            return Ok(left_out);
        }
        match memchr::memmem::find(bytes, START) {
            None => {
                // The last bytes may be the first part of `START`.
                let copied =
                    if window.is_last { bytes.len() } else { bytes.len() + 1 - START.len() };
                are_resources |= begin_resources(&bytes[..copied]);
                to.write_all(&bytes[..copied])?;
                window.consume(copied);
            }
            Some(0) => {
                let is_constant = is_long_constant(&bytes[START.len()..], kept);
                window.consume(START.len());
                let mut name = ElidedName::default();
                let mut at = 0;
                if is_constant {
                    // The name is that of the constant's bytes alone.
                    window.consume(if are_resources { ALIGNMENT_DIGITS } else { 0 });
                    at = window.passed;
                    skip_digits(&mut window, &mut from, &mut name)?;
                }
                if is_constant && has_names {
                    let name = name.finish();
                    write!(to, "\"{name}")?;
                    left_out.push(LeftOut { name, at });
                } else {
                    to.write_all(START)?;
                }
            }
            Some(before) => {
                are_resources |= begin_resources(&bytes[..before]);
                to.write_all(&bytes[..before])?;
                window.consume(before);
            }
        }
    }
}

/// Whether resources begin in a text; it is never cut within the mark, which is as long as `START`.
fn begin_resources(text: &[u8]) -> bool {
    memchr::memmem::find(text, DIALECT_RESOURCES.as_bytes()).is_some()
}

fn is_long_constant(digits: &[u8], kept: usize) -> bool {
    !digits.starts_with(NESTED)
        && digits.len() >= kept
        && digits[..kept].iter().all(u8::is_ascii_hexdigit)
}

fn skip_digits(window: &mut Window, from: &mut impl Read, name: &mut ElidedName) -> io::Result<()> {
    loop {
        window.fill(from, 1)?;
        let digits = window.bytes().iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let is_whole = digits < window.bytes().len() || digits == 0;
        name.add(&window.bytes()[..digits]);
        window.consume(digits);
        if is_whole {
            return Ok(());
        }
    }
}

/// The part of the text that is held in memory.
struct Window {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_last: bool,
    /// How many bytes were consumed.
    passed: u64,
}

impl Window {
    fn new() -> Self {
        Self { buffer: vec![0; CHUNK + LOOKAHEAD], start: 0, end: 0, is_last: false, passed: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        self.passed += count as u64;
    }

    /// Reads until `wanted` bytes are there, at most `LOOKAHEAD`, or the text ends.
    fn fill(&mut self, from: &mut impl Read, wanted: usize) -> io::Result<()> {
        while self.bytes().len() < wanted && !self.is_last {
            if self.start + wanted > self.buffer.len() {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            match from.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    let read = result?;
                    self.is_last = read == 0;
                    self.end += read;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn long_constants_get_names() {
        let digits = "AB".repeat(100_000);
        let mut name = ElidedName::default();
        name.add(digits.as_bytes());
        let short = "12".repeat(LONGEST_WRITTEN / 4);
        let text = format!("a dense<\"0x{digits}\"> b \"0x{short}\"");
        let expected = format!("a dense<\"{}\"> b \"0x{short}\"", name.finish());
        for step in [7, 4096, 1 << 20] {
            let mut copy = Vec::new();
            copy_with_names(Trickle(text.as_bytes(), step), &mut copy).expect("memory");
            assert_eq!(String::from_utf8_lossy(&copy), expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn the_name_of_a_resource_is_that_of_its_bytes() {
        let digits = "AB".repeat(100_000);
        let mut name = ElidedName::default();
        name.add(digits.as_bytes());
        let text = format!("dense_resource<w> {{-# {{ w: \"0x04000000{digits}\" }} #-}}");
        let expected = format!("dense_resource<w> {{-# {{ w: \"{}\" }} #-}}", name.finish());
        for step in [1, 7, 4096, 1 << 20] {
            let mut copy = Vec::new();
            copy_with_names(Trickle(text.as_bytes(), step), &mut copy).expect("memory");
            assert_eq!(String::from_utf8_lossy(&copy), expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn long_constants_go_and_nested_text_stays() {
        let digits = "AB".repeat(100_000);
        let nested = format!("766D2E6D6F64756C65{}", "20".repeat(500));
        let text = format!("a \"0x{digits}\" b \"0x{nested}\" c \"0x12\" d \"0\" \"");
        let expected = format!("a \"0x\" b \"0x{nested}\" c \"0x12\" d \"0\" \"");
        for step in [1, 2, 7, 64, 4096, 1 << 20] {
            let mut copy = Vec::new();
            copy_without_constants(Trickle(text.as_bytes(), step), &mut copy).expect("memory");
            assert_eq!(String::from_utf8_lossy(&copy), expected, "{step} bytes at a time");
        }
    }
}
