//! Moments as text, to be written down, sent to others, and gone to in another run:
//!
//! ```text
//! @41.2.38                    41 turns, 2 frames, before the instruction at 0x38
//! @41.2.38/7.0                there, before the 7th step of the native function that is called
//! @41.2.38/7.2.3.1/12.1.1C    in its 4th part, in bytecode: 12 turns, 1 frame, at 0x1C
//! ```

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use vmfb::BytecodeOffset;

use super::moment::{Instant, Moment};

/// How the text of a moment begins.
const MARK: char = '@';

/// The most numbers of [`crate::Activity::progress`] that are read.
const MOST_NUMBERS: usize = 16;

/// A text is no moment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no moment; `when` writes one, such as @41.2.38")]
pub struct NoMoment(String);

impl NoMoment {
    /// This text is none.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK}{}", self.outer)?;
        if let Some(progress) = &self.progress {
            let numbers: Vec<String> = progress.iter().map(u64::to_string).collect();
            write!(f, "/{}", numbers.join("."))?;
        }
        self.inner.iter().try_for_each(|inner| write!(f, "/{inner}"))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turns, depth: Reverse(depth), offset } = self;
        write!(f, "{turns}.{depth}.{:X}", offset.0)
    }
}

impl FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        moment(text).ok_or_else(|| NoMoment::of(text))
    }
}

fn moment(text: &str) -> Option<Moment> {
    let mut parts = text.trim().strip_prefix(MARK)?.split('/');
    let outer = instant(parts.next()?)?;
    let progress = match parts.next() {
        Some("") => Some(Vec::new()),
        Some(numbers) if numbers.split('.').count() > MOST_NUMBERS => return None,
        Some(numbers) => Some(numbers.split('.').map(decimal).collect::<Option<_>>()?),
        None => None,
    };
    let inner = match parts.next() {
        Some(inner) => Some(instant(inner)?),
        None => None,
    };
    parts.next().is_none().then_some(Moment { outer, progress, inner, function: None })
}

fn instant(text: &str) -> Option<Instant> {
    let mut numbers = text.split('.');
    let (turns, depth) = (decimal(numbers.next()?)?, decimal(numbers.next()?)?);
    let offset = digits(numbers.next()?, 16)?;
    let instant = Instant {
        turns,
        depth: Reverse(usize::try_from(depth).ok()?),
        offset: BytecodeOffset(u32::try_from(offset).ok()?),
    };
    numbers.next().is_none().then_some(instant)
}

fn decimal(text: &str) -> Option<u64> {
    digits(text, 10)
}

/// A number without a sign.
fn digits(text: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(text, radix).ok().filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        let texts = ["@0.1.0", "@41.2.38", "@41.2.38/7.0", "@41.2.38/7.2.3.1/12.1.1C"];
        let moments: Vec<Moment> = texts.iter().map(|it| it.parse().unwrap()).collect();
        let written: Vec<String> = moments.iter().map(Moment::to_string).collect();
        assert_eq!(written, texts);
        assert!(moments.is_sorted(), "they are in the order of time");
        assert!(moments.iter().all(Moment::is_from_text));
        assert_eq!("@41.2.38/".parse::<Moment>().unwrap().to_string(), "@41.2.38/");
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "@",
            "41.2.38",
            "@41.2",
            "@41.2.38.1",
            "@41.2.xyz",
            "@-1.2.3",
            "@+1.2.3",
            "@1.2.3/x",
            "@1.2.3/1.0/5",
            "@1.2.3/1.0/5.1.2/3",
            "@99999999999999999999.1.0",
            "@1.1.FFFFFFFFF",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(NoMoment(text.to_owned())));
        }
        let long = format!("@1.1.0/{}", vec!["1"; 17].join("."));
        assert!(long.parse::<Moment>().is_err());
    }
}
