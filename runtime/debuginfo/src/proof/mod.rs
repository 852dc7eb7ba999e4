//! Which value of the source is where, with a proof.
//!
//! Locations say from which line an instruction came, not which value of that line it computes, so
//! they prove nothing: a fused multiply-add has the places of its operands, a loop counter that of
//! a tensor. Here the source and the bytecode are both brought into one form, graphs of values
//! ([`graph`]); what must be equal is found by value numbering over random samples ([`equal`]):
//!
//! ```text
//! .mlir ── written ──▶ operations, scopes ── lower ──▶ Graph ─┐
//!                                                            ├─ equal ──▶ classes ── answer ──▶ %x is in i4:5
//! .vmfb ── registers ─────────────────────────────▶ Graph ───┘
//! ```
//!
//! Where the two begin (arguments, results of calls, what is loaded) is matched by locations, one
//! to one or not at all. Everything else follows by computing: two values are the same if they are
//! the same function of those beginnings. Loops are assumed to run in step and the assumption is
//! given up wherever one turn does not lead to the next.
//!
//! An answer ([`Answer`]) is a register that holds the value on every way to the instruction, or
//! how to compute it from such, or the reason why there is none.

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
