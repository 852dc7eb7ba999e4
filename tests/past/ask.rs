//! The recorded program, and what it answers.

use std::path::Path;

use debug::{BreakpointSpec, Debugger, RecordOptions, Resume, RunMoment, StopReason};

use crate::generate::Program;
use crate::oracle::{Question, Truth};
use crate::walk::{commands, load};

/// What the program has answered: the command before which it stands then, and a sentence; or an
/// error.
pub(crate) type Answer = Result<(u64, String), String>;

/// Asks a recorded program all questions, in their order.
pub(crate) fn answers(
    module: &Path,
    program: &Program,
    questions: &[Question],
) -> Result<Vec<Answer>, String> {
    let mut debugger = load(module, program)?;
    debugger.record(RecordOptions::default()).map_err(|refused| refused.to_string())?;
    let (file, line) = ("program.mlir".to_owned(), program.last_line);
    debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
    let reason = debugger.resume(Resume::Continue);
    if matches!(reason, StopReason::Completed(_)) {
        return Ok(Vec::new());
    }
    if !matches!(reason, StopReason::Breakpoint(_)) {
        return Err(debugger.sentence(&reason));
    }
    let end = debugger.moment().ok_or("the end has no moment")?;
    questions.iter().map(|question| answer(&mut debugger, &end, question)).collect()
}

fn answer(debugger: &mut Debugger, end: &RunMoment, question: &Question) -> Result<Answer, String> {
    match question.before {
        Some(number) => debugger.go_to_command(number),
        None => debugger.go_to(end),
    }
    .map_err(|refused| refused.to_string())?;
    let stood = debugger.moment();
    let frame = debugger.machine().innermost_frame();
    Ok(match debugger.who_wrote(frame, &question.element) {
        Ok(StopReason::Found(text)) => Ok((commands(debugger) + 1, text)),
        Ok(other) => return Err(debugger.sentence(&other)),
        Err(_) if debugger.moment() != stood => return Err("it stands elsewhere now".to_owned()),
        Err(refused) => Err(refused.to_string()),
    })
}

/// How an answer differs from what is true.
pub(crate) fn difference(truth: &Truth, answer: &Answer) -> Option<String> {
    match (truth.command, answer) {
        (None, Err(error)) if error.starts_with("no command has written") => None,
        (Some(command), Ok((found, text))) if command == *found => {
            let [x, y, z] = truth.workgroup?;
            let expected = format!("in workgroup ({x},{y},{z})");
            (!text.contains(&expected)).then(|| format!("expected {expected}, found {text}"))
        }
        (expected, found) => Some(format!("expected {expected:?}, found {found:?}")),
    }
}
