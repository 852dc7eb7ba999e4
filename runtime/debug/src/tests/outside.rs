//! Going back over calls of a library with a state: whatever way the program takes, the library
//! hears of each call once, in the order of a run that never went back, and each moment has the
//! state that it had in that run.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use hal::{BufferView, Config, Host, NativeLibrary};
use vm::{Activity, NativeCall, NativeModule, NativeReturn, Next, Ref, Status, Value};

use super::going_back::{Dice, State, moment, state};
use super::stepping_model::compiled;
use crate::{
    Back, Debugger, Granularity, LaunchOptions, Level, ModuleSource, RecordOptions, Resume,
    StepKind, StopReason,
};

/// A library, and what it was asked to do.
#[derive(Debug, Default)]
struct Library {
    heard: Arc<Mutex<Vec<String>>>,
    kept: Arc<Mutex<Option<Ref>>>,
}

/// Returns what it was given after some steps.
#[derive(Debug)]
struct Steps(i32, u32);

impl Activity for Steps {
    fn resume(&mut self, _: &mut vm::Host<'_>, _: Vec<Value>) -> Result<Next, Status> {
        self.1 += 1;
        Ok(if self.1 < 3 { Next::Again } else { Next::Return(vec![Value::I32(self.0)]) })
    }
}

/// The bytes of a tensor, which it changes as machine code does.
fn change(tensor: &Ref, change: impl Fn(f32) -> f32) {
    let storage = tensor.downcast::<BufferView>().expect("a tensor").buffer().storage();
    for index in 0..storage.len() as u64 / 4 {
        let old = f32::from_le_bytes(storage.load(index).expect("it is there"));
        storage.store(index, change(old).to_le_bytes()).expect("it is writable");
    }
}

impl NativeLibrary for Library {
    fn name(&self) -> &str {
        "library"
    }

    fn module(&self, host: &Host, _: &[(&str, &str)]) -> NativeModule {
        let hear = |name: &'static str| {
            let heard = self.heard.clone();
            move |call: &NativeCall<'_>| {
                let mut heard = heard.lock().expect("no one panics");
                let number = call.i32(0).map(|number| number.to_string()).unwrap_or_default();
                heard.push(format!("{name} {number}"));
                heard.len() as i32
            }
        };
        let [next, double, tensor, keep, poke] =
            ["next", "double", "tensor", "keep", "poke"].map(hear);
        let [wait, fail, steps] = ["wait", "fail", "steps"].map(hear);
        let (kept, poked, host) = (self.kept.clone(), self.kept.clone(), host.clone());
        NativeModule::builder("library")
            .function("next", "0_i", move |call| Ok(next(&call)))
            .function("double", "0r_v", move |call| {
                double(&call);
                change(call.reference(0)?, |old| 2.0 * old);
                Ok(())
            })
            .function("tensor", "0i_r", move |call| {
                let elements = [tensor(&call) as f32, call.i32(0)? as f32, 0.5, 0.25];
                let bytes: Vec<u8> = elements.iter().flat_map(|it| it.to_le_bytes()).collect();
                let tensor_type = abi::tensor::TensorType::parse("4xf32").expect("a type");
                Ok(Ref::object(host.import_tensor(&tensor_type, &bytes)?))
            })
            .function("keep", "0r_v", move |call| {
                keep(&call);
                *kept.lock().expect("no one panics") = Some(call.reference(0)?.clone());
                Ok(())
            })
            .function("poke", "0i_i", move |call| {
                let kept = poked.lock().expect("no one panics");
                change(kept.as_ref().expect("it was kept"), |old| old + 0.5);
                Ok(poke(&call))
            })
            .function("wait", "0i_i", move |call| {
                let (number, result) = (call.i32(0)?, wait(&call));
                let result = move || Ok(NativeReturn::Result(Value::I32(number * result)));
                Ok(NativeReturn::Pending(Box::new(result)))
            })
            .function("fail", "0i_i", move |call| {
                Err::<i32, _>(Status::not_found(format!("call {} fails", fail(&call))))
            })
            .function("steps", "0i_i", move |call| {
                Ok(NativeReturn::Activity(Box::new(Steps(steps(&call), 0))))
            })
            .build()
    }
}

fn module() -> PathBuf {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, module) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/outside.mlir");
        let flags = ["--iree-hal-target-backends=vmvx".to_owned()];
        let module = compiled(&source, &flags, folder.path());
        (folder, module)
    });
    module.clone()
}

struct Run {
    debugger: Debugger,
    heard: Arc<Mutex<Vec<String>>>,
}

fn run(function: &str, input: &str, record: Option<RecordOptions>) -> Run {
    let library = Library::default();
    let heard = library.heard.clone();
    let debugger = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(module())],
        function: Some(function.to_owned()),
        inputs: vec![input.to_owned()],
        host: Config { libraries: vec![Arc::new(library)], ..Config::default() },
        record,
        ..LaunchOptions::default()
    });
    let mut debugger = debugger.unwrap_or_else(|error| panic!("{error}"));
    debugger.set_level(Level::Disassembly).expect("any program has it");
    assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
    Run { debugger, heard }
}

impl Run {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no one panics").clone()
    }

    fn step(&mut self) -> StopReason {
        self.debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction))
    }
}

/// The states of all moments, what the library has heard, and how it ends, without going back.
fn straight(function: &str, input: &str) -> (BTreeMap<String, State>, Vec<String>, String) {
    let mut it = run(function, input, None);
    let mut history = BTreeMap::new();
    loop {
        history.insert(format!("{:?}", moment(&it.debugger)), state(&it.debugger));
        let reason = it.step();
        if reason.is_final() {
            return (history, it.heard(), ending(&reason));
        }
    }
}

/// How a program ends, without addresses.
fn ending(reason: &StopReason) -> String {
    match reason {
        StopReason::Completed(results) => {
            let results = results.iter().map(|result| match result {
                Value::Ref(result) => {
                    let view = result.downcast::<BufferView>().expect("a tensor");
                    view.text(9).expect("it is whole")
                }
                other => format!("{other:?}"),
            });
            results.collect::<Vec<_>>().join(", ")
        }
        StopReason::Failed(failure) => failure.status.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_library_hears_each_call_once() {
    const STEPS: usize = 150;
    for (function, input) in [("numbers", "4"), ("tensors", "4xf32=1,2,3,4"), ("failing", "1")] {
        let (history, calls, end) = straight(function, input);
        assert!(calls.len() > 1);
        for every in [None, Some(1), Some(3)] {
            let options = RecordOptions { every, ..RecordOptions::default() };
            let mut it = run(function, input, Some(options));
            let mut dice = Dice(every.unwrap_or(5));
            let (mut known, mut ends) = (0, 0);
            for _ in 0..STEPS {
                let heard = it.heard();
                assert_eq!(heard, calls[..heard.len()], "{function} {every:?}");
                let by = [Granularity::Instruction, Granularity::Line][dice.roll(2)];
                let kind = [StepKind::Into, StepKind::Over][dice.roll(2)];
                let reason = match dice.roll(16) {
                    0..9 => it.debugger.resume(Resume::Step(kind, by)),
                    9..14 => it.debugger.go_back(Back::Step(kind, by)).expect("it is recorded"),
                    14 => it.debugger.go_back(Back::ToBegin).expect("it is recorded"),
                    _ => it.debugger.resume(Resume::Continue),
                };
                if reason.is_final() {
                    ends += 1;
                    assert_eq!(ending(&reason), end, "{function} {every:?}");
                    it.debugger.go_back(Back::Step(kind, by)).expect("it is recorded");
                }
                let now = format!("{:?}", moment(&it.debugger));
                if let Some(then) = history.get(&now) {
                    assert_eq!(state(&it.debugger), *then, "{function} {every:?} {now}");
                    known += 1;
                }
            }
            assert!(known > STEPS / 2 && ends > 0, "{function} {every:?}: {known}, {ends}");
            let reason = it.debugger.resume(Resume::Continue);
            assert_eq!((ending(&reason), it.heard()), (end.clone(), calls.clone()));
        }
    }
}

/// A value that the user sets is of another run: there, functions outside are called.
#[test]
fn an_assignment_in_the_past_calls_anew() {
    let mut it = run("numbers", "3", Some(RecordOptions::default()));
    assert!(it.debugger.resume(Resume::Continue).is_final());
    assert_eq!(it.heard().len(), 6);
    it.debugger.go_back(Back::ToBegin).expect("it is recorded");
    let frame = it.debugger.machine().innermost_frame();
    it.debugger.assign(frame, "i0", "1").expect("a register");
    assert!(it.debugger.resume(Resume::Continue).is_final());
    assert_eq!(it.heard()[6..], ["next ", "wait 7"]);
    // Of that run, each call is logged.
    it.debugger.go_back(Back::ToBegin).expect("it is recorded");
    assert!(it.debugger.resume(Resume::Continue).is_final());
    assert_eq!(it.heard().len(), 8);
}

#[test]
fn recording_that_ends_in_the_past_leaves_what_has_happened() {
    let mut it = run("numbers", "3", Some(RecordOptions::default()));
    let end = it.debugger.resume(Resume::Continue);
    it.debugger.go_back(Back::ToBegin).expect("it is recorded");
    it.debugger.stop_recording();
    let again = it.debugger.resume(Resume::Continue);
    assert_eq!((ending(&again), it.heard().len()), (ending(&end), 6));
    // Unless the user makes it another run.
    let mut it = run("numbers", "3", Some(RecordOptions::default()));
    it.debugger.resume(Resume::Continue);
    it.debugger.go_back(Back::ToBegin).expect("it is recorded");
    it.debugger.stop_recording();
    let frame = it.debugger.machine().innermost_frame();
    it.debugger.assign(frame, "i0", "1").expect("a register");
    assert!(matches!(it.debugger.resume(Resume::Continue), StopReason::Completed(_)));
    assert_eq!(it.heard()[6..], ["next ", "wait 7"]);
}

/// What runs in steps, and may call the program, cannot be given again: the past before it is
/// forgotten, and that is said.
#[test]
fn what_cannot_be_logged_ends_the_past() {
    let options = RecordOptions { every: Some(1), ..RecordOptions::default() };
    let mut it = run("stepping", "1", Some(options));
    let end = it.debugger.resume(Resume::Continue);
    let lost = it.debugger.record_state().and_then(|state| state.lost).expect("it says so");
    assert_eq!(lost, "@library.steps runs in steps, which are not recorded");
    let reason = it.debugger.go_back(Back::ToBegin);
    assert!(matches!(reason, Ok(StopReason::Begin)), "{reason:?}");
    // After the call that is lost, there is one that is not.
    let again = it.debugger.resume(Resume::Continue);
    assert_eq!(ending(&again), ending(&end));
    assert_eq!(it.heard(), ["next ", "steps 1", "next "]);
}

/// A write from outside is no command's.
#[test]
fn who_wrote_names_functions_outside() {
    let mut it = run("tensors", "4xf32=1,2,3,4", Some(RecordOptions::default()));
    while it.heard().last().is_none_or(|last| last != "poke 1") {
        assert!(!it.step().is_final());
    }
    let frame = it.debugger.machine().innermost_frame();
    let found = it.debugger.who_wrote(frame, "r0[1]").expect_err("no command has written it");
    assert_eq!(found.to_string(), "r0[1] was written by @library.poke, outside of the program");
}
