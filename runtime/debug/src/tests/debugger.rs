//! The command line's embedded example under the debugger.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::{
    BreakpointOptions, BreakpointSpec, DataAccess, Debugger, FrameIndex, Granularity, HitCondition,
    LaunchOptions, ModuleSource, OptionError, Resume, StepKind, StopReason,
};

/// The command line's embedded example, `main(2.0, 5)`.
fn example() -> Debugger {
    loaded(None)
}

/// The same with its names.
fn named_example() -> Debugger {
    loaded(Some(include_bytes!("../../../cli/example/newton.companion.mlir").to_vec()))
}

fn loaded(companion: Option<Vec<u8>>) -> Debugger {
    let load = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::memory(
            "newton.vmfb",
            include_bytes!("../../../cli/example/newton.vmfb").to_vec(),
            companion,
        )],
        inputs: vec!["2.0".to_owned(), "5".to_owned()],
        sources: HashMap::from([(
            "newton.mlir".to_owned(),
            include_str!("../../../cli/example/newton.mlir").to_owned(),
        )]),
        ..LaunchOptions::default()
    });
    load.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_pause_before_anything_ran_has_a_frame() {
    for how in [Resume::Continue, Resume::ToEntry, Resume::Step(StepKind::Over, Granularity::Line)]
    {
        let mut debugger = example();
        debugger.interrupt_handle().interrupt();
        assert!(matches!(debugger.resume(how), StopReason::Pause), "{how:?}");
        assert_eq!(debugger.machine().frames().len(), 1, "{how:?}");
        assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
    }
}

#[test]
fn stepping_out_stops_in_the_caller() {
    let mut debugger = example();
    assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
    let entry = debugger.machine().position();
    while debugger.machine().frames().len() == 1 {
        debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
    }
    assert!(matches!(
        debugger.resume(Resume::Step(StepKind::Out, Granularity::Instruction)),
        StopReason::Step
    ));
    assert_eq!(debugger.machine().frames().len(), 1);
    assert_eq!(
        debugger.machine().position().map(|position| position.function),
        entry.map(|position| position.function)
    );
}

/// Runs the example to its end with a breakpoint in its loop. Returns how often the breakpoint was
/// hit, and how often it stopped.
fn hits_of(options: &BreakpointOptions) -> (u64, u32) {
    let mut debugger = named_example();
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Function { name: "improve".into() });
    debugger.edit_breakpoints().set_options(id, options).unwrap();
    let mut stops = 0;
    while matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)) {
        stops += 1;
    }
    (debugger.breakpoints().get(id).unwrap().hits(), stops)
}

#[test]
fn conditions_and_counts_choose_visits() {
    let options = |condition: &str, hit: &str| BreakpointOptions {
        condition: Some(condition.into()),
        hit_condition: if hit.is_empty() { HitCondition::Always } else { hit.parse().unwrap() },
        log: None,
    };
    // Guards check conditions on registers, the debugger all others.
    let cases = [
        ("", "", (5, 5)),
        ("%guess < 1.5", "", (3, 3)),
        ("%guess < 1.5 && x == 2", "", (3, 3)),
        ("max(%guess) < 1.5", "", (3, 3)),
        ("abs(%guess - 2.0) >= 0.5 and min(%guess, 1.0, nan) == 1", "", (4, 4)),
        ("", "3", (5, 1)),
        ("", "> 2", (5, 3)),
        ("", "% 2", (5, 2)),
        ("%guess < 1.5", "% 2", (3, 1)),
        ("rwdata[0] >= 2", ">= 2", (3, 2)),
        // A condition that fails stops once.
        ("1 / 0", "", (0, 1)),
        ("1 / (rwdata[0] - 2) > 5", "", (0, 1)),
        ("false", "", (0, 0)),
    ];
    for (condition, hit, expected) in cases {
        assert_eq!(hits_of(&options(condition, hit)), expected, "{condition} {hit}");
    }
}

#[test]
fn a_condition_that_fails_says_so_once() {
    let mut debugger = named_example();
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Function { name: "improve".into() });
    let options = |condition: &str| BreakpointOptions {
        condition: Some(condition.into()),
        ..BreakpointOptions::default()
    };
    debugger.edit_breakpoints().set_options(id, &options("1 / (rwdata[0] - 2) > 5")).unwrap();
    let reason = debugger.resume(Resume::Continue);
    let text = debugger.sentence(&reason);
    let expected = "the condition of breakpoint 1 failed: division by zero, in improve at ";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(debugger.machine().frames().len(), 2);
    assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
    let message = debugger.breakpoints().get(id).unwrap().message.clone();
    assert_eq!(message.as_deref(), Some("the condition failed: division by zero"));
    for text in ["\"x\"", "!\"x\"", "%x > 1 && \"x\"", "1 ? \"a\" : 2"] {
        let refused = debugger.edit_breakpoints().set_options(id, &options(text));
        assert!(matches!(refused, Err(OptionError::Condition(_))), "{text}");
    }
}

#[test]
fn messages_are_said_without_a_stop() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let mut debugger = named_example();
    let sink = Arc::clone(&said);
    debugger.set_log_sink(move |message| sink.lock().unwrap().push(message.text));
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Function { name: "improve".into() });
    let options = BreakpointOptions {
        condition: Some("rwdata[0] % 2 == 0".into()),
        log: Some("call {rwdata[0]}: {%guess}".into()),
        ..BreakpointOptions::default()
    };
    debugger.edit_breakpoints().set_options(id, &options).unwrap();
    assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
    assert_eq!(*said.lock().unwrap(), ["call 0: 2", "call 2: 1.4166667", "call 4: 1.4142135"]);
}

#[test]
fn a_register_is_watched_in_one_call_only() {
    let mut debugger = named_example();
    let spec = BreakpointSpec::Function { name: "improve".into() };
    assert!(matches!(debugger.run_to(&spec), Ok(StopReason::Step)));
    let target = debugger.machine().watch_target(FrameIndex(0), "i2").unwrap();
    debugger.edit_breakpoints().add(BreakpointSpec::Data { target, access: DataAccess::Change });
    let mut changes = 0;
    while let StopReason::Data(hits) = debugger.resume(Resume::Continue) {
        changes += hits.len();
        assert_eq!(debugger.machine().frames().len(), 2);
    }
    assert!((1..5).contains(&changes), "{changes}");
}
