//! Work does not grow faster than the input. The tests count what is done, not how long it takes.

use std::fmt::Write as _;

use crate::inspect::stack::KnownFrames;
use crate::{
    BreakpointOptions, BreakpointSpec, Debugger, Frame, Granularity, HitCondition, LaunchOptions,
    ModuleSource, Resume, StepKind, StopReason,
};

fn launched(text: &str, inputs: &[&str]) -> Debugger {
    let assembly = vmfb::assemble::assemble(text.as_bytes()).unwrap();
    let load = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::memory(
            "module.vmfb",
            assembly.image.to_bytes().unwrap(),
            None,
        )],
        inputs: inputs.iter().map(|&input| input.to_owned()).collect(),
        ..LaunchOptions::default()
    });
    load.unwrap_or_else(|error| panic!("{error}"))
}

const RECURSION: &str = "
vm.module @deep version 0
vm.type i32
vm.export @main
vm.func @main(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 1
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb1:
  %i2 = vm.sub.i32 %i0, %i1
  %i3 = vm.call @main(%i2)
  vm.return %i3
^bb2:
  vm.break ^bb3()
^bb3:
  vm.return %i0
}
";

#[test]
fn of_a_deep_stack_only_what_is_shown_is_made() {
    const DEPTH: usize = 60_000;
    let mut debugger = launched(RECURSION, &["59999"]);
    assert!(matches!(debugger.resume(Resume::Continue), StopReason::BreakInstruction));
    // The step returns from the innermost call.
    for depth in [DEPTH, DEPTH - 1] {
        assert_eq!(debugger.machine().frame_count(), depth);
        let mut known = KnownFrames::default();
        assert_eq!(debugger.machine().frames_by(&mut known, 0..20).len(), 20);
        // The innermost frame, and the frame of the call at which all others stand.
        assert_eq!((known.visited, known.made), (20, 2));
        let mut known = KnownFrames::default();
        let all = debugger.machine().frames_by(&mut known, 0..usize::MAX);
        assert_eq!((all.len(), known.visited, known.made), (depth, depth, 2));
        for part in [0..1, 7..19, depth - 3..depth, depth - 1..depth + 5, depth..depth + 1] {
            let text = |frame: &Frame| format!("{frame:?}");
            let expected = all.iter().take(part.end).skip(part.start).map(text);
            let found = debugger.machine().frames_in(part.clone());
            assert!(found.iter().map(text).eq(expected), "{part:?}");
        }
        let step = Resume::Step(StepKind::Over, Granularity::Instruction);
        assert!(matches!(debugger.resume(step), StopReason::Step));
    }
}

/// A function of `count` instructions in one block.
fn long(count: usize) -> String {
    let mut text = "vm.module @long version 0\nvm.type i32\nvm.export @main\n\
                    vm.func @main(%i0: i32) -> (i32) {\n^bb0:\n"
        .to_owned();
    for _ in 0..count {
        let _ = writeln!(text, "  %i0 = vm.add.i32 %i0, %i0");
    }
    text + "  vm.return %i0\n}\n"
}

#[test]
fn many_breakpoints_are_armed_at_once() {
    const COUNT: u32 = 3000;
    let mut debugger = launched(&long(COUNT as usize), &["1"]);
    let module = debugger.program().entry().module;
    let before = debugger.arming_rounds();
    let mut edit = debugger.edit_breakpoints();
    let spec = |line| BreakpointSpec::ListingLine { module, line };
    let ids = (1..=COUNT).map(|line| edit.add(spec(line))).collect::<Vec<_>>();
    for (index, id) in ids.iter().enumerate() {
        // Only the last breakpoint stops.
        let hit_condition = match index + 1 == ids.len() {
            true => HitCondition::Always,
            false => HitCondition::AtLeast(2),
        };
        let options = BreakpointOptions { hit_condition, ..BreakpointOptions::default() };
        edit.set_options(*id, &options).unwrap();
    }
    drop(edit);
    assert_eq!(debugger.arming_rounds(), before + 1);
    let last = *ids.last().unwrap();
    let StopReason::Breakpoint(hit) = debugger.resume(Resume::Continue) else { panic!() };
    assert_eq!(hit, [last]);
    let hits = |id| debugger.breakpoints().get(id).unwrap().hits();
    assert!(ids.iter().filter(|id| hits(**id) == 1).count() > COUNT as usize / 2);
    let mut edit = debugger.edit_breakpoints();
    assert!(ids.iter().all(|id| edit.remove(*id)));
    drop(edit);
    assert_eq!(debugger.arming_rounds(), before + 2);
    assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
}
