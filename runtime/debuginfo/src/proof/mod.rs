//! Which value of the source is in which register, with a proof.
//!
//! Locations say which line an instruction comes from, not which value of that line it computes, so
//! they prove nothing: a fused multiply-add has the locations of its operands, a loop counter that
//! of a tensor. So source and bytecode are both turned into graphs of values ([`graph`]), and value
//! numbering over random samples finds the values that are equal ([`equal`]):
//!
//! ```text
//! .mlir ── SourceFunction ── lower ──▶ Graph ─┐
//!                                             ├─ equal ──▶ samples ── names ──▶ %x is in i4:5
//! .vmfb ── registers ─────────────────▶ Graph ─┘
//! ```
//!
//! The leaves of the two graphs (arguments, results of calls, loads) are matched by location, one
//! to one or not at all. Everything else follows by computation: two values are equal if they are
//! the same function of the leaves. Loops are assumed to run in step; the assumption is dropped for
//! values whose next iterations differ.
//!
//! The result for a name ([`ValueLocation`]) is a register that holds the value on every path to
//! the instruction, or a way to compute it from such registers, or the reason why it is missing.

mod arithmetic;
mod comparison;
mod elements;
mod equal;
mod graph;
mod lower;
mod matching;
mod mnemonic;
mod names;
mod operations;
mod registers;
mod source_graph;
mod value_location;

pub use arithmetic::Scalar;
pub(crate) use comparison::{Proof, Sources};
pub(crate) use matching::Origin;
pub(crate) use names::without_values;
pub use value_location::{
    MissingReason, Recipe, RecipeInput, RecipeOperation, ScopedValue, ValueLocation,
};
