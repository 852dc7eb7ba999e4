//! Bytes that dispatches have left, packed.
//!
//! Most are numbers of four bytes, or of two, whose high bytes are alike and whose low bytes are
//! noise. So the first bytes of all groups of four come first, then the second ones, and so on;
//! then they are deflated. What does not become shorter stays as it is.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

/// Bytes of a group.
const GROUP: usize = 4;

/// Packs bytes.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let packed = deflated(&apart(bytes)).ok().filter(|packed| packed.len() < bytes.len());
    packed.unwrap_or_else(|| bytes.to_vec())
}

/// The bytes, which are this many.
///
/// # Errors
/// They are more or fewer.
pub(crate) fn unpack(packed: &[u8], length: usize) -> io::Result<Vec<u8>> {
    if packed.len() == length {
        return Ok(packed.to_vec());
    }
    let mut bytes = Vec::with_capacity(length);
    DeflateDecoder::new(packed).take(length as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() != length {
        return Err(io::Error::other("it unpacks to another length than it says"));
    }
    Ok(together(&bytes))
}

fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The bytes of groups, by their places in these. What is less than a group comes last.
fn apart(bytes: &[u8]) -> Vec<u8> {
    let (groups, rest) = bytes.as_chunks::<GROUP>();
    let mut found = Vec::with_capacity(bytes.len());
    (0..GROUP).for_each(|place| found.extend(groups.iter().map(|group| group[place])));
    found.extend(rest);
    found
}

fn together(bytes: &[u8]) -> Vec<u8> {
    let count = bytes.len() / GROUP;
    let (places, rest) = bytes.split_at(count * GROUP);
    let mut found = vec![0; places.len()];
    for (place, from) in places.chunks_exact(count.max(1)).enumerate() {
        let groups = found.as_chunks_mut::<GROUP>().0;
        groups.iter_mut().zip(from).for_each(|(group, byte)| group[place] = *byte);
    }
    found.extend(rest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let floats = |count: u16| (0..count).flat_map(|it| f32::from(it).sin().to_le_bytes());
        for count in [0, 1, 3, 500] {
            for rest in [&[][..], &[7], &[7, 8, 9]] {
                let bytes: Vec<u8> = floats(count).chain(rest.iter().copied()).collect();
                let packed = pack(&bytes);
                assert!(packed.len() <= bytes.len());
                assert_eq!(unpack(&packed, bytes.len()).expect("packed"), bytes);
            }
        }
        assert!(pack(&vec![0; 1 << 16]).len() < 1 << 10);
    }

    #[test]
    fn nothing_is_unpacked_beyond_its_length() {
        let packed = pack(&vec![0; 1 << 20]);
        for length in [0, 5000, (1 << 20) - 1, (1 << 20) + 1] {
            assert!(unpack(&packed, length).is_err(), "{length}");
        }
        assert!(unpack(&[255; 9], 4096).is_err());
    }
}
