//! The IREE VM: values, frames, the interpreter, contexts. No devices, no tensors, no printing.
//!
//! A [`Context`] links verified bytecode modules and native modules and owns their globals. An
//! [`Invocation`] is one activity in it: plain data (frames, registers) that [`Invocation::run`]
//! moves forward until it completes, yields, stops or fails. Between two calls of `run` everything
//! can be looked at and changed.
//!
//! A room uses only the rooms above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `position` | modules, functions and instructions of a context, by number |
//! | `errors` | how running code, linking and breakpoints fail |
//! | `ops` | what scalar instructions compute |
//! | `limits` | how much a program may use; requests to stop |
//! | `objects` | values, and what refs refer to: buffers, lists, objects of native modules |
//! | `value_text` | scalars parsed and printed as on a command line |
//! | `native` | modules written in Rust, and activities: native functions that run in steps |
//! | `modules` | linked modules: the targets of imports, globals, imitated 32-bit calls |
//! | `stack` | frames and their registers |
//! | `code` | the executable form of functions, made on first call |
//! | `machine` | the interpreter's state, and how one handler hands over to the next; calls and returns |
//! | `second_tier` | hot functions as machine code |
//! | `handlers` | what each instruction does |
//! | `context` | contexts: linking, lookup, breakpoints |
//! | `run` | invocations: running, stopping, looking, going back |
//!
//! # Adding an instruction
//!
//! Add its row in `vmfb::isa`; `code/instr.rs` then fails to compile until the instruction is in
//! one of its lists, `handlers/table.rs` until it has a meaning, and `second_tier/rows.rs` until
//! that says how it is compiled: `Row::Step` leaves it to the interpreter's handler.

mod code;
mod context;
mod errors;
mod handlers;
mod limits;
mod machine;
mod modules;
mod native;
mod objects;
mod ops;
mod position;
mod run;
#[cfg_attr(not(target_arch = "x86_64"), path = "second_tier/none.rs")]
mod second_tier;
mod stack;
pub mod value_text;

pub use context::{Context, ContextBuilder, ModuleKind};
pub use errors::{
    BreakpointError, Failure, FramePosition, LinkError, MissingImport, Status, StatusCode,
};
pub use limits::{
    AtDispatch, Budget, Busy, BusyDispatch, Charge, ExecutionLimits, Interrupt, Keeper, LimitError,
    MemoryLimit, MemorySource, Meter, RunControl, SecondTier, default_memory, parse_bytes,
    parse_duration,
};
pub use modules::narrow_calls_note;
pub use native::{
    Activity, Arguments, Body, Boundary, BoundaryKind, Host, HostContext, IntoResults,
    KeptActivity, MovedFrames, NativeCall, NativeModule, NativeModuleBuilder, NativeReturn, Next,
    Watch,
};
pub use objects::{
    Access, Buffer, ElementType, Kept, LaterMakes, List, Makes, Object, Ref, RefType, Restore,
    ScalarType, Type, Value,
};
pub use position::{FunctionId, ModuleIndex, Position};
pub use run::{
    Checkpoint, Frame, FrameFunction, FrameIndex, Invocation, Moment, MomentKey, NoMoment,
    Observer, Outcome, Reaction, Recorder, Stop,
};
pub use stack::{Guard, GuardFrame};
