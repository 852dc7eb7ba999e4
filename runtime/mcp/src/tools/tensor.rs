//! `tensor`: a tensor in figures, never in full.

use debug::{Children, FrameId, Machine, TensorView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::{Desk, Program};
use crate::stand::select;

pub(crate) struct Tensor;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A tensor, or a part of one: `%x`, `%x[0, 2:5]`, `operand[1]`, `abs(%x - %y)`.
    of: String,
    /// At most so many elements are shown, from the first on; 16 if not said, 256 at most.
    elements: Option<usize>,
    /// Also what it should be: the text of the dispatch that has left it, in float64.
    #[serde(default)]
    expected: bool,
    /// In this frame, which is then looked at from now on; 0 is the innermost one.
    frame: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Figures {
    /// The expression.
    of: String,
    /// The type: `4x8xf32`.
    #[serde(rename = "type")]
    type_name: String,
    /// How many elements it has.
    count: usize,
    /// The least element that is a number.
    min: Option<String>,
    /// Where that is.
    min_at: Option<String>,
    /// The greatest element that is a number.
    max: Option<String>,
    /// Where that is.
    max_at: Option<String>,
    /// The mean; none if it is not finite.
    mean: Option<f64>,
    /// The standard deviation.
    std: Option<f64>,
    /// How many elements are NaN.
    nan: Option<usize>,
    /// Where the first NaN is.
    first_nan: Option<String>,
    /// How many elements are infinite.
    inf: Option<usize>,
    /// Where the first infinity is.
    first_inf: Option<String>,
    /// How many elements are 0.
    zeros: Option<usize>,
    /// Whether an element is far from all others.
    outlier: Option<bool>,
    /// Elements from the first on, with their brackets.
    elements: String,
    /// Where the value is from, if it is not in memory now: computed again from the source, or as
    /// it was at a command.
    mark: Option<String>,
    /// What it should be, if that was asked for.
    expected: Option<String>,
    /// Why that is not known.
    expected_missing: Option<String>,
    /// What was left out, and how to ask for it.
    left_out: Vec<String>,
    /// What to ask next.
    next: Vec<String>,
}

impl Tool for Tensor {
    const NAME: &'static str = "tensor";
    const TITLE: &'static str = "A tensor in figures";
    const ABOUT: &'static str = "Statistics of a tensor or of a slice, where its extremes and its \
        first NaN are, and a few elements; with what it should be, if asked for.";
    type Arguments = Arguments;
    type Answer = Figures;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Figures, Problem> {
        let Arguments { of, elements, expected, frame } = arguments;
        desk.access.check_text(&of)?;
        let program = desk.standing()?;
        select(program, frame)?;
        let most = elements.unwrap_or(16).clamp(1, bounds::MOST_ELEMENTS);
        let mut figures = figures(program, &of, most)?;
        if expected {
            match program.line(&format!("expected {of}")) {
                Ok(heard) => figures.expected = heard.string("expected"),
                Err(problem) => figures.expected_missing = Some(problem.text),
            }
        }
        Ok(figures)
    }
}

fn figures(program: &Program, of: &str, most: usize) -> Result<Figures, Problem> {
    let machine = program.driver().debugger().machine();
    let frame = program.driver().session().frame();
    let limits = debug::Limits::default();
    let value = machine.evaluate_within(frame, of, limits);
    let value = value.map_err(|error| Problem::from(error.to_string()))?;
    let tensor = value.children.as_ref().and_then(Children::tensor);
    let tensor = tensor.ok_or_else(|| {
        let text = format!("{of} is no tensor: {} : {}", value.value, value.type_name);
        let evaluate = format!("evaluate {{\"expression\": {of:?}}}");
        Problem::with_next(bounds::line(&text, 400), &[&evaluate])
    })?;
    let found = tensor.summary(usize::MAX);
    let finite = |number: f64| number.is_finite().then_some(number);
    let count = |read: fn(&debug::Summary) -> usize| found.as_ref().map(read);
    let (nan, inf) = (count(|it| it.nans), count(|it| it.infinities));
    let has = |count: Option<usize>| count.is_some_and(|it| it > 0);
    let place = |function: &str| place(machine, frame, of, function);
    let next = match has(nan) || has(inf) {
        true => format!("why {{\"of\": {of:?}}}"),
        false => format!("who_wrote {{\"of\": {:?}}}", element(of, &tensor)),
    };
    let shown = tensor.tensor().map(|it| it.format(most)).unwrap_or_default();
    let left = tensor.count().saturating_sub(most);
    let left_out = match left {
        0 => Vec::new(),
        left => vec![format!("{left} elements: tensor {{\"of\": \"NAME[2:5]\"}}")],
    };
    let min = found.as_ref().and_then(|it| it.minimum.clone());
    let max = found.as_ref().and_then(|it| it.maximum.clone());
    Ok(Figures {
        type_name: tensor.type_name(),
        count: tensor.count(),
        min_at: min.as_ref().and_then(|_| place("argmin")),
        max_at: max.as_ref().and_then(|_| place("argmax")),
        min,
        max,
        mean: found.as_ref().and_then(|it| finite(it.mean)),
        std: found.as_ref().and_then(|it| finite(it.deviation)),
        nan,
        first_nan: has(nan).then(|| place("is_nan")).flatten(),
        inf,
        first_inf: has(inf).then(|| place("is_inf")).flatten(),
        zeros: count(|it| it.zeros),
        outlier: found.as_ref().map(|it| it.is_outlying),
        elements: bounds::text(&shown, most * 24 + 200),
        mark: Some(tensor.mark().trim().to_owned()).filter(|it| !it.is_empty()),
        expected: None,
        expected_missing: None,
        left_out,
        next: vec![next],
        of: of.to_owned(),
    })
}

/// The coordinates of an element: the least, the greatest, the first that is NaN or infinite.
fn place(machine: &Machine, frame: FrameId, of: &str, function: &str) -> Option<String> {
    let number = match function {
        "argmin" | "argmax" => format!("{function}({of})"),
        test => format!("argmax({test}({of}))"),
    };
    let limits = debug::Limits::default();
    let text = format!("unravel({number}, {of})");
    Some(machine.evaluate_within(frame, &text, limits).ok()?.value)
}

/// An element of it, for questions about one.
fn element(of: &str, tensor: &TensorView) -> String {
    match tensor.shape().len() {
        0 => of.to_owned(),
        axes => format!("{of}[{}]", vec!["0"; axes].join(", ")),
    }
}

impl Answer for Figures {
    fn text(&self) -> String {
        let mark = self.mark.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        let mut lines =
            vec![format!("{} : {}, {} elements{mark}", self.of, self.type_name, self.count)];
        let at =
            |at: &Option<String>| at.as_ref().map(|it| format!(" at {it}")).unwrap_or_default();
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            lines.push(format!("min {min}{}, max {max}{}", at(&self.min_at), at(&self.max_at)));
        }
        if let (Some(mean), Some(std)) = (self.mean, self.std) {
            lines.push(format!("mean {mean}, std {std}"));
        }
        if let (Some(nan), Some(inf), Some(zeros)) = (self.nan, self.inf, self.zeros) {
            lines.push(format!(
                "{nan} NaN{}, {inf} inf{}, {zeros} zero",
                at(&self.first_nan),
                at(&self.first_inf)
            ));
        }
        lines.push(self.elements.clone());
        lines.extend(self.expected.iter().map(|it| format!("expected {it}")));
        lines.extend(self.expected_missing.iter().map(|it| format!("expected: not known, {it}")));
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.next
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
