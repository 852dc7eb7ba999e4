//! One seed: a program, its truth, its modules, sessions, and what they give.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use conformance::tools::{finish, iree, repository};

use crate::compare::{Case, compare, is_result};
use crate::compile::{Compilers, Mode};
use crate::count::Tally;
use crate::drive::{Manner, Target, session};
use crate::generate;
use crate::interpret::{self, Run};
use crate::print;
use crate::program::{Program, Value};
use crate::random::Random;
use crate::scope::{Scopes, scopes};

/// Steps of a session that steps.
const STEPS: usize = 60;

pub(crate) struct Trial<'a> {
    pub(crate) compilers: &'a Compilers,
    pub(crate) modes: &'a [Mode],
    /// Whether programs and modules stay in `target/truth`.
    pub(crate) keeps: bool,
}

/// What a seed gave.
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) text: String,
    pub(crate) tallies: Vec<(Mode, Tally)>,
}

/// A program and all that the source says of it.
struct Truth {
    program: Program,
    scopes: Vec<Scopes>,
    run: Run,
    inputs: Vec<String>,
}

impl Trial<'_> {
    pub(crate) fn seed(&self, seed: u64) -> Outcome {
        let mut random = Random::new(seed);
        let mut program = generate::program(&mut random);
        let text = print::print(&mut program);
        let inputs = generate::inputs(&mut random, &program);
        let mut outcome = Outcome { seed, text, tallies: Vec::new() };
        let scopes = scopes(&program);
        let Some(run) = interpret::run(&program, &scopes, &inputs) else {
            return outcome;
        };
        let inputs = inputs.iter().map(|value| input(*value)).collect();
        let truth = Truth { program, scopes, run, inputs };
        let folder = repository().join("target/truth").join(format!("seed-{seed}"));
        for mode in self.modes {
            let tally = self.mode(mode, &truth, &outcome.text, &folder, random.bits());
            let tally = tally.unwrap_or_else(|error| {
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

    fn mode(
        &self,
        mode: &Mode,
        truth: &Truth,
        text: &str,
        folder: &Path,
        seed: u64,
    ) -> Result<Tally, String> {
        let folder = folder.join(mode.name());
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        let (source, module) = (folder.join("program.mlir"), folder.join("program.vmfb"));
        std::fs::write(&source, text).map_err(|error| error.to_string())?;
        let mut tally = Tally::default();
        if let Err(error) = self.compilers.compile(mode, &source, &module) {
            let first = error.lines().find(|line| line.contains("error")).unwrap_or(&error);
            tally.find("programs refused by the compiler", first);
            return Ok(tally);
        }
        let function = &truth.program.entry().name;
        let mut random = Random::new(seed);
        if let Some(fault) = self.miscompiled(mode, truth, &module)? {
            tally.find(fault, "");
            return Ok(tally);
        }
        let target = Target {
            debugger: self.compilers.debugger(),
            module: &module,
            source: &source,
            function,
            inputs: &truth.inputs,
        };
        let manners = [Manner::Breakpoints(lines(truth, &mut random)), Manner::Steps(STEPS)];
        for manner in &manners {
            let names = |function: &str| truth.names(function);
            let session = session(&target, manner, &mut random, &names)?;
            let case = Case {
                program: &truth.program,
                scopes: &truth.scopes,
                run: &truth.run,
                session: &session,
                manner,
            };
            let own = compare(&case);
            if session.is_over && !is_result(&session.results, &truth.run, &truth.program) {
                tally.find("results wrong", &session.results.join(" "));
            }
            tally.merge(own);
        }
        tally.add("programs compared", 1);
        Ok(tally)
    }

    /// Why a module is left out: its results are not those of the source.
    fn miscompiled(
        &self,
        mode: &Mode,
        truth: &Truth,
        module: &Path,
    ) -> Result<Option<&'static str>, String> {
        let mut command = Command::new(self.compilers.debugger());
        command.arg("run").arg(format!("--module={}", module.display()));
        let arguments = |command: &mut Command| {
            command.arg(format!("--function={}", truth.program.entry().name));
            command.args(truth.inputs.iter().map(|input| format!("--input={input}")));
        };
        arguments(&mut command);
        let ours = answer(&mut command)?;
        if is_result(&ours, &truth.run, &truth.program) {
            return Ok(None);
        }
        if !mode.is_of_today() {
            return Ok(Some("programs miscompiled"));
        }
        let mut command = Command::new(iree("iree-run-module")?);
        command.arg(format!("--module={}", module.display())).arg("--device=local-sync");
        arguments(&mut command);
        let theirs = answer(&mut command)?;
        if is_result(&theirs, &truth.run, &truth.program) {
            return Ok(Some("results wrong"));
        }
        Ok(Some("programs miscompiled"))
    }
}

/// The results that a runner prints.
fn answer(command: &mut Command) -> Result<Vec<String>, String> {
    let finished = finish(command)?;
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let lines = text.lines().filter(|line| line.starts_with("result["));
    Ok(lines.filter_map(|line| line.split_once('=')).map(|it| it.1.to_owned()).collect())
}

impl Truth {
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

/// Lines for breakpoints: about half of those that have operations.
fn lines(truth: &Truth, random: &mut Random) -> Vec<u32> {
    let functions = truth.program.functions.iter();
    let all: BTreeSet<u32> = functions
        .flat_map(|function| function.operations().into_iter().map(|operation| operation.line))
        .collect();
    let all: Vec<u32> = all.into_iter().collect();
    let chosen: Vec<u32> = all.iter().copied().filter(|_| random.chance(2)).collect();
    if chosen.is_empty() { all } else { chosen }
}

/// A value as the command line takes it.
fn input(value: Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::F32(value) => format!("{value:?}"),
        Value::F64(value) => format!("{value:?}"),
        Value::List(_) => unreachable!("an entry takes no lists"),
    }
}
