//! Why the debugger has not done what it was asked for. The program then stands where it stood.

use hal::PastLost;

use crate::expression::ExpressionError;
use crate::inspect::executions::NoExecutions;
use crate::inspect::not_watchable::NotWatchable;
use crate::view::memory::NotWritten;

/// Why the debugger refuses a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Only recorded programs go back.
    #[error(
        "nothing is recorded; `record` begins to, or launch with `--record` or `\"record\": true`"
    )]
    NotRecorded,
    /// The program is recorded, and was asked to be.
    #[error("the program is recorded already")]
    RecordedAlready,
    /// It will be recorded from the next place on at which that is possible.
    #[error("the recording has not begun: it begins between two commands")]
    RecordingNotBegun,
    /// The program is in a workgroup whose steps were not counted.
    #[error(
        "this workgroup began on another thread, so its steps are not counted; `goto N` goes to \
         before its command"
    )]
    OnOtherThread,
    /// The program waits for a function that is not its own.
    #[error(
        "the program waits for {function}, which runs outside; it can go back when that has \
         returned"
    )]
    WaitsOutside {
        /// The function.
        function: String,
    },
    /// A function outside has done what cannot be done again.
    #[error("{why}; so the recording begins anew after that call")]
    LostOutside {
        /// What it has done.
        why: String,
    },
    /// The user is to know that this ends the past; the next time it is done.
    #[error(
        "the program is recorded, and {change} forgets what was recorded so far{}; do it again to \
         go on, or go back first", if *lines { ", and all lines" } else { "" }
    )]
    ForgetsPast {
        /// What was to be done, as in "a jump".
        change: &'static str,
        /// Whether there are other lines of time, too.
        lines: bool,
    },
    /// Dispatches have the results of a recording, and those are of one run.
    #[error(
        "{change} leads away from the recorded run, and the results of dispatches come from the \
         recording, which has those of that run only; debug it with --without-results \
         (\"withoutResults\": true in a launch) to run their code"
    )]
    ResultsRecorded {
        /// What was to be done, as in "a jump".
        change: &'static str,
    },
    /// A number that no line of time has.
    #[error("there is no line {number}: {}", several(*count))]
    NoLine {
        /// The number.
        number: usize,
        /// How many lines there are.
        count: usize,
    },
    /// The program is there already.
    #[error("the program is in line {number}")]
    InThatLine {
        /// The number of the line.
        number: usize,
    },
    /// The program does not come to the moment.
    #[error("{why}")]
    NotReached {
        /// Why not.
        why: String,
    },
    /// The user has asked for a pause meanwhile.
    #[error("paused")]
    Paused,
    /// What was asked for is no expression, or has no value.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// What was asked for is nothing that stays in place.
    #[error(transparent)]
    NotWatchable(#[from] NotWatchable),
    /// No dispatch is known that leaves what was asked for.
    #[error(transparent)]
    NoExecutions(#[from] NoExecutions),
    /// A value that nothing has written, as far as is known.
    #[error("{why}")]
    NothingWrote {
        /// What is known.
        why: String,
    },
    /// No instruction is at the place.
    #[error("{why}")]
    Nowhere {
        /// Where there is one, or why there is none.
        why: String,
    },
    /// The place is in a dispatch.
    #[error(
        "the place is in a dispatch, which runs from its beginning to its end; a breakpoint there \
         stops before it"
    )]
    InDispatch,
    /// The place is not in the function that runs.
    #[error("that is not in {function}, which the innermost frame runs")]
    InOtherFunction {
        /// The function that runs.
        function: String,
    },
    /// The target of a jump is not in the function that runs.
    #[error("a jump leads to another instruction of the same function")]
    JumpsOut,
    /// No instruction is at the offset.
    #[error("no instruction starts at {offset}")]
    NoInstruction {
        /// The offset.
        offset: String,
    },
    /// The code at the target of a jump reads what nothing has written.
    #[error("the code there expects {what} in {register}, which nothing has written yet here")]
    Unwritten {
        /// The type, with its article.
        what: &'static str,
        /// The register.
        register: String,
    },
    /// Native code is not made of instructions.
    #[error("native code cannot resume elsewhere")]
    NativeResumes,
    /// The same, for a whole frame.
    #[error("native code cannot be restarted")]
    NativeRestarts,
    /// A frame that native code has called.
    #[error("the frame was called by native code, which does not call it a second time")]
    NativeCaller,
    /// A frame below native code.
    #[error("native code is in the middle of something above the frame")]
    NativeAbove,
    /// An argument that its call has taken away.
    #[error("argument r{register} was moved into the call and is gone")]
    ArgumentGone {
        /// The register that held it.
        register: u16,
    },
    /// The outermost frame is not that of the function that was launched.
    #[error("only the function that was launched can be restarted")]
    NotLaunched,
    /// The stack does not have the frame.
    #[error("there is no such frame")]
    NoFrame,
    /// The program does not have the module.
    #[error("there is no such module")]
    NoModule,
    /// The program has not begun, or is over.
    #[error("nothing runs")]
    NothingRuns,
    /// The program stands at no dispatch.
    #[error(
        "the program stands at no dispatch; `break dispatch 'NAME' after` stops where one has just \
         run"
    )]
    NoDispatch,
    /// The dispatch is next.
    #[error("the dispatch here has not run yet; `finish` runs it, and stops after it")]
    NotRunYet,
    /// The dispatch is in progress, and has not run before.
    #[error("the dispatch has not ended yet; `finish` ends it, and `again` begins it again")]
    NotEnded,
    /// The memory of a dispatch cannot be made what it was before it.
    #[error("what @{dispatch} has overwritten cannot be put back: {why}")]
    NotPutBack {
        /// The dispatch.
        dispatch: String,
        /// Why not.
        why: PastLost,
    },
    /// Memory that cannot be written.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// The program itself could not do it.
    #[error("{0}")]
    Failed(String),
}

/// How many lines of time there are, and how there come to be more.
fn several(count: usize) -> String {
    match count {
        1 => "there is one, and a value that is set in the past begins another".to_owned(),
        _ => format!("there are lines 1 to {count}"),
    }
}
