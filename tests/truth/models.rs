//! Models in the debugger. No interpreter computes their values, but their text says which names a
//! line has, and of which types.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conformance::tools::repository;

use crate::compile::{Compilers, Mode};
use crate::count::Tally;
use crate::drive::{Frame, Manner, Session, Shown, Target, session};
use crate::packages;
use crate::random::Random;
use crate::source::{Source, shape};
use crate::transformer;

/// The lines with breakpoints in each session.
const LINES: usize = 12;
/// The stops of each line.
const HITS: usize = 6;
/// The stops of each session.
const ENOUGH: usize = 60;
/// The longest wait for a model. What it showed until then is judged.
const PATIENCE: Duration = Duration::from_secs(10);
/// The sessions of each model.
const SESSIONS: usize = 4;

/// Debugs a model by name.
pub(crate) fn model(name: &str, compilers: &Compilers, seed: u64) -> Result<Tally, String> {
    let folder = repository().join("target/truth-models/compiled").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    let source = folder.join(format!("{name}.mlir"));
    write(name, &source)?;
    let text = std::fs::read_to_string(&source).map_err(|error| error.to_string())?;
    let module = source.with_extension("vmfb");
    compilers.compile(&Mode::Companion, &source, &module)?;
    let (function, inputs) = if name == "transformer" {
        ("my-transformer".to_owned(), transformer::inputs())
    } else {
        signature(&text).ok_or("the model has no function")?
    };
    let target = Target {
        debugger: compilers.debugger(),
        module: &module,
        source: &source,
        function: &function,
        inputs: &inputs,
        patience: PATIENCE,
        enough: ENOUGH,
        hits: Some(HITS),
    };
    let known = Source::read(&text);
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..SESSIONS {
        let lines: BTreeSet<u32> = (0..LINES).map(|_| *random.choose(&known.lines)).collect();
        let manner = Manner::Breakpoints(lines.into_iter().collect());
        let session = session(&target, &manner, &mut random, &|_| Vec::new())?;
        tally.add("sessions cut short", usize::from(session.is_late));
        judge(&known, &session, &mut tally);
    }
    Ok(tally)
}

fn write(name: &str, source: &Path) -> Result<(), String> {
    if name == "transformer" {
        return std::fs::write(source, transformer::text(4)).map_err(|error| error.to_string());
    }
    let known = packages::MODELS.iter().find(|model| model.0 == name);
    let (_, package, part) = known.ok_or_else(|| format!("there is no model {name}"))?;
    let text: PathBuf = packages::model(package, part)?;
    std::fs::copy(text, source).map(drop).map_err(|error| error.to_string())
}

/// The function of an imported model, and an argument of ones for each parameter.
fn signature(text: &str) -> Option<(String, Vec<String>)> {
    let line = text.lines().find(|line| line.contains("func.func @"))?;
    let (name, rest) = line.split_once('@')?.1.split_once('(')?;
    let parameters = rest.split(") ->").next()?;
    let mut inputs = Vec::new();
    for parameter in parameters.split('%').skip(1) {
        let kind = parameter.split_once(": ")?.1.trim_end_matches([',', ' ']);
        let shape = shape(kind)?;
        // Text recognition models take images 48 pixels high. A batch is one image.
        let sizes = shape.sizes.iter().enumerate().map(|(axis, size)| match (size, axis) {
            (Some(size), _) => *size,
            (None, 0) => 1,
            (None, 2) => 48,
            (None, _) => 192,
        });
        let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
        inputs.push(format!("{}x{}=1", sizes.join("x"), shape.element));
    }
    Some((name.trim_matches('"').to_owned(), inputs))
}

fn judge(source: &Source, session: &Session, tally: &mut Tally) {
    let bound = session.breakpoints.iter().filter(|it| it.is_verified);
    let bound: BTreeSet<u32> = bound.map(|it| it.line).collect();
    tally.add(
        "breakpoints refused",
        session.breakpoints.iter().filter(|it| !it.is_verified).count(),
    );
    tally.add("breakpoints bound", session.breakpoints.len());
    for stop in &session.stops {
        tally.add("stops", 1);
        let line = stop.frames.first().and_then(|top| top.line);
        if line.is_none_or(|line| !bound.contains(&line)) {
            let top = stop.frames.first().map_or("", |top| &top.name);
            tally.find("stops phantom", &format!("{top}:{line:?} has no breakpoint"));
        }
        if stop.frames.iter().any(|frame| frame.name.starts_with("__init")) {
            tally.find("stops phantom", "stopped in __init");
        }
        for frame in &stop.frames {
            if let Some(line) = frame.line {
                names(source, frame, line, tally);
            }
        }
    }
}

fn names(source: &Source, frame: &Frame, line: u32, tally: &mut Tally) {
    let mut seen = BTreeSet::new();
    for shown in frame.variables.iter().filter(|it| it.name.starts_with('%')) {
        let Shown { scope, name, value, kind, is_absent } = shown;
        let place = format!("{}:{line}", frame.name);
        if !seen.insert((scope, name)) {
            tally.find("names twice in a scope", &format!("{place}: {name} in {scope}"));
        }
        let kinds = source.kinds(name, line);
        if kinds.is_empty() {
            tally.find("names out of scope", &format!("{place}: {name} = {value}"));
        } else if *is_absent {
            tally.add("names with a reason", 1);
        } else if kinds.iter().any(|it| agrees(it, value, kind)) {
            tally.add("values right", 1);
        } else {
            let text = format!("{place}: {name} = {value} : {kind}, is {}", kinds[0]);
            tally.find("types wrong", &text);
        }
    }
}

/// Whether a value shown like this can have the type that the source gives it.
fn agrees(source: &str, value: &str, kind: &str) -> bool {
    if source.is_empty() {
        return true;
    }
    let is_scalar =
        matches!(kind, "i1" | "i8" | "i16" | "i32" | "i64" | "f16" | "f32" | "f64" | "index");
    let Some(shape) = shape(source) else {
        return match source {
            "index" => kind == "i64" || kind == "index",
            "i1" | "i8" | "i16" => kind == "i32" || kind == source,
            "f16" | "bf16" => kind == "f32" || kind == source,
            "i32" | "i64" | "f32" | "f64" => kind == source,
            _ => !is_scalar,
        };
    };
    if shape.sizes.is_empty() {
        return !is_scalar || kind == shape.element;
    }
    if is_scalar {
        return false;
    }
    let size_of = |element: &str| element[1..].parse::<u64>().map_or(1, |bits| bits.div_ceil(8));
    if let Some(bytes) = value.split(" bytes").next().and_then(|it| it.parse::<u64>().ok()) {
        let product: Option<u64> = shape.sizes.iter().copied().product();
        return product.is_none_or(|count| count * size_of(&shape.element) == bytes);
    }
    // `4x6xf32 […]`, or the same in the type.
    let texts = [value, kind, kind.trim_start_matches("tensor<").trim_end_matches('>')];
    let shown =
        texts.iter().filter_map(|text| shape_of(text.split(' ').next().unwrap_or_default()));
    let mut shown = shown.peekable();
    shown.peek().is_none()
        || shown.any(|(sizes, element)| {
            element == shape.element
                && sizes.len() == shape.sizes.len()
                && sizes
                    .iter()
                    .zip(&shape.sizes)
                    .all(|(one, other)| other.is_none_or(|it| it == *one))
        })
}

/// `4x6xf32`.
fn shape_of(text: &str) -> Option<(Vec<u64>, &str)> {
    let (sizes, element) = text.rsplit_once('x')?;
    let sizes = sizes.split('x').map(|size| size.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some((sizes, element))
}
