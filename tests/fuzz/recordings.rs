//! Damaged files of recorded runs.

use std::path::Path;

use debug::{Back, Debugger, Granularity, LaunchOptions, RecordOptions, Resume, StepKind};
use hal::NativeCode;
use recording::{Recorded, Writer};
use vm::{ExecutionLimits, MemoryLimit};

use crate::files;
use crate::random::Random;
use crate::samples::Samples;

/// Bytes of the header, and of a chunk before its payload.
const HEADER: usize = 16;

/// What a file has of dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Has {
    Digests,
    Results,
}

/// The file of a run with these options.
pub(crate) fn sample(options: LaunchOptions, folder: &Path, has: Has) -> Result<Vec<u8>, String> {
    let record = RecordOptions { memory: 0, disk: 0, every: Some(3), ..RecordOptions::default() };
    let options = LaunchOptions { record: Some(record), ..options };
    let mut debugger = Debugger::load(options.clone()).map_err(|error| error.to_string())?;
    let path = folder.join("recorded");
    let writer = Writer::begin(&path, &options, &mut debugger);
    let writer = writer.map_err(|error| error.to_string())?;
    if has == Has::Results {
        writer.keep_results(&debugger);
    }
    let reason = debugger.resume(Resume::Continue);
    writer.end(&mut debugger, &reason).map_err(|error| error.to_string())?;
    std::fs::read(&path).map_err(|error| error.to_string())
}

/// Opens a damaged recording, and goes forth and back in the run if it is one.
pub(crate) fn exercise(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let whole = random.choose::<Vec<u8>>(&samples.recordings);
    *kept = if random.chance(4) { files::damage(whole, random) } else { rewritten(whole, random) };
    opened(&samples.folder.path().join("damaged.run"), kept)
}

/// Opens a recording, and goes forth and back in the run. Returns whether that is one.
pub(crate) fn opened(path: &Path, bytes: &[u8]) -> bool {
    std::fs::write(path, bytes).expect("it is a scratch folder");
    let Ok(recorded) = Recorded::open(path) else { return false };
    assert!(!recorded.summary().is_empty());
    let _ = recorded.inspect();
    let record =
        RecordOptions { memory: 1 << 16, disk: 1 << 20, every: None, ..RecordOptions::default() };
    let Ok(mut options) = recorded.launch_options(record) else { return false };
    options.host.native_code = NativeCode::Refused;
    options.host.limits = ExecutionLimits {
        fuel: Some(10_000),
        allocation_bytes: 1 << 24,
        memory: MemoryLimit::new(1 << 24),
        ..ExecutionLimits::default()
    };
    let Ok(mut debugger) = Debugger::load(options) else { return false };
    debugger.resume(Resume::Continue);
    for _ in 0..3 {
        let _ = debugger.go_back(Back::Step(StepKind::Over, Granularity::Line));
    }
    debugger.resume(Resume::Continue);
    true
}

/// The file with one chunk damaged before its checksum was made.
fn rewritten(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut chunks = Vec::new();
    let mut at = HEADER;
    while let Some(header) = whole.get(at..at + HEADER) {
        let length = u64::from_le_bytes(header[8..].try_into().expect("8 bytes"));
        let end = at + HEADER + usize::try_from(length).expect("it is in memory");
        chunks.push(at..end);
        at = end;
    }
    let chunk = random.choose::<std::ops::Range<usize>>(&chunks).clone();
    let payload = files::damage(&whole[chunk.start + HEADER..chunk.end], random);
    let tag = &whole[chunk.start..chunk.start + 4];
    let length = (payload.len() as u64).to_le_bytes();
    let checksum = crc32fast::hash(&[tag, &length, &payload].concat()).to_le_bytes();
    let chunk_bytes = [tag, &checksum, &length, &payload].concat();
    [&whole[..chunk.start], &chunk_bytes, &whole[chunk.end..]].concat()
}
