//! The IREE VM: values, frames, the interpreter, contexts. No devices, no tensors, no printing.
//!
//! A [`Context`] links verified bytecode modules and native modules and owns their globals. An
//! [`Invocation`] is one activity in it: plain data (frames, registers) that [`Invocation::run`]
//! moves forward until it completes, yields, stops or fails. Between two calls of `run` everything
//! can be looked at and changed.
//!
//! | file | holds |
//! | --- | --- |
//! | `value`, `types`, `buffer`, `list`, `memory` | what registers and globals refer to |
//! | `status`, `limits` | errors with their codes and places; bounds on what a program may use |
//! | `context`, `native` | linking; modules written in Rust |
//! | `text` | values as the text of command lines |
//! | `invocation` | running, stopping, inspecting |

mod buffer;
mod context;
mod invocation;
mod limits;
mod list;
mod native;
mod status;
pub mod text;
mod types;
mod value;

pub use buffer::{Access, Buffer};
pub use context::{
    BreakpointError, Context, ContextBuilder, FunctionId, LinkError, ModuleIndex, ModuleKind,
};
pub use invocation::{
    Frame, FrameFunction, FrameIndex, Interrupt, Invocation, Observer, Outcome, Position, Reaction,
    Stop,
};
pub use limits::ExecutionLimits;
pub use list::{ElementType, List};
pub use native::{IntoResults, NativeCall, NativeModule, NativeModuleBuilder, NativeReturn};
pub use status::{Failure, FramePosition, Status, StatusCode};
pub use types::{RefType, ScalarType, Type};
pub use value::{Object, Ref, Value};
