//! Damaged modules: whatever the bytes are, reading, printing and verifying them gives a result or an
//! error, and what verifies runs (with fuel) to an end that is no fault.
//!
//! Modules of the corpus are damaged at random, from a seed that is printed. `DAMAGE_SECONDS=60`
//! goes on for that long; without it a fixed number of modules is tried. A module that makes
//! something panic is written beside the compiled corpus and named in the failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conformance::corpus;
use debuginfo::DebugInfo;
use vm::{Context, ExecutionLimits, FunctionId, Invocation, ModuleIndex, Outcome, Value};
use vmfb::Module;
use vmfb::print::{DisassemblyOptions, disassemble};

/// Damaged copies of each module that are tried when no time is given.
const COPIES: u64 = 150;
/// Yields that a program may make before it is given up.
const YIELDS: usize = 16;

fn main() -> ExitCode {
    let seconds = std::env::var("DAMAGE_SECONDS").ok().and_then(|text| text.parse().ok());
    let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let modules = match modules() {
        Ok(modules) => modules,
        Err(error) => {
            println!("cannot compile the corpus: {error}");
            println!("0 passed, 1 failed");
            return ExitCode::FAILURE;
        }
    };
    std::panic::set_hook(Box::new(|_| {}));
    let (mut tried, mut verified, mut failed) = (0_u64, 0_u64, 0_u64);
    let mut round = 0;
    loop {
        for (name, bytes) in &modules {
            let seed = round * 1_000_003 + name.len() as u64;
            let damaged = damage(bytes, &mut Random(seed ^ 0x9E37_79B9_7F4A_7C15));
            tried += 1;
            match catch_unwind(AssertUnwindSafe(|| exercise(&damaged))) {
                Ok(has_run) => verified += u64::from(has_run),
                Err(panic) => {
                    failed += 1;
                    let path = std::env::temp_dir().join(format!("damaged-{name}-{seed}.vmfb"));
                    let kept = std::fs::write(&path, &damaged).is_ok();
                    let text = panic
                        .downcast_ref::<String>()
                        .cloned()
                        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                    let place = if kept { path.display().to_string() } else { String::new() };
                    println!("{name}, seed {seed}: {} {place}", text.unwrap_or_default());
                }
            }
        }
        round += 1;
        let is_over = match deadline {
            Some(deadline) => Instant::now() >= deadline,
            None => round >= COPIES,
        };
        if is_over || failed > 10 {
            break;
        }
    }
    println!("{tried} damaged modules, {verified} of them verified and were run");
    println!("{} passed, {failed} failed", tried - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn modules() -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut modules = Vec::new();
    for source in corpus::sources()? {
        let Some(variant) = source.variants().first().copied() else { continue };
        let path = source.module(variant)?;
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        modules.push((source.name(), bytes));
    }
    Ok(modules)
}

/// Everything that a file from outside meets. Tells whether it was run.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(module) = Module::from_bytes(bytes.to_vec()) else { return false };
    let options = DisassemblyOptions { bytecode_offsets: true, ..DisassemblyOptions::default() };
    let listing = disassemble(&module, &options);
    let _ = listing.at_or_after_line(3);
    let _ = vmfb::print::metadata(&module);
    let info = DebugInfo::load(&module, None);
    for (ordinal, _) in module.functions_with_ordinals() {
        for row in info.rows(ordinal) {
            let _ = info.frames_at(ordinal, row.offset);
            let _ = info.live_values(ordinal, row.offset);
        }
    }
    let Ok(verified) = vmfb::verify::verify(module) else { return false };
    let limits = ExecutionLimits {
        fuel: Some(2_000),
        allocation_bytes: 1 << 20,
        ..ExecutionLimits::default()
    };
    let exports: Vec<FunctionId> = verified
        .module()
        .exports()
        .iter()
        .map(|export| FunctionId { module: ModuleIndex(0), function: export.function })
        .collect();
    let Ok(mut context) = Context::builder().limits(limits).add_bytecode(verified).link() else {
        return false;
    };
    let initialize = Invocation::initialize(&context);
    drive(&mut context, initialize);
    for function in exports {
        let Some(signature) = context.signature(function) else { continue };
        let arguments: Vec<Value> = signature
            .arguments
            .iter()
            .filter_map(abi::scalar::Scalar::zero)
            .map(Value::from)
            .collect();
        if let Ok(invocation) = Invocation::new(&context, function, arguments) {
            drive(&mut context, invocation);
        }
    }
    true
}

fn drive(context: &mut Context, mut invocation: Invocation) {
    for _ in 0..YIELDS {
        match invocation.run(context) {
            Outcome::Completed(_) | Outcome::Failed(_) => return,
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}

/// Changes one to eight places: a bit, a byte, a small number, or the length.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(damaged.len() as u64) as usize;
        match random.below(8) {
            0..=2 => damaged[at] ^= 1 << random.below(8),
            3 | 4 => damaged[at] = random.below(256) as u8,
            5 => damaged[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5) as usize],
            6 => {
                for byte in damaged.iter_mut().skip(at).take(4) {
                    *byte = 0xFF;
                }
            }
            _ if random.below(16) == 0 => damaged.truncate(at.max(1)),
            _ => {}
        }
    }
    damaged
}

/// xorshift64*: enough to choose places with, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % bound.max(1)
    }
}
