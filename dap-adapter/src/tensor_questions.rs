//! What a view of a tensor asks, and the answers: the cells that it shows, at most `MAX_CELLS`,
//! texts, figures of the whole, and how it compares with another. A tensor itself is never sent.
//!
//! Where the tensors come from is not known here: from a stopped program, or from a file.

use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use debug::{
    Cells, Comparison, Differences, Figures, Measure, Pair, Profile, QUANTILES, Rectangle,
    Reduction, Sought, TensorView, ViewError,
};
use serde::Deserialize;
use serde_json::{Value, json};
use values::{TensorFile, TensorFileError};

/// The most cells in one answer.
const MAX_CELLS: usize = 1 << 18;
/// The most texts in one answer.
const MAX_TEXTS: usize = 1 << 14;
/// The most bins of a histogram.
const MAX_BINS: usize = 1 << 10;
/// The most indices of an axis whose figures are in one answer.
const MAX_ALONG: usize = 1 << 12;
/// The most elements that figures of an axis are computed of for one answer, if one index has
/// fewer: what asks goes on from there, so that it knows how far it has come, and can stop.
const MAX_SUMMARISED: usize = 1 << 23;

/// A question about a tensor.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The part that is shown, as NumPy writes it: `[3, :, :, 0]`. By default, the first of the
    /// outer axes, and the last two in whole.
    slice: Option<String>,
    /// The rectangle of the slice.
    #[serde(default)]
    window: Window,
    /// The cells that the window becomes; without them, none are sent.
    cells: Option<CellsWanted>,
    /// Whether the texts of the window's elements are sent.
    #[serde(default)]
    texts: bool,
    /// Whether the texts have all digits that tell an element from its neighbours.
    #[serde(default)]
    exact: bool,
    /// Whether the texts are the bits of the elements, in hexadecimal.
    #[serde(default)]
    bits: bool,
    /// Whether figures are sent, with a histogram of so many bins.
    statistics: Option<usize>,
    /// Whether the figures are those of the slice only.
    #[serde(default)]
    of_slice: bool,
    /// The figures at each index of an axis, of the whole tensor.
    along: Option<Along>,
    find: Option<Find>,
    /// What is shown of a comparison.
    #[serde(default)]
    measure: Shown,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Window {
    row: usize,
    column: usize,
    rows: Option<usize>,
    columns: Option<usize>,
}

#[derive(Deserialize)]
struct CellsWanted {
    height: usize,
    width: usize,
    #[serde(default)]
    reduction: ReductionName,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum ReductionName {
    #[default]
    Mean,
    Extreme,
    First,
}

#[derive(Deserialize)]
struct Along {
    axis: usize,
    /// The first index; the answer has as many as it can.
    #[serde(default)]
    from: usize,
}

/// Which tensor, or which distance of both.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum Shown {
    #[default]
    A,
    B,
    Difference,
    Relative,
    Ulps,
}

#[derive(Deserialize)]
struct Find {
    what: What,
    /// The indices of an element; the search begins after it.
    after: Option<Vec<usize>>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum What {
    Nan,
    Infinity,
    NonZero,
    Different,
}

/// Why a question about a tensor has no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoAnswer {
    /// A comparison is asked for, and there is only one tensor.
    #[error("there is nothing to compare with: `with` is missing")]
    NothingToCompare,
    /// The question does not fit the tensor, or the two tensors do not fit each other.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// Why a tensor of a file is not shown.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// The file cannot be read, or has no such tensor.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// Its elements cannot be shown.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// One tensor, or a distance of two.
enum Subject<'c> {
    Tensor(&'c TensorView),
    Distance(&'c Comparison, Measure),
}

impl<'c> Subject<'c> {
    fn of(
        shown: Shown,
        tensor: &'c TensorView,
        pair: Option<&'c Comparison>,
    ) -> Result<Self, NoAnswer> {
        let measure = match shown {
            Shown::A => return Ok(Self::Tensor(tensor)),
            Shown::B => None,
            Shown::Difference => Some(Measure::Difference),
            Shown::Relative => Some(Measure::Relative),
            Shown::Ulps => Some(Measure::Ulps),
        };
        let pair = pair.ok_or(NoAnswer::NothingToCompare)?;
        Ok(measure.map_or(Self::Tensor(pair.other()), |measure| Self::Distance(pair, measure)))
    }

    fn cells(
        &self,
        window: Rectangle,
        size: (usize, usize),
        reduction: Reduction,
    ) -> Result<Cells, ViewError> {
        match self {
            Self::Tensor(tensor) => tensor.cells(window, size, reduction),
            Self::Distance(pair, measure) => pair.cells(*measure, window, size, reduction),
        }
    }

    fn texts(&self, window: Rectangle, of: &Question) -> Result<Vec<String>, ViewError> {
        match self {
            // What is computed of two elements has no bits of its own.
            Self::Tensor(tensor) if of.bits => tensor.bit_texts(window, MAX_TEXTS),
            Self::Tensor(tensor) if of.exact => tensor.exact_texts(window, MAX_TEXTS),
            Self::Tensor(tensor) => tensor.texts(window, MAX_TEXTS),
            Self::Distance(pair, measure) => pair.texts(*measure, window, MAX_TEXTS),
        }
    }

    fn figures_along(
        &self,
        axis: usize,
        indices: &Range<usize>,
    ) -> Result<Vec<Figures>, ViewError> {
        match self {
            Self::Tensor(tensor) => tensor.figures_along(axis, indices),
            Self::Distance(pair, measure) => pair.figures_along(*measure, axis, indices),
        }
    }

    fn profile(&self, bins: usize) -> Result<Profile, ViewError> {
        match self {
            Self::Tensor(tensor) => tensor.profile(bins),
            Self::Distance(pair, measure) => pair.profile(*measure, bins),
        }
    }
}

/// A tensor of a file, by its name unless it is the only one, in a type that is `declared` if the
/// file states none.
///
/// # Errors
/// The file cannot be read, or has no such tensor.
pub fn open(
    path: &Path,
    name: Option<&str>,
    declared: Option<&str>,
) -> Result<TensorView, NotOpened> {
    let (buffer, tensor_type) = TensorFile::open(path)?.tensor(name)?.load(declared)?;
    Ok(TensorView::new(buffer, tensor_type)?)
}

/// Answers a question about a tensor, or about how it compares with another.
///
/// # Errors
/// The question does not fit the tensor, or the two tensors do not fit each other.
pub fn answer(
    tensor: &TensorView,
    other: Option<&TensorView>,
    question: &Question,
) -> Result<Value, NoAnswer> {
    let text = question.slice.clone().unwrap_or_else(|| tensor.first_slice());
    let (part, axes) = tensor.sliced(&text)?;
    let (rows, columns) = part.plane()?;
    let window = Rectangle {
        row: question.window.row,
        column: question.window.column,
        rows: question.window.rows.unwrap_or(rows),
        columns: question.window.columns.unwrap_or(columns),
    };
    let mut body = json!({
        "type": tensor.type_name(),
        "elementType": tensor.element_type_name(),
        "shape": tensor.shape(),
        "slice": normal(&text),
        "axes": axes,
        "rows": rows,
        "columns": columns,
    });
    let whole = other.map(|other| Comparison::of(tensor.clone(), other)).transpose()?;
    let sliced = whole.as_ref().map(|pair| pair.sliced(&text)).transpose()?;
    if let Some(pair) = &whole {
        body["other"] = json!({"type": pair.other().type_name(), "hasUlps": pair.has_ulps()});
    }
    let shown = Subject::of(question.measure, &part, sliced.as_ref())?;
    if let Some(wanted) = &question.cells {
        body["cells"] = cells(&shown, window, wanted)?;
    }
    if question.texts {
        body["texts"] = json!(shown.texts(window, question)?);
    }
    if let Some(bins) = question.statistics {
        let (of, pair) = match question.of_slice {
            true => (&part, sliced.as_ref()),
            false => (tensor, whole.as_ref()),
        };
        let profile = Subject::of(question.measure, of, pair)?.profile(bins.min(MAX_BINS))?;
        body["statistics"] = statistics(of, &profile);
        if let Some(pair) = pair {
            body["differences"] = differences(of, &pair.differences()?);
        }
    }
    if let Some(wanted) = &question.along {
        let subject = Subject::of(question.measure, tensor, whole.as_ref())?;
        body["along"] = along(tensor, &subject, wanted)?;
    }
    if let Some(find) = &question.find {
        let after = find.after.as_deref().map(|indices| tensor.number_of(indices));
        let found = match (find.what, &whole) {
            (What::Nan, _) => tensor.find(Sought::Nan, after)?,
            (What::Infinity, _) => tensor.find(Sought::Infinity, after)?,
            (What::NonZero, _) => tensor.find(Sought::NonZero, after)?,
            (What::Different, Some(pair)) => pair.find_different(after)?,
            (What::Different, None) => return Err(NoAnswer::NothingToCompare),
        };
        body["found"] = json!(found.map(|number| tensor.indices_of(number)));
    }
    Ok(body)
}

/// A slice with brackets.
fn normal(text: &str) -> String {
    let bare = text.trim();
    let bare = bare.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(bare);
    format!("[{bare}]")
}

fn cells(shown: &Subject<'_>, window: Rectangle, wanted: &CellsWanted) -> Result<Value, ViewError> {
    let width = wanted.width.clamp(1, MAX_CELLS);
    let height = wanted.height.clamp(1, MAX_CELLS / width);
    let reduction = match wanted.reduction {
        ReductionName::Mean => Reduction::Mean,
        ReductionName::Extreme => Reduction::Extreme,
        ReductionName::First => Reduction::First,
    };
    let cells = shown.cells(window, (height, width), reduction)?;
    let values: Vec<u8> =
        cells.values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
    let has_marks = cells.marks.iter().any(|mark| *mark != 0);
    let reduction = match cells.reduction {
        Reduction::Mean => "mean",
        Reduction::Extreme => "extreme",
        Reduction::First => "first",
    };
    Ok(json!({
        "height": cells.height,
        "width": cells.width,
        "reduction": reduction,
        "values": STANDARD.encode(values),
        "marks": has_marks.then(|| STANDARD.encode(&cells.marks)),
    }))
}

fn statistics(tensor: &TensorView, profile: &Profile) -> Value {
    let extreme = |extreme: &Option<debug::Extreme>| {
        extreme.as_ref().map(
            |it| json!({"value": it.value, "text": it.text, "index": tensor.indices_of(it.index)}),
        )
    };
    // JSON has no NaN.
    let number = |value: f64| value.is_finite().then_some(value);
    let quantiles = profile.quantiles.as_ref().map(|found| {
        let pairs = QUANTILES.iter().zip(found);
        pairs.map(|(at, value)| json!({"at": at, "value": value})).collect::<Vec<_>>()
    });
    json!({
        "count": profile.count,
        "nans": profile.nans,
        "positiveInfinities": profile.positive_infinities,
        "negativeInfinities": profile.negative_infinities,
        "zeros": profile.zeros,
        "minimum": extreme(&profile.minimum),
        "maximum": extreme(&profile.maximum),
        "mean": number(profile.mean),
        "deviation": number(profile.deviation),
        "quantiles": quantiles,
        "histogram": profile.histogram,
    })
}

/// The figures at some indices of an axis: as many as one answer takes, at least one.
fn along(tensor: &TensorView, subject: &Subject<'_>, wanted: &Along) -> Result<Value, ViewError> {
    let axis = wanted.axis;
    let length = tensor.length_of(axis).unwrap_or(0);
    let from = wanted.from.min(length);
    let each = (tensor.count() / length.max(1)).max(1);
    let most = (MAX_SUMMARISED / each).clamp(1, MAX_ALONG);
    let found = subject.figures_along(axis, &(from..from.saturating_add(most).min(length)))?;
    let rows: Vec<Value> = found.iter().map(figures).collect();
    Ok(json!({"axis": axis, "from": from, "length": length, "rows": rows}))
}

/// Figures as clients get them. JSON has neither NaN nor integers beyond 2^53; those are texts.
pub(crate) fn figures(found: &Figures) -> Value {
    const MOST: u128 = 1 << f64::MANTISSA_DIGITS;
    let number = |value: f64| value.is_finite().then_some(value);
    let end = |value: Option<f64>, exact: Option<i128>| match exact {
        Some(exact) if exact.unsigned_abs() > MOST => json!(exact.to_string()),
        _ => json!(value),
    };
    json!({
        "count": found.count,
        "nans": found.nans,
        "positiveInfinities": found.positive_infinities,
        "negativeInfinities": found.negative_infinities,
        "minimum": end(found.minimum, found.exact.map(|it| it.0)),
        "maximum": end(found.maximum, found.exact.map(|it| it.1)),
        "mean": number(found.mean),
        "deviation": number(found.deviation),
    })
}

fn differences(tensor: &TensorView, found: &Differences) -> Value {
    // JSON has neither NaN nor infinity.
    let number = |value: f64| match value {
        value if value.is_finite() => json!(value),
        value => json!(value.to_string()),
    };
    let pair = |pair: &Option<Pair>| {
        pair.as_ref().map(|pair| {
            json!({
                "index": tensor.indices_of(pair.index),
                "a": pair.texts[0],
                "b": pair.texts[1],
                "difference": number(pair.difference),
                "relative": number(pair.relative),
                "ulps": pair.ulps,
            })
        })
    };
    json!({
        "count": found.count,
        "different": found.different,
        "nans": found.nans,
        "mean": number(found.mean),
        "rootMeanSquare": number(found.root_mean_square),
        "worst": pair(&found.worst),
        "worstRelative": pair(&found.worst_relative),
        "worstUlps": pair(&found.worst_ulps),
    })
}
