//! The numbers of values that a client can expand, and of their memory.
//!
//! A value's number holds for one stop.

use debug::{Children, FrameId};

use super::handles::Handles;
use super::memory::MemoryReferences;

/// The values that the client was shown at this stop, and the memory that it has references to.
#[derive(Default)]
pub(crate) struct ValueReferences {
    pub(crate) variables: Handles<Expandable>,
    pub(crate) memory: MemoryReferences,
}

/// The value that contains a variable, as far as expressions need it.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    /// The frame in which names are resolved.
    pub(crate) frame: FrameId,
    /// The expression for the whole value, if there is one.
    pub(crate) expression: Option<String>,
}

/// A value that the client may expand.
#[derive(Clone, Debug)]
pub(crate) struct Expandable {
    pub(crate) content: Content,
    pub(crate) parent: Parent,
}

/// What the expanded value shows.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The parts of a value.
    Parts(Children),
    /// The summary of a tensor: one line, computed when the client asks for it.
    Summary(Children),
}
