//! POSIX extended regular expressions, as LLVM's `Regex` reads them: the leftmost and longest match
//! counts, `.` and `[^a]` match no newline, and `\d` is the letter `d`.
//!
//! A match is computed on sets of positions, so no expression takes exponential time.

use crate::faults::RegexError;

/// A set of bytes.
type Bytes = Box<[bool; 256]>;

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Regex {
    Literal(Vec<u8>),
    Class(Bytes),
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    Sequence(Vec<Regex>),
    Either(Vec<Regex>),
    Repeat { of: Box<Regex>, least: u32, most: Option<u32> },
}

/// The most repetitions that `{n}` may ask for.
const MOST: u32 = 255;

impl Regex {
    /// Reads an expression.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, RegexError> {
        let mut parser = Parser { text: text.as_bytes(), at: 0, depth: 0 };
        let read = parser.either()?;
        if parser.at < parser.text.len() {
            return Err(RegexError::ClosesNothing);
        }
        Ok(read)
    }

    /// Any one byte of these, once or more.
    pub(crate) fn some_of(belongs: impl Fn(u8) -> bool) -> Self {
        Self::Repeat { of: Box::new(class(belongs)), least: 1, most: None }
    }

    /// Where matches can end that begin at one of `starts`. Both lists ascend.
    pub(crate) fn ends(&self, text: &[u8], starts: &[usize]) -> Vec<usize> {
        match self {
            Self::Literal(literal) => literal_ends(text, starts, literal),
            Self::Class(bytes) => {
                let matches = |&&at: &&usize| text.get(at).is_some_and(|&b| bytes[b as usize]);
                starts.iter().filter(matches).map(|at| at + 1).collect()
            }
            Self::LineStart => {
                filter(starts, |at| at == 0 || text.get(at - 1).is_some_and(|&b| b == b'\n'))
            }
            Self::LineEnd => filter(starts, |at| text.get(at).is_none_or(|&b| b == b'\n')),
            Self::WordStart => filter(starts, |at| !word_before(text, at) && word_at(text, at)),
            Self::WordEnd => filter(starts, |at| word_before(text, at) && !word_at(text, at)),
            Self::Sequence(parts) => {
                let mut at = starts.to_vec();
                for part in parts {
                    if at.is_empty() {
                        break;
                    }
                    at = part.ends(text, &at);
                }
                at
            }
            Self::Either(parts) => {
                let mut found: Vec<usize> =
                    parts.iter().flat_map(|part| part.ends(text, starts)).collect();
                found.sort_unstable();
                found.dedup();
                found
            }
            Self::Repeat { of, least, most } => repeated(text, starts, of, *least, *most),
        }
    }

    /// Whether a match may hold a newline.
    pub(crate) fn crosses_lines(&self) -> bool {
        match self {
            Self::Literal(literal) => literal.contains(&b'\n'),
            Self::Class(bytes) => bytes[b'\n' as usize],
            Self::LineStart | Self::LineEnd | Self::WordStart | Self::WordEnd => false,
            Self::Sequence(parts) | Self::Either(parts) => parts.iter().any(Self::crosses_lines),
            Self::Repeat { of, .. } => of.crosses_lines(),
        }
    }
}

fn class(belongs: impl Fn(u8) -> bool) -> Regex {
    let mut bytes = Box::new([false; 256]);
    for (byte, is_in) in bytes.iter_mut().enumerate() {
        *is_in = belongs(byte as u8);
    }
    Regex::Class(bytes)
}

/// Where `literal` ends that begins at one of `starts`.
pub(crate) fn literal_ends(text: &[u8], starts: &[usize], literal: &[u8]) -> Vec<usize> {
    let there = |&&at: &&usize| text.get(at..).is_some_and(|rest| rest.starts_with(literal));
    starts.iter().filter(there).map(|at| at + literal.len()).collect()
}

fn filter(starts: &[usize], holds: impl Fn(usize) -> bool) -> Vec<usize> {
    starts.iter().copied().filter(|&at| holds(at)).collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_before(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(|&byte| is_word(byte))
}

fn word_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|&byte| is_word(byte))
}

fn repeated(
    text: &[u8],
    starts: &[usize],
    of: &Regex,
    least: u32,
    most: Option<u32>,
) -> Vec<usize> {
    if let (Regex::Class(bytes), None) = (of, most) {
        return runs(text, starts, bytes, least);
    }
    let mut at = starts.to_vec();
    for _ in 0..least {
        at = of.ends(text, &at);
        if at.is_empty() {
            return at;
        }
    }
    // What was reached with fewer repetitions need not be tried with more.
    let mut found: std::collections::BTreeSet<usize> = at.iter().copied().collect();
    let mut left = most.map(|most| most.saturating_sub(least));
    while !at.is_empty() && left != Some(0) {
        at = of.ends(text, &at);
        at.retain(|&end| found.insert(end));
        left = left.map(|left| left - 1);
    }
    found.into_iter().collect()
}

/// `[…]*` in time proportional to the text that it passes, for any number of starts.
fn runs(text: &[u8], starts: &[usize], bytes: &Bytes, least: u32) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut run_end = 0;
    let mut run_start = usize::MAX;
    for &start in starts {
        if run_start == usize::MAX || start > run_end {
            run_start = start;
            run_end = start;
            while text.get(run_end).is_some_and(|&byte| bytes[byte as usize]) {
                run_end += 1;
            }
        }
        let first = start + least as usize;
        let from = found.last().map_or(first, |&last: &usize| first.max(last + 1));
        if first <= run_end {
            found.extend(from..=run_end);
        }
    }
    found
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

/// The most nested groups.
const DEEPEST: usize = 64;

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn either(&mut self) -> Result<Regex, RegexError> {
        let mut parts = vec![self.sequence()?];
        while self.peek() == Some(b'|') {
            self.at += 1;
            parts.push(self.sequence()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Regex::Either(parts) })
    }

    fn sequence(&mut self) -> Result<Regex, RegexError> {
        let mut parts: Vec<Regex> = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == b'|' || byte == b')' {
                break;
            }
            let atom = self.atom()?;
            let repeated = self.repeat(atom)?;
            match (parts.last_mut(), repeated) {
                (Some(Regex::Literal(before)), Regex::Literal(more)) => before.extend(more),
                (_, part) => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(RegexError::Empty);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Regex::Sequence(parts) })
    }

    fn atom(&mut self) -> Result<Regex, RegexError> {
        let byte = self.text[self.at];
        self.at += 1;
        Ok(match byte {
            b'(' => {
                if self.depth >= DEEPEST {
                    return Err(RegexError::TooDeep);
                }
                if self.peek() == Some(b')') {
                    self.at += 1;
                    return Ok(Regex::Sequence(Vec::new()));
                }
                self.depth += 1;
                let inner = self.either()?;
                self.depth -= 1;
                if self.peek() != Some(b')') {
                    return Err(RegexError::Unclosed("a `(`"));
                }
                self.at += 1;
                // Kept apart from literals beside it, because a repetition means all of it.
                Regex::Sequence(vec![inner])
            }
            b'.' => class(|byte| byte != b'\n'),
            b'^' => Regex::LineStart,
            b'$' => Regex::LineEnd,
            b'[' => self.bracket()?,
            b'*' | b'+' | b'?' => return Err(RegexError::RepeatsNothing(byte as char)),
            b'{' if self.peek().is_some_and(|byte| byte.is_ascii_digit()) => {
                return Err(RegexError::RepeatsNothing('{'));
            }
            b'\\' => {
                let Some(escaped) = self.peek() else {
                    return Err(RegexError::EscapeAtEnd);
                };
                if (b'1'..=b'9').contains(&escaped) {
                    return Err(RegexError::RefersBack(escaped as char));
                }
                self.at += 1;
                Regex::Literal(vec![escaped])
            }
            _ => Regex::Literal(vec![byte]),
        })
    }

    fn repeats(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit),
            _ => false,
        }
    }

    fn repeat(&mut self, of: Regex) -> Result<Regex, RegexError> {
        if !self.repeats() {
            return Ok(of);
        }
        if matches!(of, Regex::LineStart) {
            return Err(RegexError::LineStartRepeated);
        }
        let byte = self.text[self.at];
        self.at += 1;
        let (least, most) = match byte {
            b'*' => (0, None),
            b'+' => (1, None),
            b'?' => (0, Some(1)),
            _ => self.counts()?,
        };
        if self.repeats() {
            return Err(RegexError::RepeatedTwice);
        }
        Ok(Regex::Repeat { of: Box::new(of), least, most })
    }

    fn number(&mut self) -> Result<u32, RegexError> {
        let mut number = 0;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = number * 10 + u32::from(digit - b'0');
            self.at += 1;
            if number > MOST {
                return Err(RegexError::TooManyRepetitions { most: MOST });
            }
        }
        Ok(number)
    }

    fn counts(&mut self) -> Result<(u32, Option<u32>), RegexError> {
        let least = self.number()?;
        let mut most = Some(least);
        if self.peek() == Some(b',') {
            self.at += 1;
            let bounded = self.peek().is_some_and(|byte| byte.is_ascii_digit());
            most = if bounded { Some(self.number()?) } else { None };
        }
        if self.peek() != Some(b'}') {
            return Err(RegexError::Unclosed("`{` of a repetition"));
        }
        self.at += 1;
        if most.is_some_and(|most| most < least) {
            return Err(RegexError::WrongOrder("a repetition has its numbers"));
        }
        Ok((least, most))
    }

    fn bracket(&mut self) -> Result<Regex, RegexError> {
        let rest = &self.text[self.at..];
        for (name, meant) in [(&b"[:<:]]"[..], Regex::WordStart), (&b"[:>:]]"[..], Regex::WordEnd)]
        {
            if rest.starts_with(name) {
                self.at += name.len();
                return Ok(meant);
            }
        }
        let inverted = self.peek() == Some(b'^');
        self.at += usize::from(inverted);
        let mut bytes = Box::new([false; 256]);
        let mut is_first = true;
        loop {
            let Some(byte) = self.peek() else { return Err(RegexError::Unclosed("a `[`")) };
            if byte == b']' && !is_first {
                self.at += 1;
                break;
            }
            is_first = false;
            let next = self.text.get(self.at + 1).copied();
            if byte == b'[' && next == Some(b':') {
                self.named_class(&mut bytes)?;
                continue;
            }
            if byte == b'[' && matches!(next, Some(b'=' | b'.')) {
                return Err(RegexError::Collation);
            }
            self.at += 1;
            let ends_range = |byte: &u8| *byte != b']';
            let last = match self.peek() {
                Some(b'-') => self.text.get(self.at + 1).copied().filter(ends_range),
                _ => None,
            };
            let Some(last) = last else {
                bytes[byte as usize] = true;
                continue;
            };
            if last < byte {
                return Err(RegexError::WrongOrder("a range in `[…]` has its ends"));
            }
            self.at += 2;
            bytes[byte as usize..=last as usize].fill(true);
        }
        if inverted {
            bytes.iter_mut().for_each(|is_in| *is_in = !*is_in);
            bytes[b'\n' as usize] = false;
        }
        Ok(Regex::Class(bytes))
    }

    fn named_class(&mut self, bytes: &mut Bytes) -> Result<(), RegexError> {
        let rest = &self.text[self.at + 2..];
        let end = memchr::memmem::find(rest, b":]").ok_or(RegexError::Unclosed("a `[:`"))?;
        let belongs: fn(u8) -> bool = match &rest[..end] {
            b"alnum" => |byte| byte.is_ascii_alphanumeric(),
            b"alpha" => |byte| byte.is_ascii_alphabetic(),
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => |byte| byte.is_ascii_control(),
            b"digit" => |byte| byte.is_ascii_digit(),
            b"graph" => |byte| byte.is_ascii_graphic(),
            b"lower" => |byte| byte.is_ascii_lowercase(),
            b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
            b"punct" => |byte| byte.is_ascii_punctuation(),
            b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
            b"upper" => |byte| byte.is_ascii_uppercase(),
            b"xdigit" => |byte| byte.is_ascii_hexdigit(),
            other => {
                return Err(RegexError::NoClass(String::from_utf8_lossy(other).into_owned()));
            }
        };
        for byte in 0..=255_u8 {
            bytes[byte as usize] |= belongs(byte);
        }
        self.at += 2 + end + 2;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Regex;

    #[test]
    fn the_longest_match_counts() {
        for (regex, text, expected) in [
            ("a|ab", "abc", Some(2)),
            ("a?(ab)?", "ab", Some(2)),
            ("[^a]+", "bc\nd", Some(2)),
            ("(a|b)*c", "ababc", Some(5)),
            (r"\d", "d", Some(1)),
            ("x{2,3}", "xxxx", Some(3)),
            ("x{", "x{", Some(2)),
            ("[]a-]+", "-]a", Some(3)),
            ("[[:digit:]]+", "12a", Some(2)),
            ("a$", "a\nb", Some(1)),
            ("[[:>:]]b", "b", None),
        ] {
            let read = Regex::parse(regex).expect(regex);
            assert_eq!(read.ends(text.as_bytes(), &[0]).last().copied(), expected, "{regex}");
        }
        for wrong in ["*a", "a**", "(a", "a)", "[a", "a|", "[b-a]", r"(a)\1", "a{3,2}"] {
            assert!(Regex::parse(wrong).is_err(), "{wrong}");
        }
    }
}
