//! How far what a side has left may be from what the text of its dispatch says: the bounds of the
//! dispatch's own text, evaluated in float64 on what that side has read, element by element.
//!
//! Nothing is evaluated before it is asked for, which is where the bits of both sides differ.
//!
//! ```text
//!   a dispatch has run ──> Ran ──asked (what it reads)──> answer (values and bounds)
//!          │                ▲
//!          └ its results ── Live: not the same on both sides, so what reads them is uncertain
//! ```
//!
//! What a copy moves goes on with the bounds of what it has copied.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use debug::{Machine, OpinionQuestion, Opinions, Program, StandingDispatch, TensorView, Transfer};
use reference::{Elements, Output};

use crate::errors::NotJudged;
use crate::work::Work;

/// What each operand should be that a dispatch has written.
pub(crate) type Outputs = Vec<(usize, Output)>;

/// The most bytes of inputs that are kept for dispatches whose results the other side does not
/// have.
const MOST_KEPT: usize = 1 << 28;

/// A dispatch that has run, and what its text says of it.
pub(crate) struct Ran {
    pub(crate) work: Rc<Work>,
    dispatch: StandingDispatch,
    /// What it reads that is not the same on both sides.
    uncertain: Vec<Uncertain>,
    asked: OnceCell<Result<OpinionQuestion, NotJudged>>,
    answer: OnceCell<Result<Rc<Outputs>, NotJudged>>,
    /// The values in float64 since both sides had the same, without any rounding between.
    unrounded: OnceCell<Option<Rc<Outputs>>>,
}

/// A part of what a dispatch reads: where it begins in the operand, and what is known of it.
struct Uncertain {
    operand: usize,
    /// The place of the first of `live`'s elements in the operand.
    at: isize,
    /// Whether elements of both lie at whole places.
    is_aligned: bool,
    live: Live,
}

/// Memory with a result, or a part of one, that is not the same on both sides.
#[derive(Clone)]
pub(crate) struct Live {
    addresses: Range<usize>,
    /// How many elements the whole result has.
    count: usize,
    /// Which of them are here, in order.
    elements: Range<usize>,
    /// The dispatch that has left it, and its operand.
    pub(crate) ran: Rc<Ran>,
    pub(crate) operand: usize,
    /// How far each element is from the other side's, if that is known.
    pub(crate) apart: Option<Rc<Vec<f64>>>,
}

/// What a side needs for that.
pub(crate) struct Judge {
    opinions: Opinions<'static>,
    /// What a dispatch reads that writes over it, taken before it runs.
    before: Option<Result<OpinionQuestion, NotJudged>>,
    live: Vec<Live>,
    /// The last command whose moves are known.
    seen: u64,
    /// How many bounds of what one side has computed are those of both: the other side has rounded
    /// it, too, and is not evaluated.
    sides: f64,
}

impl Judge {
    /// For a program of which both sides are evaluated, or which is compared with a run that is
    /// not.
    pub(crate) fn new(program: &Program, is_other_evaluated: bool) -> Self {
        Self {
            opinions: Opinions::read(&program.flow_texts(), debug::MOST_OPERATIONS),
            before: None,
            live: Vec::new(),
            seen: 0,
            sides: if is_other_evaluated { 1.0 } else { 2.0 },
        }
    }

    /// The program stands before a dispatch.
    pub(crate) fn before(&mut self, program: &Program, dispatch: &StandingDispatch) {
        let overwrites = overwrites(dispatch);
        self.before = overwrites.then(|| self.question(program, dispatch));
    }

    /// Takes note of what copies have moved, and fills overwritten, since the last dispatch.
    pub(crate) fn follow(&mut self, machine: &Machine) {
        let (total, transfers) = machine.transfers_after(self.seen);
        self.seen = total;
        transfers.iter().for_each(|it| self.transferred(it));
    }

    fn transferred(&mut self, Transfer { source, target }: &Transfer) {
        let moved: Vec<Live> = match source {
            Some(source) => {
                let parts = self.live.iter().filter_map(|live| live.part(source));
                parts.map(|live| live.moved(source.start, target.start)).collect()
            }
            None => Vec::new(),
        };
        // What is overwritten in part may still be uncertain in the rest.
        let is_inside =
            |it: &Live| target.start <= it.addresses.start && it.addresses.end <= target.end;
        self.live.retain(|live| !is_inside(live));
        self.live.extend(moved);
    }

    fn question(
        &mut self,
        program: &Program,
        dispatch: &StandingDispatch,
    ) -> Result<OpinionQuestion, NotJudged> {
        Ok(self.opinions.question(program, dispatch)?)
    }

    /// A dispatch has run. What it has left counts as the same on both sides, until
    /// [`Self::leaves`] says otherwise.
    pub(crate) fn ran(&mut self, dispatch: &StandingDispatch, work: Rc<Work>) -> Rc<Ran> {
        let operands = dispatch.operands.iter().enumerate();
        let read = operands.clone().filter(|(_, it)| it.is_read);
        let uncertain = read.filter_map(|(index, it)| Some((index, it.tensor.as_ref()?)));
        let uncertain = uncertain.flat_map(|(index, tensor)| {
            let lives =
                self.live.iter().filter(|live| overlap(&live.addresses, &tensor.addresses()));
            lives.map(move |live| Uncertain::of(index, tensor, live))
        });
        let uncertain = uncertain.collect();
        for (_, operand) in operands.filter(|(_, it)| it.is_written) {
            if let Some(tensor) = &operand.tensor {
                let written = tensor.addresses();
                self.live.retain(|live| !overlap(&live.addresses, &written));
            }
        }
        let asked = self.before.take().map(OnceCell::from).unwrap_or_default();
        let (dispatch, answer, unrounded) = (dispatch.clone(), OnceCell::new(), OnceCell::new());
        Rc::new(Ran { work, dispatch, uncertain, asked, answer, unrounded })
    }

    /// Keeps what a dispatch has read, as the program goes on before it may be asked for.
    fn keep(&mut self, program: &Program, ran: &Ran) {
        if ran.asked.get().is_some() {
            return;
        }
        let kept: usize = self.live.iter().map(|live| live.ran.length()).sum();
        let asked = match kept <= MOST_KEPT {
            true => self.question(program, &ran.dispatch),
            false => Err(NotJudged::TooMuchRead),
        };
        let _ = ran.asked.set(asked);
    }

    /// What a dispatch has left is not the same on both sides. `apart`: by how much each element
    /// is away from the other side's, if that is known.
    pub(crate) fn leaves(
        &mut self,
        program: &Program,
        ran: &Rc<Ran>,
        operand: usize,
        apart: Option<Vec<f64>>,
    ) {
        let Some(tensor) = ran.dispatch.operands.get(operand).and_then(|it| it.tensor.as_ref())
        else {
            return;
        };
        if apart.is_none() {
            self.keep(program, ran);
        }
        self.live.push(Live {
            addresses: tensor.addresses(),
            count: tensor.count(),
            elements: 0..tensor.count(),
            ran: Rc::clone(ran),
            operand,
            apart: apart.map(Rc::new),
        });
    }

    /// The dispatch that has left a tensor, if that is not the same on both sides.
    pub(crate) fn live_at(&self, tensor: &TensorView) -> Option<Live> {
        let wanted = tensor.addresses();
        let is_it = |live: &&Live| {
            live.addresses == wanted && live.is_whole() && live.count == tensor.count()
        };
        self.live.iter().find(is_it).cloned()
    }

    /// By how much an element of a tensor is away from the other side's at most, if it is known of
    /// all that dispatches have left there.
    pub(crate) fn apart_at(&self, tensor: &TensorView) -> Option<f64> {
        let wanted = tensor.addresses();
        let lives = self.live.iter().filter(|live| overlap(&live.addresses, &wanted));
        let apart = lives.map(|live| {
            let apart = live.apart.as_ref()?.get(live.elements.clone())?;
            Some(apart.iter().copied().fold(0.0, f64::max))
        });
        apart.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// Whether a tensor may be other than that of the other side.
    pub(crate) fn is_live(&self, tensor: &TensorView) -> bool {
        let wanted = tensor.addresses();
        self.live.iter().any(|live| overlap(&live.addresses, &wanted))
    }

    /// What a dispatch has read: as it is now, unless it was kept.
    pub(crate) fn asked<'r>(
        &mut self,
        program: &Program,
        ran: &'r Ran,
    ) -> Result<&'r OpinionQuestion, NotJudged> {
        if ran.asked.get().is_none() {
            let _ = ran.asked.set(self.question(program, &ran.dispatch));
        }
        match ran.asked.get() {
            Some(Ok(question)) => Ok(question),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err(NotJudged::NotAsked),
        }
    }

    /// What a dispatch should have left. Its inputs are there, or were kept.
    pub(crate) fn answer(
        &mut self,
        program: &Program,
        ran: &Ran,
    ) -> Result<Rc<Outputs>, NotJudged> {
        self.asked(program, ran)?;
        self.answer_kept(ran)
    }

    /// The same for one whose inputs were kept.
    fn answer_kept(&self, ran: &Ran) -> Result<Rc<Outputs>, NotJudged> {
        ran.answer.get_or_init(|| self.evaluated(ran)).clone()
    }

    fn evaluated(&self, ran: &Ran) -> Result<Rc<Outputs>, NotJudged> {
        let question = match ran.asked.get() {
            Some(Ok(question)) => question,
            Some(Err(reason)) => return Err(reason.clone()),
            None => return Err(NotJudged::NotKept),
        };
        let bounds = self.bounds_of_inputs(ran)?;
        let answer = match bounds.is_empty() {
            true => self.opinions.answer(question),
            false => {
                let mut uncertain = question.clone();
                bounds.iter().for_each(|(operand, it)| uncertain.set_bounds(*operand, it));
                self.opinions.answer(&uncertain)
            }
        };
        Ok(Rc::new(answer?))
    }

    /// What a dispatch would have left in float64 if nothing were rounded since both sides had the
    /// same. None: that is not known.
    pub(crate) fn unrounded(&self, ran: &Ran) -> Option<Rc<Outputs>> {
        if ran.is_certain() {
            return ran.answer.get()?.clone().ok();
        }
        ran.unrounded.get_or_init(|| self.evaluated_unrounded(ran)).clone()
    }

    fn evaluated_unrounded(&self, ran: &Ran) -> Option<Rc<Outputs>> {
        let mut question = ran.asked.get()?.as_ref().ok()?.clone();
        for Uncertain { operand, at, live, .. } in &ran.uncertain {
            let tensor = ran.dispatch.operands.get(*operand)?.tensor.as_ref()?;
            let is_it = *at == 0 && live.is_whole() && live.count == tensor.count();
            if live.apart.is_some() || !is_it {
                return None;
            }
            self.answer_kept(&live.ran).ok()?;
            let outputs = self.unrounded(&live.ran)?;
            let (_, output) = outputs.iter().find(|(it, _)| *it == live.operand)?;
            let Elements::Floats(values) = &output.values else { continue };
            if !output.written.is_empty() {
                return None;
            }
            question.set_unrounded(*operand, values);
        }
        self.opinions.values(&question).ok().map(Rc::new)
    }

    /// How far what a dispatch has read may be from what the other side has.
    fn bounds_of_inputs(&self, ran: &Ran) -> Result<Vec<(usize, Vec<f64>)>, NotJudged> {
        let mut all: Vec<(usize, Vec<f64>)> = Vec::new();
        for Uncertain { operand, at, is_aligned, live } in &ran.uncertain {
            let tensor = ran.dispatch.operands.get(*operand).and_then(|it| it.tensor.as_ref());
            let count = tensor.map_or(0, TensorView::count);
            let known = match &live.apart {
                Some(apart) => Rc::clone(apart),
                None => {
                    let outputs =
                        self.answer_kept(&live.ran).map_err(|reason| NotJudged::Reads {
                            export: live.ran.dispatch.export.clone(),
                            reason: Box::new(reason),
                        })?;
                    let output = outputs.iter().find(|(it, _)| *it == live.operand);
                    let (_, output) = output.ok_or(NotJudged::ReadsUnsaid)?;
                    Rc::new(output.bounds.iter().map(|it| it * self.sides).collect())
                }
            };
            let place = all.iter().position(|(it, _)| it == operand).unwrap_or_else(|| {
                all.push((*operand, vec![0.0; count]));
                all.len() - 1
            });
            let bounds = &mut all[place].1;
            if !is_aligned {
                bounds.fill(f64::INFINITY);
                continue;
            }
            let known = known.get(live.elements.clone()).unwrap_or_default();
            for (index, bound) in known.iter().enumerate() {
                if let Some(it) = at.checked_add_unsigned(index)
                    && let Some(it) = usize::try_from(it).ok().and_then(|it| bounds.get_mut(it))
                {
                    *it = it.max(if bound.is_nan() { f64::INFINITY } else { *bound });
                }
            }
        }
        all.retain(|(_, bounds)| bounds.iter().any(|it| *it != 0.0));
        Ok(all)
    }
}

impl Ran {
    /// One that is not asked.
    pub(crate) fn unjudged(dispatch: &StandingDispatch, work: Rc<Work>) -> Rc<Self> {
        let (dispatch, uncertain) = (dispatch.clone(), Vec::new());
        let (asked, answer, unrounded) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Rc::new(Self { work, dispatch, uncertain, asked, answer, unrounded })
    }

    fn length(&self) -> usize {
        self.asked.get().and_then(|it| it.as_ref().ok()).map_or(0, OpinionQuestion::length)
    }

    /// Whether it is known how far what it reads is from what the other side has.
    pub(crate) fn is_measured(&self) -> bool {
        self.uncertain.iter().all(|it| it.live.apart.is_some())
    }

    /// The export.
    pub(crate) fn export(&self) -> &str {
        &self.dispatch.export
    }

    /// Whether it reads nothing but what is the same on both sides, or the program's own.
    pub(crate) fn is_certain(&self) -> bool {
        self.uncertain.is_empty()
    }

    /// Takes the answer of the other side's dispatch, which is the same one on the same inputs.
    pub(crate) fn shares(&self, other: &Self) {
        if let Some(answer) = other.answer.get() {
            let _ = self.answer.set(answer.clone());
        }
    }
}

impl Uncertain {
    fn of(operand: usize, tensor: &TensorView, live: &Live) -> Self {
        let own = tensor.addresses();
        let width = usize::from(tensor.element_type().bits) / 8;
        let is_whole = own == live.addresses && tensor.count() == live.count && live.is_whole();
        let is_bytes = tensor.element_type().bits.is_multiple_of(8) && width > 0;
        let apart = live.addresses.start.cast_signed() - own.start.cast_signed();
        let fits = is_bytes
            && live.addresses.len() == live.elements.len() * width
            && apart % width.cast_signed() == 0;
        let at = if is_bytes { apart / width.cast_signed() } else { 0 };
        Self { operand, at, is_aligned: is_whole || fits, live: live.clone() }
    }
}

impl Live {
    /// Whether all elements of the result are here.
    fn is_whole(&self) -> bool {
        self.elements.len() == self.count
    }

    /// What of it lies in some memory.
    fn part(&self, memory: &Range<usize>) -> Option<Self> {
        let all = &self.addresses;
        let start = all.start.max(memory.start);
        let end = all.end.min(memory.end);
        if start >= end || self.elements.is_empty() {
            return None;
        }
        if (start, end) == (all.start, all.end) {
            return Some(self.clone());
        }
        let width = all.len() / self.elements.len();
        if width == 0 || width * self.elements.len() != all.len() {
            // Where each element lies is not known: none of them is at a place of its own.
            return Some(Self { addresses: start..end, ..self.clone() });
        }
        let first = (start - all.start) / width;
        let last = (end - all.start).div_ceil(width);
        Some(Self {
            addresses: all.start + first * width..all.start + last * width,
            elements: self.elements.start + first..self.elements.start + last,
            ..self.clone()
        })
    }

    /// The same elsewhere: what was at one address is at another one.
    fn moved(self, from: usize, to: usize) -> Self {
        let moved = |address: usize| address.wrapping_sub(from).wrapping_add(to);
        let addresses = moved(self.addresses.start)..moved(self.addresses.end);
        Self { addresses, ..self }
    }
}

/// Whether a dispatch may write over what it reads.
fn overwrites(dispatch: &StandingDispatch) -> bool {
    let addresses = |is_meant: fn(&debug::StandingOperand) -> bool| {
        let operands = dispatch.operands.iter().filter(move |it| is_meant(it));
        operands.filter_map(|it| it.tensor.as_ref()).map(TensorView::addresses)
    };
    let written: Vec<Range<usize>> = addresses(|it| it.is_written).collect();
    addresses(|it| it.is_read).any(|read| written.iter().any(|it| overlap(it, &read)))
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// How far the elements of two tensors are apart; infinite, where that is no number.
pub(crate) fn apart(a: &TensorView, b: &TensorView) -> Option<Vec<f64>> {
    let b = b.regrouped(a.shape())?;
    let mut apart = vec![0.0; a.count()];
    let comparison = debug::Comparison::of(a.clone(), &b).ok()?;
    let looked = comparison.each_different(|at, a, b| {
        let difference = (a - b).abs();
        if let Some(it) = apart.get_mut(at) {
            *it = if difference.is_nan() { f64::INFINITY } else { difference };
        }
    });
    looked.ok().map(|()| apart)
}

/// Whether two programs have compiled a dispatch alike: then what it leaves is the same, bit by
/// bit.
pub(crate) fn is_same_code(programs: [&Program; 2], exports: [&str; 2]) -> bool {
    let [a, b] = [0, 1].map(|side| {
        let text = programs[side].executable_text(exports[side])?;
        let manifest = programs[side].dispatch_text(exports[side])?.debug_file?.manifest().clone();
        let compiler = manifest.compiler?;
        // Constants that the text leaves out may be others.
        (!text.contains("__elided__")).then_some((text, compiler, manifest.flags))
    });
    a.is_some() && a == b
}
