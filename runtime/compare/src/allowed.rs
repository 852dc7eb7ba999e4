//! How far two elements may be apart that two sides have left, and whether that is known.

use std::rc::Rc;

use debug::TensorView;
use reference::{Elements, Output};

use crate::bounds::Outputs;
use crate::errors::NotJudged;
use crate::tolerance::Tolerance;

/// What is allowed for a tensor.
pub(crate) enum Allowed {
    /// The same for all elements.
    Tolerance(Tolerance),
    /// By the bounds of what each side has evaluated.
    Bounds(Bounds),
    /// It is not known, and why.
    NotJudged(NotJudged),
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
    /// How far the other side's functions may be from its own text besides its rounding.
    slack: f64,
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
    fn of(outputs: Rc<Outputs>, operand: usize, tensor: &TensorView) -> Result<Self, NotJudged> {
        let index = outputs.iter().position(|(it, _)| *it == operand);
        let index = index.ok_or(NotJudged::NotSaid)?;
        let output = &outputs[index].1;
        let bits = (output.element_type.bits, tensor.element_type().bits);
        if output.values.len() != tensor.count() || bits.0 != bits.1 {
            return Err(NotJudged::OtherElements {
                shape: output.shape.clone(),
                element_type: output.element_type,
                own: tensor.type_name(),
            });
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
    ) -> Result<Self, NotJudged> {
        let of = |(outputs, operand, tensor)| Evaluated::of(outputs, operand, tensor);
        let sides = sides.into_iter().map(of).collect::<Result<Vec<_>, NotJudged>>()?;
        Ok(Self { sides, factor: 1.0, unrounded: None, fixed: None, slack: 0.0, part })
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
    ) -> Result<Self, NotJudged> {
        let sides = vec![Evaluated::of(outputs, operand, tensor)?];
        Ok(Self { sides, factor: 2.0, unrounded: None, fixed, slack: 0.0, part: None })
    }

    /// The same where the other side's functions are approximations.
    pub(crate) fn with_slack(self, slack: f64) -> Self {
        Self { slack, ..self }
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
        self.sides.iter().map(of).sum::<f64>() * self.factor + self.slack
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
        let slack = match self.slack > 0.0 {
            true => format!(", and {} for the framework's functions", Tolerance::SLACK),
            false => String::new(),
        };
        let reason = format!("{what} at the worst element{slack}");
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    fn tensor(ty: &str, values: &str) -> TensorView {
        let tensor = abi::tensor::Tensor::parse(&format!("{ty}={values}"), 99).unwrap();
        let buffer = Arc::new(vm::Buffer::from_bytes(&tensor.bytes).unwrap());
        TensorView::new(buffer, tensor.tensor_type()).unwrap()
    }

    fn outputs(ty: &str, values: Elements, bounds: &[f64]) -> Rc<Outputs> {
        let output = Output {
            parameter: None,
            shape: vec![values.len()],
            element_type: ty.parse().unwrap(),
            values,
            bounds: bounds.to_vec(),
            written: Vec::new(),
            reason: "a sum".to_owned(),
        };
        Rc::new(vec![(1, output)])
    }

    fn floats(values: &[f64], bounds: &[f64]) -> Rc<Outputs> {
        outputs("f32", Elements::Floats(values.to_vec()), bounds)
    }

    #[test]
    fn each_side_is_within_its_own_bound_and_both_within_both() {
        let it = tensor("3xf32", "1,1,1");
        let sides =
            [floats(&[1.0, 1.0, 1.0], &[0.5, 0.5, 0.5]), floats(&[1.0, 1.0, 3.0], &[0.5; 3])];
        let [a, b] = sides.map(|outputs| (outputs, 1, &it));
        let bounds = Bounds::of_both([a, b], None).unwrap();
        let allows = |at, a, b| bounds.allows(at, a, b, &it);
        assert_eq!(allows(0, 0.6, 1.4), Some(true));
        assert_eq!(allows(0, 0.4, 0.6), Some(false), "A is beyond its own bound");
        assert_eq!(allows(1, 1.0, 1.6), Some(false), "B is");
        assert_eq!(allows(2, 1.0, 3.0), Some(false), "the texts differ");
        assert_eq!(allows(0, f64::NAN, 1.0), Some(false));
        assert_eq!(bounds.tolerance(0, 0.6, 1.4, &it).absolute, 1.0);
    }

    #[test]
    fn an_integer_is_off_by_one_only_where_a_step_is_near() {
        let it = tensor("2xi8", "0,0");
        let both = || outputs("i8", Elements::Integers(vec![5, -3]), &[1.0, 0.0]);
        let bounds = Bounds::of_both([(both(), 1, &it), (both(), 1, &it)], None).unwrap();
        assert_eq!(bounds.allows(0, 5.0, 6.0, &it), Some(true));
        assert_eq!(bounds.allows(0, 5.0, 7.0, &it), Some(false));
        assert_eq!(bounds.allows(1, -3.0, -2.0, &it), Some(false));
        // As unsigned numbers.
        let whole = outputs("i8", Elements::Integers(vec![-1, -3]), &[1.0, 0.0]);
        let bounds = Bounds::of_both([(Rc::clone(&whole), 1, &it), (whole, 1, &it)], None).unwrap();
        assert_eq!(bounds.allows(0, 255.0, 254.0, &it), Some(true));
    }

    #[test]
    fn where_no_bound_is_nothing_is_said_unless_the_texts_differ() {
        let (a, b) = (tensor("2xf32", "1.01,2"), tensor("2xf32", "1,7"));
        let sides = || [floats(&[1.0, 2.0], &[INFINITE; 2]), floats(&[1.0, 7.0], &[INFINITE; 2])];
        let both = |[own, other]: [Rc<Outputs>; 2]| [(own, 1, &a), (other, 1, &b)];
        let unknown = Bounds::of_both(both(sides()), None).unwrap();
        assert_eq!(unknown.allows(1, 2.0, 7.0, &a), None);
        let known = unknown.with_unrounded([1, 1], [&a, &b], || Some(sides()));
        assert_eq!(known.allows(0, 1.01, 1.0, &a), None, "the texts are the same there");
        assert_eq!(known.allows(1, 2.0, 7.0, &a), Some(false));
        // One side is sure of a number.
        let sides = [floats(&[1.0, 2.0], &[0.1; 2]), floats(&[1.0, 2.0], &[INFINITE; 2])];
        let half = Bounds::of_both(both(sides), None).unwrap();
        assert_eq!(half.allows(0, 1.0, INFINITE, &a), Some(false));
        assert_eq!(half.allows(0, 1.0, 1.5, &a), None);
    }

    #[test]
    fn a_part_has_the_bounds_of_its_place_in_the_whole() {
        let whole = tensor("4xf32", "0,0,0,0");
        let (part, _) = whole.sliced("[2:4]").unwrap();
        let both = || floats(&[0.0; 4], &[0.0, 0.0, 1.0, 0.0]);
        let sides = [(both(), 1, &whole), (both(), 1, &whole)];
        let bounds = Bounds::of_both(sides, Some((whole.clone(), vec![2]))).unwrap();
        assert_eq!(bounds.allows(0, 0.5, 0.0, &part), Some(true));
        assert_eq!(bounds.allows(1, 0.5, 0.0, &part), Some(false));
    }

    #[test]
    fn a_bound_that_has_grown_gives_way_to_a_fixed_rule() {
        let it = tensor("2xf32", "1,1");
        let fixed = || Tolerance { absolute: 0.25, ..Tolerance::exact("a rule") };
        let one = (floats(&[1.0, 1.0], &[50.0, 0.01]), 1, &it);
        let bounds = Bounds::of_one(one, Some(fixed())).unwrap();
        assert_eq!(bounds.allows(0, 1.0, 1.2, &it), Some(true));
        assert_eq!(bounds.allows(0, 1.0, 1.3, &it), Some(false));
        assert_eq!(bounds.tolerance(0, 1.0, 1.3, &it), fixed());
        assert_eq!(bounds.allows(1, 1.0, 1.015, &it), Some(true), "both were rounded");
        assert_eq!(bounds.allows(1, 1.0, 1.03, &it), Some(false));
    }
}
