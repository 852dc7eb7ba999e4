//! What a run leaves for a file, and what a run that repeats it is held to.
//!
//! A run is the same as an earlier one if each of its dispatches leaves the same bytes, and if its
//! frames, registers, globals, lists and buffers are the same at moments that the earlier one has
//! marked. So these digests are what a file needs, beside the program and its inputs; the crate
//! `recording` writes them, and `control::record` compares them.

use std::fmt;
use std::sync::Arc;

use hal::OutsideCall;

use super::run_table::CommandRow;

/// A moment between commands, and a digest of the program's state at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunMark {
    /// The backward branches and calls before it.
    pub turns: u64,
    /// The number of frames.
    pub depth: u64,
    /// The next instruction of the innermost frame.
    pub offset: u32,
    /// The digest (xxh3, 64 bits).
    pub state: u64,
}

/// What has happened since the part before.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunPart {
    /// What each command has left that ran since: a digest of what a dispatch has changed, 0 of
    /// other commands.
    pub left: Vec<u64>,
    /// The rows of these commands.
    pub rows: Vec<Arc<CommandRow>>,
    /// The calls of functions outside since.
    pub calls: Vec<Arc<OutsideCall>>,
    /// Where the program is, unless it is over.
    pub mark: Option<RunMark>,
}

/// Takes the parts of a run while it is recorded.
pub trait RunLog: Send {
    /// Takes the next one.
    fn add(&mut self, part: RunPart);

    /// There are no more parts: something outside has given the program what no file can hold.
    fn end_early(&mut self, reason: String);
}

/// What a run repeats.
#[derive(Clone, Default)]
pub struct Expected {
    /// What its commands have left, from the first one on.
    pub left: Vec<u64>,
    /// The rows of its commands. A file of an earlier version has none.
    pub rows: Vec<Arc<CommandRow>>,
    /// Its calls of functions outside.
    pub calls: Vec<Arc<OutsideCall>>,
    /// Its moments, in their order.
    pub marks: Vec<RunMark>,
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { left, marks, .. } = self;
        f.debug_struct("Expected").field("commands", &left.len()).field("marks", marks).finish()
    }
}
