//! `run --values`: runs a program under the debugger, and keeps what it leaves on the lines of its
//! sources for editors.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use debug::{
    BreakpointSpec, Debugger, DispatchMoment, FrameId, LaunchOptions, LineFigures, LineValues,
    Resume, StopReason,
};
use debuginfo::KeptSource;
use lastrun::{LastRun, LineValue, Run, SourceId};
use vm::{FrameIndex, Status, Value};

use crate::failure::{Failure, RunFailure};
use crate::program::Program;

/// Runs a program to its end, with the results that it has without a debugger. `program` is the
/// same one, for names in a failure. `says_where`: notes go to standard error.
///
/// # Errors
/// The program cannot be loaded. The inner result is that of the run.
pub(crate) fn run(
    options: LaunchOptions,
    folder: Option<&Path>,
    says_where: bool,
    program: &Program,
) -> Result<Result<Vec<Value>, RunFailure>, Failure> {
    let folder = lastrun::values_folder(folder).map_err(|error| error.to_string())?;
    let mut debugger = Debugger::load(options)?;
    let (pattern, when) = ("*".to_owned(), DispatchMoment::After);
    debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when });
    outln!("EXEC @{}", program.function_name);
    let mut values = LineValues::default();
    let reason = loop {
        let reason = debugger.resume(Resume::Continue);
        if reason.is_final() {
            break reason;
        }
        values.keep(debugger.machine(), FrameId::from(FrameIndex(0)));
    };
    for line in write(&folder, &debugger, values, &reason) {
        if says_where {
            errln!("{line}");
        }
    }
    Ok(match reason {
        StopReason::Completed(results) => Ok(results),
        StopReason::Failed(failure) => Err(program.failure(failure)),
        _ => Err(RunFailure::outside(Status::internal("the run has not ended"), Vec::new())),
    })
}

/// Writes a file for each source, and says where. One that cannot be written costs no result.
fn write(
    folder: &Path,
    debugger: &Debugger,
    values: LineValues,
    reason: &StopReason,
) -> Vec<String> {
    let loaded = debugger.program();
    let modules = loaded.modules().find(|(index, ..)| *index == loaded.entry().module);
    let module = modules.map(|(_, name, path)| match path {
        Some(path) => path.display().to_string(),
        None => name.to_owned(),
    });
    let run = Run {
        module: module.unwrap_or_default(),
        function: loaded.entry_name().to_owned(),
        ended: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
        failure: match reason {
            StopReason::Failed(failure) => Some(failure.to_string()),
            _ => None,
        },
    };
    let sources = values.finish(debugger.machine());
    if sources.is_empty() {
        let note = "note: no values are kept: no tensor of the source is proven to be one that a \
                    dispatch has left, or the module has no debug file, which `iree-dbg compile` \
                    writes beside it";
        return vec![note.to_owned()];
    }
    let written = sources.into_iter().map(|(source, figures)| {
        let KeptSource { name, length, xxh3, .. } = source;
        let values: Vec<LineValue> = figures.into_iter().map(line_value).collect();
        let count = values.len();
        let kept = LastRun::new(SourceId { length, xxh3 }, run.clone(), values);
        match kept.write(folder) {
            Ok(path) => format!("note: {count} tensors of {name} are kept in {}", path.display()),
            Err(error) => format!("warning: cannot keep values in {}: {error}", folder.display()),
        }
    });
    written.collect()
}

fn line_value(figures: LineFigures) -> LineValue {
    let LineFigures { name, line, calls, tensor_type, summary } = figures;
    LineValue {
        name,
        line,
        calls,
        tensor_type,
        count: summary.total,
        min: summary.minimum,
        max: summary.maximum,
        mean: Some(summary.mean).filter(|it| it.is_finite()),
        nans: summary.nans,
        infinities: summary.infinities,
    }
}
