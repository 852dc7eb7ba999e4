//! Where a bytecode offset comes from in the source, and which values are alive there.
//!
//! One interface, [`DebugInfo`], combines two sources: the debug database inside a module
//! ([`vmfb::DebugDatabase`]), which since compiler 3.11 covers one function only, and the debug
//! companion beside the module (`companion`), which covers everything. The companion wins for
//! each function that it aligns with ([`Mismatch`] is the reason where it does not). The user's own
//! `.mlir`, where it can be read, adds names that only it has (`source`). The crate executes
//! nothing.
//!
//! | question | answer |
//! | --- | --- |
//! | where am I? | [`DebugInfo::frames_at`], [`DebugInfo::position_at`], [`DebugInfo::row_at`] |
//! | where is this line? | [`DebugInfo::match_file`], [`DebugInfo::resolve_line`] |
//! | where are dispatches made of it? | [`DebugInfo::recordings`], [`DispatchInterfaces::calls`] |
//! | what can I see here? | [`DebugInfo::scope_at`] |
//! | and why is that so? | [`DebugInfo::evidence_along`], [`TensorProgram::evidence`]: [`Evidence`] |
//! | and in the VM program? | [`DebugInfo::listing_position_at`], [`DebugInfo::live_values`] |
//! | what does a dispatch read and write? | [`DispatchInterfaces`] |
//! | which tensors does a model compute, and what are they called? | [`TensorProgram`] |
//! | how do they look as a graph? | [`DispatchGraph`] |
//! | what is the source of a dispatch? | [`twin_sources`], [`WorkgroupCount`] |
//! | and as a function over tensors? | [`DispatchFunction`] |
//! | what was a dispatch compiled for? | [`DispatchTargets`] |
//! | what does a line of a printed phase come from? | [`PhaseText`] |
//! | what is missing? | [`DebugInfo::completeness`] |
//!
//! Each module uses only modules above it in this table:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `dialect_resources` | the constants that a text lists at its end |
//! | `elided_name` | [`ElidedName`]: constants that texts leave out |
//! | `python_map` | [`PythonMap`]: how Python has made a program |
//! | `debug_file` | the debug file of a module, an archive of all that is kept of it |
//! | `locations` | trees of source locations, and walks over them |
//! | `mlir_text` | tokens and locations in text that iree-compile prints |
//! | `phase_text` | a printed phase as people read it, with the origins of its lines |
//! | `bytecode` | instructions, the roles and types of registers, derived from the bytecode alone |
//! | `source` | the user's `.mlir`: text, functions, structure |
//! | `companion` | the debug companion |
//! | `alignment` | which companion function and which database map fit a function |
//! | `statements` | the lines and statements of a function |
//! | `evidence` | why a name has its value, as data |
//! | `dispatches` | what dispatches read and write, and what each call of them stands for |
//! | `tensors` | the program of tensors, and which values of it have which name of the source |
//! | `proof` | which value of the source is in which register, with a proof |
//! | `debug_info` | [`DebugInfo`], the one interface to all of it |
//! | `graph` | the program of tensors as a picture |
//! | `text_dump` | a module's whole debug information as text, for tests |

mod alignment;
mod bytecode;
mod companion;
mod debug_file;
mod debug_info;
mod dialect_resources;
mod dispatches;
mod elided_name;
mod evidence;
mod graph;
mod locations;
mod mlir_text;
mod phase_text;
mod proof;
mod python_map;
mod source;
mod statements;
mod tensors;
mod text_dump;

pub use alignment::Mismatch;
pub use bytecode::{RegisterSlot, RegisterTypes, Role, recorded_exports};
pub use companion::{Companion, CompanionGlobal, CompanionLoadError, CompanionText, NestedText};
pub use debug_file::{
    Budget, Damage, DebugFile, DebugFileError, KeptSource, MODEL_NODES, Manifest, ModuleIdentity,
    OverBudget, PYTHON_MAP, PackedDebugFile, Use, constant_member, write_debug_file,
};
pub use debug_info::{
    CodePlace, Completeness, DebugInfo, FunctionCompleteness, LocalValue, MapSource, PythonFrame,
    Recording, ResolvedLine, SourceFrame,
};
pub use dialect_resources::{DIALECT_RESOURCES, dialect_resources};
pub use dispatches::{
    ArgumentOrigin, AxisRange, DispatchCall, DispatchFunction, DispatchInterface,
    DispatchInterfaces, DispatchOperand, DispatchTargets, EncodedOperand, FunctionArgument,
    FunctionResult, Incomplete, NoFunction, NoSource, OperandAccess, OperandReads, Shapes,
    TiledOperand, TwinCall, WorkgroupCount, bytecode_counts, dispatch_text, most_scratch,
    takes_numbers, twin_sources,
};
pub use elided_name::{ElidedName, LONGEST_WRITTEN};
pub use evidence::{Evidence, Grounds, Maker, Matched, MatchedBy, Refuted, SecondOpinion};
pub use graph::{
    DispatchGraph, DispatchProgram, FunctionGraph, GRAPH_FORMAT, GraphEdge, GraphNode, GraphTensor,
    GraphView, GroupedBy, NodeKind, OpenGroups, node_id, operation_of_node,
};
pub use locations::{FileId, Location, LocationId, LocationTable, SourcePosition, is_python};
pub use mlir_text::{CallChain, LocationNames, MlirTextError, NamedPosition};
pub use phase_text::{Origin, OriginKind, PhaseText};
pub use proof::{
    Check, Given, MissingReason, Recipe, RecipeInput, RecipeOperation, Scalar, ScopedValue,
    ValueLocation, WrittenRecipe,
};
pub use python_map::{
    PYTHON_MAP_SUFFIX, PythonCallId, PythonEvent, PythonMap, PythonMapError, PythonValue,
};
pub use source::{
    ControlBlock, FileMatch, LongConstant, ModuleWeight, NamedPlaces, NodeName, SourceMap,
    SourceText, WrittenTensor, bytes_of_digits, long_constants, model_beside, model_nodes,
    module_weights, plain_symbol, read_constant, tensor_of_bytes,
};
pub use statements::LineRow;
pub use tensors::{
    DeclaredParameter, DerivedName, Fate, RecordedDispatch, RegionId, SourceStep, SourceSteps,
    SourceTensor, StepOrigin, StepValue, StepValueId, TensorFunction, TensorName, TensorOperation,
    TensorOperationId, TensorOperationKind, TensorPart, TensorProgram, TensorRegion,
    TensorRelation, TensorSources, TensorValue, TensorValueId, UnalignedProgram, Unrecognised,
    declared_parameters,
};
pub use text_dump::TextDump;
