//! Truth: everything that the debugger shows is compared with the source. The oracle is an
//! interpreter of the source, written for this suite.
//!
//! Random programs are compiled and debugged over DAP. At each stop, the stack, the names and the
//! values must be those of an execution of that line.
//!
//! | file | holds |
//! | --- | --- |
//! | `program`, `generate`, `print` | programs: their trees, random ones, their text |
//! | `scope`, `interpret` | the oracle: names and their uses, executions and their values |
//! | `compile`, `drive` | compilers, a recorded session |
//! | `reduce` | small programs with the same finding |
//! | `compare`, `count`, `check`, `limits` | the comparison, its counts, its own test, and tolerances |
//! | `models`, `packages`, `transformer`, `source` | models, where they come from, and a reader of their text |
//!
//! ```text
//! cargo test -p conformance --test truth -- [--seed=N] [--count=N] [--seconds=N]
//!     [--modes=companion,plain,3.10.0] [--print] [--verbose] [--keep] [--reduce=KIND]
//!     [--models=transformer,magika,ocr-cls,ocr-det,ocr-rec]
//! ```
//!
//! `TRUTH_SEED`, `TRUTH_COUNT`, `TRUTH_SECONDS` and `TRUTH_MODES` do the same. Everything follows
//! from a seed: `--seed=N --count=1 --print --verbose` shows its program and every finding, and
//! `--seed=N --count=1 --modes=companion --reduce="values wrong"` a small program with such a
//! finding.

mod check;
mod compare;
mod compile;
mod count;
mod drive;
mod generate;
mod interpret;
mod limits;
mod models;
mod packages;
mod print;
mod program;
#[path = "../fuzz/random.rs"]
mod random;
mod reduce;
mod scope;
mod source;
mod transformer;
mod trial;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use compile::{Compilers, Mode};
use count::Tally;
use trial::{Outcome, Trial};

/// The number of programs, by default.
const COUNT: u64 = 30;
/// The most findings that a run prints without `--verbose`.
const PRINTED: usize = 30;

struct Options {
    seed: u64,
    count: u64,
    seconds: Option<u64>,
    modes: Vec<Mode>,
    prints: bool,
    is_verbose: bool,
    keeps: bool,
    /// The kind of finding whose program is reduced.
    reduces: Option<String>,
    models: Vec<String>,
}

fn main() -> ExitCode {
    let run = options().and_then(|options| {
        let compilers = Compilers::of(&options.modes)?;
        Ok([run(&options, &compilers)?, run_models(&options, &compilers)].concat())
    });
    match run {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            // Once more, as the end of a log is what is read of it.
            faults.iter().for_each(|it| println!("{it}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("error: {error}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

/// A flag `--name=value`, else the environment variable `TRUTH_NAME`.
fn setting(name: &str) -> Option<String> {
    let flag = format!("--{name}=");
    let given =
        std::env::args().find_map(|argument| argument.strip_prefix(&flag).map(str::to_owned));
    given.or_else(|| std::env::var(format!("TRUTH_{}", name.to_uppercase())).ok())
}

fn options() -> Result<Options, String> {
    let number = |name: &str| match setting(name) {
        None => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| format!("{name}: {text} is no number")),
    };
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    let modes = setting("modes").unwrap_or_else(|| "companion,plain,3.10.0".to_owned());
    let models = setting("models").unwrap_or_else(|| "transformer,magika".to_owned());
    let seconds = number("seconds")?;
    let count = number("count")?;
    Ok(Options {
        seed: number("seed")?.unwrap_or(1),
        count: count.unwrap_or(if seconds.is_some() { u64::MAX } else { COUNT }),
        seconds,
        modes: modes.split(',').map(Mode::named).collect(),
        prints: has("--print"),
        is_verbose: has("--verbose"),
        keeps: has("--keep"),
        reduces: setting("reduce"),
        models: models.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect(),
    })
}

/// Tries seeds on all processors. Returns which limits were exceeded.
fn run(options: &Options, compilers: &Compilers) -> Result<Vec<String>, String> {
    let deadline = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let next = AtomicU64::new(0);
    let outcomes: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());
    let trial = Trial { compilers, modes: &options.modes, keeps: options.keeps };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if index >= options.count || is_late {
                        break;
                    }
                    let outcome = trial.seed(options.seed + index);
                    if options.prints {
                        println!("// seed {}\n{}", outcome.seed, outcome.text);
                    }
                    if options.is_verbose {
                        print_findings(&outcome, usize::MAX);
                    }
                    if let Some(kind) = &options.reduces {
                        print_reduced(&trial, &outcome, kind);
                    }
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().map_err(|error| error.to_string())?;
    outcomes.sort_by_key(|outcome| outcome.seed);
    if !options.is_verbose {
        let mut printed = 0;
        for outcome in &outcomes {
            printed += print_findings(outcome, PRINTED.saturating_sub(printed));
        }
    }
    Ok(judge(options, &outcomes))
}

/// What a fault of a mode says that has no tolerance, with the seeds.
fn examples(outcomes: &[Outcome], mode: &Mode, fault: &str) -> String {
    let mut texts = String::new();
    for outcome in outcomes {
        let own = outcome.tallies.iter().filter(|it| it.0 == *mode);
        let findings = own.flat_map(|(_, tally)| tally.findings());
        let is_it = |kind: &str| limits::NEVER.contains(&kind) && fault.ends_with(kind);
        for finding in findings.filter(|it| is_it(it.kind)).take(1) {
            texts.push_str(&format!("\n  seed {}: {}", outcome.seed, finding.text));
        }
    }
    texts
}

/// Debugs models. Returns which limits were exceeded.
fn run_models(options: &Options, compilers: &Compilers) -> Vec<String> {
    let mut faults = Vec::new();
    for name in &options.models {
        println!("\nmodel {name}");
        let tally = match models::model(name, compilers, options.seed) {
            Ok(tally) => tally,
            Err(error) => {
                println!("error: {error}");
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        let bound = if options.is_verbose { usize::MAX } else { PRINTED };
        for finding in tally.findings().iter().take(bound) {
            println!("{name}: {}: {}", finding.kind, finding.text);
        }
        for (kind, count) in tally.kinds() {
            println!("  {count:8} {kind}");
        }
        for fault in limits::faults(&limits::MODELS, &tally) {
            println!("  too much: {fault}");
            faults.push(format!("{name}: {fault}"));
        }
    }
    println!("\n{} passed, {} failed", options.models.len(), faults.len());
    faults
}

/// Prints a small program with a finding of this kind, for each mode that has one.
fn print_reduced(trial: &Trial<'_>, outcome: &Outcome, kind: &str) {
    for (mode, tally) in &outcome.tallies {
        if tally.get(kind) == 0 {
            continue;
        }
        let Some((text, tally)) = trial.reduced(outcome.seed, mode, kind) else { continue };
        println!("// seed {} {}, reduced\n{text}", outcome.seed, mode.name());
        for finding in tally.findings().iter().filter(|it| it.kind == kind) {
            println!("{}: {}", finding.kind, finding.text);
        }
    }
}

/// Prints the findings of a program, at most `bound` of them.
fn print_findings(outcome: &Outcome, bound: usize) -> usize {
    let findings = outcome
        .tallies
        .iter()
        .flat_map(|(mode, tally)| tally.findings().iter().map(move |finding| (mode, finding)));
    let mut printed = 0;
    for (mode, finding) in findings.take(bound) {
        println!("seed {} {}: {}: {}", outcome.seed, mode.name(), finding.kind, finding.text);
        printed += 1;
    }
    printed
}

/// Prints the tables and compares them with the limits. Returns which were exceeded.
fn judge(options: &Options, outcomes: &[Outcome]) -> Vec<String> {
    let mut faults = Vec::new();
    if outcomes.is_empty() {
        return faults;
    }
    println!("{} programs from seed {}", outcomes.len(), options.seed);
    for mode in &options.modes {
        let mut tally = Tally::default();
        for (_, own) in outcomes.iter().flat_map(|it| &it.tallies).filter(|it| it.0 == *mode) {
            tally.join(own);
        }
        println!("\n{}", mode.name());
        for (kind, count) in tally.kinds() {
            println!("  {count:8} {kind}");
        }
        for fault in limits::faults(limits::of(mode), &tally) {
            println!("  too much: {fault}");
            faults.push(format!("{}: {fault}{}", mode.name(), examples(outcomes, mode, &fault)));
        }
        if tally.get("values right") == 0 {
            println!("  too little: no value was right");
            faults.push(format!("{}: no value was right", mode.name()));
        }
    }
    println!("\n{} passed, {} failed", outcomes.len(), faults.len());
    faults
}
