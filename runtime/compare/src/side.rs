//! One side of a comparison: a program that runs from dispatch to dispatch.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use debug::{
    BreakpointId, BreakpointSpec, Debugger, DispatchMoment, LaunchError, LaunchOptions,
    OpinionQuestion, Resume, StandingDispatch, StandingOperand, StopReason, TensorView,
};
use vm::Value;

use crate::bounds::{Judge, Live, Outputs, Ran};
use crate::errors::{NotCompared, NotJudged};
use crate::report::{Mode, Report};
use crate::work::{StoredPart, Work};

/// What dispatches store, by their names and the constants of their calls.
type Works = HashMap<(String, Vec<u32>), Rc<Work>>;

/// A program that runs from dispatch to dispatch.
pub(crate) struct Side {
    pub(crate) debugger: Debugger,
    before: Option<BreakpointId>,
    stops: Stops,
    /// What says by how much its results may be away, if that is asked.
    judge: Option<Judge>,
    /// How many dispatches have run.
    pub(crate) ran: usize,
    /// What the dispatches store; calls with the same constants have the same shapes.
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
    pub(crate) fn load(options: LaunchOptions, stops: Stops) -> Result<Self, LaunchError> {
        let debugger = Debugger::load(options)?;
        let (works, judge) = (RefCell::default(), None);
        let mut side = Self { debugger, before: None, stops, judge, ran: 0, works };
        side.stop_at(DispatchMoment::After);
        if stops == Stops::BeforeAndAfter {
            side.before = Some(side.stop_at(DispatchMoment::Before));
        }
        Ok(side)
    }

    /// From now on it can say by how much its results may be away. With what it is compared may be
    /// evaluated itself, or not.
    pub(crate) fn judge(&mut self, is_other_evaluated: bool) {
        self.judge = Some(Judge::new(self.debugger.program(), is_other_evaluated));
        if self.before.is_none() {
            self.before = Some(self.stop_at(DispatchMoment::Before));
        }
    }

    /// The report of a comparison of this program with something else.
    pub(crate) fn report(&self, sides: [String; 2], mode: Mode) -> Report {
        let program = self.debugger.program();
        Report::begun(sides, program.entry_name().to_owned(), mode, program.notes().to_vec())
    }

    fn stop_at(&mut self, when: DispatchMoment) -> BreakpointId {
        let pattern = "*".to_owned();
        self.debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when })
    }

    /// Runs to the next stop.
    pub(crate) fn next(&mut self) -> Stand {
        loop {
            let reason = self.debugger.resume(Resume::Continue);
            if let Some(judge) = &mut self.judge {
                judge.follow(self.debugger.machine());
            }
            match reason {
                StopReason::Completed(values) => return Stand::Over(values),
                StopReason::Failed(failure) => return Stand::Failed(failure.to_string()),
                StopReason::Pause => return Stand::Failed("it was interrupted".to_owned()),
                StopReason::Breakpoint(hit) => {
                    let Some(dispatch) = self.debugger.machine().standing_dispatch() else {
                        continue;
                    };
                    if self.before.is_some_and(|before| hit.contains(&before)) {
                        if let Some(judge) = &mut self.judge {
                            judge.before(self.debugger.program(), &dispatch);
                        }
                        if self.stops == Stops::After {
                            continue;
                        }
                        return Stand::Before(dispatch);
                    }
                    self.ran += 1;
                    return Stand::After(dispatch);
                }
                _ => {}
            }
        }
    }

    /// The dispatch that has just run.
    pub(crate) fn ran(&mut self, dispatch: &StandingDispatch) -> Rc<Ran> {
        let work = self.work(dispatch);
        match &mut self.judge {
            Some(judge) => judge.ran(dispatch, work),
            None => Ran::unjudged(dispatch, work),
        }
    }

    /// What a dispatch has left is not the same on both sides, but so far apart, if that is known.
    pub(crate) fn leaves(&mut self, ran: &Rc<Ran>, operand: usize, apart: Option<Vec<f64>>) {
        if let Some(judge) = &mut self.judge {
            judge.leaves(self.debugger.program(), ran, operand, apart);
        }
    }

    /// The dispatch that has left a tensor, if that is not the same on both sides.
    pub(crate) fn live_at(&self, tensor: &TensorView) -> Option<Live> {
        self.judge.as_ref()?.live_at(tensor)
    }

    /// By how much a tensor is away from the other side's at most, if that is known.
    pub(crate) fn apart_at(&self, tensor: &TensorView) -> Option<f64> {
        self.judge.as_ref()?.apart_at(tensor)
    }

    /// Whether a tensor may be other than that of the other side.
    pub(crate) fn is_live(&self, tensor: &TensorView) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.is_live(tensor))
    }

    /// What a dispatch has read.
    pub(crate) fn asked<'r>(&mut self, ran: &'r Ran) -> Result<&'r OpinionQuestion, NotJudged> {
        let judge = self.judge.as_mut().ok_or(NotJudged::NotEvaluated)?;
        judge.asked(self.debugger.program(), ran)
    }

    /// What a dispatch should have left.
    pub(crate) fn answer(&mut self, ran: &Ran) -> Result<Rc<Outputs>, NotJudged> {
        let judge = self.judge.as_mut().ok_or(NotJudged::NotEvaluated)?;
        judge.answer(self.debugger.program(), ran)
    }

    /// What a dispatch would have left if nothing were rounded since both sides had the same.
    pub(crate) fn unrounded(&self, ran: &Ran) -> Option<Rc<Outputs>> {
        self.judge.as_ref()?.unrounded(ran)
    }

    /// What a dispatch stores; its text is read once.
    pub(crate) fn work(&self, dispatch: &StandingDispatch) -> Rc<Work> {
        let key = (dispatch.export.clone(), dispatch.constants.clone());
        let mut works = self.works.borrow_mut();
        Rc::clone(works.entry(key).or_insert_with(|| Rc::new(self.read_work(dispatch))))
    }

    fn read_work(&self, dispatch: &StandingDispatch) -> Work {
        let text = self.debugger.program().executable_text(&dispatch.export);
        text.map_or_else(Work::default, |text| Work::parse(&text, &dispatch.export))
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

/// A part of a tensor, and where it begins along each axis.
pub(crate) type Part = (TensorView, Vec<u64>);

/// The part of a result that a dispatch has stored, if that is not all of it.
///
/// # Errors
/// [`NotCompared::PartUnknown`]: only the run knows which part that is.
pub(crate) fn stored(
    work: &Work,
    index: usize,
    tensor: &TensorView,
) -> Result<Option<Part>, NotCompared> {
    match work.stored_part(index, tensor.shape()) {
        None => Ok(None),
        Some(StoredPart::Unknown) => Err(NotCompared::PartUnknown),
        Some(StoredPart::Box(bounds)) => {
            let ranges = bounds.iter().map(|(start, size)| format!("{start}:{}", start + size));
            let slice = format!("[{}]", ranges.collect::<Vec<_>>().join(", "));
            let (part, _) = tensor.sliced(&slice)?;
            Ok(Some((part, bounds.iter().map(|(start, _)| *start).collect())))
        }
    }
}
