//! How far two elements may be apart that two sides have left, and whether that is known.

use std::rc::Rc;

use debug::TensorView;
use reference::{Elements, Output};

use crate::bounds::Outputs;
use crate::tolerance::Tolerance;

/// What is allowed for a tensor.
pub(crate) enum Allowed {
    /// The same for all elements.
    Tolerance(Tolerance),
    /// By the bounds of what each side has evaluated.
    Bounds(Bounds),
    /// Nobody knows, and why.
    NotJudged(String),
}

/// The bounds of an element on one side or both.
pub(crate) struct Bounds {
    sides: Vec<Evaluated>,
    /// Of how many sides the first one's bounds are.
    factor: f64,
    /// Where there is no bound: what both texts say, if nothing is rounded.
    unrounded: Option<Unrounded>,
    /// What counts where there is no bound, or only a wider one.
    fixed: Option<Tolerance>,
    /// The tensor that a part of is compared, and where that begins.
    part: Option<(TensorView, Vec<u64>)>,
}

/// What both sides would have left in float64 without any rounding. Where that is farther apart
/// than either side is from its own, by far, no rounding explains it: the texts differ.
struct Unrounded {
    sides: [Evaluated; 2],
    /// How far the elements of both sides are from it, at most.
    noise: f64,
}

/// How many times the noise texts are apart that are not the same.
const FAR: f64 = 8.0;

impl Unrounded {
    fn of(sides: [(Evaluated, &TensorView); 2]) -> Option<Self> {
        let mut noise = 0.0;
        for (side, tensor) in &sides {
            let Elements::Floats(values) = &side.output().values else { return None };
            let (mut at, mut most) = (0, 0.0_f64);
            tensor.each_value(|left| {
                let apart = (left - values.get(at).copied().unwrap_or(f64::NAN)).abs();
                if apart.is_finite() && side.output().is_written(at) {
                    most = most.max(apart);
                }
                at += 1;
            });
            noise += most;
        }
        Some(Self { sides: sides.map(|(side, _)| side), noise })
    }

    /// Whether the texts differ in an element.
    fn differs(&self, place: usize) -> bool {
        let values = self.sides.each_ref().map(|side| match &side.output().values {
            Elements::Floats(values) => values.get(place).copied().unwrap_or(f64::NAN),
            Elements::Integers(_) => f64::NAN,
        });
        (values[0] - values[1]).abs() > FAR * self.noise
    }
}

/// What one side should have left.
struct Evaluated {
    outputs: Rc<Outputs>,
    index: usize,
}

impl Evaluated {
    /// Of an operand. Refuses what has other elements than a tensor.
    fn of(outputs: Rc<Outputs>, operand: usize, tensor: &TensorView) -> Result<Self, String> {
        let index = outputs.iter().position(|(it, _)| *it == operand);
        let index = index.ok_or("its text does not say what is in it")?;
        let output = &outputs[index].1;
        let bits = (output.element_type.bits, tensor.element_type().bits);
        if output.values.len() != tensor.count() || bits.0 != bits.1 {
            let (shape, own) = (&output.shape, output.element_type);
            return Err(format!(
                "its text has {shape:?} of {own}, and it is {}",
                tensor.type_name()
            ));
        }
        Ok(Self { outputs, index })
    }

    fn output(&self) -> &Output {
        &self.outputs[self.index].1
    }
}

impl Bounds {
    /// Those of both sides. Each has its outputs, its operand and its tensor.
    pub(crate) fn of_both(
        sides: [(Rc<Outputs>, usize, &TensorView); 2],
        part: Option<(TensorView, Vec<u64>)>,
    ) -> Result<Self, String> {
        let of = |(outputs, operand, tensor)| Evaluated::of(outputs, operand, tensor);
        let sides = sides.into_iter().map(of).collect::<Result<Vec<_>, String>>()?;
        Ok(Self { sides, factor: 1.0, unrounded: None, fixed: None, part })
    }

    /// The same with what both sides would have left without any rounding, which is asked for if
    /// there are elements without a bound.
    pub(crate) fn with_unrounded(
        mut self,
        operands: [usize; 2],
        tensors: [&TensorView; 2],
        unrounded: impl FnOnce() -> Option<[Rc<Outputs>; 2]>,
    ) -> Self {
        if self.sides.iter().any(|it| it.output().unstable() > 0)
            && let Some([a, b]) = unrounded()
            && let Ok(a) = Evaluated::of(a, operands[0], tensors[0])
            && let Ok(b) = Evaluated::of(b, operands[1], tensors[1])
        {
            self.unrounded = Unrounded::of([(a, tensors[0]), (b, tensors[1])]);
        }
        self
    }

    /// Those of one side for both, as the other one was rounded, too, but is not evaluated.
    pub(crate) fn of_one(
        (outputs, operand, tensor): (Rc<Outputs>, usize, &TensorView),
        fixed: Option<Tolerance>,
    ) -> Result<Self, String> {
        let sides = vec![Evaluated::of(outputs, operand, tensor)?];
        Ok(Self { sides, factor: 2.0, unrounded: None, fixed, part: None })
    }

    /// The place of an element in the whole tensor.
    fn place(&self, at: usize, compared: &TensorView) -> usize {
        match &self.part {
            None => at,
            Some((whole, starts)) => {
                let indices = compared.indices_of(at);
                let indices = indices.iter().zip(starts).map(|(it, start)| it + *start as usize);
                whole.number_of(&indices.collect::<Vec<_>>())
            }
        }
    }

    /// How far an element of both may be apart; infinite, if that is not known.
    fn bound(&self, place: usize) -> f64 {
        let of = |side: &Evaluated| match side.output().has_opinion(place) {
            true => side.output().bound(place),
            false => f64::INFINITY,
        };
        self.sides.iter().map(of).sum::<f64>() * self.factor
    }

    /// Whether two values of an element are allowed; none, if that is not known.
    pub(crate) fn allows(&self, at: usize, a: f64, b: f64, compared: &TensorView) -> Option<bool> {
        let place = self.place(at, compared);
        let bound = self.bound(place);
        if let Some(fixed) = &self.fixed
            && bound > fixed.most(a, b)
        {
            return Some(fixed.allows(a, b));
        }
        if bound == f64::INFINITY {
            // Where one text is sure of a number, the other side has none.
            let is_sure = |at: usize, left: f64| {
                let known = self.sides.get(at).is_some_and(|it| it.output().has_opinion(place));
                known && left.is_finite()
            };
            let is_apart = is_sure(0, a) && !b.is_finite() || is_sure(1, b) && !a.is_finite();
            let is_other = |it: &Unrounded| it.differs(place);
            return (is_apart || self.unrounded.as_ref().is_some_and(is_other)).then_some(false);
        }
        let is_own = |(side, left): (&Evaluated, f64)| agrees(side.output(), place, left);
        // Each is right by its own text, and both texts say the same.
        let are_own = self.sides.iter().zip([a, b]).all(is_own);
        let is_same = a == b || a.is_nan() && b.is_nan();
        Some(are_own && (is_same || (a - b).abs() <= bound))
    }

    /// What is said of an element.
    pub(crate) fn tolerance(&self, at: usize, a: f64, b: f64, compared: &TensorView) -> Tolerance {
        let bound = self.bound(self.place(at, compared));
        if let Some(fixed) = &self.fixed
            && bound > fixed.most(a, b)
        {
            return fixed.clone();
        }
        if let Some(unrounded) = &self.unrounded
            && bound == f64::INFINITY
        {
            let why = "there is no bound, but no side is farther from its own text in float64, and \
                       both texts are";
            return Tolerance { absolute: unrounded.noise, ..Tolerance::exact(why) };
        }
        let mut reasons: Vec<&str> =
            self.sides.iter().map(|it| it.output().reason.as_str()).collect();
        reasons.dedup();
        let what = match &reasons[..] {
            [a, b] => format!("A: {a}; B: {b}"),
            _ => reasons.concat(),
        };
        let reason = format!("{what} at the worst element");
        Tolerance { absolute: bound, relative: 0.0, reason }
    }
}

/// Whether what was left is within the bound of its own text.
fn agrees(output: &Output, place: usize, left: f64) -> bool {
    match &output.values {
        Elements::Floats(_) => output.agrees_float(place, left),
        // As numbers of any sign; those that no f64 holds exactly are left to their difference.
        Elements::Integers(values) => {
            let width = 2_f64.powi(i32::from(output.element_type.bits));
            let value = values.get(place).copied().unwrap_or_default() as f64;
            let apart = (left - value).rem_euclid(width);
            width >= 2_f64.powi(54) || apart.min(width - apart) <= output.bound(place)
        }
    }
}
