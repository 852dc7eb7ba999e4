//! Tensors that were overwritten, as they were before. A session that is not recorded stops before
//! and after each command and writes down the tensors that memory has; wherever a recorded session
//! stands, what it shows of the past is what that one has seen, to the last bit.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use vm::FrameIndex;

use super::stepping_model::{Case, compiled, loaded};
use crate::{
    AsOf, Back, BreakpointSpec, Debugger, DispatchMoment, Granularity, LaunchOptions, Level,
    ModuleSource, Node, PastOptions, RecordOptions, Resume, ScopeKind, StepKind, StopReason,
    TensorView,
};

const VMVX: &[&str] = &["--iree-hal-target-backends=vmvx"];
const MACHINE: &[&str] =
    &["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

const INPUT: &str = "4x4xf32=1 2 3 4 -1 -2 -3 -4 0.5 0.25 0.125 3 1 1 2 2";

/// A program, compiled, with what memory has next to each of its commands.
struct Program {
    _folder: tempfile::TempDir,
    module: PathBuf,
    case: Case,
    seen: HashMap<(String, String), Vec<u8>>,
}

/// Layers of two dispatches each, whose tensors share transient memory.
fn layers() -> String {
    let mut text = String::from(
        "func.func @main(%s0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n\
         %zero = arith.constant 0.0 : f32\n\
         %w = arith.constant dense<0.25> : tensor<4x4xf32>\n\
         %e = tensor.empty() : tensor<4x4xf32>\n\
         %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>\n",
    );
    for layer in 0..5 {
        text += &format!(
            "%m{layer} = linalg.matmul ins(%s{layer}, %w : tensor<4x4xf32>, tensor<4x4xf32>) \
             outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>\n\
             %s{next} = linalg.matmul ins(%m{layer}, %s{layer} : tensor<4x4xf32>, tensor<4x4xf32>) \
             outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>\n",
            next = layer + 1
        );
    }
    text + "return %s5 : tensor<4x4xf32>\n}\n"
}

/// What a name stands for where the program stands, if it is a tensor.
fn tensors(debugger: &Debugger) -> Vec<(String, TensorView)> {
    let frame = debugger.machine().innermost_frame();
    let scopes = debugger.machine().scopes(frame);
    let locals = scopes.into_iter().filter(|(kind, _)| *kind == ScopeKind::Locals);
    let shown = locals.flat_map(|(_, node)| debugger.machine().children(&node, None));
    let journal = debugger.program().host().device().allocator().journal();
    let is_recorded = journal.is_on();
    shown
        .inspect(|it| {
            let is_lost = it.absent.as_ref().is_some_and(|why| why.kind() == "overwritten");
            assert!(!(is_recorded && is_lost), "{} {}", it.name, it.value);
        })
        .filter_map(|it| match it.children?.node {
            Node::Tensor(tensor) => Some((it.name, tensor)),
            _ => None,
        })
        .collect()
}

fn bytes(tensor: &TensorView) -> Vec<u8> {
    tensor.tensor().expect("it has elements").bytes
}

fn stop_at_commands(debugger: &mut Debugger) {
    for when in [DispatchMoment::Before, DispatchMoment::After] {
        let pattern = "*".to_owned();
        debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when });
    }
}

impl Program {
    fn new(text: &str, inputs: &[&str], flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let source = folder.path().join("past.mlir");
        std::fs::write(&source, text).expect("it can be written");
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let flags: Vec<String> = owned(flags);
        let module = compiled(&source, &flags, folder.path());
        let case = Case { source, function: "main".to_owned(), inputs: owned(inputs), flags };
        let seen = seen(&module, &case);
        Self { _folder: folder, module, case, seen }
    }

    /// A session that keeps what is overwritten, and may be recorded, too.
    fn begun(&self, is_recorded: bool) -> Debugger {
        let mut debugger = Debugger::load(LaunchOptions {
            modules: vec![ModuleSource::Path(self.module.clone())],
            function: Some(self.case.function.clone()),
            inputs: self.case.inputs.clone(),
            past: Some(PastOptions::default()),
            ..LaunchOptions::default()
        })
        .expect("it can be loaded");
        if is_recorded {
            debugger.record(RecordOptions::default()).expect("it can be recorded");
        }
        assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
        debugger
    }

    fn seen_at(&self, as_of: AsOf, name: &str) -> Option<&Vec<u8>> {
        self.seen.get(&(key(as_of), name.to_owned()))
    }

    /// Compares what is shown of the past. Returns how many tensors that were, at a command.
    #[track_caller]
    fn check(&self, debugger: &Debugger) -> usize {
        let mut count = 0;
        let is_at_command = debugger.machine().standing_dispatch().is_some();
        let ran = debugger.program().host().device().history().total();
        for (name, tensor) in tensors(debugger) {
            let Some(as_of) = tensor.as_of() else {
                // Where the function returns, memory has been released.
                let was_there = |command| self.seen_at(AsOf::After(command), &name).is_some();
                let is_known = tensor.recomputed().is_some() && (1..=ran).any(was_there);
                assert!(!(is_known && is_at_command), "{name} is computed again");
                continue;
            };
            let then = self.seen_at(as_of, &name);
            let then = then.unwrap_or_else(|| panic!("{name} was not there {as_of:?}"));
            assert!(bytes(&tensor) == *then, "{name} {as_of:?}");
            count += usize::from(is_at_command);
        }
        count
    }
}

fn key(as_of: AsOf) -> String {
    format!("{} {}", as_of.side(), as_of.command())
}

/// The tensors in memory, before and after each command, by their names.
fn seen(module: &Path, case: &Case) -> HashMap<(String, String), Vec<u8>> {
    let mut debugger = loaded(module, case, Level::default());
    stop_at_commands(&mut debugger);
    let mut seen = HashMap::new();
    while !debugger.resume(Resume::Continue).is_final() {
        let device = debugger.program().host().device();
        let ran = device.history().total();
        let is_after = debugger.machine().has_just_run(FrameIndex(0));
        let as_of = if is_after { AsOf::After(ran) } else { AsOf::Before(ran + 1) };
        for (name, tensor) in tensors(&debugger) {
            assert_eq!(tensor.as_of(), None, "nothing is recorded");
            if tensor.recomputed().is_none() {
                seen.insert((key(as_of), name), bytes(&tensor));
            }
        }
    }
    seen
}

/// All stops of steps of a kind, forward.
fn check_forward(program: &Program, kind: StepKind, by: Granularity) -> usize {
    let mut debugger = program.begun(false);
    let mut count = 0;
    while !debugger.resume(Resume::Step(kind, by)).is_final() {
        count += program.check(&debugger);
    }
    count
}

/// All stops of steps of a kind, forward and then back.
fn check_stops(program: &Program, kind: StepKind, by: Granularity) -> usize {
    let mut debugger = program.begun(true);
    let mut count = 0;
    while !debugger.resume(Resume::Step(kind, by)).is_final() {
        count += program.check(&debugger);
    }
    let forward = count;
    while !matches!(debugger.go_back(Back::Step(kind, by)), Ok(StopReason::Begin) | Err(_)) {
        count += program.check(&debugger);
    }
    assert!(count > forward, "none on the way back");
    assert_eq!(check_forward(program, kind, by), forward, "not recorded");
    count
}

#[test]
fn bytecode_shows_what_it_had() {
    let program = Program::new(&layers(), &[INPUT], VMVX);
    assert!(check_stops(&program, StepKind::Over, Granularity::Line) > 20);
    assert!(check_stops(&program, StepKind::Into, Granularity::Line) > 20);
}

#[test]
fn machine_code_shows_what_it_had() {
    let program = Program::new(&layers(), &[INPUT], MACHINE);
    assert!(check_stops(&program, StepKind::Over, Granularity::Line) > 20);
}
