//! Where the bytes of constants are that the texts of a debug file leave out.
//!
//! The module has nearly all of them, as they are in the source: the compiler packs them into its
//! rodata. The debug file then only says where. What the compiler has laid out in another way is
//! kept in the debug file itself: without it, tensors could not be computed again where the source
//! is not at hand.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use debuginfo::{ElidedName, bytes_of_digits};
use vmfb::FileBytes;

use crate::elide_constants::LeftOut;

/// How many bytes of constants a debug file keeps in all.
const MAX_KEPT: usize = 256 << 20;

/// How many bytes are compared before all are.
const PROBE: usize = 32;
/// Rodata is aligned to at least this.
const ALIGNMENT: usize = 4;
/// How much of the module is looked through at a time.
const CHUNK: usize = 1 << 22;
/// In so many places a constant is compared as a whole.
const MOST_TRIES: usize = 64;

/// Constants that texts leave out, and where they are.
#[derive(Default)]
pub(crate) struct Constants {
    /// Offsets in the module's file by the names of constants.
    pub(crate) in_module: BTreeMap<String, u64>,
    /// The bytes of others by their names.
    pub(crate) others: BTreeMap<String, Vec<u8>>,
}

impl Constants {
    /// Looks for the constants that were left out of these files.
    pub(crate) fn of(files: &[(PathBuf, Vec<LeftOut>)], module: &FileBytes) -> Self {
        let mut found = Self::default();
        for (path, left_out) in files {
            let Ok(mut file) = File::open(path) else { continue };
            let new = left_out.iter().filter(|it| !found.in_module.contains_key(&it.name));
            let wanted: Vec<_> = new.filter_map(|it| Wanted::of(it, &mut file)).collect();
            found.in_module.extend(Search::new(&wanted).through(module));
            let mut left = MAX_KEPT - found.others.values().map(Vec::len).sum::<usize>();
            for wanted in wanted {
                let (name, length) = (wanted.name, wanted.length);
                if found.in_module.contains_key(name)
                    || found.others.contains_key(name)
                    || length > left
                {
                    continue;
                }
                if let Some(bytes) = bytes_at(&mut file, wanted.at, length)
                    && ElidedName::is_of(name, &bytes)
                {
                    left -= length;
                    found.others.insert(name.to_owned(), bytes);
                }
            }
        }
        found
    }
}

/// A constant that is looked for: its length, and bytes of its beginning, middle and end.
struct Wanted<'l> {
    name: &'l str,
    /// Where its digits begin in the text.
    at: u64,
    length: usize,
    probes: [(usize, [u8; PROBE]); 3],
}

impl<'l> Wanted<'l> {
    fn of(left_out: &'l LeftOut, file: &mut File) -> Option<Self> {
        let LeftOut { name, at } = left_out;
        let length = ElidedName::byte_length(name)?;
        let offsets = [0, length.checked_sub(PROBE)? / 2, length - PROBE];
        let mut probes = [(0, [0; PROBE]); 3];
        for (probe, offset) in probes.iter_mut().zip(offsets) {
            let bytes = bytes_at(file, at + 2 * offset as u64, PROBE)?;
            *probe = (offset, bytes.try_into().ok()?);
        }
        Some(Self { name, at: *at, length, probes })
    }

    /// Whether the module has it at an offset.
    fn is_at(&self, module: &FileBytes, offset: usize, tries: &mut usize) -> bool {
        let probed = self.probes.iter().all(|(at, expected)| {
            let start = offset + at;
            module.get(start..start + PROBE).is_some_and(|it| *it == *expected)
        });
        if !probed || *tries == MOST_TRIES {
            return false;
        }
        *tries += 1;
        let bytes = module.get(offset..offset + self.length);
        bytes.is_some_and(|it| ElidedName::is_of(self.name, &it))
    }
}

/// Reads bytes that a text has in hexadecimal.
fn bytes_at(file: &mut File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut digits = vec![0; 2 * length];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut digits).ok()?;
    bytes_of_digits(str::from_utf8(&digits).ok()?)
}

/// One pass through a module for many constants.
struct Search<'w> {
    wanted: &'w [Wanted<'w>],
    /// Constants by their first bytes.
    by_head: HashMap<[u8; PROBE], Vec<usize>>,
    /// Which words some constant begins with, by [`slot`].
    is_head: Vec<bool>,
}

impl<'w> Search<'w> {
    fn new(wanted: &'w [Wanted<'w>]) -> Self {
        let mut by_head: HashMap<_, Vec<usize>> = HashMap::new();
        let mut is_head = vec![false; 1 << 16];
        for (index, wanted) in wanted.iter().enumerate() {
            let (_, head) = wanted.probes[0];
            by_head.entry(head).or_default().push(index);
            is_head[slot(&head)] = true;
        }
        Self { wanted, by_head, is_head }
    }

    /// The offsets of those that are found, by their names.
    fn through(self, module: &FileBytes) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        let mut tries = vec![0; self.wanted.len()];
        for start in (0..module.len()).step_by(CHUNK) {
            let end = module.len().min(start + CHUNK + PROBE - ALIGNMENT);
            let Some(chunk) = module.get(start..end) else { break };
            for offset in (0..(chunk.len() + 1).saturating_sub(PROBE)).step_by(ALIGNMENT) {
                let Some(head) = chunk[offset..].first_chunk::<PROBE>() else { break };
                if !self.is_head[slot(head)] {
                    continue;
                }
                let Some(candidates) = self.by_head.get(head) else { continue };
                for index in candidates {
                    let (wanted, at) = (&self.wanted[*index], start + offset);
                    if !found.contains_key(wanted.name)
                        && wanted.is_at(module, at, &mut tries[*index])
                    {
                        found.insert(wanted.name.to_owned(), at as u64);
                    }
                }
            }
            if found.len() == self.wanted.len() {
                break;
            }
        }
        found
    }
}

/// A slot for the first word of some bytes.
fn slot(bytes: &[u8; PROBE]) -> usize {
    let (word, _) = bytes.split_first_chunk::<8>().expect("there are more bytes");
    (u64::from_le_bytes(*word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elide_constants::copy_with_names;

    /// Constants of which each byte is told by a number.
    fn constant(number: usize) -> Vec<u8> {
        (0..9_000 + 8 * number).map(|it| (it * (number + 3) / 7 + number) as u8).collect()
    }

    fn digits(bytes: &[u8]) -> String {
        bytes.iter().map(|it| format!("{it:02X}")).collect()
    }

    #[test]
    fn what_the_module_lacks_is_kept_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.mlir");
        // The first one begins as the second one does.
        let mut constants: Vec<_> = (0..4).map(constant).collect();
        let second = constants[1].clone();
        constants[0][..64].copy_from_slice(&second[..64]);
        let inline = constants[..2].iter().map(|it| format!("dense<\"0x{}\">\n", digits(it)));
        let listed = constants[2..].iter().map(|it| format!("w: \"0x04000000{}\"\n", digits(it)));
        let text =
            format!("{}{{-#\n{}#-}}", inline.collect::<String>(), listed.collect::<String>());
        std::fs::write(&path, text).unwrap();
        let mut kept = Vec::new();
        let left_out = copy_with_names(File::open(&path).unwrap(), &mut kept).unwrap();
        let names: Vec<_> = left_out.iter().map(|it| it.name.clone()).collect();
        assert_eq!(names.len(), 4);
        // The third is cut short, and follows the first across the end of a chunk.
        let mut module = vec![0; CHUNK - 4_000];
        module.extend(constants[0].iter().chain(&constants[2][..8_000]).chain(&[0; 4]));
        let places = [CHUNK - 4_000, module.len() + 100, module.len() + 1_000_000];
        module.resize(places[1], 0);
        module.extend(&constants[1]);
        module.resize(places[2], 0);
        module.extend(&constants[3]);
        let found = Constants::of(&[(path, left_out)], &FileBytes::from(module));
        let expected = [0, 1, 3].into_iter().zip(places);
        let expected: BTreeMap<_, _> =
            expected.map(|(index, at)| (names[index].clone(), at as u64)).collect();
        assert_eq!(found.in_module, expected);
        assert_eq!(found.others, BTreeMap::from([(names[2].clone(), constants[2].clone())]));
    }
}
