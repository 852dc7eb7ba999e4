//! One side of a comparison: a program that runs from dispatch to dispatch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use debug::{
    BreakpointId, BreakpointSpec, Debugger, DispatchMoment, LaunchOptions, Resume,
    StandingDispatch, StandingOperand, StopReason, TensorView,
};
use vm::Value;

use crate::report::{Mode, Report};
use crate::work::{StoredPart, Work};

/// What dispatches compute, by their names and the constants of their calls.
type Works = HashMap<(String, Vec<u32>), Rc<Work>>;

/// A program that runs from dispatch to dispatch.
pub(crate) struct Side {
    pub(crate) debugger: Debugger,
    before: Option<BreakpointId>,
    /// How many dispatches have run.
    pub(crate) ran: usize,
    /// What the dispatches compute; calls with the same constants have the same shapes.
    works: RefCell<Works>,
}

/// Where a side stands.
pub(crate) enum Stand {
    /// Before a dispatch.
    Before(StandingDispatch),
    /// After one.
    After(StandingDispatch),
    /// The program is over.
    Over(Vec<Value>),
    /// It has failed.
    Failed(String),
}

/// At which moments a side stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    After,
    BeforeAndAfter,
}

impl Side {
    /// Loads a program.
    pub(crate) fn load(options: LaunchOptions, stops: Stops) -> Result<Self, String> {
        let debugger = Debugger::load(options).map_err(|error| error.to_string())?;
        let mut side = Self { debugger, before: None, ran: 0, works: RefCell::default() };
        side.stop_at(DispatchMoment::After);
        if stops == Stops::BeforeAndAfter {
            side.before = Some(side.stop_at(DispatchMoment::Before));
        }
        Ok(side)
    }

    /// The report of a comparison of this program with something else.
    pub(crate) fn report(&self, sides: [String; 2], mode: Mode) -> Report {
        let program = self.debugger.program();
        Report::begun(sides, program.entry_name().to_owned(), mode, program.notes().to_vec())
    }

    fn stop_at(&mut self, when: DispatchMoment) -> BreakpointId {
        let pattern = "*".to_owned();
        self.debugger.add_breakpoint(BreakpointSpec::Dispatch { pattern, when })
    }

    /// Runs to the next stop.
    pub(crate) fn next(&mut self) -> Stand {
        loop {
            match self.debugger.resume(Resume::Continue) {
                StopReason::Completed(values) => return Stand::Over(values),
                StopReason::Failed(failure) => return Stand::Failed(failure.to_string()),
                StopReason::Pause => return Stand::Failed("it was interrupted".to_owned()),
                StopReason::Breakpoint(hit) => {
                    let Some(dispatch) = self.debugger.machine().standing_dispatch() else {
                        continue;
                    };
                    if self.before.is_some_and(|before| hit.contains(&before)) {
                        return Stand::Before(dispatch);
                    }
                    self.ran += 1;
                    return Stand::After(dispatch);
                }
                _ => {}
            }
        }
    }

    /// What a dispatch computes; its text is read once.
    pub(crate) fn work(&self, dispatch: &StandingDispatch) -> Rc<Work> {
        let key = (dispatch.export.clone(), dispatch.constants.clone());
        let mut works = self.works.borrow_mut();
        Rc::clone(works.entry(key).or_insert_with(|| Rc::new(self.read_work(dispatch))))
    }

    fn read_work(&self, dispatch: &StandingDispatch) -> Work {
        let sizes = dispatch.operands.iter().filter_map(|it| it.tensor.as_ref());
        let largest = sizes.flat_map(TensorView::shape).copied().max().unwrap_or(1);
        let text = self.debugger.program().executable_text(&dispatch.export);
        text.map_or_else(Work::default, |text| Work::parse(&text, &dispatch.export, largest))
    }

    /// The text of the line that a dispatch was made from, as it was compiled.
    pub(crate) fn source_text(&self, dispatch: &StandingDispatch) -> Option<String> {
        let source = dispatch.source.as_ref()?;
        let line = self.debugger.program().line_of_source(&source.file, source.line)?;
        Some(line.trim().chars().take(LONGEST_LINE).collect())
    }
}

/// A source line has at most so many characters in a report.
const LONGEST_LINE: usize = 200;

/// The names of an operand, or else its place.
pub(crate) fn names(index: usize, operand: &StandingOperand) -> Vec<String> {
    let names: Vec<String> = operand.name.iter().chain(&operand.node).cloned().collect();
    if names.is_empty() { vec![format!("operand[{index}]")] } else { names }
}

/// The part of a result that a dispatch has stored.
///
/// # Errors
/// Only the run knows which part that is.
pub(crate) fn stored(work: &Work, index: usize, tensor: &TensorView) -> Result<TensorView, String> {
    match work.stored_part(index, tensor.shape()) {
        None => Ok(tensor.clone()),
        Some(StoredPart::Unknown) => {
            Err("it stores a part of it, and only the run knows which".to_owned())
        }
        Some(StoredPart::Box(bounds)) => {
            let ranges = bounds.iter().map(|(start, size)| format!("{start}:{}", start + size));
            let slice = format!("[{}]", ranges.collect::<Vec<_>>().join(", "));
            tensor.sliced(&slice).map(|(part, _)| part)
        }
    }
}
