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
//! - [`source`]: the place of an operation of the source, and the way back
//! - [`extract`]: some functions of a printed text

mod bytecode;
mod extract;
mod source;
mod stage;
mod trace;

pub use bytecode::bytecode_stages;
pub use debuginfo::OriginKind;
pub use extract::functions_named;
pub use source::{SourceOperation, operation_at, place_in_source};
pub use stage::{Instruction, Place, Stage, StageFunction};
pub use trace::{Trace, TracedLine, trace, trace_dispatches};
