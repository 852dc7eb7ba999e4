//! What becomes of a source: the texts of a compilation's phases as documents, and the way of an
//! operation through them by its location, down to instructions and back.
//!
//! ```text
//! line of the source ─► place ─► lines of input … flow … vm ─► instructions and their bytes
//!          ▲                          │
//!          └──────── origins ─────────┘
//! ```
//!
//! - [`stage`]: one text, its origins by line, its functions
//! - [`bytecode`]: the last stage, instructions of the module
//! - [`mod@trace`]: from places to lines of all stages
//! - [`text`]: lines of printed MLIR: names, results, operands
//! - [`trail`]: what each pass did with the operations of a place
//! - [`mod@story`]: the same in words
//! - [`source`]: the place of an operation of the source, and the way back
//! - [`extract`]: some functions of a printed text

mod bytecode;
mod extract;
mod source;
mod stage;
mod story;
mod text;
mod trace;
mod trail;

pub use bytecode::bytecode_stages;
pub use debuginfo::OriginKind;
pub use extract::functions_named;
pub use source::{SourceOperation, operation_at, place_in_source};
pub use stage::{Instruction, Place, Stage, StageFunction};
pub use story::{StoryStep, short_pass, story};
pub use trace::{Trace, TracedLine, trace, trace_dispatches};
pub use trail::{Change, Form, Trail, TrailMaker, Use, names_at_boundary};
