//! That functions are compiled, and that compiled code can be stopped like any other. What it
//! computes is tested by `tests/fuzz` (random programs, halted at each turn) and, with
//! `IREE_DBG_JIT=always`, by `tests/differential` (each instruction, at the edges, against IREE).

use std::time::Duration;

use vmfb::Module;
use vmfb::assemble::assemble;

use crate::{
    Context, ExecutionLimits, FrameIndex, FunctionId, Invocation, Outcome, SecondTier, Stop, Value,
};

/// Sums of products in two loops, of which the inner one reads and writes a buffer and calls.
const PROGRAM: &str = r"
vm.module @program version 0
vm.type i32
vm.type i64
vm.type !vm.buffer

vm.export @main
vm.func @main(%i0: i32) -> (i64) {
^bb0:
  %i1 = vm.const.i32 1
  %i2:3 = vm.const.i64 264
  %r0 = vm.buffer.alloc %i2:3, %i1
  %i4:5 = vm.const.i64.zero
  vm.br ^bb1()
^bb1:
  %i6 = vm.const.i32 32
  vm.br ^bb2()
^bb2:
  %i8:9 = vm.ext.i32.i64.u %i6
  %i10:11 = vm.buffer.load.i64 %r0, %i8:9
  %i7 = vm.call @program:1(%i6)
  %i12:13 = vm.ext.i32.i64.s %i7
  %i10:11 = vm.add.i64 %i10:11, %i12:13
  %i4:5 = vm.add.i64 %i4:5, %i10:11
  %i6 = vm.sub.i32 %i6, %i1
  %i8:9 = vm.ext.i32.i64.u %i6
  vm.buffer.store.i64 %i10:11, %r0, %i8:9
  vm.cond_br %i6, ^bb2(), ^bb3()
^bb3:
  %i0 = vm.sub.i32 %i0, %i1
  vm.cond_br %i0, ^bb1(), ^bb4()
^bb4:
  vm.return %i4
}

vm.func @square(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.mul.i32 %i0, %i0
  vm.return %i0
}

vm.export @endless
vm.func @endless() -> () {
^bb0:
  %i0 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i1 = vm.add.i32 %i1, %i0
  vm.br ^bb1()
}
";

fn context(second_tier: SecondTier) -> Context {
    let program = PROGRAM.as_bytes();
    let assembly = assemble(program)
        .map_err(|errors| vmfb::assemble::render(&errors, program, "program.vmasm"));
    let bytes = assembly.unwrap_or_else(|errors| panic!("{errors}")).image.to_bytes().unwrap();
    let module = vmfb::verify::verify(Module::from_bytes(bytes).unwrap()).unwrap();
    let limits = ExecutionLimits { second_tier, ..ExecutionLimits::default() };
    Context::builder().limits(limits).add_bytecode(module).link().unwrap()
}

fn function(context: &Context, name: &str) -> FunctionId {
    context.lookup(&format!("program.{name}")).expect("the program has it")
}

fn is_compiled(context: &Context, slot: usize) -> bool {
    let code = context.functions[slot].code.get();
    code.and_then(|code| code.compiled.get()).is_some_and(Option::is_some)
}

fn call_main(context: &mut Context, rounds: i32) -> Outcome {
    let main = function(context, "main");
    Invocation::new(context, main, vec![Value::I32(rounds)]).unwrap().run(context)
}

#[test]
fn hot_functions_and_what_they_call_are_compiled() {
    let [mut interpreted, mut compiled] = [SecondTier::Off, SecondTier::Hot].map(context);
    let outcomes =
        [&mut interpreted, &mut compiled].map(|it| format!("{:?}", call_main(it, 3_000)));
    assert_eq!(outcomes[0], outcomes[1]);
    assert!(!is_compiled(&interpreted, 0) && !is_compiled(&interpreted, 1));
    let can_be = cfg!(target_arch = "x86_64") && !cfg!(miri);
    assert_eq!((is_compiled(&compiled, 0), is_compiled(&compiled, 1)), (can_be, can_be));
}

#[test]
fn breakpoints_stop_where_code_was_compiled() {
    let mut context = context(SecondTier::Always);
    assert!(matches!(call_main(&mut context, 2), Outcome::Completed(_)));
    let main = function(&context, "main");
    let square = FunctionId { function: vmfb::FunctionOrdinal(1), ..main };
    let offset = context.instruction_offsets(square)[1];
    context.set_breakpoint(square, offset).unwrap();
    let mut invocation = Invocation::new(&context, main, vec![Value::I32(2)]).unwrap();
    for round in 0..2 {
        for number in (1..=32).rev() {
            let outcome = invocation.run(&mut context);
            assert!(matches!(outcome, Outcome::Stopped(Stop::Breakpoint(_))), "{outcome:?}");
            assert_eq!(invocation.register_i32(FrameIndex(0), 0), Some(number), "{round}");
            assert_eq!(invocation.register_i32(FrameIndex(1), 6), Some(number), "{round}");
        }
    }
    assert!(context.clear_breakpoint(square, offset));
    assert!(matches!(invocation.run(&mut context), Outcome::Completed(_)));
}

#[test]
fn endless_loops_are_interrupted() {
    let mut context = context(SecondTier::Always);
    let endless = function(&context, "endless");
    let mut invocation = Invocation::new(&context, endless, Vec::new()).unwrap();
    let interrupt = invocation.interrupt().clone();
    let asks = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupt.request();
    });
    let outcome = invocation.run(&mut context);
    assert!(matches!(outcome, Outcome::Stopped(Stop::Interrupted(_))), "{outcome:?}");
    asks.join().unwrap();
    let turns = invocation.moment(&context).map(|moment| moment.turns()).unwrap();
    // The first turn began with 0, so the register counts them.
    let counted = invocation.register_i32(FrameIndex(0), 1).unwrap();
    assert!(counted.cast_unsigned().wrapping_sub(turns as u32) <= 1, "{counted} {turns}");
}

#[test]
fn a_failure_has_its_place_and_its_registers() {
    let [interpreted, compiled] = [SecondTier::Off, SecondTier::Always].map(|tier| {
        let mut context = context(tier);
        let main = function(&context, "main");
        let mut invocation = Invocation::new(&context, main, vec![Value::I32(2)]).unwrap();
        // A stack of one frame: the call fails.
        context.limits.stack_depth = 1;
        let outcome = invocation.run(&mut context);
        let registers = (0..14).map(|it| invocation.register_i32(FrameIndex(0), it));
        format!("{outcome:?} {:?}", registers.collect::<Vec<_>>())
    });
    assert!(compiled.contains("Failed"), "{compiled}");
    assert_eq!(interpreted, compiled);
}
