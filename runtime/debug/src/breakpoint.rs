//! Breakpoints: what was asked for, and where in the bytecode that turned out to be.
//!
//! The table is plain data. Arming (patching the executable form) is done by
//! [`crate::Debugger`], which keeps the set of armed addresses equal to the union of all
//! resolved locations; two breakpoints may share an instruction.

use std::collections::BTreeMap;

use vm::{ModuleIndex, Position};

use crate::address::LinearAddress;

/// Names a breakpoint for as long as the session lives; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BreakpointId(pub u32);

/// What a breakpoint was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BreakpointSpec {
    /// A line of a source file, counted from 1.
    Line {
        /// As the client names the file.
        file: String,
        /// From 1.
        line: u32,
    },
    /// A line of a module's disassembly, counted from 1.
    ListingLine {
        /// The module.
        module: ModuleIndex,
        /// From 1.
        line: u32,
    },
    /// The first instruction of a function: an export, an internal function, `module.function`.
    Function {
        /// The name.
        name: String,
    },
    /// One instruction.
    Instruction {
        /// Where.
        address: LinearAddress,
    },
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its name.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: BreakpointSpec,
    /// Where it is; empty while nothing matches.
    pub locations: Vec<Position>,
    /// The line that it is really on, for breakpoints on lines.
    pub line: Option<u32>,
    /// Why it is nowhere, or elsewhere than asked.
    pub message: Option<String>,
    /// How often it has stopped the program.
    pub hits: u64,
}

impl Breakpoint {
    /// Whether it can stop the program.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        !self.locations.is_empty()
    }
}

/// What resolving a spec gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// See [`Breakpoint::locations`].
    pub locations: Vec<Position>,
    /// See [`Breakpoint::line`].
    pub line: Option<u32>,
    /// See [`Breakpoint::message`].
    pub message: Option<String>,
}

/// All breakpoints of a session.
#[derive(Default, Debug)]
pub struct BreakpointTable {
    breakpoints: BTreeMap<BreakpointId, Breakpoint>,
    next: u32,
}

impl BreakpointTable {
    /// Adds one.
    pub fn add(&mut self, spec: BreakpointSpec, resolution: Resolution) -> BreakpointId {
        self.next += 1;
        let id = BreakpointId(self.next);
        let Resolution { locations, line, message } = resolution;
        let breakpoint = Breakpoint { id, spec, locations, line, message, hits: 0 };
        self.breakpoints.insert(id, breakpoint);
        id
    }

    /// Removes one; tells whether it was there.
    pub fn remove(&mut self, id: BreakpointId) -> bool {
        self.breakpoints.remove(&id).is_some()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: BreakpointId) -> Option<&Breakpoint> {
        self.breakpoints.get(&id)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.breakpoints.values()
    }

    /// Those that are at an address, each counted as hit once more.
    pub fn hit(&mut self, address: Position) -> Vec<BreakpointId> {
        let at = self.breakpoints.values_mut().filter(|it| it.locations.contains(&address));
        at.map(|breakpoint| {
            breakpoint.hits += 1;
            breakpoint.id
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm::FunctionId;
    use vmfb::{BytecodeOffset, FunctionOrdinal};

    #[test]
    fn two_breakpoints_on_one_instruction_are_both_hit() {
        let function = FunctionId { module: ModuleIndex(0), function: FunctionOrdinal(1) };
        let address = Position { function, offset: BytecodeOffset(5) };
        let at = || Resolution { locations: vec![address], ..Resolution::default() };
        let mut table = BreakpointTable::default();
        let first = table.add(BreakpointSpec::Function { name: "f".into() }, at());
        let second = table.add(BreakpointSpec::Line { file: "a.mlir".into(), line: 3 }, at());
        assert_eq!(table.hit(address), [first, second]);
        assert!(table.remove(first));
        assert!(!table.remove(first));
        assert_eq!(table.hit(address), [second]);
        assert_eq!(table.get(second).unwrap().hits, 2);
    }
}
