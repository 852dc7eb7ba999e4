//! Going back. A program is first run by instruction, which shows the state at every moment. Then
//! it is recorded, and walked back and forth at random: whenever it comes to a moment, its state is
//! what it was then, to the last bit. Steps back end where steps forward have stopped.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use vm::{FrameIndex, Moment, Ref, Value};

use super::stepping_model::{Case, OF_MLIR, cases_of, compiled, loaded};
use crate::{
    Back, BreakpointOptions, BreakpointSpec, Debugger, Granularity, HitCondition, Level,
    RecordOptions, Resume, StepKind, StopReason,
};

/// The state of a program, without addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct State(Vec<String>);

pub(super) fn moment(debugger: &Debugger) -> Moment {
    let machine = debugger.machine();
    let invocation = machine.invocation().expect("it runs");
    invocation.moment(&machine.context).expect("it has begun")
}

/// Registers of all frames, globals, and what they refer to.
pub(super) fn state(debugger: &Debugger) -> State {
    let machine = debugger.machine();
    let invocation = machine.invocation().expect("it runs");
    let context = &machine.context;
    let mut state = Vec::new();
    for (index, frame) in invocation.frames(context).enumerate() {
        let at = FrameIndex(index);
        state.push(format!("{:?}", frame.function));
        let words = (0..frame.i32_register_count).map(|it| invocation.register_i32(at, it));
        state.push(format!("{:?}", words.collect::<Vec<_>>()));
        for register in 0..frame.ref_register_count {
            state.push(invocation.register_ref(at, register).map_or_else(String::new, contents));
        }
    }
    let modules: Vec<_> = context.modules().map(|(module, ..)| module).collect();
    for module in modules {
        let (bytes, refs) = (context.global_bytes(module), context.global_refs(module));
        // Bytecode of dispatches is loaded when a step first enters one.
        if !bytes.is_empty() || !refs.is_empty() {
            state.push(format!("{bytes:?}"));
            state.extend(refs.iter().map(contents));
        }
    }
    State(state)
}

fn contents(reference: &Ref) -> String {
    let bytes = |bytes: Vec<u8>| format!("{bytes:02x?}");
    match reference {
        Ref::Null => "null".to_owned(),
        Ref::Buffer(buffer) => bytes(buffer.read(0, buffer.len())),
        Ref::List(list) => {
            let elements = (0..list.len()).map(|index| match list.get(index) {
                Some(Value::Ref(element)) => contents(&element),
                other => format!("{other:?}"),
            });
            format!("{:?}", elements.collect::<Vec<_>>())
        }
        Ref::Object(object) => match (reference.downcast(), reference.downcast()) {
            (Some(buffer), _) => bytes(hal::Buffer::read(buffer, 0, usize::MAX)),
            (_, Some(view)) => bytes(hal::BufferView::buffer(view).read(0, usize::MAX)),
            _ => match reference.downcast::<hal::Fence>() {
                Some(fence) => format!("fence {:?}", fence.is_reached()),
                None => object.type_name().to_owned(),
            },
        },
    }
}

/// Numbers that look random, the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }
}

/// The states of all moments, by instruction.
fn history(module: &Path, case: &Case) -> BTreeMap<String, State> {
    // There, constants are not skipped.
    let mut debugger = loaded(module, case, Level::Disassembly);
    let mut reason = debugger.resume(Resume::ToEntry);
    let mut history = BTreeMap::new();
    let mut last: Option<Moment> = None;
    while !reason.is_final() {
        let now = moment(&debugger);
        assert!(last.as_ref().is_none_or(|last| *last < now), "{last:?} {now:?}");
        history.insert(format!("{now:?}"), state(&debugger));
        assert!(history.len() < 100_000, "{} does not end", case.function);
        last = Some(now);
        reason = debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
    }
    history
}

fn recorded(module: &Path, case: &Case, level: Level, every: Option<u64>) -> Debugger {
    let mut debugger = loaded(module, case, level);
    let options = RecordOptions { every, ..RecordOptions::default() };
    debugger.record(options).expect("it can be recorded");
    let reason = debugger.resume(Resume::ToEntry);
    assert!(matches!(reason, StopReason::Entry), "{reason:?}");
    debugger
}

/// Random walks: the state of each moment is the one that it had.
fn check_walks(
    module: &Path,
    case: &Case,
    level: Level,
    every: Option<u64>,
    history: &BTreeMap<String, State>,
) {
    const STEPS: usize = 60;
    let mut dice = Dice(every.unwrap_or(7));
    let mut debugger = recorded(module, case, level, every);
    let granularities = [Granularity::Line, Granularity::Statement, Granularity::Instruction];
    let kinds = [StepKind::Into, StepKind::Into, StepKind::Over, StepKind::Out];
    let mut known = 0;
    for _ in 0..STEPS {
        let (kind, by) = (kinds[dice.roll(4)], granularities[dice.roll(3)]);
        let reason = match dice.roll(12) {
            0..6 => debugger.resume(Resume::Step(kind, by)),
            6..11 => debugger.go_back(Back::Step(kind, by)).expect("it is recorded"),
            _ => debugger.go_back(Back::ToBegin).expect("it is recorded"),
        };
        if reason.is_final() {
            debugger.go_back(Back::Step(kind, by)).expect("it is recorded");
        }
        let now = format!("{:?}", moment(&debugger));
        if let Some(then) = history.get(&now) {
            assert_eq!(state(&debugger), *then, "{} {level:?} {kind:?} {by:?}", case.function);
            known += 1;
        }
    }
    assert!(known > STEPS / 2, "{} {level:?}: {known} states of {STEPS}", case.function);
}

/// Going back n steps ends where the program was before going forward n steps.
fn check_ways_back(module: &Path, case: &Case, level: Level, kind: StepKind, by: Granularity) {
    let mut debugger = recorded(module, case, level, Some(3));
    let mut way = Vec::new();
    loop {
        way.push((moment(&debugger), state(&debugger), debugger.machine().frames().len()));
        let reason = debugger.resume(Resume::Step(kind, by));
        if reason.is_final() || way.len() > 40 {
            break;
        }
    }
    let what = |at: usize| format!("{} {level:?} {kind:?} {by:?}, step {at}", case.function);
    // Virtual frames of inlined calls share a moment.
    way.dedup_by(|a, b| a.0 == b.0);
    let is_over = debugger.machine().invocation().is_none();
    let stands = !is_over && way.last().is_some_and(|last| last.0 == moment(&debugger));
    let reached = way.len() - usize::from(stands);
    for at in (0..reached).rev() {
        let reason = debugger.go_back(Back::Step(kind, by)).expect("it is recorded");
        let found = moment(&debugger);
        if matches!(reason, StopReason::Begin) {
            assert!(at <= 1, "{}: at the beginning too early", what(at));
            return;
        }
        assert_eq!(found, way[at].0, "{}", what(at));
        assert!(state(&debugger) == way[at].1, "{}", what(at));
    }
}

fn source(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path).canonicalize().expect("the source is there")
}

fn check_all(path: &str, has_dispatches: bool) {
    let source = source(path);
    let cases = cases_of(&source);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = compiled(&source, &cases[0].flags, folder.path());
    for case in &cases {
        let history = history(&module, case);
        for level in OF_MLIR.iter().copied() {
            // With few checkpoints and with many.
            for every in [None, Some(1), Some(5)] {
                check_walks(&module, case, level, every, &history);
            }
        }
        // Steps back do not enter dispatches from their end, as steps forward do from their begin.
        if !has_dispatches {
            for by in [Granularity::Line, Granularity::Statement, Granularity::Instruction] {
                check_ways_back(&module, case, Level::default(), StepKind::Into, by);
            }
        }
        check_ways_back(&module, case, Level::default(), StepKind::Over, Granularity::Line);
    }
}

#[test]
fn recursion() {
    check_all("runtime/cli/tests/levels/recursion.mlir", false);
}

#[test]
fn loops_and_branches() {
    check_all("tests/corpus/control_flow.mlir", false);
}

#[test]
fn lists_buffers_and_globals() {
    check_all("tests/corpus/lists_and_buffers.mlir", false);
    check_all("tests/corpus/globals_and_initializers.mlir", false);
}

#[test]
fn dispatches() {
    check_all("runtime/cli/tests/levels/device.mlir", true);
}

/// A model of two dispatches, in either form of code.
fn perceptron(flags: &[&str]) -> (tempfile::TempDir, PathBuf, Case) {
    let source = source("runtime/cli/tests/device/perceptron.mlir");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let module = compiled(&source, &flags, folder.path());
    let (function, inputs) = ("perceptron".to_owned(), vec!["4x8xf32=1".to_owned()]);
    (folder, module, Case { source, function, inputs, flags })
}

pub(super) const VMVX: &[&str] = &["--iree-hal-target-backends=vmvx"];
const MACHINE: &[&str] = &["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"];

/// A loop that writes memory in place, in parts, and with what was there.
const IN_PLACE: &str = r#"
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %all = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %x) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    %next = tensor.insert_slice %row into %sum[%c1, 0] [1, 8] [1, 1]
        : tensor<1x8xf32> into tensor<4x8xf32>
    %most = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x8xf32>) outs(%next : tensor<4x8xf32>) {
      ^bb0(%new: f32, %old: f32):
        %greater = arith.maximumf %new, %old : f32
        %half = arith.mulf %greater, %old : f32
        linalg.yield %half : f32
    } -> tensor<4x8xf32>
    scf.yield %most : tensor<4x8xf32>
  }
  return %all : tensor<4x8xf32>
}
"#;

/// Results without addresses.
pub(super) fn results(reason: &StopReason) -> Vec<String> {
    let StopReason::Completed(values) = reason else { panic!("{reason:?}") };
    let text = |value: &Value| match value {
        Value::Ref(reference) => contents(reference),
        other => format!("{other:?}"),
    };
    values.iter().map(text).collect()
}

/// Steps back and forth at random: whenever the program comes to a moment again, its state is what
/// it was there before, and so are its results. `PAST_STEPS` makes it walk further.
fn check_returns(module: &Path, case: &Case, level: Level, every: Option<u64>) {
    let steps = std::env::var("PAST_STEPS").ok().and_then(|it| it.parse().ok()).unwrap_or(40);
    let expected = results(&loaded(module, case, level).resume(Resume::Continue));
    let mut dice = Dice(every.unwrap_or(11));
    let mut debugger = recorded(module, case, level, every);
    let mut known: BTreeMap<String, State> = BTreeMap::new();
    let (mut taken, mut again) = (0, 0);
    while taken < steps {
        let (kind, by) = (
            [StepKind::Into, StepKind::Over, StepKind::Out][dice.roll(3)],
            [Granularity::Line, Granularity::Statement, Granularity::Instruction][dice.roll(3)],
        );
        let (count, is_back) = (1 + dice.roll(6), dice.roll(2) == 0);
        for _ in 0..count {
            taken += 1;
            let reason = match is_back {
                true => debugger.go_back(Back::Step(kind, by)).expect("it is recorded"),
                false => debugger.resume(Resume::Step(kind, by)),
            };
            if reason.is_final() {
                assert_eq!(results(&reason), expected, "{level:?} {kind:?} {by:?}");
                debugger.go_back(Back::Step(kind, by)).expect("it is recorded");
            }
            let now = state(&debugger);
            let then = known.entry(format!("{:?}", moment(&debugger))).or_insert(now.clone());
            again += 1;
            let what = format!("{} {level:?} {kind:?} {by:?} {is_back} {every:?}", case.function);
            assert_eq!(*then, now, "{what} {taken}, {:?}", moment(&debugger));
        }
    }
    assert!(again > known.len(), "no moment was met again");
    assert_eq!(results(&debugger.resume(Resume::Continue)), expected);
}

/// The program that writes memory in place, in either form of code.
pub(super) fn in_place(flags: &[&str]) -> (tempfile::TempDir, PathBuf, Case) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("in_place.mlir");
    std::fs::write(&source, IN_PLACE).expect("it is written");
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let module = compiled(&source, &flags, folder.path());
    let numbers: Vec<String> = (0..32).map(|it| format!("{}", it % 7 - 3)).collect();
    let inputs = vec![format!("4x8xf32={}", numbers.join(","))];
    (folder, module, Case { source, function: "main".to_owned(), inputs, flags })
}

/// Programs with dispatches, in either form of code, at every level.
#[test]
fn steps_back_and_forth_end_in_the_same_state() {
    for flags in [VMVX, MACHINE] {
        let (_folder, module, case) = in_place(flags);
        for level in OF_MLIR.iter().copied() {
            for every in [None, Some(2)] {
                check_returns(&module, &case, level, every);
            }
        }
    }
}

/// A recorded program that was run to its end, at its return.
fn at_return(module: &Path, case: &Case) -> Debugger {
    let mut debugger = recorded(module, case, Level::default(), None);
    assert!(debugger.resume(Resume::Continue).is_final());
    debugger.go_back(Back::Step(StepKind::Over, Granularity::Line)).expect("it is recorded");
    debugger
}

/// The number of the command that computes a tensor, by its name in the source.
fn computed_by(debugger: &Debugger, name: &str) -> u64 {
    let entries = debugger.machine().dispatch_list();
    let has_result = |entry: &&crate::DispatchEntry| {
        let mut results = entry.operands.iter().filter(|it| it.is_written);
        results.any(|it| it.name.as_deref() == Some(name))
    };
    let entry = entries.iter().find(has_result).expect("a dispatch computes it");
    entry.runs.expect("it has run").last
}

/// The writer of an element is the dispatch whose result it is, by the source.
#[test]
fn elements_are_written_by_the_dispatches_that_compute_them() {
    for flags in [VMVX, MACHINE] {
        let (_folder, module, case) = perceptron(flags);
        let mut debugger = at_return(&module, &case);
        let (end, before) = (moment(&debugger), state(&debugger));
        let mut dice = Dice(3);
        let last = computed_by(&debugger, "%m2");
        for (name, shape) in [("%m2", [4, 4]), ("%h", [4, 256])] {
            let expected = computed_by(&debugger, name);
            for _ in 0..6 {
                let element = format!("{name}[{}, {}]", dice.roll(shape[0]), dice.roll(shape[1]));
                debugger.go_to(&end).expect("it is recorded");
                if name == "%h" {
                    // The last dispatch reads it; after that, it may be gone.
                    debugger.go_to_command(last).expect("it has run");
                }
                let frame = debugger.machine().innermost_frame();
                let found = debugger.who_wrote(frame, &element).expect("something has written it");
                let StopReason::Found(text) = found else { panic!("{found:?}") };
                let total = debugger.program().host().device().history().total();
                assert_eq!(total + 1, expected, "{flags:?} {text}");
                assert!(text.contains("in workgroup (") && !text.contains("race"), "{text}");
                debugger.go_to(&end).expect("it is recorded");
            }
        }
        assert!(state(&debugger) == before, "the marks are gone");
        let frame = debugger.machine().innermost_frame();
        let input = debugger.who_wrote(frame, "%x[1, 1]").expect_err("it is an argument");
        assert!(input.to_string().contains("was called with it"), "{input}");
        assert_eq!(moment(&debugger), end);
    }
}

/// A loop of VM instructions.
fn looping_sum() -> (tempfile::TempDir, PathBuf, Case) {
    let source = source("tests/corpus/control_flow.mlir");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = compiled(&source, &[], folder.path());
    let loops = |case: &Case| case.function == "sum" && case.inputs != ["0"];
    let case = cases_of(&source).into_iter().find(loops).expect("a loop");
    (folder, module, case)
}

/// Stops of breakpoints come in the opposite order.
#[test]
fn breakpoints_hold_backwards() {
    let (_folder, module, case) = &looping_sum();
    let mut debugger = recorded(module, case, Level::Disassembly, Some(1));
    let mut seen = Vec::new();
    let begin = moment(&debugger);
    while let Some(here) = debugger.machine().position() {
        if !seen.contains(&here) {
            seen.push(here);
        }
        debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
    }
    let mut most = 0;
    // At every instruction, so at those where checkpoints are.
    for place in seen {
        debugger.go_to(&begin).expect("it is recorded");
        let address = debugger.program().linear(place).expect("it has an address");
        let id = debugger.edit_breakpoints().add(BreakpointSpec::Instruction { address });
        let mut way = Vec::new();
        while !debugger.resume(Resume::Continue).is_final() {
            way.push(moment(&debugger));
        }
        most = most.max(way.len());
        let hits =
            |debugger: &Debugger| debugger.breakpoints().get(id).map(crate::Breakpoint::hits);
        assert_eq!(hits(&debugger), Some(way.len() as u64), "{place:?}");
        let forward = way.clone();
        while let Some(expected) = way.pop() {
            let reason = debugger.go_back(Back::Continue).expect("it is recorded");
            assert!(matches!(reason, StopReason::Breakpoint(_)), "{reason:?} {place:?}");
            assert_eq!(moment(&debugger), expected, "{place:?}");
            // The count is what it was then.
            assert_eq!(hits(&debugger), Some(way.len() as u64 + 1), "{place:?}");
        }
        debugger.go_to(&begin).expect("it is recorded");
        // Every second hit stops again, wherever the program was in between.
        let options =
            BreakpointOptions { hit_condition: HitCondition::Every(2), ..Default::default() };
        debugger.edit_breakpoints().set_options(id, &options).expect("it is there");
        for (at, expected) in forward.iter().enumerate().filter(|(at, _)| at % 2 == 1) {
            assert!(matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)));
            assert_eq!(moment(&debugger), *expected, "{place:?}");
            if at % 4 == 1 {
                debugger.go_to(&begin).expect("it is recorded");
                debugger.go_to(expected).expect("it is recorded");
                assert_eq!(hits(&debugger), Some(at as u64 + 1), "{place:?}");
            }
        }
        debugger.edit_breakpoints().remove(id);
    }
    assert!(most > 3, "{most} hits");
}

/// Jumps and restarted frames end the past, and so does what is set while a command runs: at each
/// stop, the first such change is refused, and the next one is made.
#[test]
fn changes_by_hand_end_the_past_once_the_user_knows() {
    fn assign(debugger: &mut Debugger) -> Result<(), String> {
        let frame = debugger.machine().innermost_frame();
        debugger.assign(frame, "i0", "0").map(drop).map_err(|error| error.to_string())
    }
    fn jump(debugger: &mut Debugger) -> Result<(), String> {
        let here = debugger.machine().position().expect("it stands at an instruction");
        debugger.jump(here).map_err(|refused| refused.to_string())
    }
    fn restart(debugger: &mut Debugger) -> Result<(), String> {
        debugger.restart_frame(FrameIndex(0)).map(drop).map_err(|refused| refused.to_string())
    }
    type Change = fn(&mut Debugger) -> Result<(), String>;
    let changes: [(Change, &str); 2] = [(jump, "a jump"), (restart, "restarting a frame")];
    let (_folder, module, case) = &looping_sum();
    let step = |debugger: &mut Debugger| {
        debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
    };
    for (change, what) in changes {
        let mut debugger = recorded(module, case, Level::Disassembly, Some(1));
        change(&mut debugger).expect("nothing is recorded that it ends");
        step(&mut debugger);
        let (here, before) = (moment(&debugger), state(&debugger));
        let frame = debugger.machine().innermost_frame();
        let error = debugger.assign(frame, "%nothing", "0").expect_err("nothing is called so");
        assert!(error.to_string().contains("nothing is called"), "{error}");
        let is_refused = |debugger: &mut Debugger| {
            let error = change(debugger).expect_err("it ends the past");
            assert!(
                error.starts_with("the program is recorded") && error.contains(what),
                "{error}"
            );
            assert!(state(debugger) == before && moment(debugger) == here, "nothing has changed");
        };
        is_refused(&mut debugger);
        // At another stop the user hears of it again.
        let reason = debugger.go_back(Back::Continue).expect("the past is still there");
        assert!(matches!(reason, StopReason::Begin), "{reason:?}");
        step(&mut debugger);
        is_refused(&mut debugger);
        change(&mut debugger).expect("the user knows");
        assign(&mut debugger).expect("there is no past now");
        assert_eq!(debugger.lines_of_time().map(|it| it.len()), Ok(1), "{what}");
        let (here, before) = (moment(&debugger), state(&debugger));
        step(&mut debugger);
        let reason = debugger.go_back(Back::Continue).expect("it is recorded");
        assert!(matches!(reason, StopReason::Begin), "{reason:?}");
        assert!(moment(&debugger) == here && state(&debugger) == before, "{what}");
    }
}

/// What does not fit into memory is in a file, and the program still goes back to its beginning.
#[test]
fn what_does_not_fit_into_memory_is_on_disk() {
    let (_folder, module, case) = perceptron(MACHINE);
    let run = |options: RecordOptions| {
        let mut debugger = loaded(&module, &case, Level::default());
        debugger.record(options).expect("it can be recorded");
        debugger.resume(Resume::ToEntry);
        let begin = (moment(&debugger), state(&debugger));
        assert!(debugger.resume(Resume::Continue).is_final());
        let recorded = debugger.record_state().expect("it is recorded");
        (debugger, recorded, begin)
    };
    let options = RecordOptions { every: Some(1), ..RecordOptions::default() };
    let (_, all, begin) = run(options);
    assert_eq!(all.on_disk, 0);
    let least = RecordOptions { memory: all.bytes - 1000, ..options };
    let (mut debugger, small, _) = run(least);
    assert!(small.on_disk > 0 && !small.has_lost_begin && small.bytes <= least.memory, "{small:?}");
    debugger.go_back(Back::ToBegin).expect("it is recorded");
    debugger.resume(Resume::Step(StepKind::Over, Granularity::Line));
    debugger.go_to(&begin.0).expect("it is recorded");
    assert!(state(&debugger) == begin.1);
    let (_, lost, _) = run(RecordOptions { disk: 0, ..least });
    assert!(lost.on_disk == 0 && lost.has_lost_begin, "{lost:?}");
}
