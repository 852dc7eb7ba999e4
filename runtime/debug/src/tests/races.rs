//! Races of workgroups: a recorded program that leaves other bytes when it runs again says so, and
//! names two of the workgroups.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hal::{Config, DeviceKind};

use super::stepping_model::compiled;
use crate::{
    Back, Debugger, Granularity, LaunchOptions, ModuleSource, RecordOptions, Resume, StepKind,
    StopReason,
};

/// Runs the program on two threads, goes back and forth, and returns what it was told.
fn told(module: &Path, device: DeviceKind, turns: u32) -> Vec<String> {
    let inputs = (1..65).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let options = LaunchOptions {
        modules: vec![ModuleSource::Path(module.to_owned())],
        inputs: vec![format!("64xf32={inputs}"), turns.to_string()],
        host: Config { device, threads: 2, ..Config::default() },
        record: Some(RecordOptions::default()),
        ..LaunchOptions::default()
    };
    let mut debugger = Debugger::load(options).expect("it loads");
    let texts = Arc::new(Mutex::new(Vec::new()));
    let sink = texts.clone();
    debugger.set_log_sink(move |message| sink.lock().expect("one thread").push(message.text));
    let results = |reason: &StopReason| match reason {
        StopReason::Completed(results) => {
            let view = results.first().and_then(|value| match value {
                vm::Value::Ref(reference) => reference.downcast::<hal::BufferView>(),
                _ => None,
            });
            view.expect("a tensor").buffer().read(0, 4)
        }
        other => panic!("{other:?}"),
    };
    let first = results(&debugger.resume(Resume::Continue));
    debugger.go_back(Back::Step(StepKind::Over, Granularity::Line)).expect("it is recorded");
    let alone = results(&debugger.resume(Resume::Continue));
    let has_raced = device == DeviceKind::LocalTask;
    assert_eq!(first != alone, has_raced);
    debugger.go_back(Back::ToBegin).expect("it is recorded");
    // What is made again by all threads is compared, too.
    let again = results(&debugger.resume(Resume::Continue));
    assert!(again == alone, "the results are those of the run in turns");
    drop(debugger);
    std::mem::take(&mut texts.lock().expect("one thread"))
}

#[test]
fn races_are_told() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/races.mlir");
    // As many turns as take longer than a busy system needs to wake a thread.
    for (back_end, turns) in [("vmvx", 600_000), ("llvm-cpu", 60_000_000)] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let flags = [
            format!("--iree-hal-target-backends={back_end}"),
            "--iree-llvmcpu-target-cpu=host".to_owned(),
        ];
        let module = compiled(&source, &flags, folder.path());
        assert_eq!(told(&module, DeviceKind::LocalSync, turns), [""; 0], "{back_end}");
        let told = told(&module, DeviceKind::LocalTask, turns);
        let expected = "command 1, dispatch @race_dispatch_0, has left other bytes than when it ran \
                        first: workgroups (0,0,0) and (1,0,0) race, as both write byte 0 of \
                        binding[1]";
        // Once on the way back, and once more on the way forth.
        assert_eq!(told, [expected; 2], "{back_end}");
    }
}

/// An element that all workgroups write has a last one, and that is by chance.
#[test]
fn who_wrote_names_workgroups_that_race() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/races.mlir");
    for back_end in ["vmvx", "llvm-cpu"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let flags = [format!("--iree-hal-target-backends={back_end}")];
        let options = LaunchOptions {
            modules: vec![ModuleSource::Path(compiled(&source, &flags, folder.path()))],
            inputs: vec!["64xf32=2".to_owned(), "3000".to_owned()],
            record: Some(RecordOptions::default()),
            ..LaunchOptions::default()
        };
        let mut debugger = Debugger::load(options).expect("it loads");
        assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
        debugger.go_back(Back::Step(StepKind::Over, Granularity::Line)).expect("it is recorded");
        let frame = debugger.machine().innermost_frame();
        // Whichever register has the result.
        let text = (0..20).find_map(|register| {
            match debugger.who_wrote(frame, &format!("r{register}[0]")) {
                Ok(StopReason::Found(text)) => Some(text),
                _ => None,
            }
        });
        let text = text.expect("a dispatch has written it");
        let said = "in workgroup (63,0,0)";
        let race = "workgroup (62,0,0) and 62 more write it too, so they race";
        assert!(text.contains(said) && text.contains(race), "{back_end}: {text}");
    }
}
