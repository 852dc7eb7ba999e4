//! The IREE VM: values, frames, the interpreter, contexts. No devices, no tensors, no printing.
//!
//! A [`Context`] links verified bytecode modules and native modules and owns their globals. An
//! [`Invocation`] is one activity in it: plain data (frames, registers) that [`Invocation::run`]
//! moves forward until it completes, yields, stops or fails. Between two calls of `run` everything
//! can be looked at and changed.
//!
//! | file | holds |
//! | --- | --- |
//! | `value`, `types`, `buffer`, `memory`, `list`, `numbers`, `cells` | what registers and globals refer to |
//! | `status`, `limits`, `available`, `budget`, `meter` | errors with their codes and places; bounds on what a program may use |
//! | `context`, `link`, `globals`, `native` | linked modules; modules written in Rust |
//! | `activity`, `driver`, `moving` | native functions that go on in steps, as frames of the stack; frames that come from elsewhere |
//! | `code`, `cursor`, `translate`, `calls`, `fusion`, `loops` | the executable form of functions, made on first call |
//! | `machine`, `handlers`, `ops`, `guard` | how one instruction leads to the next; what each of them does |
//! | `stack`, `registers`, `transfer`, `objects` | what handlers work with |
//! | `text` | values as the text of command lines |
//! | `invocation`, `interpreter`, `inspect` | running, stopping, looking |
//!
//! # Adding an instruction
//!
//! Add its row in `vmfb::isa`; `code.rs` then fails to compile until the instruction is in one of
//! its lists, and `handlers/table.rs` until it has a meaning.

mod activity;
mod available;
mod budget;
mod buffer;
mod calls;
mod cells;
mod code;
mod context;
mod cursor;
mod driver;
mod fusion;
mod globals;
mod guard;
mod handlers;
mod inspect;
mod interpreter;
mod invocation;
mod limits;
mod link;
mod list;
mod loops;
mod machine;
mod memory;
mod meter;
mod moving;
pub mod narrow_calls;
mod native;
mod numbers;
mod objects;
mod ops;
mod registers;
mod stack;
mod status;
pub mod text;
mod transfer;
mod translate;
mod types;
mod value;

pub use activity::{Activity, Boundary, BoundaryKind, Host, Next, Watch};
pub use budget::{AtDispatch, Budget, Busy, BusyDispatch, Interrupt, RunControl};
pub use buffer::{Access, Buffer};
pub use context::{BreakpointError, Context, FunctionId, ModuleIndex, ModuleKind};
pub use guard::{Guard, GuardFrame};
pub use inspect::{Frame, FrameFunction, FrameIndex};
pub use invocation::{Invocation, Observer, Outcome, Position, Reaction, Stop};
pub use limits::{Charge, ExecutionLimits, MemoryLimit, parse_bytes, parse_duration};
pub use link::{ContextBuilder, LinkError, MissingImport};
pub use list::{ElementType, List};
pub use meter::Meter;
pub use moving::MovedFrames;
pub use native::{
    Arguments, IntoResults, NativeCall, NativeModule, NativeModuleBuilder, NativeReturn,
};
pub use status::{Failure, FramePosition, Status, StatusCode};
pub use types::{RefType, ScalarType, Type};
pub use value::{Object, Ref, Value};
