//! Models on a device of Vulkan: each run of them prints what it prints on IREE's runtime, and an
//! instruction of a shader that becomes another one is found by `iree-dbg diff`, if it matters.
//!
//! The programs are those of `models`, with their comments. Whether a patch matters is what IREE's
//! runtime says: the same driver runs the same shaders there.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};

use conformance::corpus::Source;
use conformance::runner::{self, Case};
use conformance::tools::{Finished, finish, iree, iree_dbg, repository};
use vmfb::FileBytes;

/// The models that iree-compile compiles for Vulkan.
const MODELS: [&str; 5] = ["contractions", "control", "dynamic", "elementwise", "memory"];

/// The models whose loops may not end with other numbers.
const UNPATCHED: [&str; 1] = ["control"];

/// Instructions of SPIR-V that become others with the same operands.
const PATCHES: [(u32, u32); 6] =
    [(129, 131), (131, 129), (133, 129), (128, 130), (130, 128), (132, 128)];

/// How many patches that matter are wanted for each run, and how many are tried at most: an
/// instruction may be of a function that the run does not call.
const WANTED: usize = 1;
const TRIED: usize = 16;

/// The patches that have changed a result, and of these the ones that were found.
static MATTERED: AtomicUsize = AtomicUsize::new(0);

/// Fewer than this mean that nothing was tried.
const FEWEST: usize = 10;

fn main() -> ExitCode {
    let cases: Vec<Case> =
        MODELS.iter().map(|model| Case::new(*model, move || runs(model))).collect();
    let is_whole = std::env::args().skip(1).all(|word| word.starts_with('-'));
    let outcome = runner::run(&cases);
    let mattered = MATTERED.load(Ordering::Relaxed);
    println!("{mattered} patches have changed a result");
    if is_whole && mattered < FEWEST { ExitCode::FAILURE } else { outcome }
}

/// All runs of a model that its comments name.
fn runs(model: &str) -> Result<(), String> {
    let source = Source::read(&repository().join(format!("tests/models/{model}.mlir")))?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let module = scratch.path().join("model.vmfb");
    let mut command = Command::new(iree_dbg()?);
    command.arg("compile").arg(&source.path).arg("-o").arg(&module).arg("--");
    command.arg("--iree-hal-target-device=vulkan");
    let compiled = finish(command.env("IREE_COMPILE", iree("iree-compile")?))?;
    if compiled.status != Some(0) {
        return Err(compiled.stderr);
    }
    let bytes = std::fs::read(&module).map_err(|error| error.to_string())?;
    let places = if UNPATCHED.contains(&model) { Vec::new() } else { places(&bytes) };
    for (number, arguments) in source.runs.iter().enumerate() {
        let arguments: Vec<&String> =
            arguments.iter().filter(|it| !it.starts_with("--device=")).collect();
        let theirs = by_iree(&module, &arguments)?;
        let mut command = Command::new(iree_dbg()?);
        let ours = finish(command.arg("run").arg("--device=vulkan").arg(&module).args(&arguments))?;
        if (ours.status, &ours.stdout) != (theirs.status, &theirs.stdout) {
            return Err(format!("{arguments:?}: {ours:?}, and by IREE {theirs:?}"));
        }
        let mut mattered = 0;
        for patch in 0..TRIED.min(places.len()) {
            let at = places[(13 * number + 31 * patch) % places.len()];
            let patched = scratch.path().join(format!("patched{number}-{patch}.vmfb"));
            write_patched(&module, &patched, patched_at(bytes.clone(), at))?;
            mattered += usize::from(found(&patched, &arguments, &theirs)?);
            if mattered == WANTED {
                break;
            }
        }
        MATTERED.fetch_add(mattered, Ordering::Relaxed);
    }
    Ok(())
}

fn by_iree(module: &Path, arguments: &[&String]) -> Result<Finished, String> {
    let mut command = Command::new(iree("iree-run-module")?);
    command.arg("--device=vulkan").arg(format!("--module={}", module.display()));
    finish(command.args(arguments))
}

/// Whether a result is other than it was by more than a few roundings.
fn differs(right: &[u8], wrong: &[u8]) -> bool {
    let numbers = |text: &[u8]| -> Vec<f64> {
        let text = String::from_utf8_lossy(text);
        let words = text.split(|it: char| it.is_whitespace() || "[]=".contains(it));
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let (right, wrong) = (numbers(right), numbers(wrong));
    let greatest = right.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    let is_apart =
        |(a, b): (&f64, &f64)| (a - b).abs() > 1e-4 * greatest || a.is_nan() != b.is_nan();
    right.len() != wrong.len() || right.iter().zip(&wrong).any(is_apart)
}

/// Whether the patch changes a result. If it does, `diff` has to say so.
fn found(patched: &Path, arguments: &[&String], right: &Finished) -> Result<bool, String> {
    let wrong = by_iree(patched, arguments)?;
    if wrong.status != Some(0) || !differs(&right.stdout, &wrong.stdout) {
        return Ok(false);
    }
    let mut command = Command::new(iree_dbg()?);
    let diff = finish(command.arg("diff").arg("--device=vulkan").arg(patched).args(arguments))?;
    let text = String::from_utf8_lossy(&diff.stdout);
    match diff.status == Some(1) && text.contains("DIFFERS") {
        true => Ok(true),
        false => {
            Err(format!("{} {arguments:?}: not found: {text}{}", patched.display(), diff.stderr))
        }
    }
}

/// The positions of instructions in a module's shaders that can be patched.
fn places(module: &[u8]) -> Vec<usize> {
    const MAGIC: u32 = 0x0723_0203;
    const HEADER: usize = 20;
    let word = |at: usize| {
        let bytes = module.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let mut places = Vec::new();
    let mut at = 4;
    while at + HEADER < module.len() {
        if word(at) != MAGIC {
            at += 4;
            continue;
        }
        // The length of the vector, in words, is before it.
        let end = at + 4 * word(at - 4) as usize;
        let mut instruction = at + HEADER;
        while instruction < end.min(module.len()) {
            let head = word(instruction);
            if PATCHES.iter().any(|(from, _)| *from == head & 0xFFFF) {
                places.push(instruction);
            }
            instruction += 4 * (head >> 16).max(1) as usize;
        }
        at = end;
    }
    places
}

fn patched_at(mut module: Vec<u8>, at: usize) -> Vec<u8> {
    let word = &mut module[at..at + 2];
    let code = u32::from(u16::from_le_bytes([word[0], word[1]]));
    let other = PATCHES.iter().find(|(from, _)| *from == code).map_or(code, |(_, to)| *to);
    word.copy_from_slice(&(other as u16).to_le_bytes());
    module
}

/// Writes a changed module, and the debug file of the original as one of it.
fn write_patched(original: &Path, path: &Path, bytes: Vec<u8>) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    std::fs::write(path, &bytes).map_err(|error| text(&error))?;
    let file = debuginfo::DebugFile::open(&debuginfo::DebugFile::path_beside(original));
    let file = file.map_err(|error| text(&error))?;
    let module = debuginfo::ModuleIdentity::of(&FileBytes::from(bytes));
    let module = module.ok_or("no bytes")?;
    let manifest = debuginfo::Manifest { module, ..file.manifest().clone() };
    let names = ["companion.mlir", "dispatches.mlir", "flow.mlir", "input.mlir"];
    let mut kept = Vec::new();
    for name in names {
        kept.push((name, file.member(name).map_err(|error| text(&error))?.unwrap_or_default()));
    }
    let mut written = std::io::Cursor::new(Vec::new());
    let members = kept.iter().map(|(name, bytes)| (*name, &bytes[..]));
    debuginfo::write_debug_file(&mut written, &manifest, members).map_err(|error| text(&error))?;
    std::fs::write(debuginfo::DebugFile::path_beside(path), written.into_inner())
        .map_err(|error| text(&error))
}
