//! Fuzzing with damaged bytes, random programs and random texts, for any length of time. The
//! oracles are invariants: no panic, one answer per request, texts that print as themselves,
//! programs that end the same way however they are observed.
//!
//! | target | input | expectation |
//! | --- | --- | --- |
//! | `files` | damaged modules of the corpus | no panic in reading, printing, verifying and running |
//! | `programs` | random programs that keep the verifier's rules | they verify, and end the same way however they are observed, interpreted or compiled |
//! | `mutants` | such programs and the corpus, with changed operands and tables | modules that verify run without a fault |
//! | `cconv`, `iree`, `raw`, `sip`, `tvm`, `memref` | damaged signatures of each convention | an error within the text, or a signature that prints as itself |
//! | `values` | damaged tensors, JSON, headers, values in memory | the same |
//! | `texts` | damaged `.vmasm`, from the corpus and from random programs | diagnostics, or a module that prints as itself |
//! | `companion`, `dispatches`, `archive`, `debug` | damaged debug files and texts in them, damaged debug databases | an answer to every question, and a session that steps |
//! | `archives` | damaged `.npy`, `.gguf`, `.safetensors`, `.irpa` | an error, or entries within the file |
//! | `elf` | damaged shared objects | an error, or an image whose entry is code; nothing runs |
//! | `gpu_code` | damaged executables for graphics processors | an error, or an executable; nothing runs |
//! | `recordings` | damaged files of recorded runs | an error, or a run that goes forth and back |
//! | `built` | recordings that are built to harm, with right checksums | the same |
//! | `expressions` | expressions at stops of programs | a value or an error within the text, in time, and an unchanged program |
//! | `dap` | requests in any order, damaged streams | one answer per request, no internal error, and an end |
//! | `lsp` | the same | the same |
//! | `edits` | MLIR edited in many steps | the answers for a fresh document with that text |
//!
//! ```text
//! cargo test -p conformance --test fuzz -- [TARGET]… [--seconds=N] [--count=N] [--seed=N]
//!     [--print]
//! ```
//!
//! A try that takes a minute, or half a gigabyte more than all tries before it, is a finding too.
//! Everything follows from a seed. A finding names its target and seed, `TARGET --seed=N --count=1`
//! repeats it, and its bytes are kept in the temporary folder. A fixed finding becomes a test
//! beside the fault, or a line of `seeds.txt`, which every run starts with.

mod beside;
mod binaries;
mod built;
mod conversation;
mod editor;
mod expressions;
mod files;
mod mutate;
mod program;
mod random;
mod recordings;
mod run;
mod samples;
mod signature;
mod text;
mod watch;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conformance::corpus;
use random::Random;
use samples::Samples;
use vmfb::build::ModuleImage;
use vmfb::print::{DisassemblyOptions, Rodata, disassemble};
use vmfb::{Module, print};

const TARGETS: [&str; 24] = [
    "files",
    "programs",
    "mutants",
    "texts",
    "cconv",
    "iree",
    "raw",
    "sip",
    "tvm",
    "memref",
    "values",
    "companion",
    "dispatches",
    "archive",
    "debug",
    "archives",
    "elf",
    "gpu_code",
    "recordings",
    "built",
    "expressions",
    "dap",
    "lsp",
    "edits",
];
/// Targets that start from modules.
const OF_MODULES: [&str; 3] = ["files", "mutants", "texts"];
/// Targets that start from samples.
const OF_SAMPLES: [&str; 13] = [
    "companion",
    "dispatches",
    "archive",
    "debug",
    "archives",
    "elf",
    "gpu_code",
    "recordings",
    "built",
    "expressions",
    "dap",
    "lsp",
    "edits",
];
/// The tries of each target, by default.
const COUNT: u64 = 1_500;
/// The number of findings that ends a run.
const ENOUGH: usize = 10;
/// Seeds of past findings: one target and seed per line.
const SEEDS: &str = include_str!("seeds.txt");

thread_local! {
    /// The place of the last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

struct Options {
    targets: Vec<String>,
    seconds: Option<u64>,
    /// The most tries of each target.
    count: u64,
    seed: u64,
    /// Whether programs are printed before they run, to find one that does not end.
    prints: bool,
}

/// The inputs that targets start from.
struct Corpus {
    modules: Vec<Vec<u8>>,
    images: Vec<ModuleImage<'static>>,
    texts: Vec<String>,
    cases: signature::Cases,
    samples: Option<Samples>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => return failure(&error),
    };
    let needs = |those: &[&str]| options.targets.iter().any(|it| those.contains(&it.as_str()));
    let corpus = match Corpus::read(needs(&OF_MODULES), needs(&OF_SAMPLES)) {
        Ok(corpus) => corpus,
        Err(error) => return failure(&format!("cannot compile the corpus: {error}")),
    };
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        PLACE.set(place.unwrap_or_default());
    }));
    let (mut tried, mut findings) = (0, 0);
    for line in SEEDS.lines().filter(|line| !line.starts_with('#')) {
        let Some((target, seed)) = line.split_once(' ') else { continue };
        if let (Some(target), Ok(seed)) =
            (options.targets.iter().find(|it| *it == target), seed.parse())
        {
            tried += 1;
            findings += usize::from(attempt(target, seed, &corpus, options.prints).is_none());
        }
    }
    for target in &options.targets {
        let share = |seconds| Duration::from_secs(seconds) / options.targets.len() as u32;
        let deadline = options.seconds.map(|seconds| Instant::now() + share(seconds));
        let (mut count, mut sound) = (0, 0);
        let began = Instant::now();
        for seed in options.seed.. {
            let is_over = count >= options.count
                || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_over || findings >= ENOUGH {
                break;
            }
            count += 1;
            match attempt(target, seed, &corpus, options.prints) {
                Some(is_sound) => sound += u64::from(is_sound),
                None => findings += 1,
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{target}: {count} tried, {sound} of them sound, {:.0} a second, {} MiB at most",
            count as f64 / seconds.max(0.001),
            watch::peak_memory() >> 20,
        );
        tried += count;
    }
    println!("{} passed, {findings} failed", tried - findings as u64);
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn failure(error: &str) -> ExitCode {
    println!("error: {error}");
    println!("0 passed, 1 failed");
    ExitCode::FAILURE
}

fn options() -> Result<Options, String> {
    let mut options =
        Options { targets: Vec::new(), seconds: None, count: COUNT, seed: 1, prints: false };
    let mut count = None;
    for argument in std::env::args().skip(1) {
        let number = |text: &str| text.parse().map_err(|_| format!("{argument}: not a number"));
        if let Some(text) = argument.strip_prefix("--seconds=") {
            options.seconds = Some(number(text)?);
        } else if let Some(text) = argument.strip_prefix("--count=") {
            count = Some(number(text)?);
        } else if let Some(text) = argument.strip_prefix("--seed=") {
            options.seed = number(text)?;
        } else if argument == "--print" {
            options.prints = true;
        } else if TARGETS.contains(&argument.as_str()) {
            options.targets.push(argument);
        } else if !argument.starts_with("--") {
            return Err(format!(
                "there is no target {argument}; targets are {}",
                TARGETS.join(", ")
            ));
        }
    }
    // If only a time is given, it alone ends the run.
    options.count = count.unwrap_or(if options.seconds.is_some() { u64::MAX } else { COUNT });
    if options.targets.is_empty() {
        options.targets = TARGETS.map(str::to_owned).to_vec();
    }
    Ok(options)
}

impl Corpus {
    fn without_modules() -> Result<Self, String> {
        let cases = signature::Cases::read()?;
        let (modules, images, texts) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { modules, images, texts, cases, samples: None })
    }

    fn read(needs_modules: bool, needs_samples: bool) -> Result<Self, String> {
        let mut corpus = Self::without_modules()?;
        if needs_samples {
            corpus.samples = Some(Samples::read()?);
        }
        if !needs_modules {
            return Ok(corpus);
        }
        for source in corpus::sources()? {
            let Some(variant) = source.variants().first().copied() else { continue };
            let path = source.module(variant)?;
            let bytes = std::fs::read(&path).map_err(|error| format!("{path:?}: {error}"))?;
            let module = Module::from_bytes(bytes.clone()).map_err(|error| error.to_string())?;
            let options = DisassemblyOptions { rodata: Rodata::Full, ..Default::default() };
            corpus.texts.push(disassemble(&module, &options).text);
            if let Ok(assembly) =
                vmfb::assemble::assemble(corpus.texts[corpus.texts.len() - 1].as_bytes())
            {
                corpus.images.push(assembly.image);
            }
            corpus.modules.push(bytes);
        }
        Ok(corpus)
    }
}

/// Tries one seed. Returns whether the input was sound; `None` is a finding, which has been
/// reported.
fn attempt(target: &str, seed: u64, corpus: &Corpus, prints: bool) -> Option<bool> {
    let mut kept = Vec::new();
    let watched = watch::Try::begin(target, seed);
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let is_sound = try_seed(target, seed, corpus, prints, &mut kept);
        watched.check_memory();
        is_sound
    }));
    tried.map_err(|panic| report(target, seed, &kept, &*panic)).ok()
}

/// Leaves the bytes of a finding in `kept`.
fn try_seed(target: &str, seed: u64, corpus: &Corpus, prints: bool, kept: &mut Vec<u8>) -> bool {
    let mut random = Random::new(seed);
    if let (Some(samples), Some(exercise)) = (&corpus.samples, of_samples(target)) {
        return exercise(samples, &mut random, kept);
    }
    match target {
        "files" => {
            *kept = files::damage(random.choose::<Vec<u8>>(&corpus.modules), &mut random);
            files::exercise(kept).is_some_and(|module| run::exercise(module, seed))
        }
        "texts" => {
            let options = DisassemblyOptions { rodata: Rodata::Full, ..Default::default() };
            let text = if random.chance(3) {
                let image = program::generate(&mut random);
                disassemble(&load(&image), &options).text
            } else {
                random.choose::<String>(&corpus.texts).clone()
            };
            *kept = text::mutate(&text, &mut random);
            text::exercise(kept)
        }
        "programs" | "mutants" => {
            let mut image = match target {
                "mutants" if random.chance(3) => random.choose(&corpus.images).clone(),
                _ => program::generate(&mut random),
            };
            if target == "mutants" {
                mutate::mutate(&mut image, &mut random);
            }
            let Ok(bytes) = image.to_bytes() else { return false };
            kept.clone_from(&bytes);
            let Ok(module) = Module::from_bytes(bytes) else { return false };
            let options = DisassemblyOptions { bytecode_offsets: true, ..Default::default() };
            let text = print::disassemble(&module, &options).text;
            if prints {
                println!("{text}");
            }
            let is_sound = run::exercise(module, seed);
            if target == "programs" && !is_sound {
                let defects = vmfb::verify::verify(load(&image)).err().unwrap_or_default();
                let defects: Vec<String> = defects.iter().map(ToString::to_string).collect();
                panic!("the program does not run: {}", defects.join("; "));
            }
            is_sound
        }
        _ => {
            let text = corpus.cases.damaged(target, &mut random);
            kept.extend(text.as_bytes());
            signature::exercise(target, &text)
        }
    }
}

type OfSamples = fn(&Samples, &mut Random, &mut Vec<u8>) -> bool;

fn of_samples(target: &str) -> Option<OfSamples> {
    Some(match target {
        "companion" => beside::companion,
        "dispatches" => beside::dispatches,
        "archive" => beside::debug_archive,
        "debug" => beside::debug_file,
        "archives" => binaries::archive,
        "elf" => binaries::elf,
        "gpu_code" => binaries::gpu_code,
        "recordings" => recordings::exercise,
        "built" => built::exercise,
        "expressions" => expressions::exercise,
        "dap" => conversation::exercise,
        "lsp" => editor::anything,
        "edits" => editor::edits,
        _ => return None,
    })
}

fn load(image: &ModuleImage<'_>) -> Module {
    let bytes = image.to_bytes().expect("it can be written");
    Module::from_bytes(bytes).expect("it can be loaded")
}

fn report(target: &str, seed: u64, kept: &[u8], panic: &dyn std::any::Any) {
    let path = std::env::temp_dir().join(format!("fuzz-{target}-{seed}"));
    let place = match std::fs::write(&path, kept) {
        Ok(()) => path.display().to_string(),
        Err(_) => String::new(),
    };
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or_default();
    println!("{target} --seed={seed} --count=1: {text}\n  at {}\n  {place}", PLACE.take());
}
