//! What dispatches have left, in chunks of their own, so that a run can be walked without its code.
//!
//! ```text
//! result   number u64  length of head u32  head  packed bytes
//! ```
//! The head ([`Head`], as postcard) says which parts of which bindings the bytes are; they lie one
//! after the other. Results stay in the file until their dispatch is walked over.
//!
//! Beside them the file has what the program has asked its device, and the functions of its
//! executables, which only their code knows ([`About`]).

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};

use hal::{DispatchResult, Export, ResultSource, WrittenBytes};
use serde::{Deserialize, Serialize};
use vm::{Status, StatusCode};

use crate::chunks;
use crate::files::SharedFile;
use crate::limited::within;
use crate::packing::{pack, unpack};

/// Bytes of a result before its head.
const BEGIN: u64 = 12;

/// A byte of a head becomes at most so many in memory.
const HEAD_GROWTH: u64 = 128;

/// What is known of the device and of executables, since the chunk before.
#[derive(Serialize, Deserialize, Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) answers: Vec<Answer>,
    pub(crate) executables: Vec<Code>,
}

/// What a device has answered.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Answer {
    pub(crate) device: String,
    pub(crate) category: String,
    pub(crate) key: String,
    pub(crate) answer: Option<i64>,
}

/// An executable of machine code.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Code {
    pub(crate) format: String,
    /// Of its data: the high half, and the low one.
    pub(crate) digest: [u64; 2],
    pub(crate) exports: Vec<Export>,
}

/// What a result is of.
#[derive(Serialize, Deserialize, Debug)]
struct Head {
    identity: u64,
    /// The number of a status, and its message.
    failure: Option<(u32, String)>,
    written: Vec<Part>,
}

/// A part of a binding.
#[derive(Serialize, Deserialize, Debug)]
struct Part {
    binding: u32,
    offset: u64,
    length: u64,
}

/// The payload of a chunk for what a dispatch has left.
pub(crate) fn payload(number: u64, result: &DispatchResult) -> Vec<u8> {
    let DispatchResult { identity, failure, written } = result;
    let parts = written.iter().map(|it| Part {
        binding: u32::try_from(it.binding).unwrap_or(u32::MAX),
        offset: it.offset as u64,
        length: it.bytes.len() as u64,
    });
    let failure = failure.as_ref().map(|it| (it.code as u32, it.message.clone()));
    let head = Head { identity: *identity, failure, written: parts.collect() };
    // Numbers and text can be written, always.
    let head = postcard::to_allocvec(&head).unwrap_or_default();
    let bytes = match &written[..] {
        [one] => pack(&one.bytes),
        all => pack(&all.iter().flat_map(|it| it.bytes.iter().copied()).collect::<Vec<u8>>()),
    };
    let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
    [&number.to_le_bytes()[..], &length.to_le_bytes(), &head, &bytes].concat()
}

/// A digest as files have it.
pub(crate) fn halves(digest: u128) -> [u64; 2] {
    [(digest >> 64) as u64, digest as u64]
}

/// The results of a recorded run.
#[derive(Debug)]
pub(crate) struct Results {
    path: PathBuf,
    file: SharedFile,
    /// Where the result of each command is.
    places: BTreeMap<u64, Range<u64>>,
    executables: HashMap<(String, [u64; 2]), Vec<Export>>,
    answers: HashMap<(String, String, String), Option<i64>>,
}

/// Why a result cannot be used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error(transparent)]
    Unread(#[from] io::Error),
    #[error("its head is damaged: {0}")]
    Head(crate::limited::Refused),
    #[error("it is cut short")]
    CutShort,
    #[error("it does not fit the memory of the dispatch")]
    Misfit,
}

impl Results {
    pub(crate) fn new(
        path: PathBuf,
        file: SharedFile,
        places: BTreeMap<u64, Range<u64>>,
        about: About,
    ) -> Self {
        let executables = about.executables.into_iter();
        let executables = executables.map(|it| ((it.format, it.digest), it.exports)).collect();
        let answers = about.answers.into_iter();
        let answers = answers.map(|it| ((it.device, it.category, it.key), it.answer)).collect();
        Self { path, file, places, executables, answers }
    }

    /// How many dispatches it has results of.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    fn read(
        &self,
        place: &Range<u64>,
        bindings: &[usize],
    ) -> Result<Option<DispatchResult>, Unusable> {
        if place.end - place.start < BEGIN {
            return Err(Unusable::CutShort);
        }
        let begin = chunks::read(&mut *self.lock(), place.start..place.start + BEGIN)?;
        let length = begin.get(8..).and_then(|bytes| bytes.first_chunk()).copied();
        let length = u64::from(u32::from_le_bytes(length.ok_or(Unusable::CutShort)?));
        let head = place.start + BEGIN..place.start + BEGIN + length;
        if head.end > place.end {
            return Err(Unusable::CutShort);
        }
        let packed = head.end..place.end;
        // What is packed is never longer than the memory that it was in.
        let memory = bindings.iter().fold(0_u64, |sum, it| sum.saturating_add(*it as u64));
        if packed.end - packed.start > memory {
            return Err(Unusable::Misfit);
        }
        let head = chunks::read(&mut *self.lock(), head)?;
        let allowed = length.saturating_mul(HEAD_GROWTH).saturating_add(HEAD_GROWTH);
        let (head, _) = within::<Head>(&head, allowed).map_err(Unusable::Head)?;
        let lengths = lengths(&head.written, bindings).ok_or(Unusable::Misfit)?;
        let packed = chunks::read(&mut *self.lock(), packed)?;
        let bytes = unpack(&packed, lengths.iter().sum())?;
        let mut rest = &bytes[..];
        let mut written = Vec::with_capacity(lengths.len());
        for (part, length) in head.written.iter().zip(lengths) {
            let (bytes, later) = rest.split_at_checked(length).ok_or(Unusable::CutShort)?;
            rest = later;
            written.push(WrittenBytes {
                binding: part.binding as usize,
                offset: usize::try_from(part.offset).map_err(|_| Unusable::Misfit)?,
                bytes: bytes.to_vec(),
            });
        }
        let failure = head.failure.map(|(code, message)| {
            Status::new(StatusCode::from_number(code).unwrap_or(StatusCode::Unknown), message)
        });
        Ok(Some(DispatchResult { identity: head.identity, failure, written }))
    }

    fn lock(&self) -> MutexGuard<'_, io::BufReader<std::fs::File>> {
        // A read ends or fails whole, so a panic in another thread does not spoil the next one.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lengths of parts that lie one after the other in bindings of these lengths, so that all of
/// them together are no longer than these; `None`: they do not.
fn lengths(parts: &[Part], bindings: &[usize]) -> Option<Vec<usize>> {
    let mut ends = vec![0_u64; bindings.len()];
    let lengths = parts.iter().map(|part| {
        let binding = part.binding as usize;
        let (end, whole) = (ends.get_mut(binding)?, *bindings.get(binding)? as u64);
        let next = part.offset.checked_add(part.length).filter(|next| *next <= whole)?;
        if part.offset < *end {
            return None;
        }
        *end = next;
        usize::try_from(part.length).ok()
    });
    lengths.collect()
}

impl ResultSource for Results {
    fn has_format(&self, format: &str) -> bool {
        self.executables.keys().any(|(known, _)| known == format)
    }

    fn exports(&self, format: &str, digest: u128) -> Option<Vec<Export>> {
        self.executables.get(&(format.to_owned(), halves(digest))).cloned()
    }

    fn answer(&self, device: &str, category: &str, key: &str) -> Option<Option<i64>> {
        let question = (device.to_owned(), category.to_owned(), key.to_owned());
        self.answers.get(&question).copied()
    }

    fn result(&self, number: u64, bindings: &[usize]) -> Result<Option<DispatchResult>, Status> {
        let Some(place) = self.places.get(&number) else { return Ok(None) };
        self.read(place, bindings).map_err(|why| {
            let path = self.path.display();
            let text = format!("{path}: what command {number} has left is damaged: {why}");
            Status::new(StatusCode::DataLoss, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufReader, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    fn results(payload: &[u8]) -> Results {
        let mut file = tempfile::NamedTempFile::new().expect("a scratch file");
        file.write_all(payload).expect("it is written");
        let reader = BufReader::new(File::open(file.path()).expect("it is there"));
        let places = BTreeMap::from([(7, 0..payload.len() as u64)]);
        Results::new("x".into(), Arc::new(Mutex::new(reader)), places, About::default())
    }

    fn part(binding: usize, offset: usize, bytes: &[u8]) -> WrittenBytes {
        WrittenBytes { binding, offset, bytes: bytes.to_vec() }
    }

    #[test]
    fn what_is_written_is_read() {
        let failure = Some(Status::new(StatusCode::DataLoss, "gone".to_owned()));
        let written = vec![part(1, 4, &[1; 4096]), part(0, 0, &[2, 3]), part(1, 8192, &[4; 100])];
        let result = DispatchResult { identity: 9, failure, written };
        let results = results(&payload(7, &result));
        assert_eq!(results.result(7, &[2, 9000]), Ok(Some(result)));
        assert_eq!(results.result(8, &[2, 9000]), Ok(None));
        // Other memory.
        for bindings in [&[2, 8200][..], &[2], &[1, 9000], &[]] {
            assert!(results.result(7, bindings).is_err(), "{bindings:?}");
        }
    }

    #[test]
    fn damage_is_an_error_and_parts_do_not_overlap() {
        let written = vec![part(0, 0, &[5; 64]), part(0, 64, &[6; 64])];
        let result = DispatchResult { identity: 9, failure: None, written };
        let whole = payload(7, &result);
        for length in 0..whole.len() {
            assert!(results(&whole[..length]).result(7, &[4096]).is_err(), "{length}");
        }
        for index in 8..whole.len() {
            let mut changed = whole.clone();
            changed[index] ^= 0x81;
            // Other bytes or an error, and no panic.
            let _ = results(&changed).result(7, &[4096]);
        }
        let twice = vec![part(0, 0, &[5; 64]), part(0, 63, &[6; 64])];
        let result = DispatchResult { identity: 9, failure: None, written: twice };
        assert!(results(&payload(7, &result)).result(7, &[4096]).is_err());
    }
}
