//! Reading a profile. The file may be of any kind: no length in it is trusted.

use std::collections::HashMap;

use crate::layout::{
    CHUNK, CLOCK_ROW, CLOCKS, COPY, DISPATCH, DISPATCH_EVENT_ROW, DISPATCH_EVENTS, FILE_HEADER,
    FILL, FUNCTION_ROW, FUNCTIONS, HOST_EVENT_ROW, HOST_EVENTS, MAGIC, MAJOR, NONE, PREFIX,
    RECORD_HEADER, SESSION_BEGIN, UPDATE,
};
use crate::model::{Function, Profile, Span, Work};

/// Why bytes are no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// It does not begin as one.
    #[error("not a profile: it does not begin with IRPF")]
    Magic,
    /// It is of a version that is not known.
    #[error("a profile of version {0}; version {MAJOR} is read")]
    Version(u16),
    /// Something ends before its end.
    #[error("the profile is damaged at byte {0}")]
    Damaged(usize),
    /// Times of a device cannot be told in nanoseconds.
    #[error("its times are ticks of a device, and it does not say how long these are")]
    NoClock,
}

/// Some bytes, and numbers in them.
#[derive(Clone, Copy)]
struct Row<'f>(&'f [u8]);

impl Row<'_> {
    fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.0.get(at..at.checked_add(2)?)?.try_into().ok()?))
    }

    fn u32(self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn u64(self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.0.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    fn three(self, at: usize) -> Option<[u32; 3]> {
        Some([self.u32(at)?, self.u32(at + 4)?, self.u32(at + 8)?])
    }
}

/// A span of a device, in its ticks.
struct Ticked {
    device: u32,
    work: Work,
    command_index: Option<u32>,
    start: u64,
    end: u64,
}

#[derive(Default)]
struct ProfileReader {
    profile: Profile,
    ticked: Vec<Ticked>,
    /// Ticks and nanoseconds of a device, first and last.
    clocks: HashMap<u32, [(u64, u64); 2]>,
}

impl Profile {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no profile, of a later version, damaged, or its times cannot be told.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProfileError> {
        let file = Row(bytes);
        if file.u32(0) != Some(MAGIC) {
            return Err(ProfileError::Magic);
        }
        let version = file.u16(4).ok_or(ProfileError::Damaged(4))?;
        if version != MAJOR {
            return Err(ProfileError::Version(version));
        }
        let header = size(file.u32(8)).filter(|it| *it >= FILE_HEADER as usize);
        let mut at = header.ok_or(ProfileError::Damaged(8))?;
        // A file that was not finished has length zero, and is read as far as it goes.
        let stated = size_of(file.u64(16)).filter(|it| *it != 0);
        let end = stated.unwrap_or(bytes.len());
        let whole = bytes.get(..end).ok_or(ProfileError::Damaged(16))?;
        let mut reader = ProfileReader::default();
        while at < whole.len() {
            let damaged = ProfileError::Damaged(at);
            match record(whole, at) {
                Some(record) => {
                    reader.record(&record).ok_or(damaged)?;
                    at = record.end;
                }
                None if stated.is_none() => break,
                None => return Err(damaged),
            }
        }
        reader.finish()
    }
}

fn size(number: Option<u32>) -> Option<usize> {
    usize::try_from(number?).ok()
}

fn size_of(number: Option<u64>) -> Option<usize> {
    usize::try_from(number?).ok()
}

struct Record<'f> {
    kind: u16,
    device: u32,
    content: &'f [u8],
    name: &'f [u8],
    payload: &'f [u8],
    end: usize,
}

fn record(file: &[u8], at: usize) -> Option<Record<'_>> {
    let header = Row(file.get(at..)?);
    let end = at.checked_add(size_of(header.u64(0))?)?;
    let row = Row(file.get(at..end)?);
    let start = size(row.u32(56)).filter(|it| *it >= RECORD_HEADER as usize)?;
    let name = start.checked_add(size(row.u32(60))?)?;
    let payload = name.checked_add(size(row.u32(64))?)?;
    let last = payload.checked_add(size_of(row.u64(8))?)?;
    Some(Record {
        kind: row.u16(100)?,
        device: row.u32(68)?,
        content: row.0.get(start..name)?,
        name: row.0.get(name..payload)?,
        payload: row.0.get(payload..last)?,
        end,
    })
}

/// The rows of a payload, each with its length in front, which is at least `least`.
fn rows(payload: &[u8], least: u32) -> Option<Vec<Row<'_>>> {
    let mut rows = Vec::new();
    let mut rest = payload;
    while !rest.is_empty() {
        let length = size(Row(rest).u32(0)).filter(|it| *it >= least as usize)?;
        let (row, after) = rest.split_at_checked(length)?;
        rows.push(Row(row));
        rest = after;
    }
    Some(rows)
}

impl ProfileReader {
    fn record(&mut self, record: &Record<'_>) -> Option<()> {
        if record.kind == SESSION_BEGIN {
            self.profile.device = String::from_utf8_lossy(record.name).into_owned();
        }
        let content = std::str::from_utf8(record.content).ok()?;
        let content = content.strip_prefix(PREFIX).filter(|_| record.kind == CHUNK);
        match content {
            Some(FUNCTIONS) => {
                for row in rows(record.payload, FUNCTION_ROW)? {
                    let length = size(row.u32(44))?;
                    let start = FUNCTION_ROW as usize;
                    let name = row.0.get(start..start.checked_add(length)?)?;
                    self.profile.functions.push(Function {
                        executable: row.u64(8)?,
                        ordinal: row.u32(16)?,
                        constants: row.u32(20)?,
                        bindings: row.u32(24)?,
                        workgroup_size: row.three(32)?,
                        name: String::from_utf8_lossy(name).into_owned(),
                    });
                }
            }
            Some(HOST_EVENTS) => {
                for row in rows(record.payload, HOST_EVENT_ROW)? {
                    self.profile.spans.extend(host_span(row)?);
                }
            }
            Some(DISPATCH_EVENTS) => {
                for row in rows(record.payload, DISPATCH_EVENT_ROW)? {
                    self.ticked.push(Ticked {
                        device: record.device,
                        work: Work::Dispatch {
                            executable: row.u64(32)?,
                            ordinal: row.u32(44)?,
                            workgroup_count: row.three(48)?,
                        },
                        command_index: Some(row.u32(40)?).filter(|it| *it != NONE),
                        start: row.u64(72)?,
                        end: row.u64(80)?,
                    });
                }
            }
            Some(CLOCKS) => {
                for row in rows(record.payload, CLOCK_ROW)? {
                    let (has_tick, has_time) = (1, 2);
                    if row.u32(4)? & (has_tick | has_time) == has_tick | has_time {
                        let pair = (row.u64(24)?, row.u64(32)?);
                        self.clocks.entry(row.u32(8)?).or_insert([pair; 2])[1] = pair;
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    fn finish(mut self) -> Result<Profile, ProfileError> {
        for it in &self.ticked {
            let clock = self.clocks.get(&it.device).ok_or(ProfileError::NoClock)?;
            let [(first, at), (last, until)] = *clock;
            let ticks = last.checked_sub(first).filter(|it| *it > 0);
            let ticks = ticks.ok_or(ProfileError::NoClock)? as f64;
            let each = until.saturating_sub(at) as f64 / ticks;
            let time = |tick: u64| {
                let since = (i128::from(tick) - i128::from(first)) as f64;
                (at as f64 + since * each) as i64
            };
            self.profile.spans.push(Span {
                work: it.work,
                command_index: it.command_index,
                start: time(it.start),
                end: time(it.end),
            });
        }
        Ok(self.profile)
    }
}

/// A span that the host has measured; `Some(None)` if it is of a kind that is not told here.
fn host_span(row: Row<'_>) -> Option<Option<Span>> {
    let bytes = row.u64(120)?;
    let work = match row.u32(4)? {
        DISPATCH => Work::Dispatch {
            executable: row.u64(40)?,
            ordinal: row.u32(76)?,
            workgroup_count: row.three(80)?,
        },
        COPY => Work::Copy { bytes },
        FILL => Work::Fill { bytes },
        UPDATE => Work::Update { bytes },
        _ => return Some(None),
    };
    let command_index = Some(row.u32(72)?).filter(|it| *it != NONE);
    let (start, end) = (row.u64(104)?.cast_signed(), row.u64(112)?.cast_signed());
    Some(Some(Span { work, command_index, start, end }))
}
