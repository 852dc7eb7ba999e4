//! Tests of every handler of every instruction: it leads where it should, and in builds where
//! handlers jump to each other, it does so by a jump.
//!
//! The handler under test is followed by a probe, which notes where its own variables are on the
//! host's stack. A handler that jumped leaves no frame there: the probe runs at the same place as
//! if it were called directly. Nothing in the language makes the optimiser do that, so this runs in
//! optimised builds too (`tests/run unit`). A handler that lost its jump fails here, instead of
//! overflowing the stack in a long loop.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::OnceLock;

use vmfb::{FileBytes, FunctionOrdinal, Module};

use super::operation::{Entry, Variants};
use super::table::entry;
use crate::code::{CODES, CallPlan, Code, Executable, Heat, Instr, Instructions, distance};
use crate::context::Context;
use crate::machine::{
    CheckedCode, Cursor, Dispatch, Exit, Free, FunctionCode, Handler, Machine, Observed, Program,
    Reason, Signal, State, call,
};
use crate::modules::{GlobalBytes, Target};
use crate::objects::{Buffer, List, Ref, ScalarType, Type, Value};
use crate::position::{FunctionId, ModuleIndex};
use crate::run::Invocation;
use crate::stack::{Refs, Registers, WINDOW};

/// One of everything that instructions can name; the tests make the code.
const MODULE: &[u8] = b"
vm.module @handlers version 0
vm.type i32
vm.type !vm.buffer
vm.rodata[0] = 0123
vm.global.i64 mutable @number = 0 : i64
vm.global.i64 mutable @another = 0 : i64
vm.global.ref mutable @first : !vm.buffer
vm.global.ref mutable @second : !vm.buffer
vm.export @caller
vm.func @caller(%i0: i32) -> (i32) {
^bb0:
  vm.return %i0
}
vm.func @callee(%i0: i32, %r0: !vm.buffer) -> (i32) {
^bb0:
  vm.return %i0
}
";
const CALLER: u32 = 0;
const CALLEE: u32 = 1;

/// Where instructions continue, in the code that is made here.
const NEXT: usize = 1;

thread_local! {
    /// Where the probe's variables were when it last ran.
    static PLACE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The handler after the one under test.
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "it is a handler")]
fn probe(
    cursor: Cursor,
    _: Registers,
    _: &mut Machine<'_>,
    _: u64,
    _: u64,
    _: u32,
    _: f32,
    _: f32,
    _: f64,
    _: f64,
) -> Signal {
    let variable = black_box(cursor);
    PLACE.set(Some(&raw const variable as usize));
    Signal::Leave
}

/// A handler that keeps a frame while the next one runs: what these tests must detect.
#[allow(clippy::too_many_arguments, reason = "it is a handler")]
fn keeps_a_frame(
    cursor: Cursor,
    registers: Registers,
    machine: &mut Machine<'_>,
    word: u64,
    previous_word: u64,
    budget: u32,
    single: f32,
    previous_single: f32,
    double: f64,
    previous_double: f64,
) -> Signal {
    let state = State {
        cursor,
        registers,
        budget,
        words: [word, previous_word],
        singles: [single, previous_single],
        doubles: [double, previous_double],
    };
    black_box(call(probe, state, machine))
}

/// How a handler is tried.
#[derive(Clone, Copy, Debug)]
struct Trial {
    instr: Instr,
    handler: Handler,
    /// What is in `r0`.
    object: Object,
    budget: u32,
    /// The last results of every type.
    results: [u32; 2],
}

#[derive(Clone, Copy, Debug)]
enum Object {
    Buffer,
    List(Option<ScalarType>),
}

impl Object {
    fn make(self, context: &Context) -> Ref {
        let list = |element_type| {
            let list = List::new(element_type, &context.limits);
            list.resize(4).unwrap();
            Ref::List(list.into())
        };
        match self {
            Self::Buffer => Ref::Buffer(Buffer::alloc(16, 0, &context.limits).unwrap().into()),
            Self::List(Some(scalar)) => list(Type::Scalar(scalar)),
            Self::List(None) => list(Type::Variant),
        }
    }
}

/// How the handler under test ended.
#[derive(Debug, PartialEq)]
enum Arrival {
    /// The probe ran, at this place.
    Jumped(usize),
    /// The handler returned for the loop to run the next instruction.
    Returned,
    /// The machine was left.
    Left(String),
}

fn context() -> Context {
    let image = vmfb::assemble::assemble(MODULE).unwrap().image;
    let module = Module::from_bytes(FileBytes::from(image.to_bytes().unwrap())).unwrap();
    let module = vmfb::verify::verify(module).unwrap();
    Context::builder().add_bytecode(module).link().unwrap()
}

/// A function of the instruction, run by the handler, and the probe.
fn function(instr: Instr, handler: Handler) -> Box<FunctionCode> {
    let plan = CallPlan {
        target: Target::Bytecode(CALLEE),
        words: Box::new([(0, 0)]),
        pairs: Box::new([(0, 0)]),
        refs: Box::new([(0, 0)]),
        arguments: Box::default(),
        results: Box::default(),
        next: NEXT as u32,
    };
    let end = Instr { code: Code::EndOfFunction, a: 0, b: 0, c: 0, imm: 0 };
    let tables = [vec![NEXT as u32; 2].into()];
    let calls = [plan];
    let instructions = Instructions::new(Box::new([absolute(instr), end]), &tables, &calls, 2);
    let instructions = instructions.unwrap();
    let instr = if instr.code == Code::JumpTable { instructions.with_table(instr) } else { instr };
    let executables =
        [Executable { handler, instr }, Executable { handler: Handler(probe), instr: end }];
    let code = || CheckedCode::of(executables.into(), &instructions);
    Box::new(FunctionCode {
        free: code(),
        observed: OnceLock::from(code()),
        instructions,
        offsets: Box::new([0, 0]),
        starts: Box::new([(0, 0)]),
        calls: calls.into(),
        lists: Box::new([Box::new([0])]),
        texts: Box::new(["text".into()]),
        has_loops: false,
        heat: Heat::default(),
        compiled: OnceLock::new(),
    })
}

/// The instruction, with indices in place of distances.
fn absolute(instr: Instr) -> Instr {
    match instr.code {
        Code::Jump | Code::JumpBack | Code::CondJump | Code::CondJumpBack => {
            Instr { imm: (NEXT as u64) << 32 | NEXT as u64, ..instr }
        }
        _ => instr,
    }
}

/// The instruction, with operands that make it succeed: register 0 of each type is 1, register 1 is
/// 0; ref 0 is the object, ref 1 is null.
fn instruction(code: Code) -> Instr {
    let mut instr = Instr { code, a: 0, b: 0, c: 0, imm: 0 };
    let away = distance::<Handler>(0, NEXT);
    match code {
        Code::Jump | Code::JumpBack | Code::CondJump | Code::CondJumpBack => {
            instr.imm = away << 32 | away;
        }
        // It continues if there is nothing to fail or stop for.
        Code::Fail => instr.a = 1,
        Code::CondStop => (instr.a, instr.imm) = (1, NEXT as u64),
        Code::Stop | Code::Yield => instr.imm = NEXT as u64,
        // Only null is of every type.
        Code::CastAnyRef | Code::GlobalStoreRef => instr.a = 1,
        Code::GlobalStoreIndirectRef | Code::SwitchRef => instr.b = 1,
        Code::SelectRef => (instr.b, instr.c) = (1, 1),
        Code::ListSetRef => instr.c = 1,
        _ => {}
    }
    instr
}

fn objects(code: Code) -> &'static [Object] {
    const NUMBERS: &[Object] = &[
        Object::List(Some(ScalarType::I32)),
        Object::List(Some(ScalarType::I64)),
        Object::List(Some(ScalarType::F32)),
        Object::List(Some(ScalarType::F64)),
        Object::List(None),
    ];
    match code {
        Code::ListGetRef | Code::ListSetRef => &[Object::List(None)],
        // Variants that were never set have no number.
        _ if format!("{code:?}").starts_with("ListGet") => &NUMBERS[..4],
        _ if format!("{code:?}").starts_with("List") => NUMBERS,
        _ => &[Object::Buffer],
    }
}

/// Runs the instruction, or where `is_direct`, just the probe in its place.
#[inline(never)]
fn run<D: Dispatch>(context: &mut Context, trial: Trial, is_direct: bool) -> Arrival {
    let object = trial.object.make(context);
    let tested = function(trial.instr, trial.handler);
    context.functions[CALLER as usize].code = OnceLock::from(tested);
    // The callee, entered after its block marker; or the caller, resumed after the call.
    let other =
        instruction(if trial.instr.code == Code::Return { Code::Call } else { Code::Block });
    context.functions[CALLEE as usize].code = OnceLock::from(function(other, Handler(probe)));
    let id = FunctionId { module: ModuleIndex(0), function: FunctionOrdinal(CALLER) };
    let mut invocation = Invocation::new(context, id, vec![Value::I32(1)]).unwrap();
    let mut push = |slot| invocation.stack.push(slot, 8, 2, &context.limits).unwrap();
    if trial.instr.code == Code::Return {
        push(CALLEE);
    }
    let base = push(CALLER);
    let program = context.program();
    let Program { limits, makes, modules, functions, globals } = program;
    let Invocation { stack, meter, .. } = &mut invocation;
    stack.words[base.word] = 1;
    stack.refs[base.reference] = object;
    let window = stack.words[base.word..].first_chunk_mut::<WINDOW>().unwrap();
    // SAFETY: only the handler uses the stack until it returns.
    let (registers, refs) =
        unsafe { (Registers::new(window), Refs::new(&mut stack.refs[base.reference..])) };
    let (code, running) = D::code(&functions[CALLER as usize]).unwrap();
    let cursor = running.cursor(0).unwrap();
    let saved = State {
        cursor,
        registers,
        budget: trial.budget,
        words: trial.results.map(u64::from),
        singles: trial.results.map(|bits| bits as f32),
        doubles: trial.results.map(f64::from),
    };
    let global_bytes = GlobalBytes::of(&mut globals[0]);
    let mut machine = Machine {
        limits,
        makes,
        modules,
        functions,
        globals,
        stack,
        meter,
        code,
        running,
        module: ModuleIndex(0),
        global_bytes,
        saved,
        refs,
        handler: cursor.handler(),
        reason: Reason::Native,
    };
    PLACE.set(None);
    let handler = if is_direct { probe } else { trial.handler.0 };
    // A single call site for both, so that both run at the same place of the stack.
    let signal = call(black_box(handler), saved, &mut machine);
    match (PLACE.get(), signal) {
        (Some(place), _) => Arrival::Jumped(place),
        (None, Signal::Leave) => Arrival::Left(match machine.reason {
            Reason::Exit(Exit::Failed(status)) => status.to_string(),
            reason => format!("{reason:?}"),
        }),
        (None, Signal::Next) => {
            // Observers see the block marker of the callee.
            let sees_marker = trial.instr.code == Code::Call && D::OBSERVES;
            let expected = if sees_marker { 0 } else { NEXT };
            match machine.running.index(machine.saved.cursor) {
                index if index == expected => Arrival::Returned,
                index => Arrival::Left(format!("went on at {index}")),
            }
        }
    }
}

/// Whether handlers are to jump.
const JUMPS: bool = cfg!(all(threaded, not(debug_assertions)));

fn check<D: Dispatch>(context: &mut Context, trial: Trial) {
    let direct = run::<D>(context, trial, true);
    let found = run::<D>(context, trial, false);
    let is_right = match &found {
        Arrival::Jumped(_) if JUMPS && !D::OBSERVES => found == direct,
        // A handler that asked for another budget continues at once.
        Arrival::Jumped(_) => trial.budget == 1,
        Arrival::Returned => !JUMPS || D::OBSERVES,
        Arrival::Left(_) => false,
    };
    assert!(is_right, "{trial:?}: {found:?}; directly, {direct:?}");
}

/// Trials of the handlers of an instruction.
fn trials(instr: Instr, variants: Variants, object: Object) -> impl Iterator<Item = Trial> {
    let handlers = variants.iter().filter_map(|variant| variant.handler);
    handlers.flat_map(move |handler| {
        // The last one of a budget has to ask for another.
        [1, 5].map(|budget| Trial { instr, handler, object, budget, results: [1, 1] })
    })
}

fn leaves(code: Code) -> bool {
    matches!(
        code,
        Code::Breakpoint | Code::CallOut | Code::Stop | Code::Yield | Code::EndOfFunction
    )
}

/// How many ways to run a handler are tried. Miri, which is slow, sees each instruction once.
const FEW: usize = if cfg!(miri) { 1 } else { usize::MAX };

/// What calls C's library, which Miri cannot.
const OF_C: [Code; 4] = [Code::RemF32, Code::RemF64, Code::ErfF32, Code::ErfF64];

fn check_instruction<D: Dispatch>(context: &mut Context, code: Code) {
    let Entry { variants, forward, backward, .. } = entry::<D>(code);
    let instr = instruction(code);
    for object in objects(code).iter().take(FEW) {
        for trial in trials(instr, variants, *object).take(FEW) {
            if leaves(code) {
                let found = run::<D>(context, trial, false);
                assert!(matches!(found, Arrival::Left(_)), "{trial:?}: {found:?}");
            } else {
                check::<D>(context, trial);
            }
        }
    }
    if D::OBSERVES {
        return;
    }
    // With the jump after it, in both directions.
    let away = distance::<Handler>(0, NEXT);
    for variants in [forward, backward].into_iter().flatten() {
        for (a, b, last, previous) in (0..16)
            .take(FEW)
            .map(|bits| (bits & 1, bits >> 1 & 1, u32::from(bits >> 2 & 1), bits >> 3))
        {
            let instr = Instr { a, b, imm: away << 32 | away, ..instr };
            for trial in trials(instr, variants, Object::Buffer).take(FEW) {
                check::<D>(context, Trial { results: [last, previous.into()], ..trial });
            }
        }
    }
}

#[test]
fn every_handler_leads_to_the_next_instruction() {
    let mut context = context();
    for code in CODES.iter().filter(|code| !cfg!(miri) || !OF_C.contains(code)) {
        check_instruction::<Free>(&mut context, *code);
        check_instruction::<Observed>(&mut context, *code);
    }
}

#[test]
fn a_handler_that_does_not_jump_is_found() {
    let instr = instruction(Code::Block);
    let (budget, results) = (5, [1, 1]);
    let trial =
        Trial { instr, handler: Handler(keeps_a_frame), object: Object::Buffer, budget, results };
    let mut context = context();
    let direct = run::<Free>(&mut context, trial, true);
    let found = run::<Free>(&mut context, trial, false);
    assert!(matches!((&found, &direct), (Arrival::Jumped(_), Arrival::Jumped(_))));
    assert_ne!(found, direct);
}
