//! An independent opinion of what a dispatch computes: its text, evaluated in float64 and exact
//! integers, each operation from its definition in MLIR's documents, with a bound of how far a
//! correct implementation may be away.
//!
//! A bug of the compiler's front end is in both of its back ends, so comparing these two does not
//! show it. This evaluator shares nothing with them: it reads the dispatch as iree-compile prints
//! it in the phase `flow`, and loops over elements.
//!
//! ```text
//! text ──Module──▶ Dispatch ──evaluate──▶ Output { values, bounds, reason }
//! ```
//!
//! - *Values.* Floats are not rounded to the types of the text, except where it says so
//!   (`arith.truncf`, an integer as a float): a value is the mathematical result, as far as f64
//!   holds it. Integers wrap around at their width. With bounds it is known what overflows: an f32
//!   that is infinite in every implementation is infinite.
//! - *Bounds.* Beside each element: how far a correct implementation may be away that computes in
//!   the types of the text, in any order of sums, with or without fused operations, with functions
//!   as exact as `lanes::accuracy` says. Two opinions agree if they are no further apart than their
//!   bounds together. An infinite bound says that a step or a pole is near (a comparison, a
//!   rounding to an integer, a division by about zero, an overflow): there is no opinion.
//! - *Complex numbers.* Their parts are floats of their own, each with its bound: an output has
//!   them in a last dimension of 2. Where conventions of infinities differ there is no opinion.
//! - *Refusals.* What is not evaluated is refused by the name and the line of the operation. So is
//!   what has no defined result, and more work than [`Settings::most_operations`].
//!
//! Each module uses only modules above it in this table:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `refusal` | [`Refusal`]: why there is no opinion |
//! | `formats` | float formats: how exact, how large, rounding |
//! | `values` | tensors and numbers with their bounds |
//! | `operations` | a function as operations, without notation |
//! | `text` | from text to operations |
//! | `complex` | complex numbers as pairs of floats |
//! | `lanes` | scalar operations, many elements at a time |
//! | `evaluate` | from operations to values |
//! | `dispatch` | [`Dispatch`], [`Module`], and all that callers use |

mod complex;
mod dispatch;
mod evaluate;
mod formats;
mod lanes;
mod operations;
mod refusal;
mod text;
mod values;

pub use dispatch::{
    Argument, Coverage, Dispatch, Elements, Known, Module, Output, OutputError, Parameter, Role,
    Settings, Uncovered,
};
pub use evaluate::Term;
pub use refusal::{Refusal, RefusalKind};
