//! The debugger: a program that can be stopped anywhere, stepped and looked at. It knows no protocol.
//!
//! | file | holds |
//! | --- | --- |
//! | `program` | modules linked to each other, with their debug information |
//! | `debugger`, `running` | how far the program has come; running and stopping it |
//! | `stepping` | where a step ends |
//! | `breakpoint`, `resolve`, `glob` | what was asked for, and which instructions that is |
//! | `catalog` | modules, sources and lines with code, for lists of them |
//! | `stop` | why the program stands still, how it may go on |
//! | `stack`, `inspect`, `globals`, `tensor` | frames, scopes, variables |
//! | `dispatch` | what a device works on |
//! | `disassembly`, `address` | code as a view wants it |
//! | `view` | the plain structs that all of this is shown in |
//!
//! Start at [`Debugger`].

mod address;
mod breakpoint;
mod catalog;
mod debugger;
mod disassembly;
mod dispatch;
mod glob;
mod globals;
mod inspect;
mod program;
mod resolve;
mod running;
mod stack;
mod stepping;
mod stop;
mod tensor;
mod view;

pub use address::LinearAddress;
pub use breakpoint::{
    Breakpoint, BreakpointId, BreakpointSpec, BreakpointTable, DispatchMoment, HitCondition,
    Resolution,
};
pub use catalog::{CodeSite, ModuleDetails, SourceFile};
pub use debugger::{Debugger, InterruptHandle};
pub use debuginfo::SourceMap;
pub use inspect::value_text;
pub use program::{LaunchError, LaunchOptions, ModuleSource, Program};
pub use stop::{Granularity, Resume, StepKind, StopReason};
pub use tensor::TensorView;
pub use view::{
    BufferView, Children, DisassembledInstruction, Frame, Node, ScopeKind, SourceLine, Variable,
};
pub use vm::{FrameIndex, FunctionId, ModuleIndex, Position};
