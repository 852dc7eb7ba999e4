//! The past: what `who-wrote` says of random elements of random programs, and the states to which
//! random ways back and forth lead, compared with what runs of the same programs show that are not
//! recorded.
//!
//! | file | holds |
//! | --- | --- |
//! | `generate` | programs whose tensors are written in place, in parts, in loops and again |
//! | `walk` | a program command by command, and in bytecode workgroup by workgroup |
//! | `hardware` | watches of the processor: every store into an element, by whatever code |
//! | `oracle` | who has written each element, by three methods that know nothing of the recording |
//! | `ask` | the recorded program, and what it answers |
//! | `back` | ways back and forth in it, and the states that they lead to |
//!
//! ```text
//! cargo test -p conformance --test past -- [--seed=N] [--count=N] [--seconds=N] [--print]
//! ```
//!
//! `PAST_SEED`, `PAST_COUNT` and `PAST_SECONDS` do the same; the count is that of elements. Each
//! program follows from its seed: `--seed=N --count=1 --print` shows it.

mod ask;
mod back;
mod generate;
mod hardware;
mod oracle;
#[expect(dead_code, reason = "fuzz and truth make more choices")]
#[path = "../fuzz/random.rs"]
mod random;
mod walk;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use conformance::tools::{finish, iree, iree_dbg};

use generate::Program;
use random::Random;

/// The elements of all programs together, by default.
const COUNT: usize = 200;

/// The least and the most elements that a module is asked for. Few are of more programs; many take
/// less time.
const PER_MODULE: (usize, usize) = (12, 96);

/// The most of a module of bytecode, which takes longer to watch.
const PER_BYTECODE_MODULE: usize = 16;

/// The ways back and forth through each module.
const WAYS: usize = 4;

/// The findings that are printed.
const PRINTED: usize = 20;

/// What was compared.
#[derive(Default)]
struct Tally {
    asked: usize,
    /// How many answers named the command that the processor or the bytecode had seen,
    commands: usize,
    /// and of those in bytecode, the workgroup.
    workgroups: usize,
    /// How many had no writer, and said so.
    unwritten: usize,
    /// How many were judged without the processor's watches.
    by_marks: usize,
    /// How many were written again with what was there.
    again: usize,
    ways: back::Ways,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

/// A flag `--name=value`, else the environment variable `PAST_NAME`.
fn setting(name: &str) -> Result<Option<usize>, String> {
    let flag = format!("--{name}=");
    let given =
        std::env::args().find_map(|argument| argument.strip_prefix(&flag).map(str::to_owned));
    let given = given.or_else(|| std::env::var(format!("PAST_{}", name.to_uppercase())).ok());
    let parse = |text: String| text.parse().map_err(|_| format!("{name}: {text} is no number"));
    given.map(parse).transpose()
}

fn run() -> Result<bool, String> {
    let seconds = setting("seconds")?;
    let count = setting("count")?.unwrap_or(if seconds.is_some() { usize::MAX } else { COUNT });
    let per_module = (count / 40).clamp(PER_MODULE.0, PER_MODULE.1);
    let deadline = seconds.map(|it| Instant::now() + Duration::from_secs(it as u64));
    let prints = std::env::args().any(|argument| argument == "--print");
    let mut seed = setting("seed")?.unwrap_or(1) as u64;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (mut tally, mut programs, mut refused) = (Tally::default(), 0, 0);
    while tally.asked < count && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        let mut random = Random::new(seed);
        let program = generate::program(&mut random);
        if prints {
            println!("// seed {seed}\n{}", program.text);
        }
        for backend in ["vmvx", "llvm-cpu"] {
            // The compiler has bugs of its own.
            let Ok(module) = compiled(folder.path(), &program, backend) else {
                refused += 1;
                continue;
            };
            let context = format!("seed {seed} {backend}");
            check(
                &context,
                &module,
                &program,
                backend == "vmvx",
                per_module,
                &mut random,
                &mut tally,
            )
            .map_err(|error| format!("{context}: {error}"))?;
        }
        (seed, programs) = (seed + 1, programs + 1);
    }
    let Tally { ways, wrong, .. } = &mut tally;
    wrong.append(&mut ways.wrong);
    for wrong in tally.wrong.iter().take(PRINTED) {
        println!("WRONG {wrong}");
    }
    let Tally { asked, commands, workgroups, unwritten, by_marks, again, ways, wrong } = &tally;
    println!(
        "{programs} programs, {refused} modules refused by the compiler, {asked} elements: {commands} commands equal, {workgroups} workgroups \
         equal, {unwritten} without a writer, {} wrong; {again} were written again with what was \
         there, {by_marks} were judged without watches of the processor",
        wrong.len()
    );
    let back::Ways { compared, back, refused: moves, .. } = ways;
    println!(
        "{compared} states on ways back and forth compared, {back} of them after a move back; \
         {moves} moves were refused, and have left the program where it stood"
    );
    let is_empty = *commands == 0 || *workgroups == 0 || *back == 0 || refused > programs;
    let passed = (asked + compared).saturating_sub(wrong.len());
    println!("{passed} passed, {} failed", wrong.len() + usize::from(is_empty));
    Ok(wrong.is_empty() && !is_empty)
}

/// Asks a module about random elements.
fn check(
    context: &str,
    module: &Path,
    program: &Program,
    is_bytecode: bool,
    per_module: usize,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let most = if is_bytecode { PER_BYTECODE_MODULE } else { PER_MODULE.1 };
    let count = per_module.min(most);
    let states = back::states(module, program)?;
    for _ in 0..WAYS {
        back::check(context, module, program, &states, random, &mut tally.ways)?;
    }
    let questions = oracle::questions(module, program, count, random)?;
    let truths = oracle::truths(module, program, is_bytecode, &questions)?;
    let answers = ask::answers(module, program, &questions)?;
    for ((question, truth), answer) in questions.iter().zip(&truths).zip(&answers) {
        tally.asked += 1;
        tally.by_marks += usize::from(truth.is_by_marks);
        tally.again += usize::from(truth.is_again);
        match ask::difference(truth, answer) {
            Some(text) => tally.wrong.push(format!("{context}: {question}: {text}")),
            None if truth.command.is_none() => tally.unwritten += 1,
            None => {
                tally.commands += 1;
                tally.workgroups += usize::from(truth.workgroup.is_some());
            }
        }
    }
    Ok(())
}

/// Compiles a program for debugging.
fn compiled(folder: &Path, program: &Program, backend: &str) -> Result<PathBuf, String> {
    let (source, module) = (folder.join("program.mlir"), folder.join("program.vmfb"));
    std::fs::write(&source, &program.text).map_err(|error| error.to_string())?;
    let mut command = Command::new(iree_dbg()?);
    command.arg("compile").arg("--iree-compile").arg(iree("iree-compile")?);
    command.arg(&source).arg("-o").arg(&module).arg("--");
    command.args(["--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=generic"]);
    command.arg(format!("--iree-hal-local-target-device-backends={backend}"));
    let finished = finish(&mut command)?;
    if finished.status == Some(0) { Ok(module) } else { Err(finished.stderr) }
}
