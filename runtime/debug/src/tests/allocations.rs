//! The list of allocations, back and forth. A recorded program keeps memory that it has let go: the
//! list says so, and numbers it as in a run that is not recorded.

use std::collections::BTreeMap;
use std::path::Path;

use super::going_back::{Dice, VMVX, in_place, moment};
use super::stepping_model::{Case, loaded};
use crate::{Back, Debugger, Granularity, Level, RecordOptions, Resume, StepKind};

/// What is said of memory that only the recording may keep.
const LET_GO: &str = "; no register or global leads to it";

/// The allocations, each as `#N VALUE`.
fn allocations(debugger: &Debugger) -> Vec<String> {
    let all = debugger.machine().allocations();
    all.into_iter().map(|it| format!("{} {}", it.name, it.value)).collect()
}

const STEP: Resume = Resume::Step(StepKind::Into, Granularity::Instruction);

/// The allocations at each moment of a run that is not recorded.
fn history(module: &Path, case: &Case) -> BTreeMap<String, Vec<String>> {
    let mut debugger = loaded(module, case, Level::Disassembly);
    let mut reason = debugger.resume(Resume::ToEntry);
    let mut history = BTreeMap::new();
    while !reason.is_final() {
        history.insert(format!("{:?}", moment(&debugger)), allocations(&debugger));
        reason = debugger.resume(STEP);
    }
    history
}

#[test]
fn memory_that_was_let_go_is_told_from_the_programs() {
    let (_folder, module, case) = in_place(VMVX);
    let history = history(&module, &case);
    let mut debugger = loaded(&module, &case, Level::Disassembly);
    let options = RecordOptions { every: Some(5), ..RecordOptions::default() };
    debugger.record(options).expect("it can be recorded");
    debugger.resume(Resume::ToEntry);
    let mut dice = Dice(3);
    let (mut compared, mut kept) = (0, 0);
    for _ in 0..200 {
        let by = [Granularity::Line, Granularity::Instruction][dice.roll(2)];
        let reason = match dice.roll(10) {
            0..5 => debugger.resume(Resume::Step(StepKind::Into, by)),
            5..8 => debugger.go_back(Back::Step(StepKind::Into, by)).expect("it is recorded"),
            8 => debugger.go_back(Back::ToBegin).expect("it is recorded"),
            _ => debugger.resume(Resume::Continue),
        };
        if reason.is_final() {
            debugger.go_back(Back::Step(StepKind::Into, by)).expect("it is recorded");
        }
        let Some(then) = history.get(&format!("{:?}", moment(&debugger))) else { continue };
        let now = allocations(&debugger);
        compared += 1;
        for it in &now {
            match it.strip_suffix(LET_GO) {
                None => assert!(then.contains(it), "{it} is not there: {then:?}"),
                Some(it) => kept += usize::from(!then.iter().any(|then| then == it)),
            }
        }
        for it in then {
            let is_listed = now.iter().any(|now| now.strip_suffix(LET_GO).unwrap_or(now) == it);
            assert!(is_listed, "{it} is not listed: {now:?}");
        }
        let mut numbers: Vec<&str> = now.iter().filter_map(|it| it.split(' ').next()).collect();
        numbers.dedup();
        assert_eq!(numbers.len(), now.len(), "{now:?}");
    }
    assert!(compared > 100, "{compared} moments were compared");
    assert!(kept > 0, "nothing was kept that the program has let go");
}
