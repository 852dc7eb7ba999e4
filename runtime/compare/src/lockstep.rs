//! Two programs in lock step.
//!
//! ```text
//!   A runs its next dispatch ──> B runs until it has left the same tensors ──> compare
//!        ^                                                                        │
//!        └── isolated: B's tensors get A's bytes, so that B goes on with the same ┘
//! ```
//!
//! So no error is carried from one dispatch to the next, and what is the program's own on each
//! side, as a weight, stays: where it differs, the first dispatch that reads it does.

use std::collections::HashMap;
use std::rc::Rc;

use debug::{InterruptHandle, LaunchOptions, StandingDispatch, TensorView};

use crate::alignment::Alignment;
use crate::finding::{TensorFinding, Verdict};
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, compared, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names, stored};
use crate::tolerance::Tolerance;
use crate::work::Work;

/// Side B is at most so many dispatches ahead of side A.
const MOST_AHEAD: usize = 64;

/// What one side has left and the other has not yet is kept, up to so many bytes.
const MOST_KEPT: usize = 1 << 28;

/// The most names of tensors in a note.
const MOST_NAMED: usize = 8;

/// How the sides depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    /// The dispatches of side A, by number, whose results side A takes from side B. Nothing is
    /// compared then.
    pub(crate) taken: Option<Vec<usize>>,
}

/// What a run in lock step has found.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The results of side A.
    pub(crate) returned: Option<Vec<Returned>>,
    /// By how much sound results of the whole may be apart, relative to their size.
    pub(crate) total: f64,
    /// The dispatches, by number, that have left other bytes on side B.
    pub(crate) different: Vec<usize>,
}

/// A tensor that side A has just left: its key, its operand, and its place in the finding.
type Wanted = (Key, usize, usize);

/// Where side A stands while side B runs.
struct Now<'n> {
    standing: &'n StandingDispatch,
    work: &'n Work,
    /// What side B is to leave.
    wanted: &'n mut Vec<Wanted>,
    /// How many tensors both sides go on with.
    synced: &'n mut usize,
}

/// A tensor that is known by its pair, and how often that was computed before.
type Key = (usize, usize);

/// Compares two programs.
///
/// # Errors
/// One of them cannot be loaded, or their functions cannot be compared.
pub fn against_other(
    sides: [LaunchOptions; 2],
    described: [String; 2],
    mode: Mode,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, String> {
    let plan = Plan { mode, taken: None };
    Ok(run(sides, described, &plan, settings, progress)?.report)
}

/// Runs two programs in lock step.
pub(crate) fn run(
    sides: [LaunchOptions; 2],
    described: [String; 2],
    plan: &Plan,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, String> {
    let [a, b] = sides;
    let load = |options: LaunchOptions, name: &str| {
        // Each stops on its own.
        let options = LaunchOptions { interrupt: InterruptHandle::default(), ..options };
        Side::load(options, Stops::After).map_err(|error| format!("side {name}: {error}"))
    };
    let (a, b) = (load(a, "A")?, load(b, "B")?);
    let function = same_function(&a, &b)?;
    let lists = [&a, &b].map(|side| side.debugger.machine().dispatch_list());
    let alignment = Alignment::of(&lists[0], &lists[1]);
    let report = Report::begun(described, function, plan.mode, notes(&alignment, &a, &b));
    let mut lockstep = Lockstep {
        a,
        b,
        alignment,
        plan,
        settings,
        report,
        carried: 0.0,
        total: 0.0,
        different: Vec::new(),
        times: Default::default(),
        kept: HashMap::new(),
        waiting: HashMap::new(),
        bytes: 0,
        over: [None, None],
        has_parted: false,
    };
    lockstep.run(progress);
    let Lockstep { mut report, carried, total, different, over: [a, b], settings, .. } = lockstep;
    if let (Some(a), Some(b)) = (&a, &b) {
        report.results = compared(a, b, carried, settings);
        let is_bad = |it: &TensorFinding| it.verdict == Verdict::Differs;
        if report.results.iter().any(is_bad) && report.first_bad().is_none() {
            report.notes.push(
                "the results differ although no dispatch that was compared does: look at what \
                 could not be compared, at copies, and at the host's code"
                    .to_owned(),
            );
        }
    }
    Ok(Outcome { report, returned: a, total, different })
}

/// The function that both sides call.
fn same_function(a: &Side, b: &Side) -> Result<String, String> {
    let [a, b] = [a, b].map(|side| {
        let name = side.debugger.program().entry_name().to_owned();
        let signature = side.debugger.export(&name).map(|(_, signature)| signature);
        (name, signature)
    });
    if a.0 != b.0 {
        let how = "name a function that both have with --function=NAME";
        return Err(format!("side A calls @{}, and side B @{}; {how}", a.0, b.0));
    }
    if a.1 != b.1 {
        return Err(format!("@{} has another signature on side B", a.0));
    }
    Ok(a.0)
}

fn notes(alignment: &Alignment, a: &Side, b: &Side) -> Vec<String> {
    let of = |side: &Side, name: &str| {
        let notes = side.debugger.program().notes().iter();
        notes.map(|note| format!("side {name}: {note}")).collect::<Vec<_>>()
    };
    let mut notes = of(a, "A");
    notes.extend(of(b, "B"));
    if alignment.is_by_place {
        return notes;
    }
    notes.push("the sides have different dispatches: tensors are aligned by their names".into());
    for (side, only) in ["A", "B"].iter().zip(&alignment.only) {
        if only.is_empty() {
            continue;
        }
        let shown = only.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = only.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("only side {side} computes {shown}{more}"));
    }
    notes
}

/// Two programs on their way.
struct Lockstep<'p> {
    a: Side,
    b: Side,
    alignment: Alignment,
    plan: &'p Plan,
    settings: &'p Settings,
    report: Report,
    /// The errors that were not taken out, relative to the size of what is compared.
    carried: f64,
    /// The errors of all dispatches.
    total: f64,
    different: Vec<usize>,
    /// How often each pair was computed on each side.
    times: [HashMap<usize, usize>; 2],
    /// What side B has left before side A, with its operand and its dispatch.
    kept: HashMap<Key, (TensorView, usize, Rc<Work>)>,
    /// What side A has left before side B: the place of its finding, and what belongs to it.
    waiting: HashMap<Key, Waiting>,
    /// How many bytes are kept.
    bytes: usize,
    /// The results of each side that is over.
    over: [Option<Vec<Returned>>; 2],
    has_parted: bool,
}

/// A tensor that side A has left and side B has not.
struct Waiting {
    /// The index of its dispatch and of its tensor in the report.
    place: (usize, usize),
    /// Which operand of its dispatch it is.
    operand: usize,
    tensor: TensorView,
    work: Rc<Work>,
}

impl Lockstep<'_> {
    fn run(&mut self, progress: &mut dyn FnMut(Progress<'_>)) {
        loop {
            match self.a.next() {
                Stand::After(dispatch) => {
                    if self.plan.taken.is_none() {
                        progress(Progress::Dispatch(self.a.ran, &dispatch.export));
                    }
                    self.after(&dispatch);
                }
                Stand::Before(_) => {}
                Stand::Over(values) => {
                    self.over[0] = Some(returned(&values));
                    break;
                }
                Stand::Failed(failure) => {
                    self.report.failed("A", &failure);
                    break;
                }
            }
        }
        while self.step_b(None).is_some() {}
    }

    /// Side A has run a dispatch.
    fn after(&mut self, dispatch: &StandingDispatch) {
        let number = self.a.ran - 1;
        let work = self.a.work(dispatch);
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut tensors = Vec::new();
        for (index, operand) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written)
        {
            let pair = dispatch.index.and_then(|it| self.alignment.pair(0, (it, index)));
            let reason = match pair {
                Some(_) => "side B has not computed it",
                None => "no tensor of side B is known to be the same",
            };
            if let Some(pair) = pair {
                wanted.push(((pair, count(&mut self.times[0], pair)), index, tensors.len()));
            }
            let tensor_type = operand.tensor_type.clone();
            tensors.push(TensorFinding::not_compared(names(index, operand), tensor_type, reason));
        }
        self.report.dispatches.push(DispatchFinding {
            number,
            names: (dispatch.export.clone(), None),
            source_text: self.a.source_text(dispatch),
            source: dispatch.source.clone(),
            tensors,
            inputs: Vec::new(),
            reason: dispatch.missing.clone(),
        });
        let all = wanted.len();
        let mut synced = self.take_kept(dispatch, &work, &mut wanted);
        let mut ahead = 0;
        while !wanted.is_empty() && ahead < MOST_AHEAD && self.bytes < MOST_KEPT {
            let Some(other) = self.step_b(Some(Now {
                standing: dispatch,
                work: &work,
                wanted: &mut wanted,
                synced: &mut synced,
            })) else {
                break;
            };
            ahead += 1;
            self.note_parting(dispatch, &other);
        }
        for (key, index, place) in wanted {
            let Some(Ok(tensor)) = dispatch.operands[index].tensor.as_ref().map(TensorView::kept)
            else {
                continue;
            };
            self.bytes += length(&tensor);
            let place = (number, place);
            self.waiting.insert(key, Waiting { place, operand: index, tensor, work: work.clone() });
        }
        let results = dispatch.operands.iter().filter(|it| it.is_written);
        let tensor = results.filter_map(|it| it.tensor.as_ref()).next();
        let own = tensor.map_or(0.0, |it| Tolerance::relative_of(&work, it));
        self.total += own;
        if synced < all.max(1) || self.plan.mode == Mode::Accumulated {
            self.carried += own;
        }
    }

    /// Compares what side B has left before.
    fn take_kept(
        &mut self,
        dispatch: &StandingDispatch,
        work: &Work,
        wanted: &mut Vec<Wanted>,
    ) -> usize {
        let number = self.a.ran - 1;
        wanted.retain(|(key, index, place)| {
            let Some(other) = self.kept.remove(key) else { return true };
            self.bytes = self.bytes.saturating_sub(length(&other.0));
            if let Some(tensor) = &dispatch.operands[*index].tensor {
                let (other, operand, other_work) = other;
                let sides = [(tensor, work), (&other, &other_work)];
                self.compare((number, *place), [*index, operand], sides, dispatch);
            }
            false
        });
        0
    }

    /// Runs side B to its next dispatch, and compares what is wanted. None: it is over.
    fn step_b(&mut self, mut now: Option<Now<'_>>) -> Option<StandingDispatch> {
        let has_failed = self.report.failures.iter().any(|(side, _)| *side == "B");
        if self.over[1].is_some() || has_failed {
            return None;
        }
        let dispatch = match self.b.next() {
            Stand::After(dispatch) => dispatch,
            Stand::Before(dispatch) => return Some(dispatch),
            Stand::Over(values) => {
                self.over[1] = Some(returned(&values));
                return None;
            }
            Stand::Failed(failure) => {
                self.report.failed("B", &failure);
                return None;
            }
        };
        let work = self.b.work(&dispatch);
        for (index, operand) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written)
        {
            let pair = dispatch.index.and_then(|it| self.alignment.pair(1, (it, index)));
            let (Some(pair), Some(tensor)) = (pair, &operand.tensor) else { continue };
            let key = (pair, count(&mut self.times[1], pair));
            if let Some(Now { standing, work: own_work, wanted, synced }) = &mut now
                && let Some(at) = wanted.iter().position(|(it, ..)| *it == key)
            {
                let (_, own, place) = wanted.swap_remove(at);
                let number = self.a.ran - 1;
                if let Some(own_tensor) = standing.operands[own].tensor.as_ref() {
                    let sides = [(own_tensor, *own_work), (tensor, &work)];
                    self.compare((number, place), [own, index], sides, standing);
                    self.compare_inputs(number, standing, &dispatch);
                    **synced += usize::from(self.sync(number, [own_tensor, tensor]));
                }
                let other = Some(&dispatch.export).filter(|it| **it != standing.export);
                if let Some(finding) = self.report.dispatches.get_mut(number) {
                    finding.names.1 = other.cloned();
                }
                continue;
            }
            if let Some(waiting) = self.waiting.remove(&key) {
                self.bytes = self.bytes.saturating_sub(length(&waiting.tensor));
                let sides = [(&waiting.tensor, &*waiting.work), (tensor, &*work)];
                self.compare(waiting.place, [waiting.operand, index], sides, &dispatch);
            } else if let Ok(kept) = tensor.kept() {
                self.bytes += length(&kept);
                self.kept.insert(key, (kept, index, work.clone()));
            }
        }
        Some(dispatch)
    }

    /// Compares a tensor of both sides. The reader of the inputs is a dispatch of either side.
    fn compare(
        &mut self,
        (number, place): (usize, usize),
        operands: [usize; 2],
        sides: [(&TensorView, &Work); 2],
        reader: &StandingDispatch,
    ) {
        if self.plan.taken.is_some() {
            return;
        }
        let Some(dispatch) = self.report.dispatches.get_mut(number) else { return };
        let Some(finding) = dispatch.tensors.get_mut(place) else { return };
        let names = finding.names.clone();
        // Of tensors of one shape, the part that side A stores: where side B stores another one,
        // they differ.
        let is_one_shape = sides[0].0.shape() == sides[1].0.shape();
        let part = |side: usize| {
            let by = if is_one_shape { 0 } else { side };
            stored(sides[by].1, operands[by], sides[side].0)
        };
        *finding = match (part(0), part(1)) {
            (Ok(a), Ok(b)) => {
                let inputs = reader.operands.iter().filter(|it| it.is_read && !it.is_written);
                let inputs: Vec<_> = inputs.filter_map(|it| it.tensor.as_ref()).collect();
                let tolerance = || {
                    let own = Tolerance::of_work(sides[0].1, &a, &inputs);
                    let other = Tolerance::of_work(sides[1].1, &b, &inputs);
                    let reason = "errors before it";
                    let both = own.or(other).after(&Tolerance::carried(self.carried, &a, reason));
                    self.settings.overrides.applied(both, &names)
                };
                TensorFinding::of(names.clone(), &a, &b, tolerance)
            }
            (Err(reason), _) | (_, Err(reason)) => {
                TensorFinding::not_compared(names, sides[0].0.type_name(), reason)
            }
        };
        if finding.figures.is_some() && self.different.last() != Some(&number) {
            self.different.push(number);
        }
    }

    /// Looks for the reason of a difference in what both dispatches read.
    fn compare_inputs(&mut self, number: usize, a: &StandingDispatch, b: &StandingDispatch) {
        let Some(finding) = self.report.dispatches.get_mut(number) else { return };
        let is_bad = finding.verdict() == Verdict::Differs && finding.inputs.is_empty();
        if !is_bad || a.operands.len() != b.operands.len() {
            return;
        }
        for (index, (a_operand, b)) in a.operands.iter().zip(&b.operands).enumerate() {
            let is_read = |it: &debug::StandingOperand| it.is_read && !it.is_written;
            let (Some(own), Some(other)) = (&a_operand.tensor, &b.tensor) else { continue };
            if !is_read(a_operand) || !is_read(b) || a_operand.tensor_type != b.tensor_type {
                continue;
            }
            let tolerance = || {
                let reason = "errors before it";
                let carried = Tolerance::carried(self.carried, own, reason);
                self.settings.overrides.applied(carried, &names(index, a_operand))
            };
            let input = TensorFinding::of(names(index, a_operand), own, other, tolerance);
            if input.verdict == Verdict::Differs {
                finding.inputs.push(input);
            }
        }
    }

    /// Makes both sides go on with the same tensor. Returns whether they do.
    fn sync(&mut self, number: usize, [a, b]: [&TensorView; 2]) -> bool {
        let is_taken = self.plan.taken.as_ref().is_some_and(|it| it.contains(&number));
        match self.plan.mode {
            Mode::Accumulated => false,
            _ if is_taken => a.copy_from(b).is_ok(),
            Mode::Isolated | Mode::Bisect => b.copy_from(a).is_ok(),
        }
    }

    /// Says where the sides first run different dispatches, if they have the same.
    fn note_parting(&mut self, a: &StandingDispatch, b: &StandingDispatch) {
        if self.has_parted || !self.alignment.is_by_place || a.index == b.index {
            return;
        }
        self.has_parted = true;
        let place = |dispatch: &StandingDispatch| {
            let source = dispatch.source.as_ref().map(crate::text::place);
            source.map(|it| format!(" ({it})")).unwrap_or_default()
        };
        self.report.notes.push(format!(
            "the sides go apart at dispatch {}: A runs @{}{}, B runs @{}{}; what both run after \
             that is still compared",
            self.a.ran - 1,
            a.export,
            place(a),
            b.export,
            place(b),
        ));
    }
}

/// How often a pair was computed before.
fn count(times: &mut HashMap<usize, usize>, pair: usize) -> usize {
    let times = times.entry(pair).or_default();
    *times += 1;
    *times - 1
}

/// How many bytes a tensor takes, about.
fn length(tensor: &TensorView) -> usize {
    tensor.count().saturating_mul(usize::from(tensor.element_type().bits).div_ceil(8))
}
