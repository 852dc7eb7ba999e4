//! Going back through models: the stops of steps back from the end are those of `next` from the
//! beginning, in reverse, and those of `step`, which stops before each copy, too. What lies between
//! them (the code that records the commands) is no place for a user, however much of it there is.
//!
//! The same holds for inlined calls: where a step stands before one, a step back does, too.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::fmt::Write;
use std::path::Path;

use vm::Moment;

use super::going_back::moment;
use super::stepping_model::{Case, compiled, loaded};
use crate::{Back, Debugger, Granularity, Level, RecordOptions, Resume, StepKind, StopReason};

const BACK_ENDS: [&[&str]; 2] = [
    &["--iree-hal-target-backends=vmvx"],
    &["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"],
];

/// A model as PyTorch has it, which the compiler splits into a function that waits and one that
/// records. Each layer is six dispatches.
fn layers(count: usize) -> String {
    let (x, w) = ("!torch.vtensor<[4,8],f32>", "!torch.vtensor<[8,8],f32>");
    let (s, t) = ("!torch.vtensor<[4,4],f32>", "!torch.vtensor<[8,4],f32>");
    let mut text = format!(
        "func.func @main(%x: {x}, %w: {w}, %u: {w}) -> {x} \
         attributes {{torch.assume_strict_symbolic_shapes}} {{
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %none = torch.constant.none\n"
    );
    let mut input = "%x".to_owned();
    for layer in 0..count {
        let l = format!("%l{layer}");
        let _ = write!(
            text,
            "  {l}q = torch.aten.mm {input}, %w : {x}, {w} -> {x}
  {l}k = torch.aten.mm {input}, %u : {x}, {w} -> {x}
  {l}kt = torch.aten.transpose.int {l}k, %zero, %one : {x}, !torch.int, !torch.int -> {t}
  {l}s = torch.aten.mm {l}q, {l}kt : {x}, {t} -> {s}
  {l}p = torch.aten.softmax.int {l}s, %one, %none : {s}, !torch.int, !torch.none -> {s}
  {l}a = torch.aten.mm {l}p, {input} : {s}, {x} -> {x}
  {l}h = torch.aten.add.Tensor {input}, {l}a, %one : {x}, {x}, !torch.int -> {x}
  {l}f = torch.aten.mm {l}h, %u : {x}, {w} -> {x}
  {l}g = torch.aten.tanh {l}f : {x} -> {x}
  {l}y = torch.aten.add.Tensor {l}h, {l}g, %one : {x}, {x}, !torch.int -> {x}\n"
        );
        input = format!("{l}y");
    }
    let _ = writeln!(text, "  return {input} : {x}\n}}");
    text
}

/// A loop that reads what its dispatches have left: each turn submits commands of its own.
const SUBMISSIONS: &str = r#"
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %unused: tensor<8x8xf32>)
    -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 20.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %all = scf.while (%sum = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %first = tensor.extract %sum[%c0, %c0] : tensor<4x8xf32>
    %goes_on = arith.cmpf olt, %first, %most : f32
    scf.condition(%goes_on) %sum : tensor<4x8xf32>
  } do {
  ^bb0(%sum: tensor<4x8xf32>):
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
    %product = linalg.matmul ins(%sum, %w : tensor<4x8xf32>, tensor<8x8xf32>)
        outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    %scores = linalg.softmax dimension(1) ins(%product : tensor<4x8xf32>)
        outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
    %next = linalg.generic {indexing_maps = [#map, #map, #map],
        iterator_types = ["parallel", "parallel"]}
        ins(%sum, %scores : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
      ^bb0(%a: f32, %b: f32, %unused_2: f32):
        %c = arith.addf %a, %a : f32
        %d = arith.addf %c, %b : f32
        linalg.yield %d : f32
    } -> tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  return %all : tensor<4x8xf32>
}
"#;

/// A place as a user sees it, with its moment.
type Stop = (Moment, String);

fn stop(debugger: &Debugger) -> Stop {
    let frames = debugger.machine().frames();
    let frame = frames.first().expect("it runs");
    let has_line = debugger
        .machine()
        .position()
        .is_none_or(|at| debugger.machine().lines().line_of(at).is_some());
    let line = frame.source.as_ref().map(|at| at.line).filter(|_| has_line);
    (moment(debugger), format!("{} {line:?}", frame.name))
}

fn recorded(module: &Path, case: &Case) -> Debugger {
    let mut debugger = loaded(module, case, Level::Model);
    debugger.record(RecordOptions::default()).expect("it can be recorded");
    debugger
}

/// The stops of steps from the beginning.
fn forward(debugger: &mut Debugger, kind: StepKind) -> Vec<Stop> {
    let mut reason = debugger.resume(Resume::ToEntry);
    let mut stops = Vec::new();
    while !reason.is_final() {
        stops.push(stop(debugger));
        reason = debugger.resume(Resume::Step(kind, Granularity::Line));
    }
    stops
}

/// The stops of steps from the end.
fn backward(debugger: &mut Debugger, kind: StepKind) -> Vec<Stop> {
    let mut stops = Vec::new();
    loop {
        let back = Back::Step(kind, Granularity::Line);
        let reason = debugger.go_back(back).expect("it is recorded");
        stops.push(stop(debugger));
        if matches!(reason, StopReason::Begin) {
            return stops;
        }
    }
}

/// The stops after those before the first line of a function, where a user steps by instruction.
fn from_lines(mut stops: Vec<Stop>) -> Vec<Stop> {
    let last = stops.iter().rposition(|(_, name)| name.ends_with(" None"));
    stops.drain(..last.map_or(0, |last| last + 1));
    stops
}

fn check(name: &str, text: &str, dispatches: usize) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join(format!("{name}.mlir"));
    std::fs::write(&source, text).expect("it is written");
    for back_end in BACK_ENDS {
        for memoizes in [false, true] {
            let mut flags: Vec<String> = back_end.iter().map(|it| (*it).to_owned()).collect();
            flags.push(format!("--iree-hal-memoization={memoizes}"));
            let module = compiled(&source, &flags, folder.path());
            let inputs = ["4x8xf32=0.5", "8x8xf32=0.125", "8x8xf32=0.25"];
            let case = Case {
                source: source.clone(),
                function: "main".to_owned(),
                inputs: inputs.map(str::to_owned).to_vec(),
                flags,
            };
            for kind in [StepKind::Over, StepKind::Into] {
                let mut debugger = recorded(&module, &case);
                let way = from_lines(forward(&mut debugger, kind));
                let is_before =
                    |name: &str| name.contains("dispatch @") && !name.contains(", done");
                let met = way.iter().filter(|(_, name)| is_before(name)).count();
                assert_eq!(met, dispatches, "{:?}: {way:#?}", case.flags);
                if kind == StepKind::Over {
                    debugger = recorded(&module, &case);
                    assert!(debugger.resume(Resume::Continue).is_final());
                }
                // Steps into have made the bytecode of machine code; steps back enter that.
                let mut back = backward(&mut debugger, kind);
                back.reverse();
                let back = from_lines(back);
                let differs = way.iter().zip(&back).position(|(way, back)| way != back);
                let what = format!("{name} {:?} {kind:?}", case.flags);
                assert_eq!(differs.map(|at| (&way[at], &back[at])), None, "{what}");
                assert_eq!(way.len(), back.len(), "{what}");
            }
        }
    }
}

#[test]
fn steps_back_meet_the_stops_of_steps_in_a_model_of_12_dispatches() {
    check("layers", &layers(2), 12);
}

#[test]
fn steps_back_meet_the_stops_of_steps_in_a_model_of_54_dispatches() {
    check("layers", &layers(9), 54);
}

#[test]
fn steps_back_meet_the_stops_of_steps_in_a_model_of_108_dispatches() {
    check("layers", &layers(18), 108);
}

#[test]
fn steps_back_meet_the_stops_of_steps_through_several_submissions() {
    check("submissions", SUBMISSIONS, 12);
}

/// Calls that the compiler inlines: of several levels, several on a line, in loops and branches,
/// and in a function that is called.
const INLINED: &str = r"
func.func private @mix(%x: i32, %y: i32) -> i32 {
  %square = arith.muli %x, %x : i32
  %mixed = arith.xori %square, %y : i32
  return %mixed : i32
}
func.func private @twice(%x: i32, %y: i32) -> i32 {
  %once = func.call @mix(%x, %y) : (i32, i32) -> i32
  %again = func.call @mix(%once, %x) : (i32, i32) -> i32
  return %again : i32
}
func.func private @least(%x: i32, %y: i32) -> i32 {
  %is_less = arith.cmpi slt, %x, %y : i32
  %least = scf.if %is_less -> (i32) {
    %of_x = func.call @mix(%x, %y) : (i32, i32) -> i32
    scf.yield %of_x : i32
  } else {
    %of_y = func.call @twice(%y, %x) : (i32, i32) -> i32
    scf.yield %of_y : i32
  }
  return %least : i32
}
func.func private @called(%x: i32, %y: i32) -> i32
    attributes {inlining_policy = #util.inline.never} {
  %mixed = func.call @mix(%y, %x) : (i32, i32) -> i32
  %sum = arith.addi %mixed, %x : i32
  return %sum : i32
}
func.func @main(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %left = func.call @twice(%a, %b) : (i32, i32) -> i32
  %all = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %left) -> (i32) {
    %one = func.call @mix(%acc, %a) : (i32, i32) -> i32 %two = func.call @mix(%one, %b)
        : (i32, i32) -> i32
    %three = func.call @called(%two, %acc) : (i32, i32) -> i32
    %four = func.call @least(%three, %one) : (i32, i32) -> i32
    scf.yield %four : i32
  }
  %right = func.call @least(%all, %a) : (i32, i32) -> i32
  %result = arith.subi %right, %left : i32
  return %result : i32
}
";

#[test]
fn steps_back_stand_before_inlined_calls_where_steps_do() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("inlined.mlir");
    std::fs::write(&source, INLINED).expect("it is written");
    let module = compiled(&source, &[], folder.path());
    for inputs in [["7", "3"], ["-2", "900"]] {
        let case = Case {
            source: source.clone(),
            function: "main".to_owned(),
            inputs: inputs.map(str::to_owned).to_vec(),
            flags: Vec::new(),
        };
        for kind in [StepKind::Over, StepKind::Into] {
            let mut debugger = recorded(&module, &case);
            let way = forward(&mut debugger, kind);
            let is_inlined = way.iter().any(|(_, name)| name.starts_with("mix "));
            assert!(is_inlined || kind == StepKind::Over, "{way:#?}");
            let mut back = backward(&mut debugger, kind);
            back.reverse();
            let differs = way.iter().zip(&back).find(|(way, back)| way != back);
            assert_eq!(differs, None, "{kind:?}");
            assert_eq!(way.len(), back.len(), "{kind:?}");
        }
    }
}
