//! Native functions that run in steps (activities), as a host and a debugger see them. A toy device
//! attaches a bytecode module and runs it. The oracle is arithmetic: each expected result is known.

use std::sync::{Arc, Mutex};

use conformance::corpus::assemble_verified;
use vm::{
    Activity, Boundary, BoundaryKind, Context, ExecutionLimits, FrameFunction, FrameIndex,
    FunctionId, Host, Interrupt, Invocation, ModuleIndex, NativeModule, NativeReturn, Next,
    Observer, Outcome, Position, Reaction, Ref, Status, Stop, Value, Watch,
};
use vmfb::BytecodeOffset;
use vmfb::verify::VerifiedModule;

const MAIN: &str = r#"
vm.module @main version 0
vm.type i32

vm.import @device.execute cconv "0ii_i"
vm.import @device.spin cconv "0v_v"

vm.export @run
vm.func @run(%i0: i32, %i1: i32) -> (i32) {
^bb0:
  %i0 = vm.call @device.execute(%i0, %i1)
  %i0 = vm.add.i32 %i0, %i0
  vm.return %i0
}

vm.export @spin
vm.func @spin() -> () {
^bb0:
  vm.call @device.spin()
  vm.return
}
"#;

/// The function that the device runs for each part of a command. It divides by `i1` plus the part's
/// number.
const KERNEL: &str = r#"
vm.module @kernel version 0
vm.type i32

vm.import @private.bump cconv "0i_i"

vm.export @__init
vm.func @__init() -> () {
^bb0:
  %i0 = vm.const.i32 7
  vm.global.store.i32 %i0, .rwdata[0]
  vm.return
}

vm.export @part
vm.func @part(%i0: i32, %i1: i32) -> (i32) {
^bb0:
  %i2 = vm.global.load.i32 .rwdata[0]
  %i2 = vm.div.i32.s %i2, %i1
  %i2 = vm.call @private.bump(%i2)
  %i0 = vm.add.i32 %i0, %i2
  vm.return %i0
}
"#;

fn assemble(text: &str) -> VerifiedModule {
    assemble_verified("activities", text).unwrap()
}

const PARTS: i32 = 2;

/// The state of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Attach,
    Initialized,
    Before(i32),
    Part(i32, i32),
    Called(i32, i32),
}

/// Runs `commands` of [`PARTS`] parts each.
#[derive(Debug)]
struct Execution {
    kernel: VerifiedModule,
    module: Option<ModuleIndex>,
    commands: i32,
    divisor: i32,
    sum: i32,
    at: At,
}

impl Execution {
    fn part(&self, host: &Host<'_>) -> Option<FunctionId> {
        host.export(self.module?, "part")
    }
}

impl Activity for Execution {
    fn resume(&mut self, host: &mut Host<'_>, results: Vec<Value>) -> Result<Next, Status> {
        let boundary = |kind, command| {
            Ok(Next::Boundary(Boundary { kind, name: format!("command_{command}") }))
        };
        match self.at {
            At::Attach => {
                let bump = NativeModule::builder("private")
                    .function("bump", "0i_i", |call| Ok(call.i32(0)? + 1))
                    .build();
                let private = host.context().attach_native(bump);
                let kernel = &self.kernel;
                let attached = host.context().attach("the kernel", kernel, &[private], Ref::Null);
                let module = attached.map_err(|error| Status::internal(error.to_string()))?;
                self.module = Some(module);
                self.at = At::Initialized;
                let function = host.initializer(module);
                let function = function.ok_or_else(|| Status::internal("no initialiser"))?;
                Ok(Next::Call { function, arguments: Vec::new() })
            }
            At::Initialized => {
                self.at = At::Before(0);
                Ok(Next::Again)
            }
            At::Before(command) if command == self.commands => {
                Ok(Next::Return(vec![Value::I32(self.sum)]))
            }
            At::Before(command) => {
                self.at = At::Part(command, 0);
                boundary(BoundaryKind::BeforeStep, command)
            }
            At::Part(command, PARTS) => {
                self.at = At::Before(command + 1);
                boundary(BoundaryKind::AfterStep, command)
            }
            At::Part(command, part) if host.watch() == Watch::Parts && results.is_empty() => {
                self.at = At::Called(command, part);
                boundary(BoundaryKind::BeforePart, command)
            }
            At::Part(command, part) => {
                self.at = At::Called(command, part);
                Ok(Next::Again)
            }
            At::Called(command, part) => match results[..] {
                [Value::I32(sum)] => {
                    self.sum = sum;
                    self.at = At::Part(command, part + 1);
                    Ok(Next::Again)
                }
                _ => {
                    let function = self.part(host).ok_or_else(|| Status::internal("no part"))?;
                    let divisor = self.divisor + part;
                    let arguments = vec![Value::I32(self.sum), Value::I32(divisor)];
                    Ok(Next::Call { function, arguments })
                }
            },
        }
    }

    fn parts(&self) -> Vec<String> {
        match self.at {
            At::Attach | At::Initialized | At::Before(_) => Vec::new(),
            At::Part(command, _) => vec![format!("command {command}")],
            At::Called(command, part) => {
                vec![format!("command {command}"), format!("part {part}")]
            }
        }
    }
}

/// Never finishes. Requests an interrupt when it starts.
#[derive(Debug)]
struct Spin(Arc<Mutex<Interrupt>>);

impl Activity for Spin {
    fn resume(&mut self, _: &mut Host<'_>, _: Vec<Value>) -> Result<Next, Status> {
        std::mem::take(&mut *self.0.lock().unwrap()).request();
        Ok(Next::Again)
    }
}

fn context() -> Context {
    context_with(ExecutionLimits::default(), Arc::default())
}

fn context_with(limits: ExecutionLimits, interrupt: Arc<Mutex<Interrupt>>) -> Context {
    let kernel = assemble(KERNEL);
    let device = NativeModule::builder("device")
        .function("execute", "0ii_i", move |call| {
            Ok(NativeReturn::Activity(Box::new(Execution {
                kernel: kernel.clone(),
                module: None,
                commands: call.i32(0)?,
                divisor: call.i32(1)?,
                sum: 0,
                at: At::Attach,
            })))
        })
        .function("spin", "0v_v", move |_| {
            Ok(NativeReturn::Activity(Box::new(Spin(interrupt.clone()))))
        })
        .build();
    let main = assemble(MAIN);
    let builder = Context::builder().add_native(device).add_bytecode(main).inspected();
    builder.limits(limits).link().unwrap()
}

fn call(context: &Context, name: &str, arguments: &[i32]) -> Invocation {
    let arguments = arguments.iter().map(|value| Value::I32(*value)).collect();
    Invocation::new(context, context.lookup(name).unwrap(), arguments).unwrap()
}

fn frames(invocation: &Invocation, context: &Context) -> Vec<String> {
    let frames = invocation.frames(context).enumerate();
    let names = frames.map(|(index, frame)| match frame.function {
        FrameFunction::Bytecode(position) => context.function_name(position.function),
        FrameFunction::Native(function) => context.function_name(function),
        FrameFunction::Part { .. } => invocation.part(FrameIndex(index)).unwrap(),
    });
    let names: Vec<String> = names.collect();
    assert_eq!(names.len(), invocation.depth());
    names
}

/// Runs on from the stop where the kernel's module was attached.
fn run(invocation: &mut Invocation, context: &mut Context) -> Outcome {
    match invocation.run(context) {
        Outcome::Stopped(Stop::Attached) => invocation.run(context),
        outcome => outcome,
    }
}

fn completed(outcome: &Outcome) -> i32 {
    match outcome {
        Outcome::Completed(results) => match results[..] {
            [Value::I32(result)] => result,
            _ => panic!("{results:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// One command adds 7/1+1 and 7/2+1; the main function doubles.
const ONE_COMMAND: i32 = 2 * (8 + 4);

#[test]
fn an_activity_calls_bytecode_that_it_attached_and_returns() {
    let mut context = context();
    for commands in [0, 1, 3] {
        let mut invocation = call(&context, "run", &[commands, 1]);
        assert_eq!(completed(&run(&mut invocation, &mut context)), commands * ONE_COMMAND);
    }
    // Names of an attached module are visible only to the function that attached it.
    assert_eq!(context.lookup("part"), None);
    assert!(context.modules().any(|(_, name, _)| name == "the kernel"));
}

#[test]
fn free_running_stops_at_the_boundaries_that_are_watched() {
    let mut context = context();
    context.set_watch(Watch::Steps);
    let mut invocation = call(&context, "run", &[2, 1]);
    let mut seen = Vec::new();
    loop {
        match run(&mut invocation, &mut context) {
            Outcome::Stopped(Stop::Boundary) => {
                let boundary = invocation.boundary().unwrap();
                seen.push((boundary.kind, boundary.name.clone()));
            }
            outcome => {
                assert_eq!(completed(&outcome), 2 * ONE_COMMAND);
                break;
            }
        }
    }
    let (before, after) = (BoundaryKind::BeforeStep, BoundaryKind::AfterStep);
    let expected = [(before, 0), (after, 0), (before, 1), (after, 1)];
    assert_eq!(seen, expected.map(|(kind, command)| (kind, format!("command_{command}"))));
}

#[test]
fn frames_of_activities_are_between_those_of_bytecode() {
    let mut context = context();
    context.set_watch(Watch::Parts);
    let mut invocation = call(&context, "run", &[1, 1]);
    assert!(matches!(run(&mut invocation, &mut context), Outcome::Stopped(Stop::Boundary)));
    assert_eq!(frames(&invocation, &context), ["command 0", "execute", "run"]);
    assert!(matches!(run(&mut invocation, &mut context), Outcome::Stopped(Stop::Boundary)));
    assert_eq!(frames(&invocation, &context), ["part 0", "command 0", "execute", "run"]);
    // A breakpoint in the attached module, armed while the program is in the activity.
    let module = context.modules().find(|(_, name, _)| *name == "the kernel").unwrap().0;
    let kernel = context.bytecode_module(module).unwrap();
    let function = kernel.export_named("part").unwrap().1.function;
    let function = FunctionId { module, function };
    let offset = context.instruction_offsets(function)[1];
    context.set_breakpoint(function, offset).unwrap();
    let stop = run(&mut invocation, &mut context);
    let at = Position { function, offset };
    assert!(matches!(stop, Outcome::Stopped(Stop::Breakpoint(position)) if position == at));
    assert_eq!(frames(&invocation, &context), ["part", "part 0", "command 0", "execute", "run"]);
    assert_eq!(invocation.register_i32(FrameIndex(0), 1), Some(1));
    assert_eq!(invocation.register_i32(FrameIndex(1), 1), None);
    assert_eq!(invocation.register_i32(FrameIndex(4), 0), Some(1));
    assert!(invocation.activity(FrameIndex(1)).is_some());
    assert!(invocation.activity(FrameIndex(0)).is_none());
}

#[test]
fn steps_go_through_an_activity_and_out_of_it() {
    let mut context = context();
    let mut invocation = call(&context, "run", &[1, 1]);
    let mut innermost = Vec::new();
    let result = loop {
        match invocation.step(&mut context) {
            Outcome::Stopped(_) => innermost.push(frames(&invocation, &context).swap_remove(0)),
            outcome => break completed(&outcome),
        }
    };
    assert_eq!(result, ONE_COMMAND);
    innermost.dedup();
    let inside = ["__init", "command 0", "part 0", "part", "part 1", "part", "execute"];
    let expected: Vec<&str> = ["run"].into_iter().chain(inside).chain(["run"]).collect();
    assert_eq!(innermost, expected);
}

/// Stops before activities, and counts the other callbacks.
#[derive(Default)]
struct BeforeActivities {
    instructions: usize,
    boundaries: usize,
}

impl Observer for BeforeActivities {
    fn before_instruction(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        self.instructions += 1;
        Reaction::Continue
    }

    fn before_activity(&mut self, _: &Context, _: &Invocation) -> Reaction {
        Reaction::Stop
    }

    fn at_boundary(&mut self, _: &Context, _: &Invocation) -> Reaction {
        self.boundaries += 1;
        Reaction::Continue
    }
}

#[test]
fn observers_see_activities_begin_and_may_leave_them_alone() {
    let mut context = context();
    let mut observer = BeforeActivities::default();
    let mut invocation = call(&context, "run", &[1, 1]);
    let stop = invocation.observe(&mut context, &mut observer);
    assert!(matches!(stop, Outcome::Stopped(Stop::Step(_))));
    assert_eq!(frames(&invocation, &context), ["execute", "run"]);
    let before = observer.instructions;
    // The observer sees the kernel's instructions too.
    let stop = invocation.observe(&mut context, &mut observer);
    assert!(matches!(stop, Outcome::Stopped(Stop::Attached)));
    assert_eq!(frames(&invocation, &context), ["__init", "execute", "run"]);
    assert_eq!(completed(&invocation.observe(&mut context, &mut observer)), ONE_COMMAND);
    assert_eq!(observer.boundaries, 4);
    assert!(observer.instructions > before + 10);
}

#[test]
fn failures_below_an_activity_show_all_of_it() {
    let mut context = context();
    let mut invocation = call(&context, "run", &[1, 0]);
    let Outcome::Failed(failure) = run(&mut invocation, &mut context) else { panic!() };
    let places: Vec<String> = failure.backtrace.iter().map(ToString::to_string).collect();
    assert_eq!(
        places,
        [
            "the kernel.part [00000008]",
            "part 0",
            "command 0",
            "device.execute (native)",
            "main.run [00000001]"
        ]
    );
    assert_eq!(frames(&invocation, &context).len(), places.len());
}

#[test]
fn an_interrupt_reaches_an_activity_that_works() {
    let interrupt = Arc::default();
    let mut context = context_with(ExecutionLimits::default(), Arc::clone(&interrupt));
    let mut invocation = call(&context, "spin", &[]);
    *interrupt.lock().unwrap() = invocation.interrupt();
    let stop = run(&mut invocation, &mut context);
    let Outcome::Stopped(Stop::Interrupted(position)) = stop else { panic!("{stop:?}") };
    assert_eq!(position.offset, BytecodeOffset(1));
    assert_eq!(frames(&invocation, &context), ["spin", "spin"]);
}

#[test]
fn fuel_ends_an_activity_that_never_ends() {
    let limits = ExecutionLimits { fuel: Some(10_000), ..ExecutionLimits::default() };
    let mut context = context_with(limits, Arc::default());
    let mut invocation = call(&context, "spin", &[]);
    let Outcome::Failed(failure) = run(&mut invocation, &mut context) else { panic!() };
    assert_eq!(failure.status.code, vm::StatusCode::ResourceExhausted);
}
