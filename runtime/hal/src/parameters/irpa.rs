//! `.irpa`, IREE's own parameter archive: linked headers, each with a table of entries.
//!
//! ```text
//! header   "IRPA" u16 major  u16 minor  u64 size  u64 next header or 0  u64 flags
//!                                                              (32 bytes, any version)
//!          u64 entry count  range entries  range metadata  range storage
//!                                                              (88 bytes, version 0)
//! range    u64 offset  u64 length
//! entry    u64 size  u32 type  u64 flags  range name  range metadata  u64 alignment
//!                                                              (60 bytes)
//!   splat    u64 length  16 bytes pattern  u8 pattern length
//!   data     range storage
//! ```
//!
//! Fields are packed; entries begin at multiples of 16 of their table. The three ranges of a header
//! are relative to the header, names and metadata of entries to the metadata range, data to the
//! storage range.

use vm::Status;
use vmfb::FileBytes;

use super::index::{Index, Source, Splat};
use super::reader::Reader;

const MAGIC: &[u8] = b"IRPA";
const HEADER_SIZE: u64 = 88;
const ENTRY_HEADER_SIZE: u64 = 60;
const ENTRY_ALIGNMENT: u64 = 16;

const ENTRY_SKIP: u32 = 0;
const ENTRY_SPLAT: u32 = 1;
const ENTRY_DATA: u32 = 2;

/// Small archives may share names.
const MINIMUM_NAMES: u64 = 1 << 16;

/// Adds the archive's entries to `index`.
pub(super) fn parse(source: &Source, index: &mut Index) -> Result<(), Status> {
    let file = source.bytes();
    let mut room = Room {
        entries: file.len() as u64 / ENTRY_HEADER_SIZE,
        names: (file.len() as u64).max(MINIMUM_NAMES),
    };
    let mut base = 0;
    loop {
        let next = parse_header(source, base, &mut room, index)?;
        if next == 0 {
            return Ok(());
        }
        // The next header always has a larger offset, so this terminates.
        base = add(base, next, "the linked header")?;
    }
}

/// What the remaining entries of an archive may take: no more than the file has room for if they
/// share nothing.
struct Room {
    entries: u64,
    /// Bytes of their names.
    names: u64,
}

impl Room {
    fn enter(&mut self) -> Result<(), Status> {
        self.entries = self.entries.checked_sub(1).ok_or_else(|| {
            Status::invalid_argument("the archive claims more entries than the file has room for")
        })?;
        Ok(())
    }

    fn name(&mut self, length: u64, at: u64) -> Result<(), Status> {
        self.names = self.names.checked_sub(length).ok_or_else(|| {
            Status::invalid_argument(format!(
                "the entry at offset {at} and those before it share names that are longer than the file"
            ))
        })?;
        Ok(())
    }
}

/// A part of the file, checked to be inside it.
#[derive(Clone, Copy)]
struct Segment {
    offset: u64,
    length: u64,
}

impl Segment {
    /// Reads a range that is relative to `base`.
    fn read(
        reader: &mut Reader<'_>,
        file: &FileBytes,
        base: u64,
        what: &'static str,
    ) -> Result<Self, Status> {
        let (offset, length) = (reader.u64(what)?, reader.u64(what)?);
        let segment = Self { offset: add(base, offset, what)?, length };
        if length > 0 {
            super::reader::range_within(file, segment.offset, length, what)?;
        }
        Ok(segment)
    }

    /// The offset in the file of a range that is relative to this segment.
    fn resolve(self, offset: u64, length: u64, what: &str) -> Result<u64, Status> {
        if length == 0 {
            return Ok(self.offset);
        }
        if offset > self.length || length > self.length - offset {
            return Err(Status::out_of_range(format!(
                "{what} has {length} bytes at {offset} of a segment of {}",
                self.length
            )));
        }
        Ok(self.offset + offset)
    }
}

/// Reads one header and as many of its entries as there is `room` for; returns the distance to the
/// next header, or 0.
fn parse_header(
    source: &Source,
    base: u64,
    room: &mut Room,
    index: &mut Index,
) -> Result<u64, Status> {
    let file = source.bytes();
    let mut header = Reader::new(file, base);
    let magic = header.bytes(4, "the IRPA header")?;
    if *magic != *MAGIC {
        return Err(Status::invalid_argument(format!(
            "no IRPA header at offset {base}: it begins with {magic:02x?}, not \"IRPA\""
        )));
    }
    let (major, minor) = (header.u16("the version")?, header.u16("the version")?);
    let size = header.u64("the header's size")?;
    let next = header.u64("the linked header")?;
    let _flags = header.u64("the header's flags")?;
    if (major, minor) != (0, 0) {
        return Err(Status::unimplemented(format!(
            "version {major}.{minor} of the .irpa format is not known; known is 0.0"
        )));
    }
    if size != HEADER_SIZE {
        return Err(Status::invalid_argument(format!(
            "the header at offset {base} says that it has {size} bytes; version 0 has {HEADER_SIZE}"
        )));
    }
    let count = header.u64("the number of entries")?;
    let entries = Segment::read(&mut header, file, base, "the table of entries")?;
    let metadata = Segment::read(&mut header, file, base, "the metadata segment")?;
    let storage = Segment::read(&mut header, file, base, "the storage segment")?;
    let end = entries.offset + entries.length;
    let mut at = entries.offset;
    for _ in 0..count {
        room.enter()?;
        let entry = Entry { source, metadata, storage, at };
        let size = entry.parse(end, room, index)?;
        // Padding after the last entry may be missing.
        at = at.saturating_add(size.next_multiple_of(ENTRY_ALIGNMENT)).min(end);
    }
    Ok(next)
}

/// An entry in a table.
struct Entry<'s> {
    source: &'s Source,
    metadata: Segment,
    storage: Segment,
    at: u64,
}

impl Entry<'_> {
    /// Adds the entry to the index; returns its size. The table ends at `end`.
    fn parse(&self, end: u64, room: &mut Room, index: &mut Index) -> Result<u64, Status> {
        let file = self.source.bytes();
        let mut entry = Reader::new(file, self.at);
        let size = entry.u64("an entry")?;
        if size < ENTRY_HEADER_SIZE || size > end - self.at {
            return Err(Status::out_of_range(format!(
                "the entry at offset {} says that it has {size} bytes, and its table ends after {}",
                self.at,
                end - self.at
            )));
        }
        let kind = entry.u32("an entry's type")?;
        let _flags = entry.u64("an entry's flags")?;
        let name = (entry.u64("an entry's name")?, entry.u64("an entry's name")?);
        let metadata = (entry.u64("an entry's metadata")?, entry.u64("an entry's metadata")?);
        let _alignment = entry.u64("an entry's alignment")?;
        let name_offset = self.metadata.resolve(name.0, name.1, "an entry's name")?;
        self.metadata.resolve(metadata.0, metadata.1, "an entry's metadata")?;
        room.name(name.1, self.at)?;
        let key = Reader::new(file, name_offset).bytes(name.1, "a name")?;
        let key = String::from_utf8_lossy(&key);
        let within = |needed: u64| {
            (size >= needed).then_some(()).ok_or_else(|| {
                Status::out_of_range(format!(
                    "the entry `{key}` has {size} bytes; it needs {needed}"
                ))
            })
        };
        match kind {
            ENTRY_SKIP => {}
            ENTRY_SPLAT => {
                within(ENTRY_HEADER_SIZE + 25)?;
                let length = entry.u64("a splat's length")?;
                let pattern = entry.bytes(16, "a splat's pattern")?;
                let pattern_length = usize::from(entry.u8("a splat's pattern")?);
                let pattern =
                    pattern.get(..pattern_length).and_then(|bytes| Splat::new(bytes, length));
                index.add_splat(&key, length, pattern.ok_or_else(|| {
                    Status::invalid_argument(format!(
                        "the splat `{key}` repeats a pattern of {pattern_length} bytes over {length}; patterns \
                         have 1, 2, 4, 8 or 16 bytes that divide the length"
                    ))
                })?);
            }
            ENTRY_DATA => {
                within(ENTRY_HEADER_SIZE + 16)?;
                let offset = entry.u64("an entry's data")?;
                let length = entry.u64("an entry's data")?;
                let offset =
                    self.storage.resolve(offset, length, &format!("the data of `{key}`"))?;
                index.add_data(&key, self.source, offset, length)?;
            }
            _ => {
                return Err(Status::unimplemented(format!(
                    "the entry `{key}` has type {kind}, which is not known; `iree-convert-parameters` can write \
                     an archive with the data inside"
                )));
            }
        }
        Ok(size)
    }
}

fn add(base: u64, offset: u64, what: &str) -> Result<u64, Status> {
    base.checked_add(offset).ok_or_else(|| {
        Status::out_of_range(format!("{what} is {offset} bytes after {base}, outside of any file"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::index::{Contents, Index, Source};
    use super::parse;

    fn number(bytes: &mut Vec<u8>, values: &[u64]) {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    /// A header with a splat and a data entry, `next` bytes before the next header.
    fn archive(next: u64, names: [&str; 2]) -> Vec<u8> {
        let mut bytes = b"IRPA\0\0\0\0".to_vec();
        let names_at = 96 + 96 + 80;
        let length = (names[0].len() + names[1].len()) as u64;
        number(&mut bytes, &[88, next, 0, 2, 96, 176, names_at, length, names_at + length, 4]);
        bytes.resize(96, 0);
        number(&mut bytes, &[85]);
        bytes.extend(1_u32.to_le_bytes());
        number(&mut bytes, &[0, 0, names[0].len() as u64, 0, 0, 0, 8]);
        bytes.extend([7, 8]);
        bytes.resize(96 + 84, 0);
        bytes.push(2);
        bytes.resize(96 + 96, 0);
        number(&mut bytes, &[76]);
        bytes.extend(2_u32.to_le_bytes());
        number(&mut bytes, &[0, names[0].len() as u64, names[1].len() as u64, 0, 0, 64, 1, 3]);
        bytes.resize(names_at as usize, 0);
        bytes.extend(names.concat().as_bytes());
        bytes.extend([10, 11, 12, 13]);
        bytes
    }

    fn index(bytes: Vec<u8>) -> Result<Index, vm::Status> {
        let mut index = Index::default();
        parse(&Source::from_bytes(bytes), &mut index)?;
        Ok(index)
    }

    #[test]
    fn entries_of_linked_headers() {
        let first = archive(288, ["splat", "data"]);
        let mut bytes = first.clone();
        bytes.resize(288, 0);
        bytes.extend(archive(0, ["x", "yy"]));
        let index = index(bytes).unwrap();
        let keys: Vec<&str> = index.entries().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["splat", "data", "x", "yy"]);
        let data = index.find("yy").unwrap();
        assert_eq!(data.length, 3);
        assert!(matches!(&data.contents, Contents::File { .. }));
        assert_eq!(data.bytes(0, 3).unwrap(), [11, 12, 13]);
        assert_eq!(index.find("splat").unwrap().bytes(1, 4).unwrap(), [8, 7, 8, 7]);
    }

    #[test]
    fn damage_is_told_or_harmless() {
        let good = archive(0, ["splat", "data"]);
        for at in 0..good.len() {
            assert!(index(good[..at].to_vec()).is_err(), "{at}");
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bytes = good.clone();
                bytes[at] = value;
                // Damaged bytes may give an error, never a panic.
                if let Ok(index) = index(bytes) {
                    for entry in index.entries() {
                        let _ = entry.bytes(0, entry.length.min(64));
                    }
                }
            }
        }
    }

    #[test]
    fn a_chain_of_headers_cannot_repeat_entries_for_ever() {
        // Each header names the same table.
        let mut bytes = archive(96, ["splat", "data"]);
        let header: Vec<u8> = bytes[..88].to_vec();
        bytes.resize(4096, 0);
        for at in (288..4000).step_by(96) {
            bytes[at..at + 88].copy_from_slice(&header);
        }
        bytes[16..24].copy_from_slice(&288_u64.to_le_bytes());
        assert!(index(bytes).is_err());
    }
}
