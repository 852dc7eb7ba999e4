//! The third opinion of a dispatch: its own text, evaluated in float64 and exact integers on the
//! tensors that it reads.
//!
//! - `question`: what is asked of the crate `reference`, and its answer by operand

mod question;

pub use question::{MOST_OPERATIONS, NoOpinion, OpinionQuestion, Opinions};
