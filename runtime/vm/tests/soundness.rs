//! One program that exercises every part of the machine with unsafe code: frames, registers, refs,
//! guest memory, rodata, calls, stops. It is small enough for Miri (`tests/run miri`), which also
//! sees undefined behaviour that happens to work. The fuzz tests run random programs for the same
//! purpose.

use vm::{
    Context, ExecutionLimits, Invocation, NativeModule, Observer, Outcome, Position, Reaction,
    StatusCode, Value,
};
use vmfb::Module;
use vmfb::assemble::assemble;

const PROGRAM: &str = r#"
vm.module @program version 0
vm.type i32
vm.type i64
vm.type !vm.buffer
vm.type !vm.list<!vm.buffer>
vm.import @native.half cconv "0i_i"
vm.rodata[0] = 0100000002000000030000000400000005000000

vm.export @__init
vm.func @__init() -> () {
^bb0:
  %r0 = vm.const.ref.rodata 0
  vm.global.store.ref %r0, .refs[0] : !vm.buffer
  vm.return
}

vm.export @sum
vm.func @sum(%i0: i32) -> (i64) {
^bb0:
  %r0 = vm.global.load.ref .refs[0] : !vm.buffer
  %i1 = vm.const.i32 1
  %i2:3 = vm.const.i64.zero
  %i4:5 = vm.const.i64.zero
  %i6:7 = vm.const.i64 1
  vm.br ^bb1()
^bb1:
  %i8 = vm.buffer.load.i32 %r0, %i4:5
  %i8 = vm.call @program:2(%i8)
  %i10:11 = vm.ext.i32.i64.s %i8
  %i2:3 = vm.add.i64 %i2:3, %i10:11
  %i4:5 = vm.add.i64 %i4:5, %i6:7
  %i0 = vm.sub.i32 %i0, %i1
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i2
}

vm.func @twice(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.add.i32 %i0, %i0
  %i1 = vm.add.i32 %i1, %i1
  %i1 = vm.call @native.half(%i1)
  vm.return %i1
}

vm.export @objects
vm.func @objects(%i0: i32) -> (i32, i64) {
^bb0:
  %i2:3 = vm.const.i64 16
  %i4:5 = vm.const.i64.zero
  %i6 = vm.const.i32 8
  %r0 = vm.buffer.alloc %i2:3, %i6
  vm.buffer.store.i32 %i0, %r0, %i4:5
  vm.buffer.copy %r0, %i4:5, %r0, %i4:5, %i2:3
  %r1 = vm.list.alloc %i6 : !vm.list<!vm.buffer>
  vm.list.resize %r1, %i6
  %i7 = vm.const.i32.zero
  vm.list.set.ref %r1, %i7, %R0
  %r2 = vm.list.get.ref %r1, %i7 : !vm.buffer
  %r3 = vm.buffer.clone %r2, %i4:5, %i2:3, %i6
  vm.buffer.fill.i32 %r3, %i4:5, %i4:5, %i0
  %i8 = vm.buffer.load.i32 %r3, %i4:5
  %i10:11 = vm.buffer.hash %r3, %i4:5, %i2:3
  %i9 = vm.cmp.nz.ref %r0
  %i8 = vm.add.i32 %i8, %i9
  vm.return %i8, %i10
}

vm.export @breaks
vm.func @breaks(%i0: i32) -> () {
^bb0:
  vm.cond_break %i0, ^bb0()
}

vm.export @stops
vm.func @stops(%i0: i32) -> () {
^bb0:
  vm.break ^bb0()
}

vm.export @yields
vm.func @yields(%i0: i32) -> () {
^bb0:
  vm.yield ^bb0()
}

vm.export @fails
vm.func @fails(%i0: i32) -> () {
^bb0:
  vm.fail %i0, "as asked"
^bb1:
  vm.return
}
"#;

/// Runs until there is an outcome.
type Manner = fn(&mut Invocation, &mut Context) -> Outcome;

struct Onlooker;

impl Observer for Onlooker {
    fn before_instruction(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Continue
    }
}

fn context(limits: ExecutionLimits) -> Context {
    let assembly = assemble(PROGRAM.as_bytes())
        .map_err(|errors| vmfb::assemble::render(&errors, PROGRAM.as_bytes(), "program.vmasm"));
    let bytes = assembly.unwrap_or_else(|errors| panic!("{errors}")).image.to_bytes().unwrap();
    let module = vmfb::verify::verify(Module::from_bytes(bytes).unwrap()).unwrap();
    let native = NativeModule::builder("native")
        .function("half", "0i_i", |call| Ok(call.i32(0)? / 2))
        .build();
    let mut context =
        Context::builder().limits(limits).add_native(native).add_bytecode(module).link().unwrap();
    context.initialize().unwrap();
    context
}

fn begin(context: &Context, name: &str, argument: i32) -> Invocation {
    let function = context.lookup(name).unwrap();
    Invocation::new(context, function, vec![Value::I32(argument)]).unwrap()
}

/// Runs to the end in some manner; results as text.
fn finish(
    context: &mut Context,
    mut invocation: Invocation,
    manner: Manner,
) -> Result<String, StatusCode> {
    loop {
        match manner(&mut invocation, context) {
            Outcome::Completed(results) => return Ok(format!("{results:?}")),
            Outcome::Failed(failure) => return Err(failure.status.code),
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}

#[test]
fn every_manner_of_running_gives_the_same() {
    let manners: [Manner; 3] = [Invocation::run, Invocation::step, |invocation, context| {
        invocation.observe(context, &mut Onlooker)
    }];
    let mut context = context(ExecutionLimits::default());
    for (name, argument, expected) in
        [("sum", 5, Ok("[I64(30)]")), ("sum", 6, Err(StatusCode::OutOfRange))]
    {
        for is_armed in [false, true] {
            let function = context.lookup(name).unwrap();
            for offset in context.instruction_offsets(function).into_iter().skip(6).step_by(3) {
                if is_armed {
                    context.set_breakpoint(function, offset).unwrap();
                } else {
                    context.clear_breakpoint(function, offset);
                }
            }
            for manner in manners {
                let invocation = begin(&context, name, argument);
                let result = finish(&mut context, invocation, manner);
                assert_eq!(result, expected.map(str::to_owned));
            }
        }
    }
    let results = manners.map(|manner| {
        let invocation = begin(&context, "objects", 7);
        finish(&mut context, invocation, manner).unwrap()
    });
    assert!(results[0].starts_with("[I32(7), I64("), "{}", results[0]);
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
}

/// Each of these loops would run forever: every way back uses fuel, even after a stop.
#[test]
fn every_way_back_uses_fuel() {
    let mut context = context(ExecutionLimits { fuel: Some(20), ..ExecutionLimits::default() });
    for (name, argument) in [("breaks", 0), ("breaks", 1), ("stops", 0), ("yields", 0)] {
        let invocation = begin(&context, name, argument);
        let result = finish(&mut context, invocation, Invocation::run);
        assert_eq!(result, Err(StatusCode::ResourceExhausted), "{name}");
    }
}

/// The reference fails with any number but 0, and keeps five bits of it.
#[test]
fn numbers_of_failures() {
    let mut context = context(ExecutionLimits::default());
    for (number, expected) in [
        (0, None),
        (3, Some(StatusCode::InvalidArgument)),
        (31, Some(StatusCode::Unknown)),
        (32, Some(StatusCode::Unknown)),
        (35, Some(StatusCode::InvalidArgument)),
        (-1, Some(StatusCode::Unknown)),
    ] {
        let invocation = begin(&context, "fails", number);
        let result = finish(&mut context, invocation, Invocation::run);
        assert_eq!(result.err(), expected, "{number}");
    }
}
