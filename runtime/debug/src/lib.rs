//! The debugger: a program that can be stopped anywhere, stepped and looked at. It knows no
//! protocol.
//!
//! | file | holds |
//! | --- | --- |
//! | `load`, `program` | modules linked to each other, with their debug information |
//! | `files` | the files that these were read from, which may change |
//! | `debugger`, `running` | how far the program has come; running and stopping it |
//! | `stepping` | where a step ends |
//! | `level` | which text is shown and stepped: source, VM program, instructions |
//! | `breakpoint`, `resolve`, `symbol` | what was asked for, and which instructions that is |
//! | `commands`, `reach` | the lines of commands that share dispatches; which functions can run |
//! | `catalog` | modules, sources and lines with code, for lists of them |
//! | `arming` | breakpoints in the machine: guards, hits, log messages |
//! | `watch`, `effects` | data breakpoints |
//! | `guard_traps` | what guarded memory tells of dispatches |
//! | `floats`, `dispatch_traps`, `overflow` | floats that go bad, integers that overflow |
//! | `moves` | jumping, restarting a frame, targets to step into |
//! | `stop`, `reasons` | why the program stands still, how it may go on |
//! | `stack`, `inspect`, `scope`, `known`, `globals` | frames, scopes, variables, names |
//! | `expression` | the language of watches, conditions and log messages |
//! | `foreign` | values of native libraries, by their addresses |
//! | `tensor`, `number`, `memory` | what is in buffers |
//! | `dispatch` | what a device works on |
//! | `machine_code` | machine code that stopped inside a workgroup |
//! | `disassembly`, `address` | code as a view wants it |
//! | `view` | the plain structs that all of this is shown in |
//!
//! Start at [`Debugger`].

mod address;
mod arming;
mod breakpoint;
mod catalog;
mod columns;
mod commands;
#[cfg(test)]
mod counting_tests;
mod debugger;
mod disassembly;
mod dispatch;
mod dispatch_traps;
mod effects;
mod elements;
mod expression;
mod files;
mod floats;
mod foreign;
mod globals;
mod guard_traps;
mod inlined;
mod inspect;
mod known;
mod level;
mod load;
mod machine_code;
mod memory;
mod moves;
mod named;
mod number;
mod overflow;
#[cfg(test)]
mod overflow_tests;
#[cfg(test)]
mod pause_tests;
mod program;
mod reach;
mod reasons;
mod remembered;
mod resolve;
mod running;
#[cfg(test)]
mod scale_tests;
mod scope;
mod stack;
mod stepping;
#[cfg(test)]
mod stepping_model;
mod stop;
mod symbol;
mod tensor;
mod view;
mod watch;
mod watched;

pub use address::LinearAddress;
pub use arming::LogMessage;
pub use breakpoint::{
    Breakpoint, BreakpointId, BreakpointOptions, BreakpointSpec, BreakpointTable, DispatchMoment,
    HitCondition, OptionError, Resolution,
};
pub use catalog::{CodeSite, ModuleDetails, SourceFile};
pub use debugger::{Debugger, InterruptHandle};
pub use debuginfo::SourceMap;
pub use expression::{Cancel, Completion, CompletionKind, Expression, ExpressionError, Limits};
pub use files::ChangedFile;
pub use inlined::FrameId;
pub use inspect::value_text;
pub use level::Level;
pub use memory::Memory;
pub use moves::{Call, StepInTarget, Summary};
pub use program::{LaunchError, LaunchOptions, ModuleSource, Program};
pub use stop::{Granularity, Resume, StepKind, StopReason};
pub use symbol::bare_symbol;
pub use tensor::TensorView;
pub use view::{
    BufferView, Children, DisassembledInstruction, Frame, Node, ScopeKind, SourceLine, Variable,
};
pub use vm::{FrameIndex, FunctionId, ModuleIndex, Position};
pub use watch::{DataAccess, DataHit, DataUser, Traps};
pub use watched::WatchTarget;
