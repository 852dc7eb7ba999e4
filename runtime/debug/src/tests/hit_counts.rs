//! Guards, inside the interpreter, and the debugger, which stops at each visit, count hits alike.

use std::collections::BTreeSet;
use std::path::Path;

use vm::Position;

use super::stepping_model::{cases_of, compiled, loaded};
use crate::{
    BreakpointOptions, BreakpointSpec, Debugger, Granularity, HitCondition, LaunchOptions, Level,
    ModuleSource, Resume, StepKind, StopReason,
};

/// How often a breakpoint on a line is hit, and how often it stops the program.
fn hits(module: &Path, line: u32, hit_condition: HitCondition) -> (u64, u64) {
    let mut debugger = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(module.to_owned())],
        function: Some("main".to_owned()),
        inputs: ["3x2xf32=1,2,3,4,5,6", "2x2xf32=1,2,3,4"].map(str::to_owned).to_vec(),
        ..LaunchOptions::default()
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let file = "device.mlir".to_owned();
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
    let options = BreakpointOptions { hit_condition, ..BreakpointOptions::default() };
    debugger.edit_breakpoints().set_options(id, &options).unwrap();
    let mut stops = 0;
    while matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)) {
        stops += 1;
    }
    (debugger.breakpoints().get(id).unwrap().hits(), stops)
}

#[test]
fn hits_in_a_dispatch_that_lines_share_are_those_of_the_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/levels/device.mlir");
    let folder = tempfile::tempdir().unwrap();
    let module = compiled(&root.canonicalize().unwrap(), &[], folder.path());
    // Two products of the same shapes.
    for line in [6, 7] {
        let (count, stops) = hits(&module, line, HitCondition::Always);
        assert!(count > 0 && count == stops, "{line}: {count} {stops}");
        assert_eq!(hits(&module, line, HitCondition::AtLeast(1000)), (count, 0), "{line}");
        assert_eq!(hits(&module, line, HitCondition::Exactly(count)), (count, 1), "{line}");
        assert_eq!(hits(&module, line, HitCondition::Exactly(count + 1)), (count, 0), "{line}");
    }
}

/// A breakpoint that does not stop the program does not change where its steps end, and counts each
/// visit once.
#[test]
fn breakpoints_that_do_not_stop_leave_steps_as_they_are() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/control_flow.mlir");
    let folder = tempfile::tempdir().unwrap();
    let source = source.canonicalize().unwrap();
    let case = &cases_of(&source)[0];
    let module = compiled(&source, &case.flags, folder.path());
    let begun = || {
        let mut debugger = loaded(&module, case, Level::Disassembly);
        debugger.resume(Resume::ToEntry);
        debugger
    };
    let step = Resume::Step(StepKind::Into, Granularity::Instruction);
    let mut debugger = begun();
    let mut way = Vec::new();
    while let Some(at) = debugger.machine().position() {
        way.push(at);
        debugger.resume(step);
    }
    let all: BTreeSet<Position> = way.iter().copied().collect();
    for place in all {
        let mut debugger = begun();
        let address = debugger.program().linear(place).expect("it has an address");
        let id = debugger.edit_breakpoints().add(BreakpointSpec::Instruction { address });
        assert!(debugger.edit_breakpoints().ignore_hits(id, 1_000_000));
        let mut met = Vec::new();
        while let Some(at) = debugger.machine().position() {
            met.push(at);
            debugger.resume(step);
        }
        assert_eq!(met, way, "with an ignored breakpoint at {place:?}");
        // The program stood at its first instruction when the breakpoint was set.
        let visits = way.iter().skip(1).filter(|at| **at == place).count();
        assert_eq!(debugger.breakpoints().get(id).unwrap().hits(), visits as u64, "{place:?}");
    }
}
