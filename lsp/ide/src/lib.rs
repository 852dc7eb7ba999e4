//! Language features for MLIR, `.vmasm` and `.vmfb`; no protocol.
//!
//! Each feature is a function from an immutable [`Document`] and a byte offset to a plain answer:
//! no LSP type, no line and column, no editor. So a test, a terminal and a server can all ask for a
//! [`hover()`].
//!
//! Nothing here executes anything or writes a file. Only [`Modules`] and [`Workspace`] keep state:
//! they cache what they read from files.
//!
//! Lowest first; a folder uses only folders above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `operations` | what is known of operations: names, heads, and how their blocks end |
//! | `text` | a document, the trees of its chunks, and the names in them |
//! | `resolve` | what a place means: symbols, values, blocks, aliases, usages, types |
//! | `calling` | calling conventions of functions in MLIR text, what to ask a compiler about them, and the ABI table of hovers |
//! | `modules` | compiled modules near a source; what iree-compile makes of exports; a module as a document |
//! | `check` | diagnostics |
//! | `navigate` | definitions, links, call hierarchy, outline, workspace symbols, folds, selections |
//! | `stages` | what becomes of a source: the texts of a compilation's phases |
//! | `describe` | hovers, signature help, inlay hints, semantic tokens |
//! | `edit` | completion, rename, code actions, formatting |
//!
//! The file of each feature:
//!
//! | feature | function | file |
//! | --- | --- | --- |
//! | diagnostics | [`diagnostics()`] | `check/diagnostics.rs`, `chunk.rs` and what it calls |
//! | what a compiler should check | [`extract()`] | `check/extract.rs` |
//! | definition | [`definition()`], [`file_definition`] | `navigate/definition.rs` |
//! | implementation, type definition | [`counterpart`], [`type_definitions`] | `navigate/implementation.rs`, `type_definition.rs` |
//! | linked editing | [`linked_places`] | `navigate/linked.rs` |
//! | references, highlights | [`usages_at`] | `resolve/usages.rs` |
//! | call hierarchy | [`callable_at`], [`incoming_calls`], [`outgoing_calls`] | `navigate/call_hierarchy.rs` |
//! | links | [`links()`] | `navigate/links.rs` |
//! | outline | [`outline()`] | `navigate/outline.rs` |
//! | workspace symbols | [`Workspace`], [`file_symbols`] | `navigate/workspace.rs` |
//! | folding ranges | [`folds`] | `navigate/folding.rs` |
//! | selection ranges | [`selection_ranges`] | `navigate/selection.rs` |
//! | code lenses, what can be run | [`exported_functions`], [`exports()`] | `navigate/exports.rs` |
//! | lens of a test | [`first_run_line`] | `resolve/check_lines.rs` |
//! | variables and symbols of CHECK directives | as those of the text | `resolve/check_lines.rs` |
//! | hover | [`hover()`], [`brief_hover`] | `describe/hover.rs`, `instructions.rs` |
//! | control-flow graph | [`control_flow()`] | `describe/control_flow.rs` |
//! | signature help | [`signature_help()`] | `describe/signature_help.rs` |
//! | inlay hints | [`inlay_hints`] | `describe/hints.rs` |
//! | semantic tokens | [`semantic_tokens`] | `describe/tokens.rs` |
//! | completion | [`complete`] | `edit/completion/mod.rs` |
//! | rename | [`prepare_rename`], [`rename()`] | `edit/rename.rs` |
//! | code actions | [`code_actions`] | `edit/actions.rs` |
//! | quick fixes | [`quick_fixes`] | `edit/fixes/mod.rs` |
//! | the generic form of a function, and back | [`rewriting`], [`rewritten`] | `edit/forms.rs` |
//! | code actions of tests | [`write_checks_action`], [`expect_errors`] | `edit/test_actions.rs` |
//! | formatting | [`format()`] | `edit/format.rs` |
//! | operations of the installed compiler | [`InstalledOperations`] | `operations/installed.rs` |
//! | those of IREE 3.13, without a compiler | [`shipped_operations`] | `operations/facts.rs` |
//! | exports as compiled | [`AbiInquiry`] | `calling/skeleton.rs`, `modules/inquiry.rs` |
//! | what becomes of an operation | [`operation_at`], [`Stage`], [`trace()`] | `stages/mod.rs` |
//! | what each pass did with it | [`TrailMaker`], [`story()`] | `stages/trail.rs` |
//! | a module as a document | [`module_text`] | `modules/disassembly.rs` |
//! | a module at a glance, profiles | [`module_overview`], [`profile_times`] | `modules/overview.rs` |
//! | its dispatches as a graph | [`DispatchGraphs`] | `modules/graph.rs` |

mod calling;
mod check;
mod describe;
mod edit;
mod modules;
mod navigate;
mod operations;
mod resolve;
mod stages;
mod text;

pub use check::{Diagnostic, Extract, Severity, diagnostics, diagnostics_while, extract};
pub use debuginfo::{GraphView, OpenGroups};
pub use describe::{
    CallSignature, Hover, InlayHint, InlayHintKind, NamedValue, SemanticToken, TokenClass,
    brief_hover, control_flow, has_control_flow, hover, inlay_hints, semantic_tokens,
    signature_help, value_names,
};
pub use edit::{
    CodeAction, CompletionItem, CompletionItemKind, Completions, Fix, NotRenamed, NotRewritten,
    Renamable, Renaming, Rewriting, code_actions, complete, expect_errors, format, format_on_type,
    prepare_rename, quick_fixes, rename, rewriting, rewritten, with_fix, write_checks_action,
};
pub use modules::{
    AbiInquiry, AbiRun, DispatchGraphs, FunctionTime, ModuleOverview, ModuleText, Modules,
    NamedType, NeededFunction, NeededModule, NoGraph, NoProfile, OVERVIEW_FORMAT, OfferedFunction,
    PartKind, ProfileTimes, SizePart, SourceState, module_overview, module_text, profile_times,
};
pub use navigate::{
    Argument, Callable, Calls, Counterpart, DefinitionTarget, Export, FilePlace, FileSymbol, Fold,
    FoldKind, Link, Outline, OutlineItem, Workspace, callable_at, callables, counterpart,
    definition, exported_functions, exports, file_definition, file_symbols, folds, incoming_calls,
    linked_places, links, matches_query, module_exports, outgoing_calls, outline, selection_ranges,
    type_definitions,
};
pub use operations::{
    Count, InstalledOperation, InstalledOperations, Part, installed_dialects, shipped_operations,
    use_installed_operations, write_operations,
};
pub use resolve::{Usage, VariableNotRenamed, first_run_line, usages_at};
pub use stages::{
    Change, Form, Instruction, OriginKind, Place, SourceOperation, Stage, StageFunction, StoryStep,
    Trace, TracedLine, Trail, TrailMaker, Use, bytecode_stages, functions_named, names_at_boundary,
    operation_at, place_in_source, short_pass, story, trace, trace_dispatches,
};
pub use syntax::{Language, OpClass, TextEdit, TextRange};
pub use text::{Document, Replacement, Text};
