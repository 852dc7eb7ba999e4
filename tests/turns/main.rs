//! Loops: random programs with loops, branches and calls around dispatches; at each dispatch, all
//! names of the source are asked for, forwards and backwards. What has a value has the one of this
//! turn of all loops around it. The oracle is an interpreter of these programs.
//!
//! | file | holds |
//! | --- | --- |
//! | `program`, `generate` | programs: their trees and their text, and random ones |
//! | `interpret` | the oracle: each run of a statement, with all names and their values |
//! | `drive` | a program in the debugger, and what it shows |
//! | `compare` | the comparison |
//!
//! ```text
//! cargo test -p conformance --test turns -- [--seed=N] [--count=N] [--print] [--verbose]
//! ```

mod compare;
mod drive;
mod generate;
mod interpret;
mod program;
#[expect(dead_code, reason = "fuzz and truth make more choices")]
#[path = "../fuzz/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use conformance::tools::{exit_code, finish, iree, iree_dbg};

use compare::Tally;
use drive::{Asked, Shown, Written};
use interpret::{Trace, Value};
use program::{Program, What};
use random::Random;

/// The number of programs, by default.
const COUNT: usize = 12;

/// The most findings that a run prints without `--verbose`.
const PRINTED: usize = 10;

/// The ways in which programs are compiled.
const MODES: [(&str, &str); 2] = [("bytecode", "vmvx"), ("machine code", "llvm-cpu")];

fn main() -> ExitCode {
    exit_code(run())
}

fn number(name: &str, default: usize) -> Result<usize, String> {
    let flag = format!("--{name}=");
    let mut given = std::env::args().filter_map(|it| it.strip_prefix(&flag).map(str::to_owned));
    match given.next() {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("{name}: {text} is no number")),
    }
}

fn has(flag: &str) -> bool {
    std::env::args().any(|it| it == flag)
}

fn run() -> Result<usize, String> {
    let (seed, count) = (number("seed", 1)?, number("count", COUNT)?);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (mut all, mut failed, mut refused) = (Tally::default(), 0, 0);
    for seed in seed..seed + count {
        let mut random = Random::new(seed as u64);
        let mut program = generate::program(&mut random);
        let text = program.print();
        if has("--print") {
            let numbered = (1..).zip(text.lines()).map(|(at, line)| format!("{at:4} {line}\n"));
            print!("{}", numbered.collect::<String>());
        }
        let inputs = inputs(&program, &mut random);
        let Some(trace) = interpret::run(&program, &inputs) else { continue };
        for (mode, back_end) in MODES {
            let folder = folder.path().join(format!("{seed}-{mode}").replace(' ', "-"));
            let Some(module) = compiled(&folder, &text, back_end)? else {
                refused += 1;
                continue;
            };
            match checked(&module, &program, &inputs, &trace, &mut random) {
                Ok(tally) => {
                    failed += report(&format!("seed {seed}, {mode}"), &tally, false);
                    all.add(tally);
                }
                Err(error) => {
                    println!("seed {seed}, {mode}: error: {error}");
                    failed += 1;
                }
            }
        }
    }
    report("all", &all, true);
    if all.tensors == 0 || all.numbers == 0 {
        println!("error: nothing was shown");
        failed += 1;
    }
    println!("{failed} failed, {refused} not compiled");
    Ok(failed)
}

/// Small numbers, with some that are none.
fn inputs(program: &Program, random: &mut Random) -> Vec<Vec<f32>> {
    let mut element = |_| match random.below(24) {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        _ => random.below(9) as f32 - 4.0,
    };
    let arguments = program.main().arguments.iter();
    arguments.map(|_| (0..16).map(&mut element).collect()).collect()
}

/// Compiles a program for debugging; `None` if the compiler fails, which it does for some branches.
fn compiled(folder: &Path, text: &str, back_end: &str) -> Result<Option<PathBuf>, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let (source, module) = (folder.join("program.mlir"), folder.join("program.vmfb"));
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let mut command = Command::new(iree_dbg()?);
    command.arg("compile").arg("--iree-compile").arg(iree("iree-compile")?);
    command.arg(&source).arg("-o").arg(&module).arg("--");
    command.args(["--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=generic"]);
    command.arg(format!("--iree-hal-local-target-device-backends={back_end}"));
    let finished = finish(&mut command)?;
    Ok((finished.status == Some(0)).then_some(module))
}

/// Compares all stops of a program; then stops at one of its lines by a counter of its loops.
fn checked(
    module: &Path,
    program: &Program,
    inputs: &[Vec<f32>],
    trace: &Trace,
    random: &mut Random,
) -> Result<Tally, String> {
    let written = |it: &Vec<f32>| {
        let elements: Vec<String> = it.iter().map(f32::to_string).collect();
        format!("4x4xf32={}", elements.join(" "))
    };
    let inputs = inputs.iter().map(written).collect();
    let asked = Asked { module, inputs, functions: functions(program) };
    let mut tally = Tally::default();
    let mut stops = drive::run(&asked)?;
    compare::compare(trace, &stops.forward, &mut tally);
    stops.back.reverse();
    compare::compare(trace, &stops.back, &mut tally);
    by_counter(&asked, trace, &stops.forward, random, &mut tally)?;
    Ok(tally)
}

/// Stops at a line if a counter has a value: exactly where it has.
fn by_counter(
    asked: &Asked<'_>,
    trace: &Trace,
    stops: &[drive::Stop],
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let runs = compare::by_path(trace);
    // A line that a dispatch is at each time, and a counter that is shown there.
    let mut choices = Vec::new();
    for stop in stops.iter().filter(|it| !it.has_run && it.path.len() == 1) {
        let all = stops.iter().filter(|it| !it.has_run && it.path == stop.path).count();
        let Some(moments) = runs.get(&stop.path[..]).filter(|it| it.len() == all) else { continue };
        let Some(frame) = stop.frames.last() else { continue };
        let shown = frame
            .iter()
            .filter(|(name, shown)| name.starts_with('s') && matches!(shown, Shown::Number(_)));
        choices.extend(shown.map(|(name, shown)| (stop.path[0], name, shown, moments)));
    }
    if choices.is_empty() {
        return Ok(());
    }
    let (line, name, shown, moments) = *random.choose(&choices);
    let Shown::Number(number) = shown else { return Ok(()) };
    let expected = moments
        .iter()
        .filter(|at| trace.moments[**at].before.get(name) == Some(&Value::Number(*number)));
    let condition = format!("%{name} == {number}");
    let found = drive::run_to_line(asked, line, &condition)?;
    let wrong =
        found.iter().filter(|stop| stop.frames.last().and_then(|it| it.get(name)) != Some(shown));
    let (wrong, expected) = (wrong.count(), expected.count());
    // Code of a dispatch may come to its line several times.
    if wrong > 0 || found.len() < expected {
        let found = found.len();
        tally.wrong.push(format!(
            "break {line} if {condition}: {found} stops, {wrong} of them wrong, expected {expected}"
        ));
    }
    Ok(())
}

/// The lines of each function, and its names.
fn functions(program: &Program) -> Vec<Written> {
    let mut found = Vec::new();
    for function in &program.functions {
        let mut names: BTreeSet<String> =
            function.arguments.iter().map(|it| program.values[*it].name.clone()).collect();
        let mut blocks = vec![&function.body];
        while let Some(block) = blocks.pop() {
            for statement in block {
                let mut ids = Vec::new();
                match &statement.what {
                    What::Binary(_, id, _)
                    | What::Small(id, _)
                    | What::Transpose(id, _)
                    | What::Row(id, ..)
                    | What::WithRow(id, ..)
                    | What::Next(id, _) => ids.push(*id),
                    What::For { counter, of, .. } => {
                        ids.push(*counter);
                        ids.extend(of.inside.iter().chain(&of.results));
                        blocks.push(&of.body);
                    }
                    What::While { tested, test, of, .. } => {
                        ids.extend(tested.iter().chain(&of.inside).chain(&of.results));
                        blocks.extend([test, &of.body]);
                    }
                    What::If { result, regions, .. } => {
                        ids.push(*result);
                        blocks.extend(regions.iter().map(|(block, _)| block));
                    }
                    What::Call { results, .. } => ids.extend(results),
                }
                names.extend(ids.into_iter().map(|it| program.values[it].name.clone()));
            }
        }
        found.push(Written { lines: function.lines.clone(), names });
    }
    found
}

/// Prints what was compared. Returns whether it failed, as a number.
fn report(name: &str, tally: &Tally, is_last: bool) -> usize {
    println!(
        "{name}: {} stops ({} not compared), {} tensors and {} numbers equal, {} early, {} wrong, \
         {} withheld",
        tally.stops,
        tally.elsewhere,
        tally.tensors,
        tally.numbers,
        tally.early,
        tally.wrong.len(),
        tally.withheld.values().sum::<usize>(),
    );
    if is_last || has("--verbose") {
        for (reason, count) in &tally.withheld {
            println!("  {count:8} {reason}");
        }
    }
    for example in tally.examples.iter().filter(|_| has("--verbose") && !is_last) {
        println!("  {example}");
    }
    let most = if has("--verbose") { usize::MAX } else { PRINTED };
    for wrong in tally.wrong.iter().take(if is_last { 0 } else { most }) {
        println!("  WRONG {wrong}");
    }
    usize::from(!tally.wrong.is_empty())
}
