//! Reducing: a dispatch that the compiler makes wrong code of, with fewer operations and smaller
//! shapes that it still makes wrong code of. Start at [`reduce`].
//!
//! | module | what lives there |
//! | --- | --- |
//! | `text` | words of the text of operations |
//! | `not_judged` | [`NotJudged`]: why nothing says whether a program fails |
//! | `program` | a function as operations that can be taken out and put in |
//! | `generic` | a `linalg.generic` of it |
//! | `edits` | what can be done to a program |
//! | `judge` | whether a program fails: the compiler against float64 |
//! | `search` | [`reduce`], the search for a smaller one that fails |

mod edits;
mod generic;
mod judge;
mod not_judged;
mod program;
mod search;
mod text;

pub use judge::Failure;
pub use not_judged::NotJudged;
pub use search::{NotReduced, ReduceProgress, Reduced, reduce};
