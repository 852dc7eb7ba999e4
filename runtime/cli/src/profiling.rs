//! `run --device_profiling_output=FILE`: what the device has done, as a profile that `iree-profile`
//! of IREE 3.13 takes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hal::{CommandRecord, History, PastDispatch, Work};
use profile::{Function, Profile, Span};

use crate::failure::Failure;

/// Writes what a device has done.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(path: &Path, device: &str, history: &History) -> Result<(), Failure> {
    let records = history.records();
    let left_out = history.total().saturating_sub(records.len() as u64);
    if left_out > 0 {
        errln!("note: the profile has the last {} commands; {left_out} ran before", records.len());
    }
    let written = vmfb::WholeFile::write(path, &profile(device, &records).to_bytes());
    Ok(written.map_err(|error| format!("cannot write {}: {error}", path.display()))?)
}

fn profile(device: &str, records: &[Arc<CommandRecord>]) -> Profile {
    let mut profile = Profile { device: device.to_owned(), ..Profile::default() };
    let mut known: Vec<PastDispatch> = Vec::new();
    for record in records {
        let Some(timing) = record.timing else { continue };
        let work = match &record.work {
            Work::Fill(span) => profile::Work::Fill { bytes: span.range().len() as u64 },
            Work::Update(span) => profile::Work::Update { bytes: span.range().len() as u64 },
            Work::Copy(_, target) => profile::Work::Copy { bytes: target.range().len() as u64 },
            Work::Dispatch(dispatch) => {
                let place = known.iter().position(|it| it.is_of_executable_of(dispatch));
                let place = place.unwrap_or_else(|| {
                    known.push(dispatch.clone());
                    profile.functions.extend(functions(known.len() as u64, dispatch));
                    known.len() - 1
                });
                profile::Work::Dispatch {
                    executable: place as u64 + 1,
                    ordinal: u32::try_from(dispatch.export_index()).unwrap_or(u32::MAX),
                    workgroup_count: dispatch.workgroup_count,
                }
            }
        };
        let (start, end) = (timing.start, timing.start + timing.took);
        profile.spans.push(Span {
            work,
            command_index: u32::try_from(record.place_in_buffer).ok(),
            start: nanoseconds(start),
            end: nanoseconds(end),
        });
    }
    profile
}

/// The functions of a dispatch's executable.
fn functions(executable: u64, dispatch: &PastDispatch) -> Vec<Function> {
    let count = |number: Option<usize>| number.and_then(|it| u32::try_from(it).ok());
    let exports = (0_u32..).zip(dispatch.exports());
    let functions = exports.map(|(ordinal, export)| Function {
        executable,
        ordinal,
        name: match export.name.as_str() {
            "" => format!("#{ordinal}"),
            name => name.to_owned(),
        },
        constants: count(export.constant_count).unwrap_or_default(),
        bindings: count(export.binding_count).unwrap_or_default(),
        workgroup_size: export.workgroup_size.unwrap_or_default(),
    });
    functions.collect()
}

/// Since the first command began; a clock of IREE's has no zero either, but is never at it.
fn nanoseconds(since: Duration) -> i64 {
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX).saturating_add(1)
}
