//! Marks that are written over an element to see whether a dispatch writes it.

use std::ops::Range;

use abi::element_type::NumericalKind;
use hal::Buffer;

use super::seek::Lost;
use crate::inspect::watch_target::WatchTarget;

/// Bytes that a dispatch does not leave by chance, both times.
const MARKS: [u8; 2] = [0x5A, 0xA5];

/// What is written over an element, in turn.
pub(super) struct Marks {
    pub(super) marks: Vec<Vec<u8>>,
}

impl Marks {
    /// Those for what is watched: bytes, and the ends of its numbers.
    pub(super) fn of(target: &WatchTarget) -> Self {
        let mut marks: Vec<Vec<u8>> = MARKS.map(|mark| vec![mark]).to_vec();
        let Some(element) = target.element_type() else { return Self { marks } };
        let bits = usize::from(element.bits);
        let exponent = match (element.kind, bits) {
            (NumericalKind::Float, 16) => Some(5),
            (NumericalKind::Float | NumericalKind::BrainFloat, 16 | 32) => Some(8),
            (NumericalKind::Float, 64) => Some(11),
            _ => None,
        };
        let edges = match exponent {
            // The infinities.
            Some(exponent) => {
                let infinity = ((1_u64 << exponent) - 1) << (bits - 1 - exponent);
                vec![infinity, infinity | 1 << (bits - 1)]
            }
            // The greatest and the least, with a sign and without.
            None if matches!(bits, 8 | 16 | 32 | 64) => {
                let least = 1_u64 << (bits - 1);
                vec![least - 1, least, u64::MAX, 0]
            }
            None => Vec::new(),
        };
        let bytes = |edge: u64| edge.to_le_bytes().into_iter().take(bits / 8).collect();
        marks.extend(edges.into_iter().map(bytes));
        Self { marks }
    }
}

/// As many bytes of repetitions of a mark.
fn repeated(mark: &[u8], count: usize) -> Vec<u8> {
    mark.iter().copied().cycle().take(count).collect()
}

/// Writes a mark over some bytes, for a trial.
pub(super) fn write_mark(places: &[(Buffer, Range<usize>)], mark: &[u8]) -> Result<(), Lost> {
    for (buffer, part) in places {
        let written = buffer.write_for_trial(part.start, &repeated(mark, part.len()));
        written.map_err(|status| Lost::Because(status.to_string()))?;
    }
    Ok(())
}

/// Whether they hold it still.
pub(super) fn is_marked(places: &[(Buffer, Range<usize>)], mark: &[u8]) -> bool {
    let is_left = |(buffer, part): &(Buffer, Range<usize>)| {
        buffer.read(part.start, part.len()) == repeated(mark, part.len())
    };
    places.iter().all(is_left)
}
