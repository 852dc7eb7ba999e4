//! Which value of the source is in which register, as far as comparing both programs tells.
//!
//! Locations say which line an instruction comes from, not which value of that line it computes: a
//! fused multiply-add has the locations of its operands, a loop counter that of a tensor. So source
//! and bytecode are both turned into graphs of values ([`graph`]), which are compared in two ways:
//!
//! ```text
//! .mlir ── SourceFunction ── lower ──▶ Graph ─┬─ equal ──▶ samples ─┐
//!                                             │                     ├─ evidence ──▶ %x is in i4:5
//! .vmfb ── registers ─────────────────▶ Graph ─┴─ terms ──▶ terms ──┘
//! ```
//!
//! Samples ([`equal`], [`draw`]) refute: values that differ for some input are different. Terms
//! ([`terms`], [`numbering`]) prove: values that are the same computation are equal. What is
//! neither refuted nor proven, because the compiler has rewritten it, is judged in [`evidence`],
//! and shown only while its operands do not contradict it.
//!
//! The leaves of the two graphs (arguments, results of calls, loads) are matched by location, one
//! to one or not at all. Loops are assumed to run in step; the assumption is dropped for values
//! whose next iterations differ.
//!
//! Why a name has its value is told by [`account`], when it is asked for.
//!
//! The result for a name ([`ValueLocation`]) is a register that holds the value on every path to
//! the instruction, or a way to compute it from such registers, or the reason why it is missing.

mod account;
mod arithmetic;
mod comparison;
mod draw;
mod elements;
mod equal;
mod evidence;
mod folding;
mod graph;
mod lower;
mod matching;
mod mnemonic;
mod named;
mod names;
mod numbering;
mod operations;
mod recipes;
mod registers;
mod source_graph;
mod terms;
mod tree;
mod value_location;
mod written;

pub use arithmetic::Scalar;
pub(crate) use comparison::{Proof, Sources};
pub(crate) use matching::Origin;
pub use names::Given;
pub(crate) use names::{StandAt, results_without_values, without_values};
pub use value_location::{
    Check, MissingReason, Recipe, RecipeInput, RecipeOperation, ScopedValue, ValueLocation,
};
pub use written::WrittenRecipe;
