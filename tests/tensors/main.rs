//! Tensors of the source by their names, at random commands of models: each is the one that
//! iree-run-module computes when the source is cut at that value.
//!
//! | file | holds |
//! | --- | --- |
//! | `models` | models with equal sizes everywhere, so that a tensor of a wrong name fits |
//! | `imported` | a model as iree-import-onnx writes it |
//! | `cut` | a source that returns all of its tensors, and their values |
//! | `drive` | a model in the debugger, and what it shows |
//!
//! ```text
//! cargo test -p conformance --test tensors -- [--seed=N] [--stops=N] [--models=NAME,…]
//!     [--modes=MODE+…] [--file=MODEL.mlir --input=VALUE …]
//! ```

mod cut;
mod drive;
mod imported;
mod models;
#[expect(dead_code, reason = "fuzz and truth make more choices")]
#[path = "../fuzz/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use conformance::tools::{exit_code, finish, iree, iree_dbg};

use models::Model;
use random::Random;

/// The stops in all runs together, by default.
const STOPS: usize = 1_000;

/// The way in which not all models can be compiled.
const BYTECODE: &str = "bytecode";

/// The ways in which models are compiled.
const MODES: [(&str, &[&str]); 4] = [
    ("machine code", &["--iree-hal-local-target-device-backends=llvm-cpu"]),
    (
        "machine code, one command at a time",
        &[
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-stream-partitioning-favor=debug",
            "--iree-hal-memoization=false",
        ],
    ),
    (BYTECODE, &["--iree-hal-local-target-device-backends=vmvx"]),
    (
        "machine code, data tiling",
        &["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-opt-data-tiling=true"],
    ),
];

/// What was compared.
#[derive(Default)]
struct Tally {
    stops: usize,
    equal: usize,
    /// Of these, how many were computed again.
    recomputed: usize,
    /// The tensors that had a value at some stop, of how many.
    seen: usize,
    tensors: usize,
    withheld: BTreeMap<String, usize>,
    wrong: Vec<String>,
    /// What the rule «same line, same type» would have shown, and how often that is wrong.
    by_line: usize,
    by_line_wrong: usize,
}

fn main() -> ExitCode {
    exit_code(run())
}

/// The values of a flag: `--name=value`.
fn flags(name: &str) -> Vec<String> {
    let flag = format!("--{name}=");
    std::env::args().filter_map(|it| it.strip_prefix(&flag).map(str::to_owned)).collect()
}

fn run() -> Result<usize, String> {
    let number = |name: &str, default: usize| match flags(name).pop() {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("{name}: {text} is no number")),
    };
    let mut random = Random::new(number("seed", 1)? as u64);
    let wanted = flags("models").pop().unwrap_or_default();
    let mut models = models::all();
    if !wanted.is_empty() {
        models.retain(|it| wanted.split(',').any(|name| name == it.name));
    }
    if let Some(file) = flags("file").pop() {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let inputs = flags("input");
        models = vec![Model { name: "file", text, inputs, trap: false, has_bytecode: true }];
    }
    let modes = flags("modes").pop().unwrap_or_default();
    let is_wanted = |mode: &str| modes.is_empty() || modes.split('+').any(|it| it == mode);
    let modes: Vec<_> = MODES.into_iter().filter(|it| is_wanted(it.0)).collect();
    let without = models.iter().filter(|it| !it.has_bytecode).count();
    let has_bytecode = modes.iter().any(|it| it.0 == BYTECODE);
    let runs = models.len() * modes.len() - if has_bytecode { without } else { 0 };
    let stops = number("stops", STOPS)?.div_ceil(runs.max(1));
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (mut failed, mut all) = (0, Tally::default());
    for model in &models {
        let whole = cut::values(&folder.path().join(model.name), model)?;
        for (mode, options) in &modes {
            if *mode == BYTECODE && !model.has_bytecode {
                continue;
            }
            let folder = folder.path().join(model.name).join(mode.replace([' ', ','], "-"));
            let tally = compiled(&folder, model, options)
                .and_then(|module| drive::run(&module, model, &whole, stops, &mut random));
            match tally {
                Ok(tally) => {
                    failed += report(&format!("{}, {mode}", model.name), &tally);
                    all.add(tally);
                }
                Err(error) => {
                    println!("{}, {mode}: error: {error}", model.name);
                    failed += 1;
                }
            }
        }
    }
    failed += report("all", &all);
    // The oracle would see it if names were given by lines alone.
    if models.iter().any(|it| it.trap) && all.by_line_wrong == 0 {
        println!("error: no model has a tensor that its line and type misname");
        failed += 1;
    }
    println!("{} passed, {failed} failed", runs.saturating_sub(failed));
    Ok(failed)
}

/// Compiles a model for debugging.
fn compiled(folder: &Path, model: &Model, options: &[&str]) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let (source, module) = (folder.join("model.mlir"), folder.join("model.vmfb"));
    std::fs::write(&source, &model.text).map_err(|error| error.to_string())?;
    let mut command = Command::new(iree_dbg()?);
    command.arg("compile").arg("--iree-compile").arg(iree("iree-compile")?);
    command.arg(&source).arg("-o").arg(&module).arg("--");
    command.args(["--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=generic"]);
    let finished = finish(command.args(options))?;
    if finished.status == Some(0) { Ok(module) } else { Err(finished.stderr) }
}

/// Prints what was compared. Returns how many failures there are.
fn report(name: &str, tally: &Tally) -> usize {
    println!(
        "{name}: {} stops, {} tensors equal ({} recomputed), {} wrong, {} withheld; {} of {} tensors were there; \
         by line and type {} shown, {} wrong",
        tally.stops,
        tally.equal,
        tally.recomputed,
        tally.wrong.len(),
        tally.withheld.values().sum::<usize>(),
        tally.seen,
        tally.tensors,
        tally.by_line,
        tally.by_line_wrong
    );
    for (reason, count) in &tally.withheld {
        println!("  {count:8} {reason}");
    }
    for wrong in tally.wrong.iter().take(10) {
        println!("  WRONG {wrong}");
    }
    // Data tiling leaves tensors in an order of the back end's own.
    let has_nothing = usize::from(tally.equal == 0 && !name.ends_with("data tiling"));
    if has_nothing > 0 {
        println!("  error: no tensor was shown");
    }
    tally.wrong.len() + has_nothing
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.stops += other.stops;
        self.equal += other.equal;
        self.recomputed += other.recomputed;
        self.seen += other.seen;
        self.tensors += other.tensors;
        self.by_line += other.by_line;
        self.by_line_wrong += other.by_line_wrong;
        self.wrong.extend(other.wrong);
        for (reason, count) in other.withheld {
            *self.withheld.entry(reason).or_default() += count;
        }
    }
}
