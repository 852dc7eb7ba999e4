//! `iree/tensor`, which the protocol does not have: a tensor to look at. The client asks for the
//! cells that it shows, at most [`MAX_CELLS`], and for figures of the whole; a tensor itself is
//! never sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use debug::{Limits, Profile, QUANTILES, Rectangle, Reduction, Sought, TensorView};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError};
use crate::references::Content;

/// The most cells in one answer.
const MAX_CELLS: usize = 1 << 18;
/// The most texts in one answer.
const MAX_TEXTS: usize = 1 << 14;
/// The most bins of a histogram.
const MAX_BINS: usize = 1 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    /// The tensor: a variable of this stop, or an expression in a frame, by default the innermost.
    variables_reference: Option<i64>,
    expression: Option<String>,
    frame_id: Option<i64>,
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
    /// Whether figures are sent, with a histogram of so many bins.
    statistics: Option<usize>,
    /// Whether the figures are those of the slice only.
    #[serde(default)]
    of_slice: bool,
    find: Option<Find>,
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
}

/// Serves `iree/tensor`.
pub(super) fn tensor(
    debuggee: &mut Debuggee,
    _client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: Arguments = request.arguments()?;
    let tensor = named(debuggee, request, &arguments)?;
    let rank = tensor.shape_sizes().len();
    let text = arguments.slice.clone().unwrap_or_else(|| first_slice(rank));
    let (part, axes) = tensor.sliced(&text).map_err(RequestError::failed)?;
    let (rows, columns) = part.plane().map_err(RequestError::failed)?;
    let window = Rectangle {
        row: arguments.window.row,
        column: arguments.window.column,
        rows: arguments.window.rows.unwrap_or(rows),
        columns: arguments.window.columns.unwrap_or(columns),
    };
    let mut body = json!({
        "type": tensor.type_name(),
        "elementType": tensor.element_type_name(),
        "shape": tensor.shape_sizes(),
        "slice": normal(&text),
        "axes": axes,
        "rows": rows,
        "columns": columns,
    });
    if let Some(wanted) = &arguments.cells {
        body["cells"] = cells(&part, window, wanted)?;
    }
    if arguments.texts {
        let texts = part.texts(window, MAX_TEXTS).map_err(RequestError::failed)?;
        body["texts"] = json!(texts);
    }
    if let Some(bins) = arguments.statistics {
        let of = if arguments.of_slice { &part } else { &tensor };
        let profile = of.profile(bins.min(MAX_BINS)).map_err(RequestError::failed)?;
        body["statistics"] = statistics(of, &profile);
    }
    if let Some(find) = &arguments.find {
        let sought = match find.what {
            What::Nan => Sought::Nan,
            What::Infinity => Sought::Infinity,
            What::NonZero => Sought::NonZero,
        };
        let after = find.after.as_deref().map(|indices| tensor.number_of(indices));
        let found = tensor.find(sought, after).map_err(RequestError::failed)?;
        body["found"] = json!(found.map(|number| tensor.indices_of(number)));
    }
    Ok(body)
}

fn named(
    debuggee: &mut Debuggee,
    request: &Request,
    arguments: &Arguments,
) -> Result<TensorView, RequestError> {
    let no_tensor = || RequestError::failed("this is not a tensor");
    if let Some(expression) = &arguments.expression {
        let frame = debuggee.frame_or_innermost(arguments.frame_id)?;
        let cancel = debuggee.cancelled.begin_evaluation(request.seq);
        let limits = Limits { cancel, ..Limits::default() };
        let outcome = debuggee.debugger.machine().evaluate_within(frame, expression, limits);
        debuggee.cancelled.end_evaluation();
        let value = outcome.map_err(|error| RequestError::failed(error.to_string()))?;
        return match value.children.as_ref().and_then(debug::Children::tensor) {
            Some(tensor) => Ok(tensor),
            // A name without a value has the reason instead.
            None if value.children.is_none() => {
                Err(RequestError::failed(format!("{expression} is {}", value.value)))
            }
            None => Err(no_tensor()),
        };
    }
    let reference = arguments.variables_reference.ok_or_else(|| {
        RequestError::malformed("`iree/tensor` needs an `expression` or a `variablesReference`")
    })?;
    match debuggee.expandable(reference)?.content {
        Content::Parts(children) | Content::Summary(children) => {
            children.tensor().ok_or_else(no_tensor)
        }
    }
}

/// The first of the outer axes, and the last two in whole.
fn first_slice(rank: usize) -> String {
    let parts: Vec<&str> = (0..rank).map(|axis| if axis + 2 < rank { "0" } else { ":" }).collect();
    format!("[{}]", parts.join(", "))
}

/// A slice with brackets.
fn normal(text: &str) -> String {
    let bare = text.trim();
    let bare = bare.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(bare);
    format!("[{bare}]")
}

fn cells(
    part: &TensorView,
    window: Rectangle,
    wanted: &CellsWanted,
) -> Result<Value, RequestError> {
    let width = wanted.width.clamp(1, MAX_CELLS);
    let height = wanted.height.clamp(1, MAX_CELLS / width);
    let reduction = match wanted.reduction {
        ReductionName::Mean => Reduction::Mean,
        ReductionName::Extreme => Reduction::Extreme,
        ReductionName::First => Reduction::First,
    };
    let cells = part.cells(window, (height, width), reduction).map_err(RequestError::failed)?;
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
