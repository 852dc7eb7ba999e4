//! Pauses inside dispatches. A program that changes tensors in place is interrupted at random
//! moments, inspected, stepped and resumed; its results must be those of an undisturbed program.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::path::Path;
use std::thread;
use std::time::Duration;

use hal::{Config, DeviceKind};

use super::stepping_model::compiled;
use crate::{
    BreakpointSpec, Debugger, Granularity, LaunchOptions, ModuleSource, Node, Resume, ScopeKind,
    StepKind, StopReason,
};

const DISPATCH: &str = "accumulate_dispatch_0_reduction_512x600_i32";

/// The line of the multiplication in the source.
const SCALED: u32 = 13;

/// What the program is compiled to, which also decides how many elements it adds: enough to take a
/// while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    Bytecode,
    /// Never moved to the program's stack, as it is not in the program's context.
    BytecodeWithoutDevice,
    Machine,
}

impl Code {
    fn elements(self) -> usize {
        match self {
            Self::Bytecode | Self::BytecodeWithoutDevice => 600,
            Self::Machine => 60_000,
        }
    }

    /// The longest time from one pause to the next, in microseconds.
    fn patience(self) -> u64 {
        match self {
            Self::Bytecode | Self::BytecodeWithoutDevice => 40_000,
            Self::Machine => 4_000,
        }
    }

    fn flags(self) -> Vec<String> {
        const MACHINE: [&str; 3] = [
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=generic",
        ];
        match self {
            Self::Bytecode => Vec::new(),
            Self::BytecodeWithoutDevice => {
                vec!["--iree-execution-model=inline-dynamic".to_owned()]
            }
            Self::Machine => MACHINE.map(str::to_owned).to_vec(),
        }
    }
}

fn loaded(module: &Path, code: Code, device: DeviceKind) -> Debugger {
    Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(module.to_owned())],
        inputs: vec!["512xi32=1".to_owned(), format!("{}xi32=7", code.elements())],
        host: Config { device, threads: 3, ..Config::default() },
        ..LaunchOptions::default()
    })
    .unwrap_or_else(|error| panic!("{error}"))
}

/// The final value of each element, computed here.
fn expected(code: Code) -> i32 {
    (0..3 * code.elements()).fold(1, |sum: i32, _| sum.wrapping_mul(3).wrapping_add(7))
}

/// Pseudorandom numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Inspects a stop. Returns whether it is in the dispatch's code, with a line and registers.
fn is_inside(debugger: &Debugger) -> bool {
    let frames = debugger.machine().frames();
    if frames[0].name.contains("machine code +0x") {
        assert!(frames[0].name.starts_with("workgroup ("), "{}", frames[0].name);
        assert!(frames[1].name.contains(": dispatch @"), "{}", frames[1].name);
        let registers = Node::Scope(frames[0].id(), ScopeKind::Registers);
        assert!(debugger.machine().children(&registers, None).iter().any(|it| it.name == "$rip"));
        return true;
    }
    let is_inside = frames[0].name == DISPATCH;
    if is_inside {
        assert!(frames[0].source.is_some(), "{:?}", frames[0]);
        assert!(frames[1].name.starts_with("workgroup ("), "{}", frames[1].name);
        assert!(frames[2].name.contains(": dispatch @"), "{}", frames[2].name);
        let registers = Node::Scope(frames[0].id(), ScopeKind::Registers);
        assert!(!debugger.machine().children(&registers, None).is_empty(), "{:?}", frames[0]);
    }
    is_inside
}

/// Does something that a user may do at a stop. The caller handles the result.
fn disturb(debugger: &mut Debugger, random: &mut Random) -> Option<StopReason> {
    let step = |debugger: &mut Debugger, kind, granularity| {
        Some(debugger.resume(Resume::Step(kind, granularity)))
    };
    match random.below(6) {
        0 => step(debugger, StepKind::Over, Granularity::Line),
        1 => step(debugger, StepKind::Into, Granularity::Instruction),
        2 => {
            let file = "pauses.mlir".to_owned();
            let spec = BreakpointSpec::Line { file, line: SCALED, column: None };
            let id = debugger.edit_breakpoints().add(spec);
            let reason = debugger.resume(Resume::Continue);
            debugger.edit_breakpoints().remove(id);
            Some(reason)
        }
        3 => step(debugger, StepKind::Out, Granularity::Line),
        _ => None,
    }
}

/// Runs the program with interrupts. Returns how often it was stopped, and how often inside the
/// dispatch.
fn disturbed(module: &Path, code: Code, device: DeviceKind, seed: u64) -> (u32, u32) {
    let mut random = Random(seed);
    let mut debugger = loaded(module, code, device);
    let (mut pauses, mut inside) = (0, 0);
    let mut reason = None;
    loop {
        let delay = Duration::from_micros(random.below(code.patience()));
        let handle = debugger.interrupt_handle();
        // A few interrupts are enough; then the program runs undisturbed.
        let clock = (pauses < 15).then(|| {
            thread::spawn(move || {
                thread::sleep(delay);
                handle.interrupt();
            })
        });
        let stopped = reason.take().unwrap_or_else(|| debugger.resume(Resume::Continue));
        if let Some(clock) = clock {
            clock.join().unwrap();
        }
        match stopped {
            StopReason::Completed(results) => {
                let text = vm::value_text::format_values("result", &results);
                let value = expected(code).to_string();
                let body = text.split_once("512xi32=").expect("a tensor").1;
                let elements: Vec<&str> = body.split_whitespace().collect();
                assert_eq!(elements, vec![value.as_str(); 512], "seed {seed}, {pauses} pauses");
                return (pauses, inside);
            }
            StopReason::Failed(failure) => panic!("{failure}"),
            StopReason::Pause => {
                pauses += 1;
                inside += u32::from(is_inside(&debugger));
            }
            _ => {}
        }
        // Stepping out of machine code would end the program soon.
        if code != Code::Machine {
            reason = disturb(&mut debugger, &mut random);
        }
    }
}

/// How many runs with interrupts there are: more than the fewest only if too few pauses were where
/// they should be.
const FEWEST_RUNS: u64 = 4;
const MOST_RUNS: u64 = 40;

fn check(code: Code) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/pauses.mlir");
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(source).unwrap();
    let source = folder.path().join("pauses.mlir");
    std::fs::write(&source, text.replace("600", &code.elements().to_string())).unwrap();
    let module = compiled(&source, &code.flags(), folder.path());
    for device in [DeviceKind::LocalSync, DeviceKind::LocalTask] {
        let (mut pauses, mut inside) = (0, 0);
        // Where a loaded machine interrupts it is chance: there are more runs until enough are in.
        for seed in 1..=MOST_RUNS {
            let run = disturbed(&module, code, device, seed);
            (pauses, inside) = (pauses + run.0, inside + run.1);
            let is_enough = match code {
                Code::Bytecode => inside > pauses / 2,
                Code::BytecodeWithoutDevice => pauses > 20,
                Code::Machine => inside > 3,
            };
            if seed >= FEWEST_RUNS && is_enough {
                break;
            }
            assert!(seed < MOST_RUNS, "{device}: {pauses} pauses, {inside} inside");
        }
    }
}

#[test]
fn pauses_inside_of_dispatches_change_nothing() {
    check(Code::Bytecode);
}

#[test]
fn pauses_of_dispatches_that_stay_where_they_are_change_nothing() {
    check(Code::BytecodeWithoutDevice);
}

#[test]
fn pauses_inside_of_machine_code_change_nothing() {
    if trap::IS_SUPPORTED {
        check(Code::Machine);
    }
}
