//! Watched memory, when the program goes back and runs again: stops of watchpoints come in the
//! opposite order, again in the first one, and as in a run that is not recorded. Memory that is
//! shown stays where it is.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::path::PathBuf;

use super::going_back::moment;
use super::stepping_model::{Case, compiled, loaded};
use crate::{
    Back, BreakpointSpec, DataAccess, Debugger, DispatchMoment, Level, Limits, Memory,
    RecordOptions, Resume, StopReason,
};

const VMVX: &[&str] = &["--iree-hal-target-backends=vmvx"];
const MACHINE: &[&str] = &["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"];

/// Layers of two dispatches each, whose tensors share transient memory.
fn layers() -> String {
    let mut text = String::from(
        "#id = affine_map<(i, j) -> (i, j)>\n#turned = affine_map<(i, j) -> (j, i)>\n\
         func.func @main(%s0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n\
         %zero = arith.constant 0.0 : f32\n\
         %one = arith.constant 1.0 : f32\n\
         %w = arith.constant dense<0.5> : tensor<4x4xf32>\n\
         %e = tensor.empty() : tensor<4x4xf32>\n\
         %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>\n",
    );
    for layer in 0..10 {
        text += &format!(
            "%m{layer} = linalg.matmul ins(%s{layer}, %w : tensor<4x4xf32>, tensor<4x4xf32>) \
             outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>\n\
             %s{next} = linalg.generic {{indexing_maps = [#id, #turned, #id], \
             iterator_types = [\"parallel\", \"parallel\"]}} \
             ins(%m{layer}, %s{layer} : tensor<4x4xf32>, tensor<4x4xf32>) \
             outs(%e : tensor<4x4xf32>) {{\n\
             ^bb0(%p: f32, %t: f32, %o: f32):\n\
             %q = arith.addf %p, %one : f32\n\
             %r = arith.addf %q, %t : f32\n\
             linalg.yield %r : f32\n\
             }} -> tensor<4x4xf32>\n",
            next = layer + 1
        );
    }
    text + "return %s10 : tensor<4x4xf32>\n}\n"
}

/// A program of the VM that makes a buffer and a list, and fills them.
const FILLED: &str = r#"
util.func public @main(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = util.buffer.alloc uninitialized : !util.buffer{%c64}
  util.buffer.fill %zero, %first[%c0 for %c64] : i32 -> !util.buffer{%c64}
  %list = util.list.create %n : !util.list<i32>
  util.list.resize %list, %n : !util.list<i32>
  %after = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %one) -> (i32) {
    %more = arith.addi %sum, %one : i32
    util.buffer.store %more, %first[%c4 for %c4] : i32 -> !util.buffer{%c64}
    util.list.set %list[%c1], %more : i32 -> !util.list<i32>
    scf.yield %more : i32
  }
  %back = util.buffer.load %first[%c4 for %c4] : !util.buffer{%c64} -> i32
  %last = util.list.get %list[%c1] : !util.list<i32> -> i32
  %both = arith.addi %back, %last : i32
  %all = arith.addi %both, %after : i32
  util.return %all : i32
}
"#;

fn made(text: &str, inputs: &[&str], flags: &[&str]) -> (tempfile::TempDir, PathBuf, Case) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("watched.mlir");
    std::fs::write(&source, text).expect("it can be written");
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let flags: Vec<String> = owned(flags);
    let module = compiled(&source, &flags, folder.path());
    let (function, inputs) = ("main".to_owned(), owned(inputs));
    (folder, module, Case { source, function, inputs, flags })
}

fn begun(module: &std::path::Path, case: &Case, is_recorded: bool) -> Debugger {
    let mut debugger = loaded(module, case, Level::default());
    if is_recorded {
        debugger.record(RecordOptions::default()).expect("it can be recorded");
    }
    assert!(matches!(debugger.resume(Resume::ToEntry), StopReason::Entry));
    debugger
}

/// Watches what an expression names in the innermost frame.
fn watch(debugger: &mut Debugger, text: &str) {
    let frame = debugger.machine().innermost_frame();
    let target = debugger.machine().watch_target(frame, text).expect("it is in memory");
    debugger.edit_breakpoints().add(BreakpointSpec::Data { target, access: DataAccess::Change });
}

/// Where the program stands, and what has changed.
fn stop(debugger: &Debugger, reason: &StopReason) -> String {
    let StopReason::Data(hits) = reason else { panic!("{reason:?}") };
    let told: Vec<_> = hits.iter().map(|hit| debugger.data_sentence(hit)).collect();
    format!("{:?} {told:?}", moment(debugger))
}

fn stops_ahead(debugger: &mut Debugger) -> Vec<String> {
    let mut stops = Vec::new();
    loop {
        let reason = debugger.resume(Resume::Continue);
        if reason.is_final() {
            return stops;
        }
        stops.push(stop(debugger, &reason));
    }
}

fn stops_on_the_way_back(debugger: &mut Debugger) -> Vec<String> {
    let mut stops = Vec::new();
    loop {
        let reason = debugger.go_back(Back::Continue).expect("it is recorded");
        if matches!(reason, StopReason::Begin) {
            return stops;
        }
        stops.push(stop(debugger, &reason));
        assert!(stops.len() < 1000, "it does not get back: {:?}", stops.last());
    }
}

/// Watches hold: from the beginning to the end, back, and again to the end.
fn check_both_ways(debugger: &mut Debugger, what: &str) -> Vec<String> {
    debugger.go_back(Back::ToBegin).expect("it is recorded");
    let ahead = stops_ahead(debugger);
    let mut back = stops_on_the_way_back(debugger);
    back.reverse();
    assert_eq!(back, ahead, "{what}, back");
    assert_eq!(stops_ahead(debugger), ahead, "{what}, once more");
    ahead
}

#[test]
fn tensors_are_watched_in_both_directions() {
    for flags in [VMVX, MACHINE] {
        let (_folder, module, case) = made(&layers(), &["4x4xf32=1"], flags);
        let elements = ["operand[0][0, 0]", "operand[1][2, 1]"];
        // In bytecode, each element is a stop.
        let wholes = ["binding[0]", "operand[0][1:3, 0]"];
        let wholes = wholes.iter().filter(|_| flags == MACHINE);
        for text in elements.iter().chain(wholes).copied() {
            let mut recorded = begun(&module, &case, true);
            recorded.go_to_command(6).expect("it runs so many");
            watch(&mut recorded, text);
            let all = check_both_ways(&mut recorded, text);
            assert!(all.len() > 2, "{text}: {all:?}");

            // As in a run that is not recorded, from there on.
            let mut plain = begun(&module, &case, false);
            let (pattern, when) = ("*".to_owned(), DispatchMoment::Before);
            let at = plain.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when });
            for _ in 0..6 {
                plain.resume(Resume::Continue);
            }
            plain.edit_breakpoints().remove(at);
            watch(&mut plain, text);
            let ahead = stops_ahead(&mut plain);
            assert!(!ahead.is_empty() && all.ends_with(&ahead), "{text}: {ahead:?}\n{all:?}");
        }
    }
}

#[test]
fn objects_of_the_machine_are_watched_in_both_directions() {
    let (_folder, module, case) = made(FILLED, &["20"], VMVX);
    for text in ["%first", "%list[1]"] {
        let mut debugger = begun(&module, &case, true);
        let line = FILLED.lines().position(|line| line.contains("util.buffer.store")).unwrap() + 1;
        let file = case.source.display().to_string();
        let line = u32::try_from(line).unwrap();
        let at = debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
        for _ in 0..5 {
            debugger.resume(Resume::Continue);
        }
        debugger.edit_breakpoints().remove(at);
        watch(&mut debugger, text);
        let all = check_both_ways(&mut debugger, text);
        assert!(all.len() > 10, "{text}: {all:?}");
    }
}

fn memory(debugger: &mut Debugger, text: &str) -> Memory {
    let frame = debugger.machine().innermost_frame();
    let value = debugger.evaluate_in_console(frame, text, Limits::default()).expect("a tensor");
    Memory::of(&value.children.expect("it has elements")).expect("it is in memory")
}

#[test]
fn memory_that_is_shown_does_not_move() {
    for flags in [VMVX, MACHINE] {
        let (_folder, module, case) = made(&layers(), &["4x4xf32=1"], flags);
        let mut debugger = begun(&module, &case, true);
        debugger.go_to_command(6).expect("it runs so many");
        let shown = memory(&mut debugger, "operand[0]");
        let bytes = shown.read(0, 64);
        assert_ne!(bytes.1, [0; 64]);
        for other in [5, 2, 9, 1] {
            debugger.go_to_command(other).expect("it runs so many");
            assert!(shown.is_there());
            debugger.go_to_command(6).expect("it runs so many");
            assert_eq!(shown.read(0, 64), bytes, "{other}");
            assert_eq!(memory(&mut debugger, "operand[0]").reference(), shown.reference());
        }
        // There, it was not made yet.
        debugger.go_back(Back::ToBegin).expect("it is recorded");
        assert!(!shown.is_there());
        debugger.go_to_command(6).expect("it runs so many");
        assert!(shown.is_there());
    }
}
