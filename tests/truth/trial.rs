//! One seed: a program, its true executions, its modules, its sessions, and their comparison.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use conformance::tools::{finish, iree, repository};

use crate::check::unnoticed;
use crate::compare::{Case, compare, is_result, line_of};
use crate::compile::{Compilers, Mode};
use crate::count::Tally;
use crate::drive::{Manner, Target, results, session};
use crate::generate;
use crate::interpret::{self, Run};
use crate::print;
use crate::program::{Inputs, Kind, Program, Type, Value};
use crate::random::Random;
use crate::reduce::reduce;
use crate::scope::{Scopes, scopes};

/// The steps of a stepping session.
const STEPS: usize = 60;
/// The most stops of a session with breakpoints.
const ENOUGH: usize = 150;
/// The longest run of a program: they are small, so only a hang takes so long.
const PATIENCE: Duration = Duration::from_secs(240);
/// The number of calls of each program.
const INPUTS: usize = 2;

pub(crate) struct Trial<'a> {
    pub(crate) compilers: &'a Compilers,
    pub(crate) modes: &'a [Mode],
    /// Whether programs and modules are kept in `target/truth`.
    pub(crate) keeps: bool,
}

/// The outcome of a seed.
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) text: String,
    pub(crate) tallies: Vec<(Mode, Tally)>,
}

/// A program, and everything that its source determines.
struct Truth {
    program: Program,
    text: String,
    scopes: Vec<Scopes>,
    calls: Vec<Call>,
}

/// A call of the program's entry function.
struct Call {
    inputs: Vec<String>,
    run: Run,
}

impl Trial<'_> {
    pub(crate) fn seed(&self, seed: u64) -> Outcome {
        let mut random = Random::new(seed);
        let mut program = generate::program(&mut random, seed);
        let text = print::print(&mut program);
        let inputs = (0..INPUTS).map(|_| generate::inputs(&mut random, &program)).collect();
        let mut outcome = Outcome { seed, text, tallies: Vec::new() };
        let Some(truth) = Truth::of(program, inputs) else { return outcome };
        let folder = repository().join("target/truth").join(format!("seed-{seed}"));
        for mode in self.modes {
            let folder = folder.join(mode.name());
            let tally = self.mode(mode, &truth, &folder, seed, false).unwrap_or_else(|error| {
                let mut tally = Tally::default();
                tally.find("sessions broken", &error);
                tally
            });
            outcome.tallies.push((mode.clone(), tally));
        }
        if !self.keeps {
            let _ = std::fs::remove_dir_all(&folder);
        }
        outcome
    }

    /// A small program that still has a finding of this kind, and the finding.
    pub(crate) fn reduced(&self, seed: u64, mode: &Mode, kind: &str) -> Option<(String, Tally)> {
        let mut random = Random::new(seed);
        let program = generate::program(&mut random, seed);
        let inputs: Vec<Inputs> =
            (0..INPUTS).map(|_| generate::inputs(&mut random, &program)).collect();
        let folder = repository().join("target/truth").join(format!("reduced-{seed}"));
        let mut found = None;
        let mut shows = |candidate: &mut Program| {
            let text = print::print(candidate);
            let Some(truth) = Truth::of(candidate.clone(), inputs.clone()) else { return false };
            let Ok(tally) = self.mode(mode, &truth, &folder, seed, true) else { return false };
            let is_shown = tally.findings().iter().any(|finding| finding.kind == kind);
            if is_shown {
                found = Some((text, tally));
            }
            is_shown
        };
        let mut program = program;
        if shows(&mut program) {
            reduce(&program, &mut shows);
        }
        let _ = std::fs::remove_dir_all(&folder);
        found
    }

    /// Compiles and debugs a program, with breakpoints on all its lines or on some.
    fn mode(
        &self,
        mode: &Mode,
        truth: &Truth,
        folder: &Path,
        seed: u64,
        on_all_lines: bool,
    ) -> Result<Tally, String> {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let (source, module) = (folder.join("program.mlir"), folder.join("program.vmfb"));
        std::fs::write(&source, &truth.text).map_err(|error| error.to_string())?;
        let mut tally = Tally::default();
        if let Err(error) = self.compilers.compile(mode, &source, &module) {
            let first = error.lines().find(|line| line.contains("error")).unwrap_or(&error);
            tally.find("programs refused by the compiler", first);
            return Ok(tally);
        }
        let mut random = Random::new(seed);
        for call in &truth.calls {
            if let Some((kind, text)) = self.miscompiled(mode, truth, call, &module)? {
                tally.find(kind, &text);
                continue;
            }
            let target = Target {
                debugger: self.compilers.debugger(),
                module: &module,
                source: &source,
                function: &truth.program.entry().name,
                inputs: &call.inputs,
                patience: PATIENCE,
                enough: ENOUGH,
                hits: None,
            };
            let lines = lines(truth, &mut random, on_all_lines);
            for manner in [Manner::Breakpoints(lines), Manner::Steps(STEPS)] {
                tally.merge(session_of(&target, truth, call, &manner, &mut random)?);
            }
        }
        tally.add("programs compared", 1);
        Ok(tally)
    }

    /// The reason for skipping a module: its results differ from the source's.
    fn miscompiled(
        &self,
        mode: &Mode,
        truth: &Truth,
        call: &Call,
        module: &Path,
    ) -> Result<Option<(&'static str, String)>, String> {
        let mut command = Command::new(self.compilers.debugger());
        command.arg("run").arg(format!("--module={}", module.display()));
        let arguments = |command: &mut Command| {
            command.arg(format!("--function={}", truth.program.entry().name));
            command.args(call.inputs.iter().map(|input| format!("--input={input}")));
        };
        arguments(&mut command);
        let ours = answer(&mut command)?;
        if is_result(&ours, &call.run, &truth.program) {
            return Ok(None);
        }
        let truth_of = line_of(&call.run.results);
        let text = format!("{} gives {}, is {truth_of}", call.inputs.join(" "), ours.join(" "));
        if !mode.is_of_today() {
            return Ok(Some(("programs miscompiled", text)));
        }
        let mut command = Command::new(iree("iree-run-module")?);
        command.arg(format!("--module={}", module.display())).arg("--device=local-sync");
        arguments(&mut command);
        let theirs = answer(&mut command)?;
        if is_result(&theirs, &call.run, &truth.program) {
            return Ok(Some(("results wrong", text)));
        }
        Ok(Some(("programs miscompiled", text)))
    }
}

/// The results that a command prints.
fn answer(command: &mut Command) -> Result<Vec<String>, String> {
    let finished = finish(command)?;
    Ok(results(&String::from_utf8_lossy(&finished.stdout)))
}

/// Runs a session and compares it.
fn session_of(
    target: &Target<'_>,
    truth: &Truth,
    call: &Call,
    manner: &Manner,
    random: &mut Random,
) -> Result<Tally, String> {
    let names = |function: &str| truth.names(function);
    let session = session(target, manner, random, &names)?;
    let case = Case {
        program: &truth.program,
        scopes: &truth.scopes,
        run: &call.run,
        session: &session,
        manner,
    };
    let mut tally = compare(&case);
    if session.is_late {
        tally.find("sessions broken", "neither a stop nor an end");
    }
    if matches!(manner, Manner::Breakpoints(_)) {
        for lie in unnoticed(&case) {
            tally.find("lies unnoticed", lie);
        }
    }
    if session.is_over && !is_result(&session.results, &call.run, &truth.program) {
        tally.find("results wrong", &session.results.join(" "));
    }
    Ok(tally)
}

impl Truth {
    /// `None` if a call takes too long.
    fn of(mut program: Program, inputs: Vec<Inputs>) -> Option<Self> {
        let text = print::print(&mut program);
        let scopes = scopes(&program);
        let call = |inputs: Inputs| {
            let run = interpret::run(&program, &scopes, &inputs)?;
            Some(Call { inputs: texts(&program, &inputs), run })
        };
        let calls = inputs.into_iter().map(call).collect::<Option<Vec<_>>>()?;
        Some(Self { program, text, scopes, calls })
    }

    /// All names of a function.
    fn names(&self, function: &str) -> Vec<String> {
        let function = self.program.functions.iter().find(|it| it.name == *function);
        let names: BTreeSet<String> = function
            .into_iter()
            .flat_map(|function| function.values.iter().map(|value| value.name.clone()))
            .collect();
        names.into_iter().collect()
    }
}

/// Lines for breakpoints: all lines with operations, or about half of them with few constants.
fn lines(truth: &Truth, random: &mut Random, all: bool) -> Vec<u32> {
    let functions = truth.program.functions.iter();
    let mut every = BTreeSet::new();
    let mut chosen = BTreeSet::new();
    for operation in functions.flat_map(|function| function.operations()) {
        let is_chosen = match operation.kind {
            Kind::Constant(_) => random.chance(6),
            _ => random.chance(2),
        };
        every.insert(operation.line);
        if is_chosen {
            chosen.insert(operation.line);
        }
    }
    if all || chosen.is_empty() { every } else { chosen }.into_iter().collect()
}

/// Arguments in the syntax of the command line.
fn texts(program: &Program, inputs: &Inputs) -> Vec<String> {
    let entry = program.entry();
    let text = |(id, value): (&usize, &Value)| match (value, entry.kind(*id)) {
        (Value::Integer(value), _) => value.to_string(),
        (Value::F32(value), _) => format!("{value:?}"),
        (Value::F64(value), _) => format!("{value:?}"),
        (Value::Tensor(tensor), Type::Tensor(rows, columns)) => {
            let numbers = inputs.tensors[*tensor].iter().map(ToString::to_string);
            let columns = if columns == 0 { String::new() } else { format!("x{columns}") };
            format!("{rows}{columns}xf32={}", numbers.collect::<Vec<_>>().join(","))
        }
        (value, kind) => unreachable!("{value:?} of {kind:?} is no argument"),
    };
    entry.parameters().iter().zip(&inputs.values).map(text).collect()
}
