//! Verified programs run to an end that is no internal fault, and to the same end however they are
//! observed: free, observed, stepped, stopped at breakpoints, compiled, or compiled but for steps
//! here and there.

use std::fmt::Write;
use std::sync::Arc;

use abi::cconv::ValueType;
use vm::{
    Context, ExecutionLimits, FrameIndex, FunctionId, Invocation, ModuleIndex, ModuleKind,
    NativeModule, NativeReturn, Object, Observer, Outcome, Position, Reaction, Ref, SecondTier,
    Status, Type, Value,
};
use vmfb::Module;
use vmfb::verify::VerifiedModule;

use crate::random::Random;

/// The most yields and stops of an invocation.
const TURNS: usize = 50_000;

/// How an invocation is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    Free,
    Observed,
    Stepped,
    Breakpoints,
    Compiled,
    /// Compiled, and a few instructions are stepped before it runs and after each yield or stop.
    Mixed,
    /// Halted at each turn, where the moment and all registers are noted,
    Turns,
    /// and the same, compiled.
    CompiledTurns,
}

impl Manner {
    fn second_tier(self) -> SecondTier {
        match self {
            Self::Compiled | Self::Mixed | Self::CompiledTurns => SecondTier::Always,
            _ => SecondTier::Off,
        }
    }

    fn halts(self) -> bool {
        matches!(self, Self::Turns | Self::CompiledTurns)
    }
}

/// Verifies a module and runs it if it is sound. Returns whether it was.
///
/// # Panics
/// Two ways of running it end differently.
pub(crate) fn exercise(module: Module, seed: u64) -> bool {
    let Ok(verified) = vmfb::verify::verify(module) else { return false };
    let Some(expected) = run(&verified, Manner::Free, seed) else { return false };
    for manner in
        [Manner::Observed, Manner::Stepped, Manner::Breakpoints, Manner::Compiled, Manner::Mixed]
    {
        let found = run(&verified, manner, seed);
        assert_eq!(found.as_ref(), Some(&expected), "{manner:?} ends differently");
    }
    let [interpreted, compiled] =
        [Manner::Turns, Manner::CompiledTurns].map(|manner| run(&verified, manner, seed));
    assert_eq!(interpreted, compiled, "compiled, its turns are others");
    true
}

/// The native module that random programs import from.
fn native() -> NativeModule {
    NativeModule::builder("native")
        .function("mix", "0iIfFr_FrIi", |call| {
            Ok(vec![
                Value::F64(call.f64(3)?),
                Value::Ref(call.reference(4)?.clone()),
                Value::I64(call.i64(1)?),
                Value::I32(call.i32(0)?),
            ])
        })
        .function("sum", "0iCiIDr_I", |call| {
            let mut sum = i64::from(call.i32(0)?);
            for tuple in call.span(1)? {
                sum = sum.wrapping_add(tuple.i32(0)?.into()).wrapping_add(tuple.i64(1)?);
            }
            Ok(sum.wrapping_add(call.reference(2)?.is_null().into()))
        })
        .function("wait", "0r_r", |call| {
            let (value, mut polls) = (call.reference(0)?.clone(), 0);
            Ok(NativeReturn::Pending(Box::new(move || {
                polls += 1;
                let value = value.clone();
                Ok(match polls {
                    1 => NativeReturn::Pending(Box::new(move || {
                        Ok(NativeReturn::Results(vec![Value::Ref(value.clone())]))
                    })),
                    _ => NativeReturn::Results(vec![Value::Ref(value)]),
                })
            })))
        })
        .function("refuse", "0i_i", |call| match call.i32(0)? {
            number if number % 2 == 0 => Ok(number / 2),
            _ => Err(Status::unimplemented("odd numbers")),
        })
        .function("object", "0v_r", |_| Ok(Ref::object(Opaque)))
        .build()
}

#[derive(Debug)]
struct Opaque;

impl Object for Opaque {
    fn type_name(&self) -> &str {
        "test.object"
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// An observer that does nothing.
struct Onlooker;

impl Observer for Onlooker {
    fn before_instruction(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Continue
    }
}

/// Runs the initialiser and every export, and describes the outcome. `None` if the module does not
/// link.
fn run(verified: &VerifiedModule, manner: Manner, seed: u64) -> Option<String> {
    let limits = ExecutionLimits {
        fuel: Some(100),
        stack_depth: 40,
        allocation_bytes: 1 << 12,
        second_tier: manner.second_tier(),
        ..ExecutionLimits::default()
    };
    let mut context = Context::builder()
        .limits(limits)
        .add_native(native())
        .add_bytecode(verified.clone())
        .link()
        .ok()?;
    let program = ModuleIndex(1);
    let mut report = String::new();
    let mut random = Random::new(seed);
    if manner == Manner::Breakpoints {
        set_breakpoints(&mut context, &mut Random::new(!seed));
    }
    let mut invocation = Invocation::initialize(&context);
    drive(&mut context, &mut invocation, manner, &mut report);
    for export in verified.module().exports() {
        let function = FunctionId { module: program, function: export.function };
        let Some(signature) = context.signature(function) else { continue };
        let arguments = signature.arguments.iter().map(|it| argument(it, &mut random)).collect();
        match Invocation::new(&context, function, arguments) {
            Ok(mut invocation) => drive(&mut context, &mut invocation, manner, &mut report),
            Err(status) => note(&mut report, format_args!("{status}")),
        }
    }
    note(&mut report, format_args!("globals {:?}", context.global_bytes(program)));
    let refs: Vec<Value> = context.global_refs(program).iter().cloned().map(Value::Ref).collect();
    note(&mut report, format_args!("global refs {}", values(&refs)));
    Some(report)
}

fn argument(value_type: &ValueType, random: &mut Random) -> Value {
    let number = random.number();
    match value_type {
        ValueType::I64 => Value::I64(number),
        ValueType::F32 => Value::F32(number as f32),
        ValueType::F64 => Value::F64(number as f64),
        ValueType::Ref if random.chance(2) => {
            Value::Ref(Ref::Buffer(Arc::new(vm::Buffer::from_bytes(&[7; 24]).expect("24 bytes"))))
        }
        ValueType::Ref if random.chance(2) => {
            let list = vm::List::new(Type::Variant, &ExecutionLimits::default());
            list.push(Value::I64(number)).expect("one element");
            Value::Ref(Ref::List(Arc::new(list)))
        }
        ValueType::Ref => Value::Ref(Ref::Null),
        ValueType::I32 | ValueType::Span(_) => Value::I32(number as i32),
    }
}

fn set_breakpoints(context: &mut Context, random: &mut Random) {
    let functions: Vec<FunctionId> = context
        .modules()
        .flat_map(|(module, _, kind)| match kind {
            ModuleKind::Bytecode(bytecode) => bytecode
                .functions_with_ordinals()
                .map(|(function, _)| FunctionId { module, function })
                .collect(),
            ModuleKind::Native(_) => Vec::new(),
        })
        .collect();
    for function in functions {
        for offset in context.instruction_offsets(function) {
            if random.chance(3) {
                let set = context.set_breakpoint(function, offset);
                assert!(set.is_ok(), "{set:?}");
            }
        }
    }
}

fn drive(context: &mut Context, invocation: &mut Invocation, manner: Manner, report: &mut String) {
    let mut yields = 0;
    for turn in 0..TURNS {
        let outcome = match manner {
            Manner::Free | Manner::Breakpoints | Manner::Compiled => invocation.run(context),
            Manner::Turns | Manner::CompiledTurns => {
                invocation.set_goal(Some(turn as u64 + 1));
                invocation.run(context)
            }
            Manner::Mixed if turn % 12 < 11 => invocation.step(context),
            Manner::Mixed => invocation.run(context),
            Manner::Observed => invocation.observe(context, &mut Onlooker),
            Manner::Stepped => invocation.step(context),
        };
        match outcome {
            Outcome::Completed(results) => {
                return note(report, format_args!("{yields} yields, {}", values(&results)));
            }
            Outcome::Failed(failure) => {
                note(report, format_args!("{yields} yields, {failure}"));
                for frame in &failure.backtrace {
                    note(report, format_args!("  {frame}"));
                }
                note_registers(context, invocation, report);
                return;
            }
            Outcome::Yielded => yields += 1,
            Outcome::Stopped(_) if manner.halts() => {
                let key = invocation.moment(context).map(|moment| moment.key());
                note(report, format_args!("{key:?}"));
                note_registers(context, invocation, report);
            }
            Outcome::Stopped(_) => {}
        }
        if yields > 50 {
            break;
        }
    }
    note(report, format_args!("given up"));
}

/// The numbers in the registers of all frames, whether anything reads them again or not.
fn note_registers(context: &Context, invocation: &Invocation, report: &mut String) {
    for (depth, frame) in invocation.frames(context).enumerate() {
        let register = |ordinal| invocation.register_i32(FrameIndex(depth), ordinal);
        let registers: Vec<_> = (0..frame.i32_register_count).map_while(register).collect();
        note(report, format_args!("  registers {registers:x?}"));
    }
}

fn note(report: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(report, "{text}").expect("writing to a String does not fail");
}

/// Values as text, exact to the last bit; objects by their contents.
fn values(values: &[Value]) -> String {
    let texts = values.iter().map(|value| match value {
        Value::F32(value) => format!("f32 {:08x}", value.to_bits()),
        Value::F64(value) => format!("f64 {:016x}", value.to_bits()),
        Value::Ref(Ref::Buffer(buffer)) => format!("buffer {:?}", buffer.read(0, buffer.len())),
        Value::Ref(Ref::List(list)) => format!("{} of {}", list.len(), list.element_type()),
        Value::Ref(other) => other.type_name().to_owned(),
        integer => format!("{integer:?}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}
