//! The debugger: a program that can be stopped anywhere, stepped and looked at. It knows no
//! protocol.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `interrupt` | stopping a running program from another thread |
//! | `tensor` | tensors in memory: elements as numbers, statistics, all text of tensors |
//! | `view` | the plain structs of frames, variables and addresses, and values as text |
//! | `expression` | the language of watches, conditions and log messages |
//! | `twins` | bytecode of dispatches, compiled from the sources in the debug file |
//! | `target` | the program as it was loaded: modules, levels, lines, names, where breakpoints go |
//! | `machine` | a program with its context, and how far it has come |
//! | `inspect` | looking at a stopped machine: stack, scopes, dispatches, expressions in frames |
//! | `opinion` | what a dispatch should leave: its text, evaluated in float64 |
//! | `control` | breakpoints, watchpoints, traps (`catch`), steps, resuming, jumps, going back |
//! | `debugger` | [`Debugger`], the public API: a machine, its breakpoints and its stops |
//!
//! A module uses only modules that stand above it in this table. Start at [`Debugger`].

mod control;
mod debugger;
mod expression;
mod inspect;
mod interrupt;
mod machine;
mod opinion;
mod target;
mod tensor;
#[cfg(test)]
mod tests;
mod twins;
mod view;

pub use control::breakpoint_edit::BreakpointEdit;
pub use control::breakpoints::hits::{HitCondition, HitConditionError};
pub use control::breakpoints::log::LogMessage;
pub use control::breakpoints::spec::{BreakpointId, BreakpointSpec, DataAccess, DispatchMoment};
pub use control::breakpoints::table::{
    Breakpoint, BreakpointOptions, BreakpointTable, OptionError,
};
pub use control::kept_dispatch::outcome::{DispatchRerun, RerunResult};
pub use control::record::executions::Look;
pub use control::record::line_diff::{DifferingCommand, LineComparison, TensorDifference};
pub use control::record::line_moment::LineMoment;
pub use control::record::lines::{LineBegin, LineOfTime};
pub use control::record::past_values::{PastPlace, PastValue, ValueHistory};
pub use control::record::table::{Relation, RowQuestion, TableOfRun};
pub use control::record::tape::RecordState;
pub use control::record::visits::{Visit, Visits};
pub use control::refused::Refused;
pub use control::stop::{
    Back, DataHit, DataUser, Granularity, Resume, StepKind, StopReason, TrapKind, Trapped,
};
pub use control::traps::settings::Traps;
pub use control::twins::{NoTensorOfTwin, NoTwin, TwinStays};
pub use debugger::{Caller, Debugger, Next};
pub use debuginfo::{
    Evidence, Grounds, Maker, Matched, MatchedBy, Refuted, SecondOpinion, SourceMap, Unrecognised,
    node_id, operation_of_node,
};
pub use expression::{
    Cancel, Completion, CompletionKind, EvaluationError, Expression, ExpressionError, Limits,
    PrintHistory,
};
pub use inspect::all_tensors::AllTensors;
pub use inspect::described_row::DescribedRow;
pub use inspect::dispatch_list::{DispatchEntry, DispatchEntryOperand};
pub use inspect::dispatch_state::{
    DispatchArguments, DispatchState, DispatchText, NoDispatchState, OperandState,
};
pub use inspect::evidence::NoEvidence;
pub use inspect::executions::NoExecutions;
pub use inspect::how_far::{AtCommand, HowFar};
pub use inspect::line_values::{LineFigures, LineValues};
pub use inspect::not_watchable::NotWatchable;
pub use inspect::numbered_dispatch::{NoNumberedDispatch, NumberedDispatch, NumberedOperand};
pub use inspect::special_values::{
    NoStory, NumberNode, NumberOrigin, NumberTerm, Region, Special, SpecialCause, SpecialLink,
    SpecialOrigin, SpecialStory, SpecialTensor, StoryQuestion, Wanted,
};
pub use inspect::standing_dispatch::{StandingDispatch, StandingOperand, StandingTiles};
pub use inspect::step_in_targets::{Call, StepInTarget};
pub use inspect::tensor_list::TensorEntry;
pub use inspect::transfers::Transfer;
pub use inspect::watch_target::WatchTarget;
pub use interrupt::{InterruptHandle, Waiting};
pub use machine::{Machine, NoListing};
pub use opinion::{
    Evaluated, InputLost, MOST_OPERATIONS, NoOpinion, NoWriter, NotEvaluated, OpinionQuestion,
    Opinions, expected_tensor,
};
pub use target::catalog::{CodeSite, ModuleDetails, SourceFile};
pub use target::files::ChangedFile;
pub use target::launch::{LaunchError, LaunchOptions, ModuleSource, PastOptions, RecordOptions};
pub use target::level::{Level, UnknownLevel};
pub use target::listing::DisassembledInstruction;
pub use target::parameter_types::{OtherParameter, ParameterTypes};
pub use target::program::{NotMet, Program};
pub use target::reader::DamagedCompanion;
pub use target::recorded::{Expected, RunLog, RunMark, RunPart};
pub use target::resolve::Resolution;
pub use target::run_table::{CommandKind, CommandRow, RowDifference, RunTable, WrittenTensor};

pub use tensor::{
    AsOf, Cells, Comparison, Differences, Extent, Extreme, Figures, Measure, Moment, Moments,
    NoNpy, NotKept, Number, Pair, Profile, QUANTILES, Rectangle, Reduction, SliceError, Sought,
    Summary, TensorView, ViewError,
};
pub use twins::maker::NoBytecode;
pub use twins::stand_ins::{
    Announcer, Candidate, DeviceStandIns, NoStandIns, StandInOptions, may_need_stand_ins,
};
pub use view::absent::Absent;
pub use view::address::LinearAddress;
pub use view::executions::{Execution, Executions};
pub use view::frame::{Frame, FrameId, FrameLayer, SourceLine};
pub use view::memory::{Memory, NotWritten};
pub use view::run_map::{DispatchRuns, Numbers, RanCommand, RunMap};
pub use view::symbol::bare_symbol;
pub use view::value::tensor_of_value;
pub use view::variable::{BufferView, Children, Node, ScopeKind, Variable};
pub use vm::{FrameIndex, ModuleIndex, Moment as RunMoment, Position};
