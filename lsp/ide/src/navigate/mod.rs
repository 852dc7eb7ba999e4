//! Places: definitions, links, calls, and the structure of a document and a workspace.
//!
//! Answers are places and their names; explanations are in `describe`.

mod call_hierarchy;
mod definition;
mod exports;
mod folding;
mod implementation;
mod linked;
mod links;
mod locations;
mod outline;
mod selection;
mod type_definition;
mod workspace;

pub use call_hierarchy::{Callable, Calls, callable_at, incoming_calls, outgoing_calls};
pub use definition::{DefinitionTarget, FilePlace, definition, file_definition};
pub use exports::{Argument, Export, callables, exported_functions, exports, module_exports};
pub use folding::{Fold, FoldKind, folds};
pub use implementation::{Counterpart, counterpart};
pub use linked::linked_places;
pub use links::{Link, links};
pub(crate) use locations::location_of;
pub use outline::{Outline, OutlineItem, outline};
pub use selection::selection_ranges;
pub use type_definition::type_definitions;
pub use workspace::{FileSymbol, Workspace, file_symbols, matches_query};
