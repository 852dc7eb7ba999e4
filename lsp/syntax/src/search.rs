//! Search for a string in text that lies in pieces.

use memchr::memmem;

use crate::{Source, TextRange};

/// Where `needle` occurs in `range` of a text, in order. Occurrences may span pieces; they do not
/// overlap.
pub fn find_all<'a, S: Source + ?Sized>(
    source: &'a S,
    range: TextRange,
    needle: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let finder = memmem::Finder::new(needle.as_bytes());
    let end = range.end.min(source.len());
    let mut at = range.start;
    std::iter::from_fn(move || {
        while !needle.is_empty() && at + needle.len() <= end {
            let (piece, start) = source.piece(at);
            let piece_end = (start + piece.len()).min(end);
            if let Some(found) = finder.find(&piece[at - start..piece_end - start]) {
                let found = at + found;
                at = found + needle.len();
                return Some(found);
            }
            // Matches that begin in this piece and end in a later one.
            let first = (piece_end + 1).saturating_sub(needle.len()).max(at);
            for place in first..piece_end {
                if place + needle.len() <= end && matches_at(source, place, needle.as_bytes()) {
                    at = place + needle.len();
                    return Some(place);
                }
            }
            at = piece_end;
        }
        None
    })
}

fn matches_at<S: Source + ?Sized>(source: &S, mut at: usize, mut needle: &[u8]) -> bool {
    while !needle.is_empty() {
        let (piece, start) = source.piece(at);
        let rest = &piece[at - start..];
        let count = rest.len().min(needle.len());
        if count == 0 || rest[..count] != needle[..count] {
            return false;
        }
        at += count;
        needle = &needle[count..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::find_all;
    use crate::source::Shredded;

    #[test]
    fn across_pieces() {
        let text = "abcabcab %x %xy %x";
        for size in 1..10 {
            let shredded = Shredded(text, size);
            let found: Vec<_> = find_all(&shredded, 0..text.len(), "%x").collect();
            assert_eq!(found, [9, 12, 16], "{size}");
            let found: Vec<_> = find_all(&shredded, 1..7, "abc").collect();
            assert_eq!(found, [3], "{size}");
        }
        assert_eq!(find_all("abc", 0..3, "").count(), 0);
    }
}
