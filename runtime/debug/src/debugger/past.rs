//! What a recorded program is asked for: ways back, what was, and the table of the run.

use std::ops::Range;

use super::Debugger;
use crate::control::breakpoints::spec::BreakpointSpec;
use crate::control::record::executions::Look;
use crate::control::record::line_diff::LineComparison;
use crate::control::record::line_moment::LineMoment;
use crate::control::record::lines::LineOfTime;
use crate::control::record::past_values::ValueHistory;
use crate::control::record::table::{RowQuestion, TableOfRun};
use crate::control::record::tape::RecordState;
use crate::control::record::visits::Visits;
use crate::control::refused::Refused;
use crate::control::stop::{Back, Granularity, StepKind, StopReason};
use crate::control::traps::settings::Traps;
use crate::target::launch::RecordOptions;
use crate::target::recorded::RunLog;
use crate::view::executions::Executions;
use crate::view::frame::FrameId;
use vm::Moment as RunMoment;

impl Debugger {
    /// Begins to record: from now on, or from where it next can, the program can go back.
    ///
    /// # Errors
    /// It is recorded already.
    pub fn record(&mut self, options: RecordOptions) -> Result<(), Refused> {
        self.runner.record(options)
    }

    /// Stops recording, and forgets what was recorded.
    pub fn stop_recording(&mut self) {
        self.runner.stop_recording();
    }

    /// Gives what happens from now on to a log, if the program is recorded: at the beginning, or it
    /// has no use. The log before it gets what has happened until now.
    pub fn set_run_log(&mut self, log: Option<Box<dyn RunLog>>) {
        self.runner.set_run_log(log);
    }

    /// How much memory what was overwritten takes, if it is kept to be looked at, and nothing is
    /// recorded.
    #[must_use]
    pub fn past_bytes(&self) -> Option<usize> {
        let journal = self.program().host().device().allocator().journal();
        matches!(journal.keeps(), hal::Keeps::Within(_)).then(|| journal.size())
    }

    /// How much is recorded; `None` if nothing is.
    #[must_use]
    pub fn record_state(&self) -> Option<RecordState> {
        self.runner.record_state()
    }

    /// Goes back until a stop, or to the beginning of the recording.
    ///
    /// # Errors
    /// Nothing is recorded, or the program cannot be put back; the message says why.
    pub fn go_back(&mut self, how: Back) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_back(how))
    }

    /// A program that is over goes back to its last stop, by itself. What would stop it there is
    /// yet to be met by a run back. Returns the moment of the stop.
    ///
    /// # Errors
    /// As for [`Self::go_back`].
    pub fn go_back_from_end(&mut self, by: Granularity) -> Result<Option<LineMoment>, Refused> {
        self.go_back(Back::Step(StepKind::Over, by))?;
        self.runner.end_stop = self.runner.moment();
        Ok(self.line_moment())
    }

    /// Goes back to before the last write of what an expression names in a frame: a register, a
    /// global, an element of a list or of a tensor. The reason says what has written it.
    ///
    /// # Errors
    /// Nothing is recorded, the expression names nothing that can be written, or nothing has.
    pub fn who_wrote(
        &mut self,
        frame: impl Into<FrameId>,
        text: &str,
    ) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.who_wrote(frame.into(), text))
    }

    /// The values that what an expression names in a frame had since the recording began: a
    /// register in this call, a global, an element of a list or of a tensor, a small tensor. The
    /// program stands where it stood.
    ///
    /// # Errors
    /// Nothing is recorded, or the expression names nothing that stays in place.
    pub fn value_history(
        &mut self,
        frame: impl Into<FrameId>,
        text: &str,
    ) -> Result<ValueHistory, Refused> {
        self.runner.value_history(frame.into(), text)
    }

    /// All visits of a place since the recording began, each with the values of some expressions in
    /// the innermost frame there. The program stands where it stood.
    ///
    /// # Errors
    /// Nothing is recorded, the place is nowhere, or the user has asked for a pause.
    pub fn visits(&mut self, spec: &BreakpointSpec, columns: &[String]) -> Result<Visits, Refused> {
        self.runner.visits(spec, columns)
    }

    /// What the tensor that an expression means was each time that its dispatch has run, up to
    /// where the program stands. It stands there afterwards.
    ///
    /// # Errors
    /// The expression means no tensor that a dispatch leaves.
    pub fn executions(
        &mut self,
        frame: impl Into<FrameId>,
        text: &str,
        look: &Look,
    ) -> Result<Executions, Refused> {
        self.runner.executions(frame.into(), text, look)
    }

    /// Goes to the first stop of steps by lines, since the recording began, at which a condition is
    /// true.
    ///
    /// # Errors
    /// Nothing is recorded, the text is no condition, or it was never true.
    pub fn go_to_first(&mut self, condition: &str) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_first(condition))
    }

    /// Goes back to the last stop of steps by lines at which a condition was true.
    ///
    /// # Errors
    /// Nothing is recorded, the text is no condition, or it was never true.
    pub fn go_to_last(&mut self, condition: &str) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_last(condition))
    }

    /// Goes back to the last visit of a place.
    ///
    /// # Errors
    /// Nothing is recorded, the place is nowhere, or the program was not there before.
    pub fn go_back_until(&mut self, spec: &BreakpointSpec) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_back_until(spec))
    }

    /// Goes to the first moment since the recording began at which one of these traps stops the
    /// program: where a NaN began, say. Breakpoints do not stop it on the way.
    ///
    /// # Errors
    /// Nothing is recorded, or no trap has stopped it; the program stands where it stood.
    pub fn go_to_first_trap(&mut self, traps: Traps) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_first_trap(traps))
    }

    /// The lines of time of the recorded run: the first, then one for each value that was set in
    /// the past.
    ///
    /// # Errors
    /// Nothing is recorded.
    pub fn lines_of_time(&self) -> Result<Vec<LineOfTime>, Refused> {
        self.runner.lines_of_time().ok_or(Refused::NotRecorded)
    }

    /// The number of the line of time in which the program is: 1, unless a value was set in the
    /// past.
    #[must_use]
    pub fn line_of_time(&self) -> usize {
        self.runner.line_of_time()
    }

    /// The present moment with its line, to which [`Self::go_to_line`] can return.
    #[must_use]
    pub fn line_moment(&self) -> Option<LineMoment> {
        self.moment().map(|moment| self.runner.of_line(moment))
    }

    /// A moment of the present line of time, or of one that it comes of, with its line.
    #[must_use]
    pub fn of_line(&self, moment: &RunMoment) -> LineMoment {
        self.runner.of_line(moment.clone())
    }

    /// Goes to a moment of a line of time, or to where the user has left that line.
    ///
    /// # Errors
    /// Nothing is recorded, there is no such line, or the program does not come there.
    pub fn go_to_line(
        &mut self,
        number: usize,
        moment: Option<&RunMoment>,
    ) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_line(number, moment))
    }

    /// Compares two lines of time, command by command; by how much tensors differ, for some of the
    /// commands that have left something else, counted from 0. The program stands where it stood.
    ///
    /// # Errors
    /// Nothing is recorded, there is no such line, or the recording does not lead there any more.
    pub fn compare_lines(
        &mut self,
        lines: [usize; 2],
        looked_at: Range<usize>,
    ) -> Result<LineComparison, Refused> {
        self.runner.compare_lines(lines, looked_at)
    }

    /// The rows of the recorded run.
    ///
    /// # Errors
    /// Nothing is recorded.
    pub fn run_table(&self) -> Result<TableOfRun, Refused> {
        self.runner.table_of_run().ok_or(Refused::NotRecorded)
    }

    /// Goes to before the first command of the recorded run whose row answers a question with yes.
    ///
    /// # Errors
    /// Nothing is recorded, there is no such command, or the recording does not lead there.
    pub fn go_to_first_row(&mut self, question: &RowQuestion) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_first_row(question))
    }
}
