//! Guards, inside the interpreter, and the debugger, which stops at each visit, count hits alike.

use std::path::Path;

use super::stepping_model::compiled;
use crate::{
    BreakpointOptions, BreakpointSpec, Debugger, HitCondition, LaunchOptions, ModuleSource, Resume,
    StopReason,
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
    let id = debugger.add_breakpoint(BreakpointSpec::Line { file, line, column: None });
    let options = BreakpointOptions { hit_condition, ..BreakpointOptions::default() };
    debugger.set_breakpoint_options(id, &options).unwrap();
    let mut stops = 0;
    while matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)) {
        stops += 1;
    }
    (debugger.breakpoint(id).unwrap().hits(), stops)
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
