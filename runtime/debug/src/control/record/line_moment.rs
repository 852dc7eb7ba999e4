//! Moments of lines of time, as text: `@41.2.38` in the first line, `2@41.2.38` in the second.

use std::fmt;
use std::str::FromStr;

use vm::{Moment, NoMoment};

/// A moment of a line of time. What is before the beginning of a line is of the one that it leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineMoment {
    /// The number of the line, from 1.
    pub line: usize,
    /// The moment.
    pub moment: Moment,
}

impl fmt::Display for LineMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, moment } = self;
        if *line > 1 {
            write!(f, "{line}")?;
        }
        write!(f, "{moment}")
    }
}

impl FromStr for LineMoment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        let text = text.trim();
        let at = text.find('@').unwrap_or(0);
        let line = match &text[..at] {
            "" => Some(1),
            number if number.bytes().all(|it| it.is_ascii_digit()) => number.parse().ok(),
            _ => None,
        };
        match line {
            Some(line @ 1..) => Ok(Self { line, moment: text[at..].parse()? }),
            _ => Err(NoMoment::of(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_name_their_line() {
        for text in ["@41.2.38", "2@41.2.38", "12@41.2.38/7.0"] {
            let moment: LineMoment = text.parse().expect(text);
            assert_eq!(moment.to_string(), text);
        }
        assert_eq!("1@4.1.8".parse::<LineMoment>().expect("a moment").to_string(), "@4.1.8");
        for text in ["", "2", "0@4.1.8", "x@4.1.8", "-1@4.1.8", "2@", "2@@4.1.8", "é@1.1.1"] {
            assert!(text.parse::<LineMoment>().is_err(), "{text}");
        }
    }
}
