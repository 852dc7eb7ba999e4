//! What both sides have left, read and returned, compared; and how far it may be apart.

use debug::{StandingDispatch, TensorView};

use super::Lockstep;
use crate::allowed::{Allowed, Bounds};
use crate::bounds::{Live, Ran, is_same_code};
use crate::errors::NotJudged;
use crate::finding::{TensorFinding, Verdict};
use crate::results::{Returned, compared};
use crate::side::{Part, names, stored};
use crate::tolerance::Tolerance;

impl Lockstep<'_> {
    /// Compares a tensor of both sides.
    pub(super) fn compare(
        &mut self,
        (at, place): (usize, usize),
        operands: [usize; 2],
        sides: [(&TensorView, &Ran); 2],
    ) {
        if self.plan.taken.is_some() {
            return;
        }
        let finding = |lockstep: &Self| {
            let dispatch = lockstep.report.dispatches.get(at)?;
            Some((dispatch.number, dispatch.tensors.get(place)?.names.clone()))
        };
        let Some((number, names)) = finding(self) else { return };
        // Of tensors of one shape, the part that side A stores: where side B stores another one,
        // they differ.
        let is_one_shape = sides[0].0.shape() == sides[1].0.shape();
        let part = |side: usize| {
            let by = if is_one_shape { 0 } else { side };
            stored(&sides[by].1.work, operands[by], sides[side].0)
        };
        let finding = match (part(0), part(1)) {
            (Ok(a), Ok(b)) => {
                let compared = |part: &Option<Part>, whole: &TensorView| {
                    part.as_ref().map_or_else(|| whole.clone(), |(part, _)| part.clone())
                };
                let tensors = [compared(&a, sides[0].0), compared(&b, sides[1].0)];
                let part = a.map(|(_, starts)| (sides[0].0.clone(), starts));
                let keep = self.settings.keep.clone();
                let allowed = || {
                    let set = self.settings.overrides.set_for(&names).map(Allowed::Tolerance);
                    set.unwrap_or_else(|| self.allowed(operands, sides, part))
                };
                TensorFinding::of(names.clone(), tensors.each_ref(), &keep, allowed)
            }
            (Err(reason), _) | (_, Err(reason)) => {
                TensorFinding::not_compared(names, sides[0].0.type_name(), reason)
            }
        };
        self.unjudged += usize::from(finding.verdict == Verdict::NotCompared);
        if finding.verdict == Verdict::Differs && self.different.last() != Some(&number) {
            self.different.push(number);
        }
        if let Some(dispatch) = self.report.dispatches.get_mut(at)
            && let Some(place) = dispatch.tensors.get_mut(place)
        {
            *place = finding;
        }
    }

    /// How far what two dispatches have left may be apart.
    fn allowed(
        &mut self,
        operands: [usize; 2],
        sides: [(&TensorView, &Ran); 2],
        part: Option<(TensorView, Vec<u64>)>,
    ) -> Allowed {
        let [(a, ran_a), (b, ran_b)] = sides;
        let of =
            |side, reason| Allowed::NotJudged(NotJudged::OfSide { side, reason: Box::new(reason) });
        let asked_a = match self.a.asked(ran_a) {
            Ok(asked) => asked,
            Err(reason) => return of("A", reason),
        };
        let asked_b = match self.b.asked(ran_b) {
            Ok(asked) => asked,
            Err(reason) => return of("B", reason),
        };
        let is_certain = ran_a.is_certain() && ran_b.is_certain();
        let programs = [&self.a, &self.b].map(|side| side.debugger.program());
        let exports = [ran_a.export(), ran_b.export()];
        if is_certain && asked_a.reads_the_same(asked_b) && is_same_code(programs, exports) {
            let reason = "both sides have the same text, flags and inputs";
            return Allowed::Tolerance(Tolerance::exact(reason));
        }
        let answer_a = match self.a.answer(ran_a) {
            Ok(answer) => answer,
            Err(reason) => return of("A", reason),
        };
        if is_certain && asked_a.is_same(asked_b) {
            ran_b.shares(ran_a);
        }
        let answer_b = match self.b.answer(ran_b) {
            Ok(answer) => answer,
            Err(reason) => return of("B", reason),
        };
        let both = [(answer_a, operands[0], a), (answer_b, operands[1], b)];
        let unrounded = || Some([self.a.unrounded(ran_a)?, self.b.unrounded(ran_b)?]);
        match Bounds::of_both(both, part) {
            Ok(bounds) => Allowed::Bounds(bounds.with_unrounded(operands, [a, b], unrounded)),
            Err(reason) => Allowed::NotJudged(reason),
        }
    }

    /// Compares what both sides have returned.
    pub(super) fn compare_results(&mut self) {
        let over = std::mem::take(&mut self.over);
        if let [Some(a), Some(b)] = &over {
            let results = compared(&a.returned, &b.returned, self.settings, |index| {
                let live = [a, b].map(|it| it.live.get(index).and_then(Option::as_ref));
                let apart = a.apart.get(index).copied().flatten();
                self.allowed_result(live, apart, [a, b].map(|it| it.returned.get(index)))
            });
            self.report.results = results;
        }
        self.over = over;
    }

    /// How far two results may be apart.
    fn allowed_result(
        &mut self,
        live: [Option<&Live>; 2],
        apart: Option<f64>,
        results: [Option<&Returned>; 2],
    ) -> Allowed {
        if self.report.first_bad().is_some() {
            return Allowed::Tolerance(Tolerance::exact("a dispatch before it differs"));
        }
        if let Some(absolute) = apart {
            if self.unjudged > 0 {
                return Allowed::NotJudged(NotJudged::Earlier);
            }
            let reason = "each dispatch before it is within its bound on its own inputs";
            return Allowed::Tolerance(Tolerance { absolute, ..Tolerance::exact(reason) });
        }
        match (live, results) {
            ([Some(a), Some(b)], [Some(Returned::Tensor(own)), Some(Returned::Tensor(other))]) => {
                let sides = [(own, &*a.ran), (other, &*b.ran)];
                self.allowed([a.operand, b.operand], sides, None)
            }
            _ => Allowed::NotJudged(NotJudged::NoDispatch),
        }
    }

    /// Looks for the reason of a difference in what both dispatches read.
    pub(super) fn compare_inputs(&mut self, at: usize, a: &StandingDispatch, b: &StandingDispatch) {
        let Some(finding) = self.report.dispatches.get_mut(at) else { return };
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
            if self.a.is_live(own) || self.b.is_live(other) {
                continue;
            }
            let names = names(index, a_operand);
            let set = self.settings.overrides.set_for(&names);
            let own_values = || Tolerance::exact("they are the sides' own");
            let allowed = || Allowed::Tolerance(set.unwrap_or_else(own_values));
            let input =
                TensorFinding::of(names.clone(), [own, other], &self.settings.keep, allowed);
            if input.verdict == Verdict::Differs {
                finding.inputs.push(input);
            }
        }
    }

    /// Compares what both dispatches read and no dispatch has written.
    pub(super) fn compare_own(&mut self, a: &StandingDispatch, b: &StandingDispatch) {
        if self.plan.taken.is_none() {
            self.report.own.extend(self.own.compared(a, b, &self.settings.keep));
        }
    }
}
