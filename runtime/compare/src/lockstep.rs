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
//!
//! Here is how the sides run; `sides` has what is known of them before, and `comparing` judges what
//! they have left.

mod comparing;
mod sides;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use debug::{InterruptHandle, LaunchOptions, StandingDispatch, TensorView};

use crate::alignment::{Alignment, Listed};
use crate::bounds::{Live, Ran, apart};
use crate::errors::{CompareError, NotCompared, NotJudged};
use crate::evaluated::opinion_of;
use crate::finding::{TensorFinding, Verdict};
use crate::judged::{BY_OWN_TEXTS, Judged, Opinion};
use crate::kept::length;
use crate::own::OwnTensors;
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names};

/// Side B is at most so many dispatches ahead of side A.
const MOST_AHEAD: usize = 64;

/// What one side has left and the other has not yet is kept, up to so many bytes.
const MOST_KEPT: usize = 1 << 28;

/// How the sides depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    /// The dispatches of side A, by number, whose results side A takes from side B. Nothing is
    /// compared then.
    pub(crate) taken: Option<Vec<u64>>,
}

/// What a run in lock step has found.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The results of side A.
    pub(crate) returned: Option<Vec<Returned>>,
    /// The dispatches, by number, that have left something else on side B than is allowed.
    pub(crate) different: Vec<u64>,
    /// Of each dispatch of side A that was compared while both stood at it: its number on side B,
    /// and whether both have the same text.
    pairs: HashMap<u64, (u64, bool)>,
}

/// A tensor that side A has just left: its key, its operand, and its place in the finding.
type Wanted = (Key, usize, usize);

/// Where side A stands while side B runs.
struct Now<'n> {
    standing: &'n StandingDispatch,
    ran: &'n Rc<Ran>,
    /// What side B is to leave.
    wanted: &'n mut Vec<Wanted>,
}

/// A tensor that is known by its pair, and how often that was computed before.
type Key = (usize, usize);

/// Compares two programs. Of the first dispatch that differs, the text on each side says whether
/// that side is wrong, unless that takes more than `most_operations` scalar operations.
///
/// # Errors
/// [`CompareError`]: one of them cannot be loaded, or their functions cannot be compared.
pub fn against_other(
    sides: [LaunchOptions; 2],
    described: [String; 2],
    mode: Mode,
    most_operations: u64,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let plan = Plan { mode, taken: None };
    let outcome = run(sides.clone(), described, &plan, settings, progress)?;
    let mut report = outcome.report;
    let number = report.first_bad().map(|it| it.number);
    let bad = report.dispatches.iter_mut().find(|it| Some(it.number) == number);
    if let Some(bad) = bad
        && let Some(&(other, has_same_text)) = outcome.pairs.get(&bad.number)
    {
        let [a, b] = sides;
        let opinions =
            [(a, bad.number), (b, other)].map(|(it, at)| opinion_of(it, at, most_operations));
        bad.judged = Some(judged(opinions, has_same_text));
    }
    Ok(report)
}

/// What the texts of both sides say.
fn judged(opinions: [Result<Opinion, NotJudged>; 2], has_same_text: bool) -> Judged {
    let refused = opinions.iter().find_map(|it| it.as_ref().err());
    let remark = match (&opinions, refused) {
        (_, Some(reason)) => Some(format!("its text was not evaluated: {reason}")),
        ([Ok(Opinion::Right), Ok(Opinion::Right)], _) => Some(match has_same_text {
            true => "both have the same text, so what they read differs, or else by how much they \
                     may differ is judged too strictly"
                .to_owned(),
            false => "their texts differ, or what they read".to_owned(),
        }),
        _ => None,
    };
    let opinions = opinions.map(|it| it.unwrap_or(Opinion::Unknown));
    Judged { opinions, sides: ["side A", "side B"], by: BY_OWN_TEXTS, remark }
}

/// Runs two programs in lock step.
pub(crate) fn run(
    sides: [LaunchOptions; 2],
    described: [String; 2],
    plan: &Plan,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, CompareError> {
    let [a, b] = sides;
    let load = |options: LaunchOptions, side| {
        // Each stops on its own.
        let options = LaunchOptions { interrupt: InterruptHandle::default(), ..options };
        Side::load(options, Stops::After)
            .map_err(|error| CompareError::SideNotLoaded { side, source: Arc::new(error) })
    };
    let (mut a, mut b) = (load(a, "A")?, load(b, "B")?);
    if plan.taken.is_none() {
        a.judge(true);
        b.judge(true);
    }
    let function = sides::same_function(&a, &b)?;
    let lists = [&a, &b].map(sides::listed);
    let texts = lists.each_ref().map(|(dispatches, keys)| {
        let indices = dispatches.iter().map(|it| it.index);
        indices.zip(keys.iter().cloned()).collect::<HashMap<_, _>>()
    });
    let [list, other] = lists.each_ref().map(|(dispatches, keys)| Listed { dispatches, keys });
    let alignment = Alignment::of(list, other);
    let mut report =
        Report::begun(described, function, plan.mode, sides::notes(&alignment, &a, &b));
    report.is_of_two = true;
    let mut lockstep = Lockstep {
        a,
        b,
        alignment,
        plan,
        settings,
        report,
        different: Vec::new(),
        times: Default::default(),
        kept: HashMap::new(),
        waiting: HashMap::new(),
        bytes: 0,
        over: [None, None],
        has_parted: false,
        unjudged: 0,
        has_synced: false,
        own: OwnTensors::default(),
        names: HashMap::new(),
        texts,
        met: HashMap::new(),
    };
    lockstep.run(progress);
    lockstep.say_what_b_lacks();
    lockstep.compare_results();
    let has_synced = lockstep.has_synced && plan.taken.is_none();
    let Lockstep { mut report, different, over: [a, b], met, .. } = lockstep;
    if a.is_some() && b.is_some() {
        if has_synced {
            // What side B has got from side A and returns says nothing of side B.
            report.results.retain(|it| it.verdict != Verdict::Equal || it.tensor_type.is_empty());
        }
        let is_bad = |it: &TensorFinding| it.verdict == Verdict::Differs;
        if report.results.iter().any(is_bad) && report.first_bad().is_none() {
            report.notes.push(
                "the results differ although no dispatch that was compared does: look at what \
                 could not be compared, at copies, and at the host's code"
                    .to_owned(),
            );
        }
    }
    Ok(Outcome { report, returned: a.map(|it| it.returned), different, pairs: met })
}

/// Two programs on their way.
struct Lockstep<'p> {
    a: Side,
    b: Side,
    alignment: Alignment,
    plan: &'p Plan,
    settings: &'p Settings,
    report: Report,
    different: Vec<u64>,
    /// How often each pair was computed on each side.
    times: [HashMap<usize, usize>; 2],
    /// What side B has left before side A, with its operand and its dispatch.
    kept: HashMap<Key, (TensorView, usize, Rc<Ran>)>,
    /// What side A has left before side B: the place of its finding, and what belongs to it.
    waiting: HashMap<Key, Waiting>,
    /// How many bytes are kept.
    bytes: usize,
    /// The results of each side that is over.
    over: [Option<Over>; 2],
    has_parted: bool,
    /// How many pairs of tensors are not judged.
    unjudged: usize,
    /// Whether side B has gone on with something of side A.
    has_synced: bool,
    own: OwnTensors,
    /// What each pair is called.
    names: HashMap<usize, String>,
    /// What each dispatch of a side is, by its index.
    texts: [HashMap<usize, Option<String>>; 2],
    /// As [`Outcome::pairs`].
    met: HashMap<u64, (u64, bool)>,
}

/// What a side has returned.
struct Over {
    returned: Vec<Returned>,
    /// For each result, the dispatch that has left it, if both sides do not have the same.
    live: Vec<Option<Live>>,
    /// For each result, by how much it is away from the other side's at most, if that is known.
    apart: Vec<Option<f64>>,
}

impl Over {
    fn of(side: &Side, values: &[vm::Value]) -> Self {
        let tensors = values.iter().map(debug::tensor_of_value);
        let live = tensors.clone().map(|tensor| side.live_at(&tensor?)).collect();
        let apart = tensors.map(|tensor| side.apart_at(&tensor?)).collect();
        Self { returned: returned(values), live, apart }
    }
}

/// A tensor that side A has left and side B has not.
struct Waiting {
    /// The index of its dispatch and of its tensor in the report.
    place: (usize, usize),
    /// Which operand of its dispatch it is.
    operand: usize,
    tensor: TensorView,
    ran: Rc<Ran>,
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
                    self.over[0] = Some(Over::of(&self.a, &values));
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
        let at = self.a.ran - 1;
        let ran = self.a.ran(dispatch);
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut tensors = Vec::new();
        for (index, operand) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written)
        {
            let pair = dispatch.index.and_then(|it| self.alignment.pair(0, (it, index)));
            let reason = match pair {
                Some(_) => "side B has not computed it",
                None => {
                    self.a.leaves(&ran, index, None);
                    "no tensor of side B is known to be the same"
                }
            };
            if let Some(pair) = pair {
                self.names.entry(pair).or_insert_with(|| names(index, operand).join(" = "));
                wanted.push(((pair, count(&mut self.times[0], pair)), index, tensors.len()));
            }
            let tensor_type = operand.tensor_type.clone();
            tensors.push(TensorFinding::not_compared(names(index, operand), tensor_type, reason));
        }
        self.own.follow(self.a.debugger.machine());
        self.own.written(dispatch);
        self.report.dispatches.push(DispatchFinding {
            number: dispatch.number,
            names: (dispatch.export.clone(), None),
            node: dispatch.node.clone(),
            source_text: self.a.source_text(dispatch),
            source: dispatch.source.clone(),
            tensors,
            inputs: Vec::new(),
            reason: dispatch.missing.clone(),
            compared_with: None,
            judged: None,
        });
        self.take_kept(dispatch, &ran, &mut wanted);
        let mut ahead = 0;
        while !wanted.is_empty() && ahead < MOST_AHEAD && self.bytes < MOST_KEPT {
            let Some(other) =
                self.step_b(Some(Now { standing: dispatch, ran: &ran, wanted: &mut wanted }))
            else {
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
            let (place, ran) = ((at, place), Rc::clone(&ran));
            self.a.leaves(&ran, index, None);
            self.waiting.insert(key, Waiting { place, operand: index, tensor, ran });
        }
    }

    /// Compares what side B has left before.
    fn take_kept(&mut self, dispatch: &StandingDispatch, ran: &Rc<Ran>, wanted: &mut Vec<Wanted>) {
        let at = self.a.ran - 1;
        wanted.retain(|(key, index, place)| {
            let Some((other, operand, other_ran)) = self.kept.remove(key) else { return true };
            self.bytes = self.bytes.saturating_sub(length(&other));
            if let Some(tensor) = &dispatch.operands[*index].tensor {
                let sides = [(tensor, &**ran), (&other, &*other_ran)];
                self.compare((at, *place), [*index, operand], sides);
                self.a.leaves(ran, *index, None);
            }
            false
        });
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
                self.over[1] = Some(Over::of(&self.b, &values));
                return None;
            }
            Stand::Failed(failure) => {
                self.report.failed("B", &failure);
                return None;
            }
        };
        let ran = self.b.ran(&dispatch);
        for (index, operand) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written)
        {
            let pair = dispatch.index.and_then(|it| self.alignment.pair(1, (it, index)));
            let (Some(pair), Some(tensor)) = (pair, &operand.tensor) else {
                self.b.leaves(&ran, index, None);
                continue;
            };
            let key = (pair, count(&mut self.times[1], pair));
            if let Some(Now { standing, ran: own_ran, wanted }) = &mut now
                && let Some(at) = wanted.iter().position(|(it, ..)| *it == key)
            {
                let (_, own, place) = wanted.swap_remove(at);
                let at = self.a.ran - 1;
                let is_proven = self.alignment.is_proven(pair);
                let reason = (!is_proven).then(|| same_inputs(standing, &dispatch).err()).flatten();
                if let Some(reason) = reason {
                    self.leave_out((at, place), reason.to_string());
                    self.a.leaves(own_ran, own, None);
                    self.b.leaves(&ran, index, None);
                } else if let Some(own_tensor) = standing.operands[own].tensor.as_ref() {
                    let sides = [(own_tensor, &***own_ran), (tensor, &*ran)];
                    self.compare((at, place), [own, index], sides);
                    self.compare_inputs(at, standing, &dispatch);
                    self.compare_own(standing, &dispatch);
                    self.meet(standing, &dispatch);
                    if self.sync(standing.number, [own_tensor, tensor]) {
                        self.has_synced = true;
                    } else {
                        self.go_on_apart([(own_ran, own, own_tensor), (&ran, index, tensor)]);
                    }
                    if let Some(finding) = self.report.dispatches.get_mut(at)
                        && !is_proven
                    {
                        finding.compared_with = Some(UNPROVEN.to_owned());
                    }
                }
                let other = Some(&dispatch.export).filter(|it| **it != standing.export);
                if let Some(finding) = self.report.dispatches.get_mut(at) {
                    finding.names.1 = other.cloned();
                }
                continue;
            }
            if !self.alignment.is_proven(pair) {
                // That both read the same can be seen only where both stand.
                self.b.leaves(&ran, index, None);
                continue;
            }
            if let Some(waiting) = self.waiting.remove(&key) {
                self.bytes = self.bytes.saturating_sub(length(&waiting.tensor));
                let sides = [(&waiting.tensor, &*waiting.ran), (tensor, &*ran)];
                self.compare(waiting.place, [waiting.operand, index], sides);
                self.b.leaves(&ran, index, None);
            } else if let Ok(kept) = tensor.kept() {
                self.bytes += length(&kept);
                self.b.leaves(&ran, index, None);
                self.kept.insert(key, (kept, index, Rc::clone(&ran)));
            }
        }
        Some(dispatch)
    }

    /// Both sides go on with their own results of a dispatch.
    fn go_on_apart(&mut self, [a, b]: [(&Rc<Ran>, usize, &TensorView); 2]) {
        let apart = match self.plan.mode {
            Mode::Accumulated => apart(a.2, b.2),
            Mode::Isolated | Mode::Bisect => None,
        };
        // What side B has is as it is, and side A's is so far away.
        if apart.is_none() {
            self.b.leaves(b.0, b.1, None);
        }
        self.a.leaves(a.0, a.1, apart);
    }

    /// Both sides stand at a dispatch.
    fn meet(&mut self, a: &StandingDispatch, b: &StandingDispatch) {
        let text = |side: usize, at: &StandingDispatch| self.texts[side].get(&at.index?)?.as_ref();
        let is_same = text(0, a).is_some_and(|own| text(1, b) == Some(own));
        self.met.insert(a.number, (b.number, is_same));
    }

    /// A tensor is not compared.
    fn leave_out(&mut self, (at, place): (usize, usize), reason: String) {
        let Some(dispatch) = self.report.dispatches.get_mut(at) else { return };
        if let Some(finding) = dispatch.tensors.get_mut(place) {
            finding.reason = Some(reason);
        }
    }

    /// Says what side B has computed less often than side A, or more often.
    fn say_what_b_lacks(&mut self) {
        if self.over.iter().any(Option::is_none) {
            return;
        }
        let often = |n: usize| if n == 1 { "once".to_owned() } else { format!("{n} times") };
        let times = |pair: &usize| {
            let [a, b] = [0, 1].map(|side| self.times[side].get(pair).copied());
            Some((a?, b?)).filter(|(a, b)| a != b)
        };
        let waiting = self.waiting.iter();
        let less: Vec<((usize, usize), String)> = waiting
            .filter_map(|((pair, _), waiting)| {
                let (a, b) = times(pair)?;
                let (a, b) = (often(a), often(b));
                let why = "a loop ran another number of times";
                Some((waiting.place, format!("side A computes it {a}, and side B {b}: {why}")))
            })
            .collect();
        let mut pairs: Vec<usize> = self.times[0].keys().copied().collect();
        pairs.sort_unstable();
        let parted = pairs.into_iter().find_map(|pair| Some((pair, times(&pair)?)));
        let note = parted.map(|(pair, (a, b))| {
            let name = self.names.get(&pair).cloned().unwrap_or_default();
            let (a, b) = (often(a), often(b));
            format!("a loop ran another number of times: side A computes {name} {a}, side B {b}")
        });
        less.into_iter().for_each(|(place, reason)| self.leave_out(place, reason));
        self.report.notes.extend(note);
    }

    /// Makes both sides go on with the same tensor. Returns whether they do.
    fn sync(&mut self, number: u64, [a, b]: [&TensorView; 2]) -> bool {
        let is_taken = self.plan.taken.as_ref().is_some_and(|it| it.contains(&number));
        match self.plan.mode {
            Mode::Accumulated => false,
            _ if is_taken => a.copy_from(b).is_ok(),
            Mode::Isolated | Mode::Bisect => b.copy_from(a).is_ok(),
        }
    }

    /// Says where the sides first run different dispatches, if they have the same.
    fn note_parting(&mut self, a: &StandingDispatch, b: &StandingDispatch) {
        let pair = |side: usize, dispatch: &StandingDispatch| {
            let written = dispatch.operands.iter().position(|it| it.is_written)?;
            self.alignment.pair(side, (dispatch.index?, written))
        };
        if self.has_parted || !self.alignment.is_by_place || pair(0, a) == pair(1, b) {
            return;
        }
        self.has_parted = true;
        let place = |dispatch: &StandingDispatch| {
            let source = dispatch.source.as_ref().map(crate::report::place);
            source.map(|it| format!(" ({it})")).unwrap_or_default()
        };
        self.report.notes.push(format!(
            "the sides go apart at command {}: A runs @{}{}, B runs @{}{}; what both run after \
             that is still compared",
            a.number,
            a.export,
            place(a),
            b.export,
            place(b),
        ));
    }
}

/// How a dispatch is compared that no name aligns.
const UNPROVEN: &str =
    "the dispatch of side B with the same shapes, and the same text or place, on the same bytes";

/// Whether two dispatches have read the same bytes.
///
/// # Errors
/// [`NotCompared::NotAligned`]: they have not, or that cannot be seen any more.
fn same_inputs(a: &StandingDispatch, b: &StandingDispatch) -> Result<(), NotCompared> {
    for (index, (a, b)) in a.operands.iter().zip(&b.operands).enumerate() {
        if !a.is_read {
            continue;
        }
        let not_aligned =
            |what| NotCompared::NotAligned { name: names(index, a).join(" = "), what };
        if a.is_written {
            return Err(not_aligned("overwritten"));
        }
        let bytes = |it: &debug::StandingOperand| Some(it.tensor.as_ref()?.tensor()?.bytes);
        if bytes(a).is_none() || bytes(a) != bytes(b) {
            return Err(not_aligned("another one"));
        }
    }
    Ok(())
}

/// How often a pair was computed before.
fn count(times: &mut HashMap<usize, usize>, pair: usize) -> usize {
    let times = times.entry(pair).or_default();
    *times += 1;
    *times - 1
}
