//! Names of a breakpoint on a line in the middle of a dispatch that is machine code: the program
//! stops before all of the dispatch, and the names of the lines between have no values yet. What
//! the dispatch will compute for them follows from what it will read, so a condition of such a
//! breakpoint gets that: computed in float64 ([`super::recomputed`]), as in the source.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use vm::{BoundaryKind, FrameIndex, Invocation};

use super::recomputed::Recomputation;
use crate::expression::{Datum, Item};
use crate::machine::Machine;
use crate::view::frame::FrameId;

/// A line of a dispatch before which the program stands.
pub(crate) struct LineAhead {
    /// The files that the breakpoint may mean, as the module names them.
    files: Vec<Arc<str>>,
    line: u32,
    /// The values of names that were asked for.
    known: RefCell<HashMap<String, Option<Item>>>,
}

impl LineAhead {
    /// A line of the dispatch before which the program stands; `None` if it stands at none.
    pub(crate) fn of(machine: &Machine, file: &str, line: u32) -> Option<Self> {
        let boundary = machine.invocation().and_then(Invocation::boundary)?;
        let is_before = boundary.kind == BoundaryKind::BeforeStep && !boundary.name.is_empty();
        let first = machine.dispatch_source(FrameIndex(0)).filter(|_| is_before)?;
        (first.line < line).then_some(())?;
        let module = machine.command(FrameIndex(0))?.recorded_at?.function.module;
        let info = &machine.program().module(module)?.info;
        let (_, files) = info.match_file(file)?;
        let named = info.files().filter(|(id, _)| files.contains(id));
        let files = named.map(|(_, name)| Arc::from(name)).collect();
        Some(Self { files, line, known: RefCell::default() })
    }

    /// The value that a name of the lines before this one will have; `None` if none has it.
    pub(super) fn find(&self, machine: &Machine, frame: FrameId, name: &str) -> Option<Item> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let found = self.computed(machine, frame, name);
        self.known.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn computed(&self, machine: &Machine, frame: FrameId, name: &str) -> Option<Item> {
        let written = format!("%{name}");
        let mut by: Recomputation<'_> = machine.recomputation(frame)?;
        let (at, found) = by.named(machine, frame, &written)?;
        let is_before = at.line < self.line && self.files.iter().any(|it| **it == *at.file);
        let datum = is_before.then(|| found.map_or_else(Datum::Missing, Datum::Tensor))?;
        Some(Item { datum, place: None, declared: None })
    }
}
