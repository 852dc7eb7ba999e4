//! The programs of random sessions, each compiled once, with what is at each moment of theirs.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::tests::going_back::{State, moment, state};
use crate::tests::stepping_model::{Case, compiled, loaded};
use crate::{Debugger, Granularity, Level, RecordOptions, Resume, RunMoment, StepKind, StopReason};

/// A program of the VM: globals, a list, a buffer that lives long and one that each turn makes
/// anew, and calls.
const MACHINE_PROGRAM: &str = r#"
util.global private mutable @calls = 0 : i32
util.global private mutable @wide = 5 : i64

util.func private @twice(%x: i32) -> i32 attributes {
  inlining_policy = #util.inline.never
} {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %calls = util.global.load @calls : i32
  %more = arith.addi %calls, %one : i32
  util.global.store %more, @calls : i32
  %doubled = arith.muli %x, %two : i32
  %least = arith.minsi %doubled, %more : i32
  util.return %least : i32
}

util.func private @outer(%x: i32) -> i32 attributes {
  inlining_policy = #util.inline.never
} {
  %three = arith.constant 3 : i32
  %a = util.call @twice(%x) : (i32) -> i32
  %b = arith.addi %a, %three : i32
  %c = util.call @twice(%b) : (i32) -> i32
  %d = arith.xori %b, %c : i32
  util.return %d : i32
}

util.func public @main(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %wide1 = arith.constant 7 : i64
  %first = util.buffer.alloc uninitialized : !util.buffer{%c64}
  util.buffer.fill %zero, %first[%c0 for %c64] : i32 -> !util.buffer{%c64}
  %list = util.list.create %n : !util.list<i32>
  util.list.resize %list, %n : !util.list<i32>
  %after = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %one) -> (i32) {
    %kept = util.buffer.alloc uninitialized : !util.buffer{%c64}
    util.buffer.fill %zero, %kept[%c0 for %c64] : i32 -> !util.buffer{%c64}
    util.buffer.store %sum, %kept[%c4 for %c4] : i32 -> !util.buffer{%c64}
    %a = util.call @outer(%sum) : (i32) -> i32
    %odd = arith.remui %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %more = scf.if %is_odd -> (i32) {
      %w = util.global.load @wide : i64
      %x = arith.addi %w, %wide1 : i64
      util.global.store %x, @wide : i64
      util.buffer.store %a, %first[%c4 for %c4] : i32 -> !util.buffer{%c64}
      util.list.set %list[%c1], %a : i32 -> !util.list<i32>
      %y = arith.addi %a, %sum : i32
      scf.yield %y : i32
    } else {
      util.buffer.store %a, %kept[%c4 for %c4] : i32 -> !util.buffer{%c64}
      %b = util.call @twice(%a) : (i32) -> i32
      scf.yield %b : i32
    }
    %got = util.buffer.load %kept[%c4 for %c4] : !util.buffer{%c64} -> i32
    %next = arith.addi %got, %more : i32
    scf.yield %next : i32
  }
  %back = util.buffer.load %first[%c4 for %c4] : !util.buffer{%c64} -> i32
  %last = util.list.get %list[%c1] : !util.list<i32> -> i32
  %both = arith.addi %back, %last : i32
  %all = arith.addi %both, %after : i32
  util.return %all : i32
}
"#;

/// Dispatches in a loop, whose tensors share memory that is released and made again.
const DEVICE_PROGRAM: &str = r#"
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @main(%s: tensor<2x3xf32>, %n: index) -> tensor<3x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %w = arith.constant dense<[[0.5, 0.25], [1.0, 0.5], [0.25, 2.0]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> (tensor<3x3xf32>) {
    %m = linalg.matmul ins(%w, %s : tensor<3x2xf32>, tensor<2x3xf32>)
        outs(%a : tensor<3x3xf32>) -> tensor<3x3xf32>
    %g = linalg.generic {indexing_maps = [#id, #turned, #id],
        iterator_types = ["parallel", "parallel"]}
        ins(%m, %a : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
    ^bb0(%p: f32, %t: f32, %o: f32):
      %q = arith.addf %p, %one : f32
      %u = arith.mulf %q, %t : f32
      %v = arith.addf %u, %p : f32
      linalg.yield %v : f32
    } -> tensor<3x3xf32>
    %b = util.optimization_barrier %g : tensor<3x3xf32>
    scf.yield %b : tensor<3x3xf32>
  }
  return %r : tensor<3x3xf32>
}
"#;

/// A program, compiled.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) module: PathBuf,
    pub(super) case: Case,
    /// What a user may watch, somewhere.
    pub(super) watched: &'static [&'static str],
    /// Conditions of breakpoints, somewhere.
    pub(super) conditions: &'static [&'static str],
    pub(super) is_machine_code: bool,
    /// Each moment of a run by instruction, with its state.
    pub(super) history: Vec<(RunMoment, State)>,
    _folder: tempfile::TempDir,
}

pub(super) fn machine_program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    const WATCHED: &[&str] = &[
        "@calls", "@wide", "%first", "%kept", "%list[1]", "%list[0]", "%sum", "%i", "%a", "%b",
        "%x", "%more", "%next", "%doubled", "%least", "%first", "%kept", "i0", "i1", "i2", "i3",
        "i4", "i5", "i6", "i7",
    ];
    const CONDITIONS: &[&str] = &[
        "@calls > 6",
        "@calls % 2 == 1",
        "@wide == 12",
        "%x > 3",
        "%sum > 9 || %sum == 1",
        "i0 > 1",
    ];
    PROGRAM
        .get_or_init(|| Program::new("machine", MACHINE_PROGRAM, &["5"], &[], WATCHED, CONDITIONS))
}

pub(super) fn device_program(is_machine_code: bool) -> &'static Program {
    static BYTECODE: OnceLock<Program> = OnceLock::new();
    static MACHINE_CODE: OnceLock<Program> = OnceLock::new();
    const WATCHED: &[&str] = &[
        "binding[0]",
        "binding[1]",
        "binding[2]",
        "binding[0][1, 1]",
        "operand[0]",
        "operand[1]",
        "operand[2]",
        "operand[1][0, 0]",
        "operand[2][2, 1]",
        "%m[1, 2]",
        "%g[0, 1]",
        "%a",
        "%a[2, 2]",
        "%s[0, 0]",
        "%w[1, 0]",
        "i0",
        "i2",
        "i5",
        "%i",
        "%q",
        "%u",
        "%p",
        "%t",
    ];
    const FLAGS: [&[&str]; 2] = [
        &["--iree-hal-target-backends=vmvx"],
        &["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"],
    ];
    const CONDITIONS: &[&str] = &["%p > 2.0", "%t == 0.0", "%q < 4.0", "i0 > 1"];
    let program = if is_machine_code { &MACHINE_CODE } else { &BYTECODE };
    let name = if is_machine_code { "machine code" } else { "bytecode" };
    program.get_or_init(|| {
        let flags = FLAGS[usize::from(is_machine_code)];
        let inputs = ["2x3xf32=1,2,3,-1,0.5,2", "3"];
        Program::new(name, DEVICE_PROGRAM, &inputs, flags, WATCHED, CONDITIONS)
    })
}

impl Program {
    fn new(
        name: &'static str,
        text: &str,
        inputs: &[&str],
        flags: &[&str],
        watched: &'static [&'static str],
        conditions: &'static [&'static str],
    ) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let source = folder.path().join("pairs.mlir");
        std::fs::write(&source, text).expect("it can be written");
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let flags: Vec<String> = owned(flags);
        let module = compiled(&source, &flags, folder.path());
        let case = Case { source, function: "main".to_owned(), inputs: owned(inputs), flags };
        let is_machine_code = name == "machine code";
        let mut program = Self {
            name,
            module,
            case,
            watched,
            conditions,
            is_machine_code,
            history: Vec::new(),
            _folder: folder,
        };
        program.history = program.whole_history();
        program
    }

    pub(super) fn has_dispatches(&self) -> bool {
        self.name != "machine"
    }

    /// A session that is not recorded, at its first instruction.
    pub(super) fn fresh(&self) -> Debugger {
        let mut debugger = loaded(&self.module, &self.case, Level::default());
        assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
        debugger
    }

    /// A recorded session, at its first instruction.
    pub(super) fn recorded(&self, every: Option<u64>) -> Debugger {
        let mut debugger = loaded(&self.module, &self.case, Level::default());
        let options = RecordOptions { every, ..RecordOptions::default() };
        debugger.record(options).expect("it can be recorded");
        assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
        debugger
    }

    /// One instruction, or one command of machine code.
    pub(super) fn step(&self, debugger: &mut Debugger) -> StopReason {
        // A step into machine code would run its bytecode instead.
        let is_in_native = debugger.machine().position().is_none();
        let kind =
            if self.is_machine_code && is_in_native { StepKind::Over } else { StepKind::Into };
        debugger.resume(Resume::Step(kind, Granularity::Instruction))
    }

    fn whole_history(&self) -> Vec<(RunMoment, State)> {
        let mut debugger = self.fresh();
        let mut history = Vec::new();
        loop {
            history.push((moment(&debugger), state(&debugger)));
            assert!(history.len() < 100_000, "{} does not end", self.name);
            let reason = self.step(&mut debugger);
            if reason.is_final() {
                return history;
            }
            assert!(matches!(reason, StopReason::Step), "{reason:?}");
        }
    }

    /// The state at a moment, if a run by instruction stops there.
    pub(super) fn state_at(&self, moment: &RunMoment) -> Option<&State> {
        let found = self.history.binary_search_by(|(at, _)| at.cmp(moment)).ok()?;
        Some(&self.history[found].1)
    }

    /// The program is where it says, with the values of that moment.
    #[track_caller]
    pub(super) fn check_state(&self, debugger: &Debugger, what: &str) {
        let now = moment(debugger);
        if let Some(then) = self.state_at(&now) {
            assert!(state(debugger) == *then, "{what}: at {now:?}, the state is another");
        }
    }
}
