//! A model in the debugger: at random dispatches, all names of the source are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abi::npy;
use debug::{
    BreakpointSpec, Children, Debugger, DispatchMoment, LaunchOptions, Machine, ModuleSource, Node,
    Resume, StopReason, Variable,
};

use crate::Tally;
use crate::cut::{self, Elements, Values};
use crate::models::Model;
use crate::random::Random;

/// The most dispatches of one run.
const LONGEST: usize = 20_000;

/// Runs a model, and compares what is shown at about this many stops.
pub(crate) fn run(
    module: &Path,
    model: &Model,
    expected: &Values,
    stops: usize,
    random: &mut Random,
) -> Result<Tally, String> {
    let mut tally = Tally { tensors: expected.len(), ..Tally::default() };
    let mut seen = BTreeSet::new();
    let lines = lines(&model.text);
    let mut idle = 0;
    while tally.stops < stops && idle < 3 {
        let before = tally.stops;
        let load = Debugger::load(LaunchOptions {
            modules: vec![ModuleSource::Path(module.to_owned())],
            function: Some(model.function().to_owned()),
            inputs: model.inputs.clone(),
            ..LaunchOptions::default()
        });
        let mut debugger = load.map_err(|error| error.to_string())?;
        let [_, after] = [DispatchMoment::Before, DispatchMoment::After].map(|when| {
            let pattern = "*".to_owned();
            debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when })
        });
        for _ in 0..LONGEST {
            let has_run = match debugger.resume(Resume::Continue) {
                StopReason::Breakpoint(hit) => hit.contains(&after),
                StopReason::Completed(_) => break,
                other => return Err(debugger.sentence(&other)),
            };
            if tally.stops < stops && random.below(3) == 0 {
                tally.stops += 1;
                let machine = debugger.machine();
                names(machine, expected, random, &mut seen, &mut tally);
                if has_run {
                    by_line(machine, expected, &lines, &mut tally);
                }
            }
        }
        idle = if tally.stops == before { idle + 1 } else { 0 };
    }
    tally.seen = seen.len();
    Ok(tally)
}

/// The name that each line of the model's function defines, with its line.
fn lines(text: &str) -> BTreeMap<u32, String> {
    let lines = (1_u32..).zip(text.lines());
    let names = lines.filter_map(|(at, line)| {
        let (name, _) = line.strip_prefix("    %")?.split_once(" = ")?;
        Some((at, format!("%{name}")))
    });
    names.collect()
}

/// The most names that are asked for at one stop.
const NAMES: usize = 40;

/// Asks for all names of the source; of many, for some.
fn names(
    machine: &Machine,
    expected: &Values,
    random: &mut Random,
    seen: &mut BTreeSet<String>,
    tally: &mut Tally,
) {
    let frame = machine.innermost_frame();
    for (name, elements) in expected {
        if random.below(expected.len()) >= NAMES {
            continue;
        }
        let shown = match machine.evaluate(frame, name) {
            Ok(shown) => shown,
            Err(error) => {
                *tally.withheld.entry(kind_of(&error.to_string())).or_default() += 1;
                continue;
            }
        };
        let Some(found) = elements_of(machine, &shown) else {
            *tally.withheld.entry(kind_of(&shown.value)).or_default() += 1;
            continue;
        };
        seen.insert(name.clone());
        match difference(elements, &found) {
            None => {
                tally.equal += 1;
                tally.recomputed += usize::from(shown.value.contains(" recomputed ("));
            }
            Some(text) => {
                let line = place(machine);
                tally.wrong.push(format!("{name} at {line}: {text}"));
            }
        }
    }
}

/// Where the program stands, as text.
fn place(machine: &Machine) -> String {
    let top = machine.frames().into_iter().next();
    top.map(|it| format!("{} line {:?}", it.name, it.source.map(|at| at.line))).unwrap_or_default()
}

/// What a rule would show that goes by the line of a dispatch and the type of what it wrote.
fn by_line(machine: &Machine, expected: &Values, lines: &BTreeMap<u32, String>, tally: &mut Tally) {
    let frame = machine.innermost_frame();
    let top = machine.frames().into_iter().next();
    let Some(line) = top.and_then(|it| it.source.map(|it| it.line)) else { return };
    let Some(elements) = lines.get(&line).and_then(|name| expected.get(name)) else { return };
    // The last operand is what most dispatches write.
    let last =
        (0..8).map_while(|at| machine.evaluate(frame, &format!("operand[{at}]")).ok()).last();
    let Some(found) = last.and_then(|it| elements_of(machine, &it)) else { return };
    if found.len() == elements.len() {
        tally.by_line += 1;
        tally.by_line_wrong += usize::from(difference(elements, &found).is_some());
    }
}

/// A reason, without what differs from tensor to tensor.
fn kind_of(reason: &str) -> String {
    let words = reason.split(' ').map(|word| {
        let is_own = word.contains('%') || word.chars().any(|it| it.is_ascii_digit());
        if is_own { "…" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The elements that a variable shows; `None` if it shows none. Each is a child of its own, too;
/// the first ones are read as shown.
fn elements_of(machine: &Machine, shown: &Variable) -> Option<Elements> {
    let children = shown.children.as_ref()?;
    let Node::Tensor(tensor) = &children.node else { return None };
    let all = cut::elements(&npy::write(&tensor.tensor()?).ok()?)?;
    let mut first = Vec::new();
    collect(machine, children, &mut first)?;
    let is_same = |(one, other): (&f64, &f64)| {
        // What is shown has as many digits as its type.
        (one - other).abs() <= 1e-6 + one.abs() * 1e-3
            || (one.is_nan() && other.is_nan())
            || one == other
    };
    // Texts that differ from the bytes are no elements of the tensor.
    Some(if all.iter().zip(&first).all(is_same) { all } else { Elements::new() })
}

/// The first elements, as text shows them.
fn collect(machine: &Machine, children: &Children, found: &mut Elements) -> Option<()> {
    const MOST: usize = 50;
    let all = children.indexed.map(|count| 0..count.min(MOST));
    for child in machine.children(&children.node, all) {
        if found.len() >= MOST {
            break;
        }
        match &child.children {
            Some(inner) => collect(machine, inner, found)?,
            None => found.push(number(&child.value)?),
        }
    }
    Some(())
}

fn number(text: &str) -> Option<f64> {
    match text.trim_start_matches('-') {
        "NaN" | "nan" | "NAN" => Some(f64::NAN),
        "inf" | "INF" if text.starts_with('-') => Some(f64::NEG_INFINITY),
        "inf" | "INF" => Some(f64::INFINITY),
        _ => text.parse().ok(),
    }
}

/// How two tensors differ, beyond what rounding in another order explains.
fn difference(expected: &Elements, found: &Elements) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} elements, expected {}", found.len(), expected.len()));
    }
    let scale =
        expected.iter().filter(|it| it.is_finite()).fold(1e-6_f64, |max, it| max.max(it.abs()));
    let mut pairs = expected.iter().zip(found).enumerate();
    let (at, (expected, found)) = pairs.find(|(_, (one, other))| {
        let is_same = one == other || (one.is_nan() && other.is_nan());
        let is_close = (*one - *other).abs() <= scale * 2e-4;
        !is_same && !is_close
    })?;
    Some(format!("element {at} is {found}, expected {expected}"))
}
