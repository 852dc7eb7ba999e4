//! Finds the bytecode version before the rest of a module is trusted.
//!
//! The module table gained fields in the middle over the years, so a module of another schema looks
//! damaged. Its version tells the user more than the first table that does not fit. This finds the
//! version alone, with every access checked.
//!
//! | schema | field that holds the version |
//! | --- | --- |
//! | since version 14 | 13 |
//! | early 2023 | 11 |
//! | before | 10 |

use crate::versions::{BytecodeVersion, OLDEST};

const FIELD: usize = 13;
const OLDER_FIELDS: [usize; 2] = [11, 10];
/// Versions before the oldest that is supported have an older schema.
const LAST_OLDER: u16 = OLDEST - 1;
/// A number beyond this one is no version: versions grew by a few a year.
const LAST_LIKELY: u16 = 255;

/// The version of a module that is not supported; `None` if it is supported, or nothing looks like
/// a version.
pub(crate) fn unsupported_version(flatbuffer: &[u8]) -> Option<BytecodeVersion> {
    let version = |field| root_field(flatbuffer, field).map(BytecodeVersion::from_bits);
    let found = version(FIELD);
    if found.is_some_and(BytecodeVersion::is_supported) {
        return None;
    }
    let is_older =
        |found: &BytecodeVersion| (1..=LAST_OLDER).contains(&found.major) && found.minor == 0;
    let is_newer = |found: &BytecodeVersion| {
        (LAST_OLDER + 1..=LAST_LIKELY).contains(&found.major) && found.minor < LAST_LIKELY
    };
    let older = OLDER_FIELDS.into_iter().filter_map(version).find(is_older);
    older.or_else(|| found.filter(is_newer))
}

/// The 32 bits at a field of the root table of a size-prefixed FlatBuffer.
fn root_field(flatbuffer: &[u8], field: usize) -> Option<u32> {
    let buffer = flatbuffer.get(4..)?;
    let table = usize::try_from(word(buffer, 0)?).ok()?;
    let back = i64::from(word(buffer, table)?.cast_signed());
    let vtable = usize::try_from(i64::try_from(table).ok()? - back).ok()?;
    let half = |at: usize| -> Option<usize> {
        let bytes = buffer.get(at..)?.first_chunk::<2>()?;
        Some(usize::from(u16::from_le_bytes(*bytes)))
    };
    let entry = 4 + 2 * field;
    if entry + 2 > half(vtable)? {
        return None;
    }
    match half(vtable + entry)? {
        0 => None,
        offset => word(buffer, table + offset),
    }
}

fn word(buffer: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*buffer.get(at..)?.first_chunk::<4>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module table with only one field.
    fn module_with(field: usize, value: u32) -> Vec<u8> {
        let mut builder = flatbuffers::FlatBufferBuilder::new();
        let start = builder.start_table();
        builder.push_slot_always((4 + 2 * field) as u16, value);
        let root = builder.end_table(start);
        builder.finish_size_prefixed(root, Some("IREE"));
        builder.finished_data().to_vec()
    }

    #[test]
    fn versions_are_found_in_every_schema() {
        for (field, bits, expected) in [
            (13, 17 << 16, None),
            (13, 14 << 16, None),
            (13, 18 << 16, Some("18.0")),
            (13, 17 << 16 | 1, Some("17.1")),
            (11, 13 << 16, Some("13.0")),
            (10, 5 << 16, Some("5.0")),
            (11, 1632, None),
            (2, 13 << 16, None),
        ] {
            let found = unsupported_version(&module_with(field, bits));
            let found = found.map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "field {field}, {bits:#x}");
        }
    }

    #[test]
    fn damaged_bytes_have_no_version() {
        for length in 0..64 {
            assert_eq!(unsupported_version(&vec![0xFF; length]), None);
            assert_eq!(unsupported_version(&vec![0; length]), None);
        }
    }
}
